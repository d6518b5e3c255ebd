"""First contact: the default engine and a session of five questions on tables that nobody prepared.

*Clinic*: measurements from 32-bit floats, gaps, ordered levels, a near-copy. *Shop*: amounts that are mostly zero, long tails,
debts below zero, a region of 40 levels. *Register*: 30 columns, whole numbers in the millions, shares, copies. The space is
``ActionSpace.from_frame`` with no more said than what stays. *Grid*: the irreducible row of least effort among all changes of at
most three columns to 15 quantiles (pairs 8, triples 4). People answer by a random dense matrix without slips; excess is effort
over the best plan known, in sum.
"""

from __future__ import annotations

import itertools
import time
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler

import reap
from benchmarks._harness import Row

SEED = 20261119
#: People of a table and a model.
FULL, QUICK = 40, 3


@dataclass
class Table:
    """A table, the columns that may move, and models for it."""

    name: str
    X: Any
    y: Any
    space: Any
    movable: list[str]
    models: dict[str, Any]


def clinic(rng: np.random.Generator, n: int = 1500) -> Table:
    """Measurements with gaps."""
    weight = rng.normal(80, 15, n).astype(np.float32).astype(float)
    X = pd.DataFrame(
        {
            "age": rng.integers(20, 85, n),
            "weight": weight,
            "waist": (weight * 1.1 + rng.normal(0, 2, n)).astype(np.float32).astype(float),
            "pressure": rng.normal(135, 18, n).astype(np.float32).astype(float),
            "sugar": rng.lognormal(1.8, 0.35, n).astype(np.float32).astype(float),
            "steps_a_day": np.floor(rng.lognormal(8.3, 0.8, n)).astype(int),
            "smoking": rng.choice(["never", "sometimes", "often", "always"], n, p=[0.5, 0.2, 0.2, 0.1]),
            "alcohol": np.floor(rng.exponential(4, n)).astype(int),
        }
    )
    risk = (
        (X["weight"] - 80) / 15
        + (X["pressure"] - 135) / 18
        + (X["sugar"] - 6) / 2
        + X["alcohol"] / 6
        + X["smoking"].map({"never": 0, "sometimes": 0.4, "often": 1, "always": 1.6})
        - np.log(X["steps_a_day"] / 4000 + 0.1)
    )
    y = (risk + rng.logistic(0, 0.7, n) < 1.2).astype(int)
    X.loc[rng.random(n) < 0.08, "sugar"] = np.nan
    space = reap.ActionSpace.from_frame(
        X,
        immutable=["age", "waist"],
        missing=["sugar"],
        ordinal={"smoking": ["never", "sometimes", "often", "always"]},
    )
    coded = make_column_transformer((OrdinalEncoder(), ["smoking"]), remainder="passthrough")
    filled = make_column_transformer(
        (OneHotEncoder(), ["smoking"]),
        remainder=make_pipeline(SimpleImputer(), StandardScaler()),
    )
    models = {
        "boosting": make_pipeline(coded, HistGradientBoostingClassifier(max_iter=80, random_state=0)),
        "logistic": make_pipeline(filled, LogisticRegression(max_iter=1000)),
        "network": make_pipeline(filled, MLPClassifier((20, 50, 20), random_state=0, max_iter=200)),
    }
    movable = ["weight", "pressure", "sugar", "steps_a_day", "alcohol"]
    return Table("clinic", X, y, space, movable, models)


def shop(rng: np.random.Generator, n: int = 3000) -> Table:
    """Amounts that are mostly zero, with long tails."""
    X = pd.DataFrame(
        {
            "orders": np.floor(rng.pareto(1.2, n) * 3).clip(0, 1_000_000).astype(int),
            "returned": np.where(rng.random(n) < 0.8, 0, np.floor(rng.lognormal(4, 1.2, n))).astype(int),
            "balance": np.rint(rng.normal(-200, 900, n)).astype(int),
            "credit_line": rng.integers(1, 60, n) * 250,
            "paid_late": rng.poisson(0.8, n),
            "basket": np.round(rng.lognormal(3.6, 0.9, n), 2),
            "region": rng.choice([f"r{k:02d}" for k in range(40)], n),
            "member": rng.random(n) < 0.3,
        }
    )
    good = (
        np.log1p(X["orders"])
        + X["balance"] / 700
        - X["paid_late"]
        - np.log1p(X["returned"]) / 3
        + np.log(X["basket"]) / 2
        + X["credit_line"] / 8000
    )
    y = (good + rng.logistic(0, 0.7, n) > 1.8).astype(int)
    space = reap.ActionSpace.from_frame(X, immutable=["region", "member"])
    coded = make_column_transformer((OneHotEncoder(sparse_output=False), ["region"]), remainder="passthrough")
    models = {
        "forest": make_pipeline(coded, RandomForestClassifier(80, min_samples_leaf=3, random_state=0)),
        "boosting": make_pipeline(coded, GradientBoostingClassifier(n_estimators=80, random_state=0)),
        "network": make_pipeline(space.encoder(), MLPClassifier((20, 50, 20), random_state=0, max_iter=200)),
    }
    return Table("shop", X, y, space, list(X.columns.drop(["region", "member"])), models)


def register(rng: np.random.Generator, n: int = 1500) -> Table:
    """Many columns: whole numbers in the millions, shares, copies."""
    X = pd.DataFrame({f"share_{k}": np.round(rng.beta(2, 3, n), 3) for k in range(10)})
    for k in range(10):
        X[f"amount_{k}"] = np.rint(rng.lognormal(14, 0.7, n)).astype(int)
    for k in range(10):
        X[f"copy_{k}"] = X[f"amount_{k}"] + rng.integers(-5, 6, n)
    good = sum(X[f"share_{k}"] for k in range(4)) + sum(np.log(X[f"amount_{k}"]) - 14 for k in range(4)) / 3
    y = (good + rng.logistic(0, 0.2, n) > 1.7).astype(int)
    movable = [f"share_{k}" for k in range(4)] + [f"amount_{k}" for k in range(3)]
    space = reap.ActionSpace.from_frame(X, immutable=[c for c in X if c not in movable])
    models = {
        "boosting": HistGradientBoostingClassifier(max_iter=60, random_state=0),
        "trees": ExtraTreesClassifier(80, min_samples_leaf=3, random_state=0),
        "calibrated": CalibratedClassifierCV(make_pipeline(StandardScaler(), LogisticRegression()), cv=3),
    }
    return Table("register", X, y, space, movable, models)


def tables(rng: np.random.Generator) -> list[Table]:
    """Return the tables made here."""
    return [clinic(rng), shop(rng), register(rng)]


def best_of_grid(model: Any, table: Table, x: Any, A: Any) -> float:
    """Return the least effort of an accepted row of the grid of which no change can be left out."""
    X, space, z0 = table.X, table.space, table.space.encode(x)[0]
    grids = {}
    for name in table.movable:
        if pd.isna(x[name].iloc[0]):
            continue
        values = np.quantile(X[name].dropna(), np.linspace(0.01, 0.99, 15))
        values = np.unique(values.round(2) if X[name].dtype.kind == "f" else values.round())
        grids[name] = values[values != x[name].iloc[0]]
    blocks = []
    for count, stride in ((1, 1), (2, 2), (3, 4)):
        for some in itertools.combinations(grids, count):
            values = np.array(list(itertools.product(*(grids[name][::stride] for name in some))))
            block = pd.concat([x] * len(values), ignore_index=True)
            for k, name in enumerate(some):
                block[name] = values[:, k].astype(X[name].dtype)
            blocks.append(block)
    rows = pd.concat(blocks, ignore_index=True).astype(X.dtypes.to_dict())
    rows = rows[model.predict(rows) == 1]
    if len(rows) == 0:
        return np.inf
    D = np.nan_to_num(space.encode(rows) - z0)
    efforts = np.einsum("nd,de,ne->n", D, A, D)
    for i in np.argsort(efforts)[:400]:
        changed = [name for name in grids if rows[name].iloc[i] != x[name].iloc[0]]
        less = pd.concat([rows.iloc[[i]]] * len(changed), ignore_index=True)
        for k, name in enumerate(changed):
            less.loc[k, name] = x[name].iloc[0]
        if len(changed) == 1 or not (model.predict(less.astype(X.dtypes.to_dict())) == 1).any():
            return float(efforts[i])
    return np.inf


def cell(table: Table, kind: str, people: int, seed: int) -> dict[str, float]:
    """Return what is measured on one table with one model."""
    rng = np.random.default_rng([seed, len(table.X)])
    half = rng.permutation(len(table.X))
    train, test = half[: len(half) * 7 // 10], half[len(half) * 7 // 10 :]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = table.models[kind].fit(table.X.iloc[train], table.y.iloc[train])
        engine = reap.Recourse(model, table.space).fit(table.X.iloc[train], table.y.iloc[train])
    refused = table.X.iloc[test][model.predict(table.X.iloc[test]) == 0]
    refused = refused.iloc[: min(people, len(refused))]
    block = table.X.sample(1000, replace=True, random_state=0)
    unit = np.median([_seconds(lambda: model.predict_proba(block)) for _ in range(5)])
    found = dict.fromkeys(("people", "plans", "missed", "reducible", "nothing", "silent", "questions"), 0.0)
    sums, waits = np.zeros(4), list[float]()
    for i in range(len(refused)):
        x, own = refused.iloc[[i]], refused.iloc[i]
        G = rng.standard_normal((table.space.dimension,) * 2)
        A = G @ G.T / np.linalg.eigvalsh(G @ G.T)[-1]
        found["people"] += 1
        grid = best_of_grid(model, table, x, A)
        plan = engine.plans(x, A)[0]
        if not plan.valid:
            found["missed"] += np.isfinite(grid)
            continue
        found["plans"] += 1
        target = plan.target
        moved = [c for c in table.X if not (target[c] == own[c] or (pd.isna(target[c]) and pd.isna(own[c])))]
        found["nothing"] += set(moved) != {change.feature for change in plan.changes}
        for name in moved if len(moved) > 1 else ():
            less = target.to_frame().T[list(table.X)]
            less[name] = [own[name]]
            found["reducible"] += int(model.predict(less.astype(table.X.dtypes.to_dict()))[0] == 1)
        effort = _effort(plan, A)
        session, asked = engine.elicit(own, questions=5), 0
        begun = time.process_time()
        while question := session.ask():
            waits.append(time.process_time() - begun)
            session.answer(int(np.argmin([_effort(option, A) for option in question.options])))
            asked += 1
            begun = time.process_time()
        got = _effort(session.recommend(), A)
        found["silent"] += asked == 0
        found["questions"] += asked
        sums += effort, min(grid, effort), got, min(effort, got)
    return {
        **found,
        "above grid": sums[0] / sums[1] - 1,
        "excess": sums[2] / sums[3] - 1,
        "question, scores": float(np.median(waits) / unit) if waits else 0.0,
        "question, ms": 1e3 * float(np.median(waits)) if waits else 0.0,
    }


def run(quick: bool) -> list[Row]:
    """Return the promises counted, and effort and excess, for each table and model."""
    rows = []
    for table in tables(np.random.default_rng(SEED)):
        for kind in table.models:
            got = cell(table, kind, QUICK if quick else FULL, SEED)
            print(table.name, kind, {name: round(float(value), 3) for name, value in got.items()}, flush=True)
            name = f"first contact, {table.name}, {kind}"
            broken = got["missed"] + got["reducible"] + got["nothing"]
            each = got["questions"] / max(got["people"], 1)
            note = f"{got['people']:.0f} people, {each:.1f} questions, {got['silent']:.0f} asked nothing"
            rows += [
                Row.limit(f"{name}: promises broken", broken, "", at_most=0, note=note),
                Row.limit(f"{name}: effort above a grid", 100 * got["above grid"], "%", at_most=2),
                Row.limit(f"{name}: excess after 5 answers", 100 * got["excess"], "%", at_most=8),
                Row.limit(
                    f"{name}: next question", got["question, scores"], "scores of 1,000 rows", at_most=20
                )
                if kind not in ("network", "logistic", "calibrated")
                else Row.limit(f"{name}: next question", got["question, ms"], "ms", at_most=60),
            ]
    return rows


def _effort(plan: Any, A: Any) -> float:
    delta = plan.moves.sum(axis=0)
    return float(delta @ A @ delta)


def _seconds(work: Any) -> float:
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun

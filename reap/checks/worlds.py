"""Small worlds, random or with a known outcome: a table with awkward dtypes, an action space with rules, a model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import expit
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from reap._typing import Array, Frame
from reap.space import ActionSpace

GRADES = ["low", "middle", "good", "best"]


@dataclass(frozen=True)
class World:
    """A table, an action space and a model, with the model's own verdict.

    Parameters
    ----------
    X : DataFrame (n, c)
    space : ActionSpace
    model : fitted classifier on frames, or function of a frame
    name : str
        What a sentence calls it; the seed is in it.
    train : DataFrame, optional
        The rows that the model was trained on; by default all.
    settings : dict
        What else an engine is told: target, threshold, output, unit.
    slow : bool
        Whether plans take long: scores vary with every step of a number, and no gradient of them is read.
    """

    X: Frame
    space: ActionSpace
    model: Any
    name: str = "the world"
    train: Frame | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    slow: bool = False

    def probability(self, frame: Frame) -> Array:
        """Return the model's own scores (n,) of a frame, without anything of the library in between."""
        if not hasattr(self.model, "predict_proba"):
            return np.asarray(self.model(frame), dtype=float)
        place = list(self.model.classes_).index(self.settings.get("target", 1))
        return np.asarray(self.model.predict_proba(frame)[:, place])

    @property
    def rejected(self) -> Frame:
        """The rows that the model rejects."""
        return self.X[self.probability(self.X) <= self.settings.get("threshold", 0.5)]

    def matrices(self, count: int, seed: int = 0) -> Array:
        """Return random matrices (count, d, d)."""
        return random_matrices(self.space.dimension, count, seed)


def random_matrices(d: int, count: int, seed: int = 0) -> Array:
    """Return positive semidefinite matrices (count, d, d) with largest eigenvalue 1."""
    G = np.random.default_rng(seed).normal(size=(count, d, d))
    A = G @ G.transpose(0, 2, 1)
    return np.asarray(A / np.linalg.eigvalsh(A)[:, -1, None, None])


def random_world(
    seed: int, rows: int = 60, kind: str | None = None, rich: bool = False, effects: bool = False
) -> World:
    """Return a world whose columns, dtypes, rules and model depend on the seed.

    ``kind`` is "logistic", "forest", "function" or "network"; by default one of the first three at random. ``rich`` adds what is
    rare: derived features, missing values, largest changes, rules of every kind, networks. With ``effects`` features move each
    other.
    """
    rng = np.random.default_rng(seed)
    more = np.random.default_rng((seed, 1)) if rich else None
    X = _table(rng, rows)
    options = _options(rng, X)
    if more is not None:
        X, options = _enriched(more, X, options)
    if effects:
        options = _with_effects(np.random.default_rng((seed, 2)), X, options)
    most = options.pop("max_changes")
    space = ActionSpace.from_frame(X, **options)
    space = ActionSpace(space.features, rules=space.rules, max_changes=most)
    Z = np.nan_to_num(space.encode(X))
    value = Z @ rng.normal(size=Z.shape[1]) + 0.1 * rng.normal(size=rows)
    y = (value > np.quantile(value, 0.6)).astype(int)
    chosen = kind or str(rng.choice(["logistic", "forest", "function"]))
    if more is not None and kind is None:
        gaps = bool(X.isna().any(axis=None))
        chosen = str(more.choice(["function", "forest"] if gaps else ["network", chosen]))
    return World(X, space, _model(chosen, X, y, space, rng), f"random world {seed}")


def _table(rng: np.random.Generator, rows: int) -> Frame:
    """Columns of every kind and dtype, each present or not."""
    columns = {
        "age": rng.integers(18, 70, rows),
        "income": pd.array(rng.integers(5, 60, rows) * 100, dtype="Int64"),
        "share": np.round(rng.random(rows), 2).astype("float32" if rng.random() < 0.3 else "float64"),
        "wealth": rng.normal(size=rows) * 1e4,
        "grade": pd.Categorical(rng.choice(GRADES, rows), categories=GRADES, ordered=True),
        "town": pd.array(rng.choice(["Ulm", "Jena", "Kiel"], rows), dtype="string"),
        "job": pd.Categorical(rng.choice(["cook", "smith", "clerk", "nurse"], rows)),
        "owner": rng.random(rows) < 0.5,
        "married": pd.array(rng.random(rows) < 0.5, dtype="boolean"),
        "cards": rng.integers(0, 4, rows).astype("int8"),
    }
    names = [name for name in columns if name == "income" or rng.random() < 0.6]
    index = [f"p{i}" for i in rng.permutation(rows)]
    return pd.DataFrame({name: columns[name] for name in names}, index=index)


def _options(rng: np.random.Generator, X: Frame) -> dict[str, Any]:
    """What the space is told: directions, bounds, steps, counts, rules."""
    names = list(X.columns)
    ordered = [c for c in names if c in ("age", "income", "share", "wealth", "grade", "cards", "owner")]
    sides = {c: rng.choice(["any", "up", "down"], p=[0.5, 0.3, 0.2]) for c in ordered}
    options: dict[str, Any] = {"immutable": [c for c in names if c != "income" and rng.random() < 0.2]}
    options |= {"features": {}, "max_changes": None}
    if "age" in names and rng.random() < 0.3:
        options["bounds"] = {"age": (18, 75)}
    if rng.random() < 0.4:
        options["features"]["income"] = {"step": 100.0}
    if rng.random() < 0.25:
        options["max_changes"] = int(rng.integers(1, 4))
    if "job" in names and rng.random() < 0.3:
        options["features"]["job"] = {"forbidden": [("cook", "smith")]}
    if {"age", "cards"} <= set(names) and rng.random() < 0.4:
        options["rules"] = ["100 * cards + age <= 380"]
    elif {"age", "income"} <= set(names) and rng.random() < 0.2:
        options["rules"] = ["if income increases then age increases by at least 1"]
    options["increasing"] = [c for c in ordered if sides[c] == "up"]
    options["decreasing"] = [c for c in ordered if sides[c] == "down"]
    return options


#: Rules of every kind; one joins a rich world that has its columns.
_RULES = {
    "if job changes then income stays": ("job", "income"),
    "if grade increases then income increases by at least 100": ("grade", "income"),
    "if cards decreases then share is at least 0.2": ("cards", "share"),
    "if town becomes Ulm then income is at least 3,000": ("town", "income"),
    "if owner is True then income is at most 5,500": ("owner", "income"),
    "if age increases by at least 5 then job is not cook": ("age", "job"),
    "200 * cards <= income + 400": ("cards", "income"),
    "60 * share + age >= 20": ("share", "age"),
}


def _enriched(rng: np.random.Generator, X: Frame, options: dict[str, Any]) -> tuple[Frame, dict[str, Any]]:
    """Return the table and options with what is rare added."""
    X, options, rows = X.copy(), dict(options), len(X)
    rules, said = list(options.get("rules", ())), dict(options["features"])
    fit = [rule for rule, names in _RULES.items() if set(names) <= set(X.columns)]
    if fit and rng.random() < 0.5:
        rules.append(str(rng.choice(fit)))
    if rng.random() < 0.3:
        X["debt"] = rng.integers(0, 30, rows) * 100
        X["ratio"] = np.round(X["debt"] / X["income"].astype(float), 3)
        said["ratio"] = {"derived": "debt / income"}
    if rng.random() < 0.3:
        X["years"] = np.where(rng.random(rows) < 0.3, np.nan, rng.integers(0, 30, rows))
        options["missing"] = ["years"]
    if rng.random() < 0.3:
        said["income"] = {**said.get("income", {}), "max_change": 1500.0}
    return X, options | {"rules": rules, "features": said}


#: Levels that cause something in a world with effects.
_CAUSES = {"job": "clerk", "town": "Ulm", "grade": "best", "owner": True, "married": True}


def _with_effects(rng: np.random.Generator, X: Frame, options: dict[str, Any]) -> dict[str, Any]:
    """Return the options with numbers that move each other, in some order, and levels that move numbers."""
    said, still = {name: dict(facts) for name, facts in options["features"].items()}, options["immutable"]
    numbers = [c for c in ("age", "income", "share", "wealth", "cards", "years", "debt") if c in X.columns]
    order = [str(name) for name in rng.permutation(numbers)]
    spread = {name: float(np.nanstd(X[name].to_numpy(dtype=float, na_value=np.nan))) for name in numbers}
    levels = [f"({name} == {level!r})" for name, level in _CAUSES.items() if name in X.columns]
    for i, name in enumerate(order):
        if name in still or (rng.random() < 0.4 and len(order) > 1):
            continue
        terms = [
            f"{float(f'{rng.normal() * 0.6 * spread[name] / (spread[cause] or 1):.3g}')!r} * {cause}"
            for cause in order[:i]
            if rng.random() < 0.6
        ]
        terms += [
            f"{float(f'{rng.normal() * 0.4 * spread[name]:.3g}')!r} * {level}"
            for level in levels
            if rng.random() < 0.5
        ]
        if not terms:
            continue
        only = rng.random() < 0.25 and name not in options.get("missing", ())
        said.setdefault(name, {})["effect"] = f"{'only ' if only else ''}{' + '.join(terms)}"
        if only:
            said[name].pop("max_change", None)
            for way in ("increasing", "decreasing"):
                options = options | {way: [one for one in options[way] if one != name]}
    return options | {"features": said}


def _model(kind: str, X: Frame, y: Array, space: ActionSpace, rng: np.random.Generator) -> Any:
    if kind == "logistic":
        return make_pipeline(space.encoder(), LogisticRegression(C=100.0)).fit(X, y)
    if kind == "network":
        network = MLPClassifier((8,), solver="lbfgs", alpha=0.1, max_iter=2_000, random_state=0)
        return make_pipeline(space.encoder(), network).fit(X, y)
    if kind == "forest":
        coded = make_column_transformer(
            (OneHotEncoder(handle_unknown="ignore"), _words(X)), remainder="passthrough"
        )
        return make_pipeline(coded, RandomForestClassifier(8, max_depth=5, random_state=0)).fit(X, y)
    weights = rng.normal(size=space.dimension) * 3
    values = np.nan_to_num(space.encode(X)) @ weights
    return LogisticFunction(space, weights, float(np.quantile(values, 0.6)))


def _words(X: Frame) -> Sequence[str]:
    """Return the columns that are no numbers."""
    dtypes = X.dtypes.items()
    return [c for c, t in dtypes if not pd.api.types.is_numeric_dtype(t) or pd.api.types.is_bool_dtype(t)]


@dataclass(frozen=True)
class LogisticFunction:
    """A picklable model that is a plain function of the raw frame: a logistic one of its vectors."""

    space: ActionSpace
    weights: Array
    level: float

    def __call__(self, frame: Frame) -> Array:
        """Return the probability of each row, (n,)."""
        return np.asarray(expit(np.nan_to_num(self.space.encode(frame)) @ self.weights - self.level))


# worlds whose outcomes are known beforehand -----------------------------------------------------------


def credit_world(rows: int = 120) -> World:
    """Return a world in which everybody can be accepted by income alone, and by paying debts alone.

    The log-odds are ``income / 500 − 2 debts + 1`` up to a constant, with incomes of 1,000 to 5,000 and at most 3 debts. Savings
    take any value, so the rows cannot all be tried.
    """
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "income": pd.array(rng.integers(10, 51, rows) * 100, dtype="Int64"),
            "debts": rng.integers(0, 4, rows).astype("int8"),
            "grade": pd.Categorical(rng.choice(GRADES, rows), categories=GRADES, ordered=True),
            "town": rng.choice(["Ulm", "Jena", "Kiel"], rows),
            "savings": rng.normal(size=rows) * 1e3,
        },
        index=[f"p{i}" for i in range(rows)],
    )
    space = ActionSpace.from_frame(X, immutable=["town"], features={"income": {"step": 100}})
    weights = np.zeros(space.dimension)
    weights[space.slices["income"]], weights[space.slices["debts"]] = 8.0, -6.0  # 4,000 / 500 and 3 · 2
    return World(X, space, LogisticFunction(space, weights, -1.0))


def awkward_world(rows: int = 90) -> World:
    """Return a world of every dtype there is, with missing values, in which income decides."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "income": pd.array(rng.integers(5, 60, rows) * 100, dtype="Int64"),
            "debts": rng.integers(0, 4, rows).astype("int8"),
            "share": pd.array(np.round(rng.random(rows), 2), dtype="Float64"),
            "grade": pd.Categorical(rng.choice(GRADES, rows), categories=GRADES, ordered=True),
            "town": pd.array(rng.choice(["Ulm", "Jena", "Kiel"], rows), dtype="string"),
            "owner": pd.array(rng.random(rows) < 0.5, dtype="boolean"),
            "member": rng.random(rows) < 0.5,
            "years": np.where(rng.random(rows) < 0.3, np.nan, rng.integers(0, 30, rows)),
        },
        index=pd.date_range("2024-01-01", periods=rows),
    )
    return World(X, ActionSpace.from_frame(X, missing=["years"], immutable=["town"]), Earnings())


def four_things_world(rows: int = 100) -> World:
    """Return a world that accepts whoever has four things; the first person has none of them."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({name: rng.random(rows) < 0.6 for name in ("home", "job", "car", "bank")})
    X["age"] = rng.integers(18, 70, rows)
    X.iloc[0, :4] = False
    return World(X, ActionSpace.from_frame(X), FourThings())


@dataclass(frozen=True)
class Earnings:
    """A picklable model of one column: accepts an income above 3,000, whatever is missing elsewhere."""

    def __call__(self, frame: Frame) -> Array:
        """Return the probability of each row, (n,)."""
        return np.asarray(expit(frame["income"].to_numpy(dtype=float) / 1000 - 3))


@dataclass(frozen=True)
class Never:
    """A model that accepts nobody."""

    def __call__(self, frame: Frame) -> Array:
        """Return the probability of each row, (n,)."""
        return np.full(len(frame), 0.1)


@dataclass(frozen=True)
class FourThings:
    """A picklable model that accepts whoever has a home, a job, a car and a bank account."""

    def __call__(self, frame: Frame) -> Array:
        """Return the probability of each row, (n,)."""
        have = frame[["home", "job", "car", "bank"]].to_numpy(dtype=float).sum(axis=1)
        return np.asarray(np.where(have == 4, 0.9, 0.1 + 0.05 * have))

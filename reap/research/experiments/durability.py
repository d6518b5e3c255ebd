"""Whether plans hold: on today's model, on models to come that no plan has seen, and what holding asks for.

Models to come are of three kinds: fresh retrainings (other bootstrap samples and seeds), retrainings with a tenth of the rows
replaced by other people's, and, where a data set has a second file from a later time, a model trained on that.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from reap import effort
from reap._typing import Frame, Ints
from reap.datasets import load
from reap.models import wrap
from reap.models.durable import accepting, given, retrained
from reap.recourse import Durability, Engine, Recourse
from reap.research.baselines import FACE, ROAR, DiCE, Wachter
from reap.research.experiments.bench import network, trained
from reap.research.experiments.measures import crossed
from reap.research.experiments.report import ReportTable, number, ordered, table
from reap.research.experiments.runner import Scope

TITLE = "Plans that hold: validity on models to come (the data set's own action space)"
DATASETS = ("german", "gmc", "heloc", "adult", "bank")
NEEDS = ("durability",)
MODELS = ("logistic", "boosting", "network")
#: Rows a model is trained on at most; retrainings for judging plans, none of which made them; those with rows replaced.
ROWS, FRESH, REPLACED = 2_000, 20, 10
#: Rows of the first file of a data set whose second file is from a later time.
EARLIER = {"bank": 2_260}
#: People a method is run for: on German, which published figures are of, and elsewhere.
PEOPLE = {"German": 50, "today, .95": 50, "others": 25, "DiCE": 10}
EDGE, PROMISED = "today's model alone", "durability .95"
#: What judges a plan: columns of the runs, and of the table.
LATER = {"fresh": "fresh retrainings", "replaced": "a tenth replaced", "shifted": "later file"}


def methods(seen: list[Any]) -> dict[str, Callable[[Any, Any], Engine]]:
    """Return how to make each method's engine, by its name; ours share their retrainings."""
    made: dict[str, Callable[[Any, Any], Engine]] = {EDGE: Recourse}
    for share in (0.95, 0.9, 0.8):
        made[f"durability {share:.2f}".replace("0.", ".")] = partial(
            Recourse, durability=Durability(share, models=seen)
        )
    made["margin .03"] = partial(Recourse, margin=0.03)
    made |= {"ROAR": ROAR, "Wachter": Wachter, "FACE": FACE}
    if find_spec("dice_ml") is not None:
        made["DiCE, random"] = partial(DiCE, method="random")
    return made


def cells(scope: Scope) -> list[dict[str, Any]]:
    """Return the parameters of every cell: one a data set and model, as all methods are judged by the same models to come."""
    sizes: dict[str, Any] = {"seed": scope.seed, "epochs": 60 if scope.quick else 200}
    sizes |= {"fresh": 4, "replaced": 3} if scope.quick else {"fresh": FRESH, "replaced": REPLACED}
    # from 8 on retrainings are a sample, which has its own rule
    sizes["refits"] = 8 if scope.quick else None
    return [
        {"dataset": dataset, "kind": kind, "people": _people(scope, dataset), **sizes}
        for dataset in scope.over(DATASETS)
        for kind in (MODELS[:1] if scope.quick else MODELS)
    ]


def _people(scope: Scope, dataset: str) -> dict[str, int]:
    """Return for how many people each method is run."""
    most = dict.fromkeys(methods([]), PEOPLE["German"] if dataset == "german" else PEOPLE["others"])
    most |= {name: max(most[name], PEOPLE["today, .95"]) for name in (EDGE, PROMISED)}
    most |= {name: PEOPLE["DiCE"] for name in most if name.startswith("DiCE")}
    return {name: scope.subjects or (2 if scope.quick else count) for name, count in most.items()}


def run(
    out: Path,
    *,
    dataset: str,
    kind: str,
    epochs: int,
    people: dict[str, int],
    refits: int | None,
    fresh: int,
    replaced: int,
    seed: int,
) -> Frame:
    """Return one row a person and method. The people are not among the rows the model was trained on."""
    data = load(dataset)
    early = EARLIER.get(dataset, len(data.X))
    order = np.random.default_rng(seed).permutation(early)
    known, rest = np.split(order, [min(ROWS, early * 4 // 5)])

    def fitted(rows: Any, seed: int) -> Any:
        return trained(_model(kind, data.space, epochs, seed), data.X.iloc[rows], data.y.iloc[rows])

    X, y, model = data.X.iloc[known], data.y.iloc[known], fitted(known, seed)
    today = wrap(model, data.space)
    refused = rest[~today.accepts(data.space.encode(data.X.iloc[rest]))]
    # whoever any method may be asked for, so that all methods are judged by the same models
    others = np.setdiff1d(rest, refused[: max(*people.values(), *PEOPLE.values())])
    later: dict[str, Any] = {
        "fresh": retrained(today, X, y, fresh, random_state=seed + 1_000_003),
        "replaced": given(
            (fitted(rows, seed + 1 + k) for k, rows in enumerate(with_others(known, others, replaced, seed))),
            today,
        ),
        "shifted": given([fitted(slice(early, None), seed)], today) if dataset in EARLIER else [],
    }
    seen = [one.model for one in retrained(today, X, y, refits, random_state=seed)]
    identity, made = effort.identity(data.space.dimension), methods(seen)
    rows = []
    for method, count in people.items():
        engine = made[method](model, data.space).fit(X)
        for i, x in enumerate(refused[:count]):
            begin = time.process_time()
            plan = engine.plans(data.X.iloc[[x]], identity)[0]
            spent = time.process_time() - begin
            votes = {
                name: [accepting([one], plan.path[-1:])[0] for one in models] if plan.valid else []
                for name, models in later.items()
            }
            change = effort.changes(plan.path[-1], plan.path[0])
            asks = float(effort.of_change(identity, change[None])[0])  # of the whole change, whatever its way
            row = {"method": method, "subject": i, "valid": plan.valid, "effort": asks, "seconds": spent}
            row |= {name: np.mean(each) if each else np.nan for name, each in votes.items()}
            rows.append({**row, "votes": "".join(map(str, votes["fresh"]))})
    return pd.DataFrame(rows).assign(dataset=dataset, model=kind)


def with_others(rows: Ints, others: Ints, count: int, seed: int) -> list[Ints]:
    """Return training rows (n,) by position, a tenth of them replaced by other people's, so many times."""
    rng = np.random.default_rng(seed + 7)
    tenth = min(len(rows) // 10, len(others))
    made = []
    for _ in range(count):
        some = rows.copy()
        some[rng.choice(len(rows), tenth, replace=False)] = rng.choice(others, tenth, replace=False)
        made.append(some)
    return made


def _model(kind: str, space: Any, epochs: int, seed: int) -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    if kind == "network":
        return network(space, epochs, seed)
    logistic, boosting = LogisticRegression(max_iter=1000), HistGradientBoostingClassifier(random_state=seed)
    return make_pipeline(space.encoder(), logistic if kind == "logistic" else boosting)


def summary(runs: Mapping[str, Frame]) -> list[ReportTable]:
    """Return the table: of each method who has a plan, whether it holds, and what that asks for."""
    frame = ordered(runs["durability"], dataset=DATASETS, model=MODELS, method=methods([]))
    valid = frame[frame["valid"]]
    edges = valid[valid["method"] == EDGE].set_index(["dataset", "model", "subject"])["effort"]

    def interval(part: Frame) -> str:
        votes = np.array([[vote == "1" for vote in votes] for votes in part["votes"] if votes])
        return "{:.3f} to {:.3f}".format(*crossed(votes)) if votes.size else "–"

    def against_edge(part: Frame) -> str:
        own = part[part["valid"]].set_index(["dataset", "model", "subject"])["effort"]
        both = own.index.intersection(edges.index)
        return number(own[both].sum() / edges[both].sum()) if len(both) else "–"

    later: dict[str, Any] = {
        said: lambda part, name=name: number(part[name].mean(), ".3f") for name, said in LATER.items()
    }
    columns = {
        "people": len,
        "valid today": lambda part: f"{part['valid'].mean():.2f}",
        **later,
        "fresh, 95 % interval": interval,
        "effort, median": lambda part: number(part.loc[part["valid"], "effort"].median(), ".3f"),
        "× the edge": against_edge,
        "seconds, median": lambda part: f"{part['seconds'].median():.3f}",
    }
    shown = table(frame, ["dataset", "model", "method"], columns)
    kept = (
        frame[frame["method"] == PROMISED].groupby(["dataset", "model"], sort=False)["fresh"].mean().dropna()
    )
    short = [f"{dataset} {kind} {share:.3f}" for (dataset, kind), share in kept.items() if share < 0.95]
    said = [
        "Valid today: the share of people with a plan that the model accepts; with a durability, that enough of the "
        "retrainings accept as well. The columns after it: of the people who have a plan, the mean share of models to come "
        "that accept it. The interval draws both people and models again.",
        "× the edge: effort over that of the plan for today's model alone, summed over the people who have both.",
        f"durability .95 kept less than .95 on fresh retrainings: {', '.join(short) or 'nowhere'}.",
        "Published on German, validity and future validity, with other data after the shift than here: with a network ROAR .90 "
        "and .68, RBR 1 and .76, CVAS .92 and .70; with a linear model TReX 1 and 1, PROBE 1 and .76.",
    ]
    return [ReportTable(TITLE, shown, remarks=said)]

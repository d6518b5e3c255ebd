"""Whether plans hold: validity today, on fresh retrainings that no plan has seen, and what holding asks for."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from reap import effort
from reap._typing import Frame
from reap.datasets import load
from reap.models import wrap
from reap.models.durable import accepting, retrained
from reap.recourse import Engine, Recourse
from reap.research.baselines import ROAR, Wachter
from reap.research.experiments.results import Result
from reap.research.experiments.scope import Scope

TITLE = "Plans that hold: validity on fresh retrainings (the data set's own action space)"
DATASETS = ("german", "gmc")
NEEDS = ("durability",)
MODELS = ("logistic", "network")
#: Rows a model is trained on at most, and retrainings for making plans and, others, for judging them.
ROWS, REFITS = 2_000, 20
#: Validity and validity after a shift on German as published, with a network.
PUBLISHED = "Published on German with a network, validity and future validity: ROAR .90 and .68, RBR 1 and .76, CVAS .92 and .70."


def cells(scope: Scope) -> list[dict[str, Any]]:
    """Return the parameters of every cell."""
    sizes = {"people": scope.sizes(40)[0], "refits": 4 if scope.quick else REFITS, "seed": scope.seed}
    epochs = 60 if scope.quick else 300
    return [
        {"dataset": dataset, "kind": kind, "epochs": epochs, **sizes}
        for dataset in scope.over(DATASETS)
        for kind in MODELS
    ]


def run(out: Path, *, dataset: str, kind: str, epochs: int, people: int, refits: int, seed: int) -> Frame:
    """Return one row a person and method. The people are not among the rows the model was trained on."""
    data = load(dataset)
    order = np.random.default_rng(seed).permutation(len(data.X))
    size = min(ROWS, len(order) * 4 // 5)
    X, y, rest = data.X.iloc[order[:size]], data.y.iloc[order[:size]], data.X.iloc[order[size:]]
    model = _model(kind, data.space, epochs, seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the epochs are the paper's, converged or not
        model.fit(X, y)
    today = wrap(model, data.space)
    seen = [one.model for one in retrained(today, X, y, refits, random_state=seed)]
    fresh = retrained(today, X, y, refits, random_state=seed + 1)
    subjects = rest[~today.accepts(data.space.encode(rest))].iloc[:people]
    alike = effort.identity(data.space.dimension)
    rows = []
    for method, make in _methods(seen).items():
        engine = make(model, data.space).fit(X)
        for i in range(len(subjects)):
            begin = time.process_time()
            plan = engine.plans(subjects.iloc[[i]], alike)[0]
            rows.append(
                {
                    "dataset": dataset,
                    "model": kind,
                    "method": method,
                    "subject": i,
                    "valid": plan.valid,
                    "fresh": accepting(fresh, plan.path[-1:])[0] / refits if plan.valid else np.nan,
                    "effort": plan.effort,
                    "seconds": time.process_time() - begin,
                }
            )
    return pd.DataFrame(rows)


def _methods(seen: list[Any]) -> dict[str, Callable[[Any, Any], Engine]]:
    """Return how to make each method's engine, by its name; ours share their retrainings."""
    return {
        "today's model alone": Recourse,
        "margin .03": lambda model, space: Recourse(model, space, margin=0.03),
        "durability .80": lambda model, space: Recourse(model, space, durability=0.8, models=seen),
        "durability .95": lambda model, space: Recourse(model, space, durability=0.95, models=seen),
        "Wachter": Wachter,
        "ROAR": ROAR,
    }


def _model(kind: str, space: Any, epochs: int, seed: int) -> Any:
    from sklearn.linear_model import LogisticRegression
    from sklearn.neural_network import MLPClassifier
    from sklearn.pipeline import make_pipeline

    if kind == "logistic":
        return make_pipeline(space.encoder(), LogisticRegression(max_iter=1000))
    return make_pipeline(space.encoder(), MLPClassifier((20, 50, 20), max_iter=epochs, random_state=seed))


def summary(runs: Mapping[str, Frame], scope: Scope) -> list[Result]:
    """Return the table: of each method who has a plan, whether it holds, and what that asks for."""
    frame, rows = runs["durability"], []
    for (dataset, kind), part in frame.groupby(["dataset", "model"], sort=False):
        edge = part[part["method"] == "today's model alone"].set_index("subject")["effort"]
        for method, found in part.groupby("method", sort=False):
            own = found[found["valid"]].set_index("subject")["effort"]
            both = own.index.intersection(edge.dropna().index)
            rows.append(
                {
                    "data": dataset,
                    "model": kind,
                    "method": method,
                    "people": len(found),
                    "valid today": f"{found['valid'].mean():.2f}",
                    "valid on fresh retrainings": f"{found['fresh'].mean():.2f}",
                    "effort, median": f"{own.median():.3f}",
                    "effort × that at the edge": f"{own[both].sum() / edge[both].sum():.2f}"
                    if len(both)
                    else "–",
                    "seconds, median": f"{found['seconds'].median():.3f}",
                }
            )
    said = [
        "Valid today: the share of people with a plan that the model accepts; with a durability, that enough of the "
        "retrainings accept as well. On fresh retrainings: the mean share of retrainings that accept a plan, over "
        "bootstrap samples and seeds that no method has seen, of the people who have one.",
        "Effort of the whole change under the identity. At the edge: the plan that today's model alone asks for, "
        "summed over the people who have both.",
        PUBLISHED,
    ]
    return [Result(TITLE, pd.DataFrame(rows), "beyond the paper", said)]

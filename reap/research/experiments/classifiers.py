"""Accuracy and AUC of the networks on the test part."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from reap._typing import Frame
from reap.research.experiments import paper
from reap.research.experiments.results import Result
from reap.research.experiments.scope import Scope, make_bench

TITLE = "Classifiers: accuracy and AUC"
DATASETS = tuple(paper.CLASSIFIERS)
NEEDS = ("classifiers",)


def cells(scope: Scope) -> list[dict[str, Any]]:
    """Return the parameters of every cell."""
    return [scope.bench(dataset) for dataset in scope.over(DATASETS)]


def run(out: Path, **bench: Any) -> Frame:
    """Return one row: what the network of a data set is worth."""
    from sklearn.metrics import accuracy_score, roc_auc_score

    made = make_bench(out, **bench)
    p = made.classifier.probability(made.space.encode(made.test))
    return pd.DataFrame(
        [
            {
                "dataset": made.name,
                "accuracy": accuracy_score(made.y_test, p > 0.5),
                "auc": roc_auc_score(made.y_test, p),
                "rejected": len(made.subjects),
                "test": len(made.test),
                "candidates": len(made.candidates()),
            }
        ]
    )


def summary(runs: Mapping[str, Frame]) -> list[Result]:
    """Return the table with the paper's figures."""
    frame = runs["classifiers"]
    table = pd.DataFrame(
        {
            "data": frame["dataset"],
            "accuracy": frame["accuracy"].map("{:.2f}".format),
            "paper's accuracy": [f"{paper.CLASSIFIERS[d][0]:.2f}" for d in frame["dataset"]],
            "AUC": frame["auc"].map("{:.2f}".format),
            "paper's AUC": [f"{paper.CLASSIFIERS[d][1]:.2f}" for d in frame["dataset"]],
            "rejected in the test part": frame["rejected"],
            "candidates": frame["candidates"],
        }
    )
    off = {
        d: abs(a - paper.CLASSIFIERS[d][0])
        for d, a in zip(frame["dataset"], frame["accuracy"], strict=True)
        if abs(a - paper.CLASSIFIERS[d][0]) > 0.03
    }
    said = [
        "Multilayer perceptron 20-50-20, ReLU, no early stopping; 80/20 split, stratified, seed 42.",
        f"Accuracy is within .03 of the paper's on {len(frame) - len(off)} of {len(frame)} data sets"
        + (f"; it differs on {', '.join(f'{d} by {v:.2f}' for d, v in off.items())}." if off else "."),
        "Only the rejected people of the test part are subjects; where there are fewer than 100, all are taken.",
    ]
    return [Result(TITLE, table, "in part" if off else "reproduced", said)]

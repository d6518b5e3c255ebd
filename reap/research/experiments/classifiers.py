"""Accuracy and AUC of the networks on the test part."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from reap._typing import Frame
from reap.research.experiments import paper
from reap.research.experiments.bench import make_bench
from reap.research.experiments.report import ReportTable
from reap.research.experiments.runner import Scope

TITLE = "Classifiers: accuracy and AUC"
NEEDS = ("classifiers",)


def cells(scope: Scope) -> list[dict[str, Any]]:
    """Return the parameters of every cell."""
    return [scope.bench(dataset) for dataset in scope.over(tuple(paper.CLASSIFIERS))]


def run(out: Path, **bench: Any) -> Frame:
    """Return one row: what the network of a data set is worth."""
    from sklearn.metrics import accuracy_score, roc_auc_score

    made = make_bench(out, **bench)
    p = made.classifier.probability(made.space.encode(made.test))
    row = {
        "dataset": made.name,
        "accuracy": accuracy_score(made.y_test, p > 0.5),
        "auc": roc_auc_score(made.y_test, p),
        "rejected": len(made.subjects),
        "candidates": len(made.candidates()),
    }
    return pd.DataFrame([row])


def summary(runs: Mapping[str, Frame]) -> list[ReportTable]:
    """Return the table with the paper's figures."""
    frame = runs["classifiers"]
    known = [paper.CLASSIFIERS[name] for name in frame["dataset"]]
    shown = pd.DataFrame(
        {
            "data": frame["dataset"],
            "accuracy": frame["accuracy"].map("{:.2f}".format),
            "paper's accuracy": [f"{accuracy:.2f}" for accuracy, _ in known],
            "AUC": frame["auc"].map("{:.2f}".format),
            "paper's AUC": [f"{auc:.2f}" for _, auc in known],
            "rejected in the test part": frame["rejected"],
            "candidates": frame["candidates"],
        }
    )
    near = [abs(ours - theirs) <= 0.03 for ours, (theirs, _) in zip(frame["accuracy"], known, strict=True)]
    said = [
        "Multilayer perceptron 20-50-20, ReLU, no early stopping.",
        f"Accuracy is within .03 of the paper's on {sum(near)} of {len(near)} data sets.",
        "Only the rejected people of the test part are subjects; where there are fewer than 100, all are taken.",
    ]
    return [ReportTable(TITLE, shown, "reproduced" if all(near) else "in part", said)]

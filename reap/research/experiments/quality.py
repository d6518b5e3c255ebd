"""Beyond the paper: the quality line of the design, on every data set, in the data set's own action space."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from reap._typing import Frame
from reap.research.experiments import grid
from reap.research.experiments.excess import BASE, RATIO
from reap.research.experiments.measures import excess, same_oracle
from reap.research.experiments.results import Result, between, percent
from reap.research.experiments.scope import Scope
from reap.research.experiments.targets import against_targets, beside, tally, targets

TITLE = "Quality of our default on every data set (its own action space, Gaussian people)"
DATASETS = ("synthetic", "german", "student", "bank", "compas", "adult", "gmc", "heloc")
NEEDS = ("quality",)
#: Runs at least with two options, and with four: 400 a data set. ``--subjects`` and ``--matrices`` say otherwise.
RUNS = 200


def cells(scope: Scope) -> list[dict[str, Any]]:
    """Return the parameters of every cell."""
    every = {
        "methods": ["nothing asked", "ours"],
        "answers": sorted({0, scope.questions(5), scope.questions(10)}),
    }
    return [
        {**cell, **BASE, **every, "options": options}
        for cell in scope.cells(DATASETS, 40, 1, own=True, runs=RUNS)
        for options in (2, 4)
    ]


run = grid.run


def summary(runs: Mapping[str, Frame]) -> list[Result]:
    """Return the excess before any answer and after some, a line a data set and number of options."""
    frame = same_oracle(runs["quality"])
    rows, said = [], []
    for (dataset, options), part in frame.groupby(["dataset", "options"], sort=False):
        ours = part[part["method"] == "ours"]
        found = {t: excess(at) for t, at in ours.groupby("answers") if t}
        first = excess(part[(part["method"] == "nothing asked") & (part["answers"] == 0)])
        asked = targets("gaussian", 0.0, int(options))
        row: dict[str, Any] = {"data": dataset, "options": options, "nothing asked": between(first)}
        for t, each in found.items():
            row[f"after {t}"] = between(each)
            row[f"median, p90 ({t})"] = f"{percent(each['median'])}, {percent(each['p90'])}"
        rows.append({**row, **beside(found, asked), "runs": first["runs"]})
        said += against_targets(part, f"{dataset}, {options} options", asked)
    return [Result(TITLE, pd.DataFrame(rows), "beyond the paper", [RATIO, *tally(said)])]

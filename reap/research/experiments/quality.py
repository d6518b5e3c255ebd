"""Beyond the paper: the quality line of the design, on every data set, in the data set's own action space."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from reap._typing import Frame
from reap.research.experiments import grid
from reap.research.experiments.excess import against_targets
from reap.research.experiments.measures import excess, same_oracle
from reap.research.experiments.results import Result, between
from reap.research.experiments.scope import Scope

TITLE = "Quality of our default on every data set (its own action space, Gaussian people, graph engine)"
DATASETS = ("synthetic", "german", "student", "bank", "compas", "adult", "gmc", "heloc")
NEEDS = ("quality",)


def cells(scope: Scope) -> list[dict[str, Any]]:
    """Return the parameters of every cell."""
    subjects, matrices = scope.sizes(40, 10)
    common = {
        "people": "gaussian",
        "lapse": 0.0,
        "engine": "graph",
        "methods": ["nothing asked", "ours"],
        "answers": sorted({0, scope.questions(5), scope.questions(10)}),
    }
    return [
        {**bench, **common, "options": options, "subjects": chunk, "matrices": matrices}
        for bench in (scope.bench(name, own=True) for name in scope.over(DATASETS))
        for options in (2, 4)
        for chunk in scope.chunks(bench, subjects)
    ]


def run(out: Path, **params: Any) -> Frame:
    """Return the runs of a cell."""
    return grid.run(out, **params)


def summary(runs: Mapping[str, Frame], scope: Scope) -> list[Result]:
    """Return the excess before any answer and after some, a line a data set and number of options."""
    frame = same_oracle(runs["quality"])
    if len(frame) == 0:
        return []
    rows, said = [], []
    for (dataset, options), part in frame.groupby(["dataset", "options"], sort=False):
        ours = part[part["method"] == "ours"]
        found = {t: excess(at) for t, at in ours.groupby("answers")}
        first = excess(part[(part["method"] == "nothing asked") & (part["answers"] == 0)])
        rows.append(
            {"data": dataset, "options": options, "nothing asked": between(first)}
            | {f"after {t}": between(each) for t, each in found.items()}
            | {"runs": first["runs"]}
        )
        said += against_targets(part, f"{dataset}, {options} options", int(options))
    short = [line for line in said if "falls short" in line]
    met = f"Our default meets the targets of the design in {len(said) - len(short)} of {len(said)} places."
    why = "Why: many different plans may be the best one for a person there, and the answers leave several of them."
    remarks = [met, *short, *([why] if short else [])]
    return [Result(TITLE, pd.DataFrame(rows), "beyond the paper", remarks if said else [])]

"""Excess over the oracle against the number of answers: the published method, its corrected centre, our default."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from reap._typing import Frame
from reap.research.experiments import grid
from reap.research.experiments.measures import excess, same_oracle
from reap.research.experiments.results import Plot, Result, between, percent
from reap.research.experiments.scope import Scope
from reap.research.experiments.targets import against_targets, beside, tally, targets

TITLE = "Excess over the oracle (Gaussian people, no lapses, the paper's features, nothing forbidden)"
DATASETS = ("german", "student", "bank", "compas")
NEEDS = ("excess",)
#: What people are like where a table does not say otherwise.
BASE: dict[str, Any] = {"people": "gaussian", "lapse": 0.0}
RATIO = (
    "Ratio of sums Σ effort / Σ oracle − 1, of whole changes, with a 95 % bootstrap interval over subjects; median and 90th "
    "percentile are over runs. The oracle is the cheapest, under the true effort, of the engine's plan for it and all plans "
    "compared."
)


def cells(scope: Scope) -> list[dict[str, Any]]:
    """Return the parameters of every cell."""
    every = {"methods": list(grid.METHODS), "answers": list(range(scope.questions(10) + 1))}
    return [
        {**cell, **BASE, **every, "options": options}
        for cell in scope.cells(DATASETS, 25, 1, runs=100)
        for options in (2, 4)
    ]


run = grid.run


def table(frame: Frame, by: list[str], times: list[int]) -> Frame:
    """Return the excess after some numbers of answers, a line a setting and method; median and p90 after 5.

    Beside our default stands what the design asks of it, and whether it is met.
    """
    rows = []
    for names, part in frame.groupby([*by, "method"], sort=False):
        row = dict(zip([*by, "method"], names, strict=True))
        found = {t: excess(part[part["answers"] == t]) for t in times}
        row |= {f"after {t}": between(each) for t, each in found.items()}
        first = found[min(5, times[-1])]
        row |= {"median": percent(first["median"]), "p90": percent(first["p90"])}
        who, lapse, options = (part[name].iloc[0] for name in ("people", "lapse", "options"))
        asked = targets(str(who), float(lapse), int(options)) if row["method"] == "ours" else {}
        rows.append({**row, **beside(found, asked), "runs": first["runs"]})
    return pd.DataFrame(rows).rename(columns={"dataset": "data"})


def curves(frame: Frame, by: list[str], line: str) -> Plot:
    """Return the excess against the number of answers: a panel a setting, a line a method or factor."""
    panels = {}
    for names, part in frame.groupby(by, sort=False):
        lines = {}
        for name, group in part.groupby(line, sort=False):
            found = {float(t): excess(at) for t, at in group.groupby("answers")}
            sides = ([each[side] for each in found.values()] for side in ("excess", "low", "high"))
            lines[str(name)] = (list(found), *sides)
        panels[", ".join(map(str, names))] = lines
    return Plot(panels, "answers", "excess over the oracle")  # type: ignore[arg-type]


def summary(runs: Mapping[str, Frame]) -> list[Result]:
    """Return the table after 0, 5 and 10 answers, and the curves."""
    frame = same_oracle(runs["excess"])
    last = int(frame["answers"].max())
    by = ["dataset", "options"]
    said = []
    for (dataset, options), part in frame.groupby(by, sort=False):
        asked = targets("gaussian", 0.0, int(options))
        said += against_targets(part, f"{dataset}, {options} options", asked)
    made = table(frame, by, sorted({0, min(5, last), last}))
    shown = frame.assign(options=[f"{k} options" for k in frame["options"]])
    return [Result(TITLE, made, "beyond the paper", [RATIO, *tally(said)], curves(shown, by, "method"))]

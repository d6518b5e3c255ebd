"""Beyond the paper: the excess when one thing at a time differs from the base cell, in the data set's own action space."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from reap._typing import Frame
from reap.research.experiments import grid
from reap.research.experiments.measures import excess, same_oracle
from reap.research.experiments.results import Plot, Result, between, percent
from reap.research.experiments.scope import Scope

TITLE = "Excess over the oracle, one factor at a time (the data set's own action space)"
DATASETS = ("german", "student")
NEEDS = ("factors",)
BASE: dict[str, Any] = {"people": "gaussian", "lapse": 0.0, "options": 2, "engine": "graph"}
#: What differs from the base cell, and what design asks of our default after 5 / 10 answers.
FACTORS: dict[str, tuple[dict[str, Any], tuple[float, float] | None]] = {
    "base": ({}, (0.04, 0.02)),
    "4 options": ({"options": 4}, (0.015, 0.005)),
    "10 % lapses": ({"lapse": 0.1}, (0.07, 0.04)),
    "20 % lapses": ({"lapse": 0.2}, None),
    "10 % lapses, 4 options": ({"lapse": 0.1, "options": 4}, (0.03, 0.01)),
    "uniform people": ({"people": "uniform"}, (0.08, 0.04)),
    "rank-one people": ({"people": "rank-one"}, None),
    "diagonal people": ({"people": "diagonal"}, (0.08, 0.04)),
    "LQR people": ({"people": "lqr"}, (0.08, 0.04)),
    "SCM people": ({"people": "scm"}, (0.08, 0.04)),
    "L1 people": ({"people": "l1"}, (0.08, 0.04)),
    "gradient engine": ({"engine": "gradient"}, (0.08, 0.04)),
    "gradient engine, 4 options": ({"engine": "gradient", "options": 4}, (0.04, 0.02)),
}
METHODS = ["nothing asked", "published, centre", "true centre", "ours"]


def cells(scope: Scope) -> list[dict[str, Any]]:
    """Return the parameters of every cell."""
    subjects, matrices = scope.sizes(25, 4)
    questions = scope.questions(10)
    answers = sorted({*range(questions + 1)})
    factors = ("base", "4 options", "L1 people", "gradient engine") if scope.quick else tuple(FACTORS)
    return [
        {
            **bench,
            **BASE,
            **FACTORS[factor][0],
            "methods": METHODS,
            "answers": answers,
            "subjects": chunk,
            "matrices": matrices,
        }
        for bench in (scope.bench(name, own=True) for name in scope.over(DATASETS))
        for chunk in scope.chunks(bench, subjects)
        for factor in factors
    ]


def run(out: Path, **params: Any) -> Frame:
    """Return the runs of a cell."""
    return grid.run(out, **params)


def named(frame: Frame) -> Frame:
    """Return the runs with the name of their factor, and one oracle a person."""
    names = {tuple({**BASE, **changed}.values()): name for name, (changed, _) in FACTORS.items()}
    keys = zip(frame["people"], frame["lapse"], frame["options"], frame["engine"], strict=True)
    return same_oracle(frame).assign(factor=[names[key] for key in keys])


def summary(runs: Mapping[str, Frame], scope: Scope) -> list[Result]:
    """Return the table after 5 and 10 answers, and the curves of the base cell."""
    if len(runs["factors"]) == 0:
        return []
    frame = named(runs["factors"])
    last = int(frame["answers"].max())
    times = sorted({min(5, last), last})
    rows, said = [], []
    for dataset, by_data in frame.groupby("dataset", sort=False):
        for factor in [f for f in FACTORS if f in set(by_data["factor"])]:
            for method, part in by_data[by_data["factor"] == factor].groupby("method", sort=False):
                found = {t: excess(part[part["answers"] == t]) for t in times}
                row = {"data": dataset, "factor": factor, "method": method}
                row |= {f"after {t}": between(found[t]) for t in times}
                first = found[times[0]]
                row |= {
                    "median": percent(first["median"]),
                    "p90": percent(first["p90"]),
                    "runs": first["runs"],
                }
                rows.append(row)
                target = FACTORS[factor][1]
                if method == "ours" and target is not None and last == 10:
                    short = [
                        f"{percent(found[t]['excess'])} after {t} answers (target {percent(goal)})"
                        for t, goal in zip((5, 10), target, strict=True)
                        if found[t]["excess"] > goal
                    ]
                    if short:
                        said.append(f"{dataset}, {factor}: falls short, {' and '.join(short)}.")
    if any("gradient engine" in line for line in said):
        said.append(
            "Why the gradient engine: one person's one-step plans come in hundreds where features are many; a round of the "
            "dialogue sees some tens of them, so that the very best is often not among those it asks about."
        )
    if last == 10 and not said:
        said.append("Our default meets the quality line of the design in every cell that has one.")
    return [Result(TITLE, pd.DataFrame(rows), "beyond the paper", said, _plot(frame))]


def _plot(frame: Frame) -> Plot:
    panels = {}
    for dataset, by_data in frame[frame["method"] == "ours"].groupby("dataset", sort=False):
        lines = {}
        for factor, part in by_data.groupby("factor", sort=False):
            if factor != "rank-one people":
                points = [(float(t), excess(at)["excess"]) for t, at in part.groupby("answers")]
                lines[str(factor)] = ([t for t, _ in points], [e for _, e in points], None, None)
        panels[f"{dataset}, ours"] = lines
    return Plot(panels, "answers", "excess over the oracle")

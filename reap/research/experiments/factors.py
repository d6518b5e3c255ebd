"""Beyond the paper: the excess when one thing at a time differs from the base cell, in the data set's own action space."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from reap._typing import Frame
from reap.research.experiments import grid
from reap.research.experiments.excess import BASE, RATIO, curves, table
from reap.research.experiments.measures import same_oracle
from reap.research.experiments.results import Result
from reap.research.experiments.scope import Scope
from reap.research.experiments.targets import against_targets, tally, targets

TITLE = "Excess over the oracle, one factor at a time (the data set's own action space)"
DATASETS = ("german", "student")
NEEDS = ("factors",)
#: What differs from the base cell.
FACTORS: dict[str, dict[str, Any]] = {
    "base": {},
    "10 % lapses": {"lapse": 0.1},
    "20 % lapses": {"lapse": 0.2},
    "uniform people": {"people": "uniform"},
    "rank-one people": {"people": "rank-one"},
    "diagonal people": {"people": "diagonal"},
    "LQR people": {"people": "lqr"},
    "SCM people": {"people": "scm"},
    "L1 people": {"people": "l1"},
    "people who count changes": {"people": "counting"},
    "people who hate waiting": {"people": "waiting"},
    "people who tire with every row": {"people": "tiring"},
    "people who see two rows": {"people": "narrow"},
    "people who settle": {"people": "settling"},
}
METHODS = ["nothing asked", "published, centre", "true centre", "ours"]


def cells(scope: Scope) -> list[dict[str, Any]]:
    """Return the parameters of every cell."""
    every = {"methods": METHODS, "answers": list(range(scope.questions(10) + 1))}
    factors = ("base", "L1 people") if scope.quick else tuple(FACTORS)
    return [
        {**cell, **BASE, **FACTORS[factor], **every, "options": options}
        for cell in scope.cells(DATASETS, 25, 1, own=True, runs=100)
        for factor in factors
        for options in (2, 4)
    ]


run = grid.run


def named(frame: Frame) -> Frame:
    """Return the runs with the name of their factor, and one oracle a person."""
    names = {tuple({**BASE, **changed}.values()): name for name, changed in FACTORS.items()}
    keys = zip(frame["people"], frame["lapse"], strict=True)
    return same_oracle(frame).assign(factor=[names[key] for key in keys])


def summary(runs: Mapping[str, Frame]) -> list[Result]:
    """Return the table after 5 and 10 answers, and the curves of our default."""
    frame = named(runs["factors"])
    last = int(frame["answers"].max())
    by = ["dataset", "factor", "options"]
    said = []
    for (dataset, factor, options), part in frame.groupby(by, sort=False):
        asked = targets(str(part["people"].iloc[0]), float(part["lapse"].iloc[0]), int(options))
        said += against_targets(part, f"{dataset}, {factor}, {options} options", asked)
    made = table(frame, by, sorted({min(5, last), last}))
    ours = frame[(frame["method"] == "ours") & (frame["people"] != "rank-one")]
    ours = ours.assign(options=[f"ours, {k} options" for k in ours["options"]])
    plot = curves(ours, ["dataset", "options"], "factor")
    note = "Rank-one people have one single concern, and a best effort near 0: they are reported without a target."
    return [Result(TITLE, made, "beyond the paper", [RATIO, note, *tally(said)], plot)]

"""Beyond the paper: every kind of people on every data set, our default beside the plan for everybody.

``quality`` has Gaussian people on all data sets, ``factors`` all kinds of people on two of them, beside the paper's methods.
Here all kinds meet all data sets.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from reap._typing import Frame
from reap.research.experiments import factors, grid, quality
from reap.research.experiments.excess import BASE, RATIO
from reap.research.experiments.measures import excess
from reap.research.experiments.results import Result, between, percent
from reap.research.experiments.scope import Scope
from reap.research.experiments.targets import against_targets, beside, tally, targets

TITLE = (
    "Every kind of people on every data set: excess after 5 / 10 answers (the data set's own action space)"
)
LINES = "The same with intervals"
DATASETS = quality.DATASETS
NEEDS = ("quality", "kinds")
#: People of a kind at least, a data set and number of options.
RUNS = 30


def cells(scope: Scope) -> list[dict[str, Any]]:
    """Return the parameters of every cell."""
    every = {"methods": ["nothing asked", "ours"], "answers": list(range(scope.questions(10) + 1))}
    kinds = ("L1 people",) if scope.quick else tuple(name for name in factors.FACTORS if name != "base")
    return [
        {**cell, **BASE, **factors.FACTORS[kind], **every, "options": options}
        for cell in scope.cells(DATASETS, RUNS, 1, own=True, runs=RUNS)
        for kind in kinds
        for options in (2, 4)
    ]


run = grid.run


def summary(runs: Mapping[str, Frame]) -> list[Result]:
    """Return a line a kind of people and number of options, a column a data set; then a line each, with intervals."""
    frame = factors.named(pd.concat([runs[name] for name in NEEDS if len(runs[name])], ignore_index=True))
    ours = frame[frame["method"] == "ours"]
    last = int(ours["answers"].max())
    times = sorted({min(5, last), last})
    lines, said = [], []
    wide: dict[tuple[str, int], dict[str, Any]] = {}
    for (factor, options, dataset), part in ours.groupby(["factor", "options", "dataset"], sort=False):
        found = {t: excess(part[part["answers"] == t]) for t in times}
        asked = targets(str(part["people"].iloc[0]), float(part["lapse"].iloc[0]), int(options))
        said += against_targets(part, f"{dataset}, {factor}, {options} options", asked)
        row = wide.setdefault((factor, options), {"people": factor, "options": options})
        row["asked for"] = beside(found, asked)["targets"] or "reported"
        row[dataset] = " / ".join(_shown(found[t]["excess"], asked.get(t)) for t in times)
        after = {f"after {t}": between(each) for t, each in found.items()}
        line = {"people": factor, "options": options, "data": dataset, **after, **beside(found, asked)}
        lines.append({**line, "runs": found[times[0]]["runs"]})
    columns = [
        "people",
        "options",
        "asked for",
        *(name for name in DATASETS if name in set(ours["dataset"])),
    ]
    table = pd.DataFrame(list(wide.values())).reindex(columns=columns).fillna("–")
    note = "In %; what ends in ! is not reached. Rank-one people and those with 20 % lapses have no target."
    return [
        Result(TITLE, table, "beyond the paper", [RATIO, note, *tally(said)[:1]]),
        Result(LINES, pd.DataFrame(lines), "beyond the paper", []),
    ]


def _shown(value: float, target: float | None) -> str:
    """Return a figure in per cent, with a mark where it misses its target."""
    shown = percent(value).removesuffix(" %")
    return f"{shown}!" if target is not None and value > target else shown

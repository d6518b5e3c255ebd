"""Beyond the paper: who has a plan within 6, 12, 24 and 60 months, where features have a pace and clocks go along."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from reap import effort
from reap._typing import Frame
from reap.recourse import Recourse
from reap.research.experiments.results import Plot, Result
from reap.research.experiments.scope import CHUNK, Scope, make_bench
from reap.space import ActionSpace

TITLE = "Who has a plan by when (our default, the data set's own action space, with paces and clocks)"
DATASETS = ("german", "adult", "gmc", "heloc")
NEEDS = ("horizons",)
#: Months within which a plan must be done.
MONTHS = (6, 12, 24, 60)
#: Rows that the network is trained on and people are taken from, at most.
ROWS = 6_000


def cells(scope: Scope) -> list[dict[str, Any]]:
    """Return the parameters of every cell."""
    made = []
    for bench in (scope.bench(name, own=True) for name in scope.over(DATASETS)):
        bench["rows"] = bench["rows"] or ROWS
        count = min(scope.sizes(200)[0], len(make_bench(scope.out, **bench).subjects))
        made += [
            {**bench, "subjects": (begin, min(begin + CHUNK, count))} for begin in range(0, count, CHUNK)
        ]
    return made


def run(out: Path, *, subjects: tuple[int, int], **bench: Any) -> Frame:
    """Return one row a subject and number of months: whether there is a plan, and how long it really takes."""
    made = make_bench(out, **bench)
    far = until(made.space, MONTHS[-1])
    engine = Recourse(made.model, far).fit(made.train)
    alike = effort.identity(far.dimension)
    rows = []
    for i in range(*subjects):
        x, plan = made.subjects.iloc[[i]], None
        for months in reversed(MONTHS):
            # the plan of least effort within more months stays that where it is done sooner
            if plan is None or plan.status != "ok" or plan.months > months:
                plan = engine.plans(x, alike, far.limits(within_months=months))[0]
            took = float(far.months(plan.path[0], plan.path[-1])[0])
            acting = max(far.time.actions(plan.path[0], plan.path[-1]).values(), default=0)
            rows.append(
                {
                    "dataset": made.name,
                    "subject": i,
                    "within": months,
                    "status": plan.status,
                    "months": plan.months,
                    "late": plan.status == "ok" and not plan.months <= months,
                    "disagree": plan.status == "ok" and plan.months != took,  # NaN where clocks disagree
                    "waits": plan.status == "ok" and plan.months > acting,
                    "effort": plan.effort,
                }
            )
    return pd.DataFrame(rows)


def until(space: ActionSpace, horizon: int) -> ActionSpace:
    """Return a space with another horizon."""
    return ActionSpace(
        space.features, rules=space.rules, max_changes=space.max_changes, horizon=horizon, title=space.title
    )


def summary(runs: Mapping[str, Frame]) -> list[Result]:
    """Return the table and the picture: the share of people with a plan by the months they give it."""
    frame = runs["horizons"]
    rows, lines = [], {}
    for dataset, part in frame.groupby("dataset", sort=False):
        found = part[part["status"] == "ok"]
        share = part["status"].eq("ok").groupby(part["within"]).mean()
        last = found[found["within"] == MONTHS[-1]]
        rows.append(
            {
                "data": dataset,
                "people": part["subject"].nunique(),
                **{f"{months} months": f"{share[months]:.2f}" for months in MONTHS},
                "months, median": f"{last['months'].median():.0f}" if len(last) else "–",
                "clocks disagree": int(part["disagree"].sum()),
                "too late": int(part["late"].sum()),
                "wait": f"{last['waits'].mean():.2f}" if len(last) else "–",
            }
        )
        lines[str(dataset)] = (list(MONTHS), [float(share[months]) for months in MONTHS], *_interval(part))
    said = [
        f"The share of rejected people with a plan that is done in time; {frame['status'].eq('ok').sum():,} plans. "
        "Effort is that of everybody alike. Bands: 95 % intervals of the share.",
        "Months, median: of the plans within 60 months. Wait: the share of those that wait longer than their actions take, "
        "because no plan without waiting was found.",
        "Clocks disagree, too late: plans whose row cannot occur, or that end after the months given. Both must be 0.",
        f"The network is trained on at most {ROWS * 4 // 5:,} rows; the people are from the other fifth.",
    ]
    plot = Plot({"people with a plan": lines}, "months they give it", "share of rejected people")
    return [Result(TITLE, pd.DataFrame(rows), "beyond the paper", said, plot)]


def _interval(part: Frame) -> tuple[list[float], list[float]]:
    """Return the 95 % intervals (Wilson) of the shares, low and high."""
    low, high = [], []
    for months in MONTHS:
        found = part.loc[part["within"] == months, "status"].eq("ok")
        n, p, z = len(found), float(found.mean()), 1.96
        middle, half = p + z * z / (2 * n), z * np.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
        low.append((middle - half) / (1 + z * z / n))
        high.append((middle + half) / (1 + z * z / n))
    return low, high

"""Beyond the paper: who has a plan within 6, 12, 24 and 60 months, where features have a pace and clocks go along."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from scipy.stats import binomtest

from reap import effort
from reap._typing import Frame
from reap.recourse import Recourse
from reap.research.experiments.bench import Bench, on_bench
from reap.research.experiments.report import Plot, ReportTable, number, table
from reap.research.experiments.runner import Scope
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
    rows = scope.bench("german")["rows"] or ROWS
    return scope.cells(DATASETS, 200, 1, own=True, rows=rows)


@on_bench
def run(made: Bench, subjects: range, *, matrices: int) -> Iterator[dict[str, Any]]:
    """Yield one row a subject and number of months: whether there is a plan, and how long it really takes."""
    space = made.space
    far = ActionSpace(
        space.features,
        rules=space.rules,
        max_changes=space.max_changes,
        horizon=MONTHS[-1],
        title=space.title,
    )
    engine = Recourse(made.model, far).fit(made.train)
    alike = effort.identity(far.dimension)
    for i in subjects:
        plan = None
        for months in reversed(MONTHS):
            # the plan of least effort within more months stays that where it is done sooner
            if plan is None or plan.status != "ok" or plan.months > months:
                plan = engine.plans(made.x(i), alike, far.limits(within_months=months))[0]
            found = plan.status == "ok"
            took = float(far.months(plan.path[0], plan.path[-1])[0])
            acting = max(far.time.actions(plan.path[0], plan.path[-1]).values(), default=0)
            yield {
                "subject": i,
                "within": months,
                "found": found,
                "months": plan.months if found else np.nan,
                "late": found and not plan.months <= months,
                "disagree": found and plan.months != took,  # NaN where clocks disagree
                "waits": found and plan.months > acting,
                "effort": plan.effort,
            }


def summary(runs: Mapping[str, Frame]) -> list[ReportTable]:
    """Return the table and the picture: the share of people with a plan by the months they give it."""
    frame = runs["horizons"]
    share: dict[str, Any] = {
        f"{m} months": lambda part, m=m: f"{part.loc[part['within'] == m, 'found'].mean():.2f}"
        for m in MONTHS
    }

    def last(part: Frame) -> Frame:
        return part[part["found"] & (part["within"] == MONTHS[-1])]

    shown = table(
        frame,
        ["dataset"],
        {
            "people": lambda part: part["subject"].nunique(),
            **share,
            "months, median": lambda part: number(last(part)["months"].median(), ".0f"),
            "clocks disagree": lambda part: int(part["disagree"].sum()),
            "too late": lambda part: int(part["late"].sum()),
            "wait": lambda part: number(last(part)["waits"].mean()),
        },
    )
    said = [
        f"The share of rejected people with a plan that is done in time; {frame['found'].sum():,} plans. "
        "Effort is that of everybody alike. Bands: 95 % intervals of the share.",
        "Months, median: of the plans within 60 months. Wait: the share of those that wait longer than their actions take.",
        "Clocks disagree, too late: plans whose row cannot occur, or that end after the months given. Both must be 0.",
        f"The network is trained on at most {ROWS * 4 // 5:,} rows; the people are from the other fifth.",
    ]
    lines: Any = {str(name): _line(part) for name, part in frame.groupby("dataset", sort=False)}
    plot = Plot({"people with a plan": lines}, "months they give it", "share of rejected people")
    return [ReportTable(TITLE, shown, remarks=said, plot=plot)]


def _line(part: Frame) -> tuple[list[float], ...]:
    """Return the months, and the share of people with a plan with its 95 % interval (Wilson)."""
    by = part.groupby("within")["found"]
    shares = [binomtest(int(found.sum()), len(found)).proportion_ci(method="wilson") for _, found in by]
    months = [float(m) for m in by.groups]
    return months, list(by.mean()), [one.low for one in shares], [one.high for one in shares]

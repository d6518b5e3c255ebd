"""Beyond the paper: how near the recommended plan comes to the best one, for which people, after how many answers.

Every kind of people meets every data set, in the data set's own action space. All methods plan with the same engine,
``Recourse``, and are scored by the effort of the whole change: what differs is what is asked and what is made of the answers.
Every simulated person is used once: the k-th person in the place of the i-th subject is nobody else's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from reap import effort
from reap._typing import Frame
from reap.elicitation import Bayes, Paper
from reap.research.experiments.bench import Bench, on_bench
from reap.research.experiments.measures import drawn_means, excess, same_oracle
from reap.research.experiments.people import ANSWERED, MINDING, READING, Place, oracles, person
from reap.research.experiments.report import Plot, ReportTable, between, ordered, percent, table
from reap.research.experiments.runner import Scope
from reap.research.experiments.sessions import Outcome, hold

TITLE = "Excess over the oracle after 5 / 10 answers, in %, for every kind of people (own action space)"
LINES, SURE = (
    "The same with intervals, and other methods",
    "Confidence: stated and observed within 5 % of the best",
)
NEEDS = ("quality",)
DATASETS = ("synthetic", "german", "student", "bank", "compas", "adult", "gmc", "heloc")
#: Who answers, and with which share of slips.
PEOPLE: dict[str, tuple[str, float]] = {
    "as people answered": (ANSWERED, 0.0),
    "Gaussian": ("gaussian", 0.0),
    "10 % lapses": ("gaussian", 0.1),
    "20 % lapses": ("gaussian", 0.2),
    "uniform": ("uniform", 0.0),
    "rank-one": ("rank-one", 0.0),
    "diagonal": ("diagonal", 0.0),
    "LQR": ("lqr", 0.0),
    "SCM": ("scm", 0.0),
    "L1": ("l1", 0.0),
    "count changes": ("counting", 0.0),
    "hate waiting": ("waiting", 0.0),
    "tire with every row": ("tiring", 0.0),
    "see two rows": ("narrow", 0.0),
    "settle": ("settling", 0.0),
}
#: How a method holds a session.
METHODS: dict[str, dict[str, Any]] = {
    "ours": {},
    "ours, any number of rows": {"preset": Bayes(rows=None, minds=False)},
    "published, worst case": {"preset": Paper(center="published", objective="worst-case")},
    "published, centre": {"preset": Paper(center="published", objective="expected")},
    "true centre": {"preset": Paper(center="chebyshev", objective="expected")},
}
FIRST = "nothing asked"
#: Runs a data set and number of options with people as they answered and Gaussian ones, and with every other kind.
RUNS, FEWER = 200, 30
#: Where the paper's method is compared, and for how many of the subjects.
COMPARED, SUBJECTS = ("german", "student", "bank", "compas"), 20
#: Numbers of answers after which plans are judged, and where curves are drawn.
TIMES, CURVE = (0, 5, 10), (0, 1, 2, 3, 5, 10)
#: What is asked of 2 and of 4 options: the excess after 5 and after 10 answers. Some people are only reported.
OTHERS = {2: (0.08, 0.04), 4: (0.03, 0.01)}
TARGETS = {
    "Gaussian": {2: (0.04, 0.015), 4: (0.015, 0.005)},
    "10 % lapses": {2: (0.07, 0.04), 4: (0.03, 0.01)},
}
REPORTED = ("as people answered", "rank-one", "20 % lapses")


def cells(scope: Scope) -> list[dict[str, Any]]:
    """Return the parameters of every cell."""
    made, last = [], scope.questions(10)
    for who in ("as people answered", "Gaussian", "L1") if scope.quick else PEOPLE:
        runs = RUNS if who in ("as people answered", "Gaussian") else FEWER
        for cell in scope.cells(DATASETS, min(runs, 40), 1, own=True, runs=runs):
            methods = ["ours"] + ["ours, any number of rows"] * (who == "tire with every row")
            if who == "Gaussian" and cell["dataset"] in COMPARED and cell["subjects"][0] < SUBJECTS:
                methods = [name for name in METHODS if name != "ours, any number of rows"]
            at = sorted({min(t, last) for t in (CURVE if len(methods) > 2 else TIMES)})
            made += [{**cell, "who": who, "options": k, "methods": methods, "at": at} for k in (2, 4)]
    return made


@on_bench
def run(
    made: Bench,
    subjects: range,
    *,
    who: str,
    options: int,
    methods: list[str],
    at: list[int],
    matrices: int,
) -> Iterator[dict[str, Any]]:
    """Yield one row a subject, person, method and number of answers, with the effort and the oracle's."""
    kind, lapse = PEOPLE[who]
    engine, seed, d = made.engine("recourse"), made.seed, made.dimension
    for i in subjects:
        x = made.x(i)
        # a place takes a search, and only some kinds of people look where they stand
        place = Place.of(engine, x) if kind in (*MINDING, *READING) else None
        numbers = range(i * matrices, (i + 1) * matrices)
        judges = [person(kind, d, k, seed, place=place) for k in numbers]
        alike = engine.plans(x, effort.identity(d))[0]
        for k, judge, best in zip(numbers, judges, oracles(engine, x, judges), strict=True):
            found = [(FIRST, Outcome(t, alike, 0.0)) for t in at]
            for method in methods:
                someone = person(kind, d, k, seed, lapse=lapse, subject=i, place=place)
                how = {"at": at, "seed": seed, "options": options, **METHODS[method]}
                found += [(method, each) for each in hold(engine, x, someone, **how)]
            rows = [_row(method, each, judge) for method, each in found]
            oracle = float(np.nanmin([best, *(row["effort"] for row in rows)]))
            about = {"who": who, "options": options, "subject": i, "person": k, "oracle": oracle}
            yield from ({**about, **row} for row in rows)


def _row(method: str, outcome: Outcome, judge: Any) -> dict[str, Any]:
    plan, sure = outcome.plan, outcome.plan.confidence
    return {
        "method": method,
        "answers": outcome.answers,
        "effort": judge.effort(plan.moves) if plan.status == "ok" else np.nan,
        "within": np.nan if sure is None else sure.within,
        "rows": outcome.rows,
        "seconds": outcome.seconds,
    }


# tables ---------------------------------------------------------------------------------------------------------


def summary(runs: Mapping[str, Frame]) -> list[ReportTable]:
    """Return a line a kind of people with a column a data set; a line each with intervals; confidence."""
    kinds = list(PEOPLE)
    frame = ordered(same_oracle(runs["quality"]), who=kinds, dataset=DATASETS, method=[FIRST, *METHODS])
    ours = frame[frame["method"] == "ours"]
    last = int(frame["answers"].max())
    times = sorted({min(t, last) for t in TIMES[1:]})
    wide: dict[tuple[str, int], dict[str, Any]] = {}
    reached: list[bool] = []
    for (who, options, dataset), part in ours.groupby(["who", "options", "dataset"], sort=False):
        asked = None if who in REPORTED else TARGETS.get(who, OTHERS)[options]
        found = [excess(part[part["answers"] == t])["excess"] for t in times]
        met = [value <= most for value, most in zip(found, asked or (), strict=False)]
        reached += met
        shown = [percent(value).removesuffix(" %") for value in found]
        marks = ["" if fine else "!" for fine in met] or [""] * len(found)
        row = wide.setdefault((who, options), {"people": who, "options": options})
        row["asked for"] = " / ".join(f"{100 * most:g}" for most in asked) if asked else "–"
        row[dataset] = " / ".join(value + mark for value, mark in zip(shown, marks, strict=False))
    said = [
        "Ratio of sums Σ effort / Σ oracle − 1, of whole changes. The oracle is the cheapest, under the true effort, of the "
        "engine's plan for it and all plans compared.",
        f"Our default reaches {sum(reached)} of {len(reached)} figures asked for; what ends in ! is not reached.",
    ]
    return [
        ReportTable(TITLE, pd.DataFrame(list(wide.values())).fillna("–"), remarks=said, plot=_curves(frame)),
        ReportTable(LINES, _lines(frame, times)),
        *_confidence(ours),
    ]


def _lines(frame: Frame, times: list[int]) -> Frame:
    """Return the excess after some numbers of answers with 95 % intervals over subjects, and the rows read."""

    def after(part: Frame, t: int) -> dict[str, float]:
        return excess(part[part["answers"] == t])

    def quantiles(part: Frame) -> str:
        found = after(part, times[0])
        return f"{percent(found['median'])}, {percent(found['p90'])}"

    columns: dict[str, Any] = {f"after {t}": lambda part, t=t: between(after(part, t)) for t in (0, *times)}
    columns[f"median, p90 ({times[0]})"] = quantiles
    columns["rows read"] = lambda part: f"{part.loc[part['answers'] == times[-1], 'rows'].mean():.1f}"
    columns["runs"] = lambda part: after(part, 0)["runs"]
    return table(frame, ["who", "dataset", "options", "method"], columns).rename(columns={"who": "people"})


def _curves(frame: Frame) -> Plot:
    """Return the excess of Gaussian people against the number of answers, where methods are compared."""
    panels = {}
    some = frame[(frame["who"] == "Gaussian") & frame["dataset"].isin(COMPARED)]
    for names, part in some.groupby(["dataset", "options"], sort=False):
        # everybody for whom all methods were run
        part = part[part["person"].isin(part.loc[part["method"] == "true centre", "person"])]
        lines = {}
        for method, group in part.groupby("method", sort=False):
            found = {float(t): excess(at) for t, at in group.groupby("answers")}
            sides = ([each[side] for each in found.values()] for side in ("excess", "low", "high"))
            lines[str(method)] = (list(found), *sides)
        panels["{}, {} options".format(*names)] = lines
    return Plot(panels, "answers", "excess over the oracle") if panels else None  # type: ignore


def _confidence(ours: Frame) -> list[ReportTable]:
    """Return what our default stated and what came true, by kind of people; L1 people are outside its model."""
    frame = ours[ours["within"].notna() & ours["effort"].notna() & (ours["who"] != "L1")]
    if len(frame) == 0:
        return []
    frame = frame.assign(came=(frame["effort"] <= 1.05 * frame["oracle"] + 1e-12).astype(float))
    frame = frame.assign(apart=frame["within"] - frame["came"], all="all people")

    def interval(part: Frame) -> str:
        low, high = drawn_means(part["apart"], part["dataset"] + part["subject"].astype(str))
        return f"{100 * low:+.1f} to {100 * high:+.1f}"

    columns = {
        "stated": lambda part: f"{part['within'].mean():.3f}",
        "observed": lambda part: f"{part['came'].mean():.3f}",
        "points apart": lambda part: f"{100 * part['apart'].mean():+.1f}",
        "95 % interval": interval,
        "sessions": lambda part: len(part[["dataset", "options", "person"]].drop_duplicates()),
    }
    shown = pd.concat(
        [table(frame, [by], columns).rename(columns={by: "people"}) for by in ("all", "who")],
        ignore_index=True,
    )
    said = "The design asks for at most 5 points apart over at least 1,000 sessions. All numbers of answers count."
    return [ReportTable(SURE, shown, remarks=[said])]

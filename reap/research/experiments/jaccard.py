"""Jaccard distance of the relaxed worst-case path to the exact min-max path."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from reap._typing import Frame
from reap.belief import solve_centers
from reap.research.experiments import paper
from reap.research.experiments.bench import Bench, on_bench
from reap.research.experiments.measures import jaccard
from reap.research.experiments.report import ReportTable, spread, table, verdict
from reap.research.experiments.runner import Scope
from reap.research.experiments.sessions import hold_together, row_sessions

TITLE = "Jaccard distance: relaxed worst case against exact min-max"
NEEDS = ("jaccard",)
#: Subjects and matrices; fewer where an exact path may take a quarter of a minute.
_PEOPLE = {"german": (50, 4), "bank": (15, 2), "student": (50, 4)}


def cells(scope: Scope) -> list[dict[str, Any]]:
    """Return the parameters of every cell."""
    return [
        {**cell, "questions": scope.questions(5)}
        for name in scope.over(tuple(paper.JACCARD))
        for cell in scope.cells((name,), *_PEOPLE[name])
    ]


@on_bench
def run(made: Bench, subjects: range, *, questions: int, matrices: int) -> Iterator[dict[str, Any]]:
    """Yield one row a subject and matrix: the distance of the paths, their worst cases, the proven bound."""
    engine = made.engine("graph")
    held = hold_together(row_sessions(made, subjects, matrices), questions, seed=made.seed)
    beliefs = {key: sets[-1] for key, sets in held.items()}
    solve_centers(list(beliefs.values()), "analytic")  # worst cases begin there
    for (i, k), belief in beliefs.items():
        relaxed, exact = (engine.robust(made.x(i), belief, way) for way in ("worst-case", "minimax"))
        if relaxed.status == exact.status == "ok":
            worst = [belief.worst_case_plan(plan.moves).cost for plan in (relaxed, exact)]
            row = {"subject": i, "matrix": k, "jaccard": jaccard(relaxed, exact)}
            bound = np.nan if exact.bound is None else exact.bound
            yield row | {"relaxed": worst[0], "exact": worst[1], "bound": bound}


def summary(runs: Mapping[str, Frame]) -> list[ReportTable]:
    """Return the table with the paper's figures."""
    frame = runs["jaccard"]
    shown = table(
        frame,
        ["dataset"],
        {
            "Jaccard": lambda part: spread(part["jaccard"]),
            "paper": lambda part: paper.JACCARD[part["dataset"].iloc[0]],
            "same path": lambda part: f"{(part['jaccard'] == 0).mean():.2f}",
            "the relaxed costs more by": lambda part: (
                f"{100 * (part['relaxed'].sum() / part['exact'].sum() - 1):.2f} %"
            ),
            "proven": lambda part: f"{(part['bound'] >= part['exact'] * (1 - 1e-4)).mean():.2f}",
            "runs": len,
        },
    )
    said = [
        "Edges are compared. The paper enumerated paths of small graphs; ours is exact on the whole graph: “proven” is the "
        "share of runs whose lower bound meets the effort.",
        "“The relaxed costs more by”: worst-case effort of the relaxed path over that of the exact one, ratio of sums.",
    ]
    near = list(frame.groupby("dataset")["jaccard"].mean() <= 0.1)
    return [ReportTable(TITLE, shown, verdict(near), said)]

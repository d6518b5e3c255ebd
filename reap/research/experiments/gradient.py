"""Effort and validity of one-step plans: DiCE, Wachter, the paper's Algorithm 1, ours; no constraints."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from typing import Any

import numpy as np

from reap import effort
from reap._typing import Frame
from reap.plan import Plan
from reap.research.experiments import paper, people
from reap.research.experiments.bench import Bench, on_bench
from reap.research.experiments.report import ReportTable, ordered, spread, table, verdict
from reap.research.experiments.runner import Scope
from reap.research.experiments.sessions import hold_together, our_plans, row_sessions

TITLE = "Gradient: effort and validity of one-step plans after 5 questions (no constraints)"
NEEDS = ("gradient",)
CENTRE = "ReAP (Algorithm 1, centre)"
SHOWN = (
    "DiCE",
    "Wachter",
    "Algorithm 1, nothing asked",
    CENTRE,
    "Algorithm 1, true matrix known",
    "ours",
)
#: Subjects a data set for whom DiCE is run: it takes longest.
DICE = 10


def cells(scope: Scope) -> list[dict[str, Any]]:
    """Return the parameters of every cell."""
    here = find_spec("dice_ml") is not None and find_spec("torch") is not None
    steps = 300 if scope.quick else 5000
    return [
        {
            **cell,
            "questions": scope.questions(5),
            "dice": steps if here and cell["subjects"][0] < DICE else 0,
        }
        for cell in scope.cells(tuple(paper.GRADIENT))
    ]


@on_bench
def run(
    made: Bench, subjects: range, *, questions: int, dice: int, matrices: int
) -> Iterator[dict[str, Any]]:
    """Yield one row a subject, matrix and method: the effort under the true matrix, and whether the model accepts."""
    identity = effort.identity(made.dimension)
    truth = people.matrices("gaussian", made.dimension, matrices, made.seed)
    held = hold_together(row_sessions(made, subjects, matrices), questions, seed=made.seed)
    for i in subjects:
        x = made.x(i)
        centers = np.stack([held[i, k][-1].center("published").matrix for k in range(matrices)])
        descents = np.concatenate([identity[None] / 2, centers, truth])
        together = made.engine("algorithm1").plans(x, descents)  # one batch
        plans: dict[str, list[Plan]] = {
            "Wachter": made.engine("wachter").plans(x, truth),
            "Algorithm 1, nothing asked": together[:1] * matrices,
            CENTRE: together[1 : matrices + 1],
            "Algorithm 1, true matrix known": together[matrices + 1 :],
            "ours": our_plans(made, i, matrices, questions),
        }
        if dice:
            plans["DiCE"] = _dice(made, dice).plans(x, truth)
        for method, found in plans.items():
            for k, plan in enumerate(found):
                asks = effort.of_moves(truth[k], plan.moves) if plan.status == "ok" else np.nan
                row = {"subject": i, "matrix": k, "method": method, "effort": asks, "valid": plan.valid}
                yield row | {"shown": made.accepted_as_shown(plan)}


def _dice(made: Bench, steps: int) -> Any:
    from reap.research.baselines import DiCE

    settings: dict[str, Any] = {"constraints": False, "max_iterations": steps, "random_state": made.seed}
    return DiCE(made.model, made.space, **settings).fit(made.train)


def summary(runs: Mapping[str, Frame]) -> list[ReportTable]:
    """Return the table with the paper's figures."""
    frame = ordered(runs["gradient"], dataset=paper.GRADIENT, method=SHOWN)
    shown = table(
        frame,
        ["dataset", "method"],
        {
            "effort": lambda part: spread(part["effort"]),
            "paper's effort": lambda part: paper.printed(part, paper.GRADIENT, 0),
            "valid": lambda part: f"{part['valid'].mean():.2f}",
            "paper's validity": lambda part: paper.printed(part, paper.GRADIENT, 1),
            "valid as shown": lambda part: f"{part['shown'].mean():.2f}",
            "runs": len,
        },
    )
    mean = frame.pivot_table("effort", "dataset", "method", sort=False)
    below = list(mean[CENTRE] < mean["Wachter"])
    said = [
        f"The claim, ReAP below Wachter, holds on {sum(below)} of {len(below)} data sets.",
        "Efforts are means over the runs that found something. Algorithm 1 stops at the first accepted point, as the authors' "
        "scripts do: it hardly sees the effort. Where the model is sure of its no the slope vanishes and it finds nothing.",
        "“Valid” judges the point in the unit box that the method ends at; “valid as shown” the row it stands for, with whole "
        "categories. Ours gives only such rows, with at most 3 changes.",
        f"DiCE is run for the first {DICE} subjects a data set.",
    ]
    return [ReportTable(TITLE, shown, verdict(below), said)]

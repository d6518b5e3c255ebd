"""PEAR against the paper's method for a person whose effort is the L1 distance: both are misspecified."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from reap import effort
from reap._typing import Array, Frame
from reap.research.experiments import paper
from reap.research.experiments.bench import Bench, on_bench
from reap.research.experiments.measures import below, whole
from reap.research.experiments.report import ReportTable, number, spread, table, verdict
from reap.research.experiments.runner import Scope
from reap.research.experiments.sessions import RowSession, hold, hold_together
from reap.research.subjects import L1

TITLE = "PEAR: path effort of an L1 person after 10 questions (no constraints)"
NEEDS = ("pear",)


def cells(scope: Scope) -> list[dict[str, Any]]:
    """Return the parameters of every cell."""
    made = scope.cells(tuple(paper.PEAR))
    return [{**cell, "matrices": 1, "questions": scope.questions(10)} for cell in made]


@on_bench
def run(made: Bench, subjects: range, *, questions: int, matrices: int) -> Iterator[dict[str, Any]]:
    """Yield one row a subject and method: the L1 length of the path, and of its whole change."""
    engine, pear, person = made.engine("graph"), made.engine("pear"), L1()
    identity = effort.identity(made.dimension)
    begun = {i: RowSession(made.moves(i), person) for i in subjects}
    for i, sets in hold_together(begun, questions, seed=made.seed).items():
        x, belief = made.x(i), sets[-1]
        plans = {
            "FACE (nothing asked)": engine.plans(x, identity)[0],
            "PEAR, nothing asked": pear.plans(x, identity)[0],
            "PEAR": _pear(pear.session(x, estimate="best"), person, questions),
            "PEAR, posterior mean": _pear(pear.session(x, estimate="mean"), person, questions),
            "ReAP, centre": engine.plans(x, belief.center("published").matrix)[0],
            "ReAP, worst case": engine.robust(x, belief),
            "ours": hold(made.engine("recourse"), x, person, at=[questions], seed=made.seed)[-1].plan,
            "oracle": engine.path(x, _l1),
        }
        for method, plan in plans.items():
            found = plan.status == "ok"
            yield {
                "subject": i,
                "matrix": 0,
                "method": method,
                "effort": person.effort(plan.moves) if found and plan.along else np.nan,
                "whole": person.effort(whole(plan)) if found else np.nan,
                "steps": len(plan.moves) if found and plan.along else np.nan,
            }


def _pear(session: Any, person: L1, questions: int) -> Any:
    """Hold PEAR's own session and return its plan."""
    for _ in range(questions):
        question = session.ask()
        if question is None:
            break
        session.answer(person.answer(question))
    return session.recommend()


def _l1(before: Array, after: Array) -> Array:
    return np.asarray(np.abs(effort.changes(after, before)).sum(axis=1))


def summary(runs: Mapping[str, Frame]) -> list[ReportTable]:
    """Return the table with the paper's figures."""
    frame = runs["pear"]
    shown = table(
        frame,
        ["dataset", "method"],
        {
            "L1 path effort": lambda part: spread(part["effort"]),
            "paper": lambda part: paper.printed(part, paper.PEAR),
            "below PEAR, p": below(frame, "PEAR"),
            "L1 whole change": lambda part: spread(part["whole"]),
            "steps": lambda part: number(part["steps"].mean()),
            "runs": len,
        },
    )
    mean = frame.pivot_table("effort", "dataset", "method")
    holds = list(mean["ReAP, centre"] < mean["PEAR"])
    said = [
        f"The claim, ReAP below PEAR, holds on {sum(holds)} of {len(holds)} data sets.",
        "FACE asks nothing and the oracle knows everything: the room between them is what questions can win from such a person.",
        "Ours makes no paths: it stands in the column of whole changes alone, with at most 3 changes.",
    ]
    return [ReportTable(TITLE, shown, verdict(holds), said)]

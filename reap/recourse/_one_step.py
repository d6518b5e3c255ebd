"""What engines with one-step plans share: a row as a plan, the cheapest row in the worst case, honest refusals."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from reap._errors import InputError
from reap._typing import Array
from reap.belief import ConfidenceSet
from reap.plan import Plan, Status
from reap.recourse._efforts import efforts
from reap.recourse._engine import Objective, Subject
from reap.space import Limits


def one_step(subject: Subject, row: Array, probability: float, cost: float, note: str = "") -> Plan:
    """Return the plan that leads to a row (d,) in one step."""
    return Plan(
        subject.space,
        np.stack([subject.z, row]),
        np.array([subject.probability, probability]),
        cost=float(cost),
        threshold=subject.threshold,
        note=note,
    )


def refusal(subject: Subject, status: Status, note: str) -> Plan:
    """Return the plan of somebody for whom nothing was found."""
    return Plan.none(
        subject.space, subject.z, subject.probability, status, threshold=subject.threshold, note=note
    )


def lifted(limits: Limits | None, possible: Callable[[Limits], bool]) -> str:
    """Return a sentence on which single limit, lifted, would give a plan; empty where there is none."""
    names = [name for name in (limits.names if limits else ()) if limits and possible(limits.without(name))]
    if not names:
        return ""
    said = ["the number of changes" if name == "max_changes" else repr(name) for name in names]
    return f"There is a plan without your limit on {' or '.join(said)}."


def check_robust(confidence_set: ConfidenceSet, objective: Objective, dimension: int) -> None:
    """Say in a sentence what is wrong with the input of ``robust``."""
    if objective not in ("worst-case", "minimax"):
        raise InputError(f"the objective is {objective!r}; give 'worst-case' or 'minimax'")
    if not hasattr(confidence_set, "worst_case_plan"):
        raise InputError(
            f"a robust plan needs a ConfidenceSet, not {type(confidence_set).__name__}; for a posterior use plans() "
            "with its estimate"
        )
    if confidence_set.dimension != dimension:
        raise InputError(
            f"the confidence set has dimension {confidence_set.dimension}; the space has {dimension} encoded columns"
        )


class WorstCase:
    """Finds the row that is cheapest in the worst case, and asks for as few worst cases as it can.

    Every matrix a worst case was reached at is in the set, so it bounds the worst case of all other rows from below.
    Rows are asked in the order of that bound; once the least bound is not below the best worst case, it is proven.

    Parameters
    ----------
    confidence_set : ConfidenceSet
    """

    def __init__(self, confidence_set: ConfidenceSet) -> None:
        self.set = confidence_set
        self.matrices = np.empty((0, confidence_set.dimension, confidence_set.dimension))

    def of(self, move: Array) -> float:
        """Return the worst-case effort of one move (d,)."""
        found = self.set.worst_case_plan(move)
        self.matrices = np.concatenate([self.matrices, found.matrix[None]])[-200:]
        return float(found.cost)

    def cheapest(
        self,
        moves: Array,
        below: float = np.inf,
        most: int = 100,
        deadline: Callable[[], bool] = lambda: False,
    ) -> tuple[int, float]:
        """Return (index, worst case) of the cheapest of moves (N, d) if under ``below``; else (−1, below)."""
        best, cost = -1, below
        bounds = (
            efforts(self.matrices, moves).max(axis=0) if len(self.matrices) else (moves**2).sum(axis=1) * 0
        )
        size = (moves**2).sum(axis=1)
        for _ in range(most):
            if len(moves) == 0 or deadline():
                break
            i = int(np.lexsort((size, bounds))[0])
            if bounds[i] >= cost * (1 - 1e-7):
                break
            worst = self.of(moves[i])
            bounds = np.maximum(bounds, efforts(self.matrices[-1:], moves)[0])
            bounds[i] = np.inf
            if worst < cost:
                best, cost = i, worst
        return best, cost

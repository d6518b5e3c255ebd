"""The row whose effort is least in the worst case over a confidence set: among rows at hand, or anywhere a search gets.

The worst case ``w(δ) = max_A δᵀAδ`` is convex in δ, and its gradient is that of the matrix which reaches it (Danskin).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from reap._typing import Array
from reap.belief import ConfidenceSet
from reap.effort import Efforts, of_changes, size
from reap.recourse.search import Reachable

#: How often a search and the worst case answer each other.
_TURNS = 8


class WorstCase:
    """Finds the row whose effort is least in the worst case, and asks for as few worst cases as it can.

    Every matrix a worst case was reached at is in the set, so it bounds the worst case of all other rows from below.
    Rows are asked in the order of that bound; once the least bound is not below the best worst case, it is proven.
    """

    def __init__(self, confidence_set: ConfidenceSet) -> None:
        self.set = confidence_set
        self.matrices = np.empty((0, confidence_set.dimension, confidence_set.dimension))

    def of(self, move: Array) -> float:
        """Return the worst-case effort of one move (d,)."""
        found = self.set.worst_case_plan(move)
        self.matrices = np.concatenate([self.matrices, found.matrix[None]])[-200:]
        return float(found.cost)

    def least(
        self,
        moves: Array,
        below: float = np.inf,
        most: int = 100,
        deadline: Callable[[], bool] = lambda: False,
    ) -> tuple[int, float]:
        """Return (index, worst case) of the move of (N, d) whose worst case is least, if under ``below``; else (−1, below)."""
        best, least = -1, below
        bounds = of_changes(self.matrices, moves).max(axis=0) if len(self.matrices) else np.zeros(len(moves))
        sizes = size(moves)
        for _ in range(most):
            if len(moves) == 0 or deadline():
                break
            i = int(np.lexsort((sizes, bounds))[0])
            if bounds[i] >= least * (1 - 1e-7):
                break
            worst = self.of(moves[i])
            bounds = np.maximum(bounds, of_changes(self.matrices[-1:], moves)[0])
            bounds[i] = np.inf
            if worst < least:
                best, least = i, worst
        return best, least


def least_worst_case(found: Reachable, confidence_set: ConfidenceSet) -> tuple[Array, float]:
    """Return the accepted row (d,) whose worst-case effort is least, and that effort; some row must be known.

    Rows for one matrix and the worst matrix for these rows take turns. The mean of the worst matrices joins them: the
    saddle point of a min-max lies at a mixture. At the end the best of all rows known is found.
    """
    problem = found.problem
    worst = WorstCase(confidence_set)
    known = list[Array]()
    row, effort = problem.base, np.inf
    asked = np.stack([confidence_set.estimate(), np.eye(problem.space.dimension)])
    for _ in range(_TURNS):
        rows, _ = found.least(Efforts.of(asked))
        known.append(rows)
        place, less = worst.least(problem.moves(rows), effort)
        if place < 0 or problem.late:
            break
        row, effort = rows[place], less
        asked = np.stack([worst.matrices[-1], worst.matrices.mean(axis=0)])
    rows = np.concatenate(known)
    place, less = worst.least(problem.moves(rows), effort, deadline=lambda: problem.late)
    if place >= 0:
        row, effort = rows[place], less
    return row, float(confidence_set.worst_case_plan(problem.moves(row)).cost)

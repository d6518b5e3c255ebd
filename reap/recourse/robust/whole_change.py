"""The row of least worst-case effort over a confidence set.

The worst case ``w(δ) = max_A δᵀAδ`` is convex in δ, and its gradient is that of the matrix which reaches it (Danskin), so rows
for one matrix and the worst matrix for these rows take turns. The mean of the worst matrices joins them: the saddle
point of a min-max lies at a mixture. At the end the cheapest of all rows known is found, and searched around.
"""

from __future__ import annotations

import numpy as np

from reap._typing import Array
from reap.belief import ConfidenceSet
from reap.recourse.robust.worst_case import WorstCase
from reap.recourse.targets.boundary.search import Moves, Neighbours
from reap.recourse.targets.pool import Source

_TURNS, _SEARCHES = 6, 8


def robust(source: Source, confidence_set: ConfidenceSet) -> tuple[Array, float]:
    """Return the row (d,) and its worst-case effort; the pool must not be empty."""
    problem = source.problem
    worst = WorstCase(confidence_set)
    found = [source.pool.rows]
    row, cost = problem.base, np.inf
    asked = np.stack([confidence_set.estimate(), np.eye(problem.space.dimension)])
    for _ in range(_TURNS):
        best = source.solve(asked)
        found.append(best.rows)
        place, less = worst.cheapest(problem.moves(best.rows), cost)
        if place < 0 or problem.late:
            break
        row, cost = best.rows[place], less
        asked = np.stack([worst.matrices[-1], worst.matrices.mean(axis=0)])
    rows = np.concatenate(found)
    place, less = worst.cheapest(problem.moves(rows), cost, deadline=lambda: problem.late)
    if place >= 0:
        row, cost = rows[place], less
    return _search(source, worst, row, cost)


def _search(source: Source, worst: WorstCase, row: Array, cost: float) -> tuple[Array, float]:
    """Improve a row by single changes while its worst case falls."""
    problem = source.problem
    moves = Moves(problem)
    for _ in range(_SEARCHES if len(moves.owner) else 0):
        around = Neighbours(problem, moves, row[None], problem.score(row[None]))
        near = around.rows[around.judged >= problem.goal]
        place, less = worst.cheapest(problem.moves(near), cost, most=20, deadline=lambda: problem.late)
        if place < 0 or problem.late:
            break
        row, cost = near[place], less
    return row, cost

"""The row of least worst-case effort over a confidence set.

The worst case ``w(δ) = max_A δᵀAδ`` is convex in δ, and its gradient is that of the matrix which reaches it (Danskin), so rows
for one matrix and the worst matrix for these rows take turns. The mean of the worst matrices joins them: the saddle
point of a min-max lies at a mixture. At the end the cheapest of all rows known is found, and searched around.
"""

from __future__ import annotations

import numpy as np

from reap._typing import Array
from reap.belief import ConfidenceSet
from reap.recourse._boundary import Boundary
from reap.recourse._boundary_search import Moves, Neighbours
from reap.recourse._one_step import WorstCase

_TURNS, _SEARCHES = 6, 8


def robust(boundary: Boundary, confidence_set: ConfidenceSet) -> tuple[Array, float] | None:
    """Return the row (d,) and its worst-case effort; None where no accepted row was found."""
    terrain = boundary.terrain
    worst = WorstCase(confidence_set)
    found = [boundary.pool.rows]
    row, cost = terrain.base, np.inf
    asked = np.stack([confidence_set.estimate(), np.eye(terrain.space.dimension)])
    for _ in range(_TURNS):
        best = boundary.solve(asked)
        if not best.found.any():
            return None
        found.append(best.rows)
        place, less = worst.cheapest(terrain.moves(best.rows), cost)
        if place < 0 or terrain.late:
            break
        row, cost = best.rows[place], less
        asked = np.stack([worst.matrices[-1], worst.matrices.mean(axis=0)])
    rows = np.concatenate(found)
    place, less = worst.cheapest(terrain.moves(rows), cost, deadline=lambda: terrain.late)
    if place >= 0:
        row, cost = rows[place], less
    return _search(boundary, worst, row, cost)


def _search(boundary: Boundary, worst: WorstCase, row: Array, cost: float) -> tuple[Array, float]:
    """Improve a row by single changes while its worst case falls."""
    terrain = boundary.terrain
    moves = Moves(terrain)
    for _ in range(_SEARCHES if len(moves.owner) else 0):
        around = Neighbours(terrain, moves, row[None], terrain.score(row[None]))
        near = around.rows[around.judged >= terrain.goal]
        place, less = worst.cheapest(terrain.moves(near), cost, most=20, deadline=lambda: terrain.late)
        if place < 0 or terrain.late:
            break
        row, cost = near[place], less
    return row, cost

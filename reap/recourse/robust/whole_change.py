"""The row of least worst-case effort over a confidence set.

The worst case ``w(δ) = max_A δᵀAδ`` is convex in δ, and its gradient is that of the matrix which reaches it (Danskin), so rows
for one matrix and the worst matrix for these rows take turns. The mean of the worst matrices joins them: the saddle
point of a min-max lies at a mixture. At the end the best of all rows known is found, and searched around.
"""

from __future__ import annotations

import numpy as np

from reap._typing import Array
from reap.belief import ConfidenceSet
from reap.recourse.robust.worst_case import WorstCase
from reap.recourse.targets.boundary.search import Moves, Neighbours
from reap.recourse.targets.pool import Source
from reap.recourse.targets.targets import Targets

_TURNS, _SEARCHES = 6, 8


def robust(targets: Targets, confidence_set: ConfidenceSet) -> tuple[Array, float]:
    """Return the target (d,) whose worst-case effort is least, and that effort; the pool must not be empty."""
    moves = targets.problem.moves
    row = _found(targets.source, confidence_set)
    worst = confidence_set.worst_case_plan(moves(row)).matrix
    row = targets.settled(worst[None], row[None])[0]
    return row, float(confidence_set.worst_case_plan(moves(row)).cost)


def _found(source: Source, confidence_set: ConfidenceSet) -> Array:
    """Return the accepted row (d,) of least worst-case effort, irreducible or not."""
    problem = source.problem
    worst = WorstCase(confidence_set)
    found = [source.pool.rows]
    row, effort = problem.base, np.inf
    asked = np.stack([confidence_set.estimate(), np.eye(problem.space.dimension)])
    for _ in range(_TURNS):
        best = source.solve(asked)
        found.append(best.rows)
        place, less = worst.least(problem.moves(best.rows), effort)
        if place < 0 or problem.late:
            break
        row, effort = best.rows[place], less
        asked = np.stack([worst.matrices[-1], worst.matrices.mean(axis=0)])
    rows = np.concatenate(found)
    place, less = worst.least(problem.moves(rows), effort, deadline=lambda: problem.late)
    if place >= 0:
        row, effort = rows[place], less
    return _searched(source, worst, row, effort)


def _searched(source: Source, worst: WorstCase, row: Array, effort: float) -> Array:
    """Return a row (d,) improved by single changes while its worst case falls."""
    problem = source.problem
    moves = Moves(problem)
    for _ in range(_SEARCHES if len(moves.owner) else 0):
        around = Neighbours(problem, moves, row[None], problem.score(row[None]))
        fine = around.judged >= problem.goal
        near = around.rows[fine]
        near = near[problem.honest(near, around.judged[fine]) >= problem.goal]
        place, less = worst.least(problem.moves(near), effort, most=20, deadline=lambda: problem.late)
        if place < 0 or problem.late:
            break
        row, effort = near[place], less
    return row

"""Numbers taken back to where trees begin to see them: what lies between two splits is not told apart.

Only where nothing ties features together: there the rest of the row stays as it is.
"""

from __future__ import annotations

import numpy as np

from reap._typing import Array
from reap.recourse.targets.problem import Problem
from reap.recourse.targets.trees.ladders import DOWN, UP, Ladder


def nearer(problem: Problem, ladders: list[Ladder], rows: Array) -> Array:
    """Return rows (n, d) with every number as near to its start as trees cannot tell it from what it is."""
    rows, n = rows.copy(), problem.all_numbers
    read = {ladder.feature: ladder for ladder in ladders}
    moved = (rows[:, n.columns] != problem.base[n.columns]).any(axis=0)  # most are where they start
    for feature, column in zip(n.feature[moved].tolist(), n.columns[moved], strict=True):
        own, values = problem.base[column], rows[:, column]
        near = np.full(len(rows), own)
        for side in (UP, DOWN) if feature in read else ():
            rungs = read[feature].blocks[read[feature].side(side), 0]
            sign = 1.0 if side == UP else -1.0
            passed = np.searchsorted(sign * rungs, sign * values + 1e-9, side="right")
            near = np.where(passed > 0, rungs[passed - 1] if len(rungs) else own, near)
        rows[:, column] = near
    return rows

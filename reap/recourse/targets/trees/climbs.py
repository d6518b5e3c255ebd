"""Rows some changes up from the subject, from which three more are looked for: where three changes are not enough."""

from __future__ import annotations

import numpy as np

from reap._typing import Array, Bools
from reap.effort import size
from reap.models.trees import Reader
from reap.recourse.targets.problem import Problem
from reap.recourse.targets.trees.ladders import Ladders
from reap.recourse.targets.trees.search import Search


def climbs(problem: Problem, reader: Reader, steps: int) -> list[tuple[Array, Bools]]:
    """Return rows (d,) some steps up from the subject, each step the most that one more change adds; and what moved."""
    out = []
    for power in (0.0, 0.5):  # by what it adds, and by what it adds for its size
        anchor, held = problem.base.copy(), np.zeros(len(problem.space.features), dtype=bool)
        for _ in range(steps):
            made = Ladders(problem, reader, anchor, held)
            if not made.all or problem.late:
                break
            grid = Search(problem, reader, anchor, made.now, made.all, 1).grid
            worth = grid.gains / (size(grid.moves) + 1e-9) ** power
            mark = int(worth.argmax())
            if worth[mark] <= 0:
                break
            anchor = problem.follow(grid.rows(np.array([[mark, 0, 0]])))[0]
            held[grid.ladders[grid.marks.ladder[mark]].feature] = True
        out.append((anchor, held))
    return out

"""Pretexts: actions that only pass the time.

Somebody is accepted in ten months whatever they do, because a clock goes on. Then "reduce your cards by 1 % over ten months" is
no advice. A row is refused where, without its slowest actions, it is accepted on the same day or sooner, but only because the
person waits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from reap._arrays import row_keys
from reap._typing import Array, Bools

if TYPE_CHECKING:
    from reap.recourse.targets.problem import Problem


class Pretexts:
    """Which rows of one subject live on waiting.

    Parameters
    ----------
    problem : Problem
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self._known: dict[tuple[float, int], bool] = {}  # by the goal and the row

    def refused(self, Z: Array, scores: Array) -> Array:
        """Return the logits (n,) of legal rows (n, d), −inf where the slowest actions are a pretext."""
        problem = self.problem
        fine = np.flatnonzero(scores >= problem.goal)
        slow = problem.space.slowest(problem.z0, Z[fine])
        fine, slow = fine[slow.any(axis=1)], slow[slow.any(axis=1)]
        if len(fine) == 0:
            return scores
        scores = scores.copy()
        scores[fine[self._idle(problem.without(Z[fine], slow))]] = -np.inf
        return scores

    def _idle(self, rows: Array) -> Bools:
        """Return which rows (n, d), left without their slowest actions, are accepted only because the person waits, (n,).

        Few rows are left once the slowest actions are out, and they come again: each is judged once.
        """
        goal = self.problem.goal
        keys, first, which = np.unique(row_keys(rows), return_index=True, return_inverse=True)
        new = np.array([(goal, key) not in self._known for key in keys.tolist()], dtype=bool)
        if new.any():
            idle = self._judged(rows[first[new]])
            self._known.update(zip(((goal, key) for key in keys[new].tolist()), idle, strict=True))
        return np.array([self._known[goal, key] for key in keys.tolist()], dtype=bool)[which.ravel()]

    def _judged(self, rows: Array) -> Bools:
        space, z0, goal = self.problem.space, self.problem.z0, self.problem.goal
        then, soon = space.follow(rows, z0), space.follow(rows, z0, waiting=False)
        every = np.concatenate([then, soon])
        scores, legal = np.full(len(every), -np.inf), space.allows(z0, every)
        scores[legal] = self.problem.score(every[legal])
        same_day, at_once = np.split(scores, 2)
        idle = (same_day >= goal) | (at_once >= goal)
        return np.asarray(idle & (self.refused(soon, at_once) < goal))

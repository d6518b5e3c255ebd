"""Pretexts: actions that only pass the time.

Somebody is accepted in ten months whatever they do, because a clock goes on. Then "reduce your cards by 1 % over ten months" is
no advice. A row is a pretext where, without its slowest actions, it is accepted on the same day or sooner, but only because the
person waits. Nor is it better advice with an action on top that stands in the way: a row is refused, too, where it is
accepted without one of its actions and is a pretext then.
"""

from __future__ import annotations

from collections.abc import Callable
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
        # by the goal, then by the row: each is judged once, since the few that are left come again and again
        self._idle_rows: dict[float, dict[int, bool]] = {}
        self._hollow_rows: dict[float, dict[int, bool]] = {}
        self._forced = bool((np.abs(problem.moves(problem.base)) > 1e-9).any())

    def refused(self, Z: Array, scores: Array) -> Array:
        """Return the logits (n,) of legal rows (n, d), −inf where the slowest actions are a pretext, or an action hides one."""
        scores = self._pretended(Z, scores)
        fine = np.flatnonzero(scores >= self.problem.goal)
        if len(fine) == 0:
            return scores
        changed = self.problem.changed(Z[fine]) & self.problem.acts
        fine, changed = fine[several := changed.sum(axis=1) > 1], changed[several]
        if len(fine) == 0:
            return scores
        which, action = np.nonzero(changed)
        kept = changed[which]
        kept[np.arange(len(which)), action] = False
        hollow = self._known(self._hollow_rows, self.problem.kept(Z[fine[which]], kept), self._hollow)
        scores = scores.copy()
        scores[fine[which[hollow]]] = -np.inf
        return scores

    def _pretended(self, Z: Array, scores: Array) -> Array:
        """Return the logits (n,) of legal rows (n, d), −inf where the slowest actions are a pretext."""
        problem = self.problem
        fine = np.flatnonzero(scores >= problem.goal)
        if len(fine) == 0:
            return scores
        slow = problem.space.slowest(problem.z0, Z[fine])
        fine, slow = fine[slow.any(axis=1)], slow[slow.any(axis=1)]
        if len(fine) == 0:
            return scores
        left = problem.kept(Z[fine], ~slow)
        if self._forced:  # what a limit asks for cannot be left out, however long it takes
            free = (left[:, self.problem.own] != Z[fine][:, self.problem.own]).any(axis=1)
            fine, left = fine[free], left[free]
        scores = scores.copy()
        idle = self._known(self._idle_rows, left, self._idle)
        scores[fine[idle]] = -np.inf
        return scores

    def _known(
        self, judged: dict[float, dict[int, bool]], rows: Array, judge: Callable[[Array], Bools]
    ) -> Bools:
        """Return what a judge says of rows (n, d), (n,); of what was judged before, what it said then."""
        known = judged.setdefault(self.problem.goal, {})
        keys, first, which = np.unique(row_keys(rows), return_index=True, return_inverse=True)
        new = np.array([key not in known for key in keys.tolist()], dtype=bool)
        if new.any():
            known.update(zip(keys[new].tolist(), judge(rows[first[new]]).tolist(), strict=True))
        return np.array([known[key] for key in keys.tolist()], dtype=bool)[which.ravel()]

    def _hollow(self, rows: Array) -> Bools:
        """Return which rows (n, d), once clocks follow, are accepted and a pretext, (n,)."""
        rows = self.problem.follow(rows)
        scores = self._scores(rows)
        return np.asarray((scores >= self.problem.goal) & ~np.isfinite(self._pretended(rows, scores)))

    def _idle(self, rows: Array) -> Bools:
        """Return which rows (n, d), left without their slowest actions, are accepted only because the person waits, (n,)."""
        space, z0, goal = self.problem.space, self.problem.z0, self.problem.goal
        then, soon = space.follow(rows, z0), space.follow(rows, z0, waiting=False)
        same_day, at_once = np.split(self._scores(np.concatenate([then, soon])), 2)
        idle = (same_day >= goal) | (at_once >= goal)
        return np.asarray(idle & (self._pretended(soon, at_once) < goal))

    def _scores(self, rows: Array) -> Array:
        """Return the logits (n,) of rows (n, d) that are legal and accepted, less than the goal of all others."""
        scores = self.problem.accepted(rows)
        fine = np.flatnonzero(
            scores >= self.problem.goal
        )  # few are: a score of them all takes less than the rules
        if len(fine):
            scores[fine[~self.problem.possible(rows[fine])]] = -np.inf
        return scores

"""Which category combinations are worth a descent, for each matrix.

A gradient never switches a category, so combinations are enumerated, and ranked by what one gradient says:
with the numbers at their centre the effort is ``c*``, the logit about ``g``, and to reach the boundary costs about
``c* + (τ − g)₊² / (nᵀH⁻¹n)`` more.
"""

from __future__ import annotations

import numpy as np

from reap._typing import Array, Ints
from reap.recourse.targets.problem import Problem

_RIDGE = 1e-6


class Combinations:
    """The combinations of one subject, with logit and gradient where the numbers stay.

    Parameters
    ----------
    problem : Problem
    rows : (C, d)
        One row for each combination; the numbers as they are.
    """

    def __init__(self, problem: Problem, rows: Array) -> None:
        self.problem, self.rows = problem, rows
        self.scores = problem.score(rows)
        self.slopes = problem.gradient(rows)

    def promising(self, A: Array, count: int = 6, looked_at: int = 24) -> tuple[Ints, Ints]:
        """Return (matrix index, combination index) of the best ``count`` combinations of each matrix (b, d, d)."""
        b, total = len(A), len(self.rows)
        place, effort, inverse = self._centres(A)
        gap = self.problem.goal - self.scores - np.einsum("cm,bcm->bc", self.slopes, place)
        estimate = effort + _price(gap, self.slopes[None], inverse)
        if total > count:
            few = np.argpartition(estimate, min(looked_at, total) - 1, axis=1)[:, :looked_at]
            estimate = self._looked_at(few, place, effort, inverse)
            order = np.argsort(estimate, axis=1, kind="stable")[:, :count]
            chosen = np.take_along_axis(few, order, axis=1)
        else:
            chosen = np.broadcast_to(np.arange(total), (b, total))
        return np.repeat(np.arange(b), chosen.shape[1]), np.asarray(chosen.ravel())

    def _centres(self, A: Array) -> tuple[Array, Array, Array]:
        """Return the best numbers of each combination as moves (b, C, m), their effort (b, C), and H⁻¹ (b, m, m)."""
        n = self.problem.numbers
        D = self.problem.moves(self.rows)
        AD = D @ A
        H = A[:, n.columns[:, None], n.columns]
        size = np.trace(H, axis1=1, axis2=2) / max(len(n.columns), 1)
        H = H + (_RIDGE * size + 1e-12)[:, None, None] * np.eye(len(n.columns))
        inverse = np.linalg.inv(H)
        pull = AD[:, :, n.columns]
        here = self.rows[0, n.columns]
        place = np.clip(-pull @ inverse, np.minimum(n.lower, here) - here, np.maximum(n.upper, here) - here)
        effort = (AD * D).sum(axis=2) + (place * (2 * pull + place @ H)).sum(axis=2)
        return place, np.maximum(effort, 0.0), inverse

    def _looked_at(self, few: Ints, place: Array, effort: Array, inverse: Array) -> Array:
        """Return the estimates (b, k) with logit and gradient at the centres themselves."""
        which = np.arange(len(few))[:, None]
        rows = self.rows[few]
        rows[:, :, self.problem.numbers.columns] += place[which, few]
        flat = self.problem.follow(rows.reshape(-1, rows.shape[2]))
        gap = (self.problem.goal - self.problem.score(flat)).reshape(few.shape)
        slopes = self.problem.gradient(flat).reshape(*few.shape, -1)
        return effort[which, few] + _price(gap, slopes, inverse)


def _price(gap: Array, slopes: Array, inverse: Array) -> Array:
    """Return ``gap₊² / nᵀH⁻¹n``, (b, C)."""
    power = ((slopes @ inverse) * slopes).sum(axis=2)
    return np.asarray(np.maximum(gap, 0.0) ** 2 / np.maximum(power, 1e-12))

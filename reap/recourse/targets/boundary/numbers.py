"""Least effort on the decision boundary, over the numbers: feasible sequential quadratic programming, batched.

With the categories fixed the effort of numbers u (m,) is ``(u − c)ᵀH(u − c)`` plus a constant, where ``H = A[num, num]``
and ``c`` is the unconstrained centre. Each round minimises it over the box and the linearised boundary
``g + n·(v − u) ≥ τ``, then walks back from v towards the accepted u until the model really accepts. Effort falls
along that segment, so every round is accepted and asks no more than the one before.
"""

from __future__ import annotations

import numpy as np

from reap._arrays import zero_missing
from reap._typing import Array, Bools, Ints
from reap.effort import of_each
from reap.recourse.targets.problem import Problem
from reap.recourse.targets.slopes import gradient, slopes
from reap.space.nearest import least_distance

_SHARES = np.array([1.0, 0.7, 0.4, 0.2, 0.08, 0.02])
_RIDGE = 1e-6
_GAIN = 1e-4
_ACTIVE_SETS = 8


def halfspace_in_box(H: Array, c: Array, n: Array, t: Array, low: Array, high: Array) -> tuple[Array, Bools]:
    """Minimise ``(u − c)ᵀH(u − c)`` subject to ``n·u ≥ t`` and ``low ≤ u ≤ high``, for a batch.

    Without the box the answer is ``c + H⁻¹n (t − n·c)₊ / n·H⁻¹n``. Where the box bites, an active set: columns
    outside are put on their bound, columns on a bound that the multiplier does not hold are released.

    Parameters
    ----------
    H : (S, m, m), positive definite
    c, n, low, high : (S, m)
    t : (S,)

    Returns
    -------
    u : (S, m)
    reached : (S,) bool
        Whether the half-space meets the box; where it does not, u is the corner nearest to it.
    """
    corner = np.where(n > 0, high, low)
    reached = (n * corner).sum(axis=1) >= t - 1e-12
    u = np.where(n == 0, np.clip(c, low, high), corner)
    todo = np.flatnonzero(reached)
    fixed = np.zeros(c.shape, dtype=bool)
    held = np.zeros_like(c)
    eye = np.eye(c.shape[1])
    for _ in range(_ACTIVE_SETS):
        if len(todo) == 0:
            break
        f, h = fixed[todo], held[todo]
        free = ~f
        K = np.where(free[:, :, None] & free[:, None, :], H[todo], eye)
        away = np.where(f, h - c[todo], 0.0)
        push = np.where(free, -(H[todo] @ away[:, :, None])[:, :, 0], 0.0)
        both = np.linalg.solve(K, np.stack([push, np.where(free, n[todo], 0.0)], axis=2))
        point = np.where(f, h, c[todo] + both[:, :, 0])
        slope = (n[todo] * both[:, :, 1]).sum(axis=1)
        short = t[todo] - (n[todo] * point).sum(axis=1)
        weight = np.where(short > 0, short / np.maximum(slope, 1e-300), 0.0)
        stuck = (short > 1e-12) & (slope <= 1e-14)
        point = point + np.where(stuck, 0.0, weight)[:, None] * both[:, :, 1]
        below, above = free & (point < low[todo] - 1e-12), free & (point > high[todo] + 1e-12)
        pull = (H[todo] @ (point - c[todo])[:, :, None])[:, :, 0] - weight[:, None] * n[todo]
        loose = f & np.where(h <= low[todo], pull < -1e-12, pull > 1e-12) & (low[todo] < high[todo])
        loose &= ~(below | above).any(axis=1)[:, None]  # first everything stops that has to
        raises = np.where(n[todo] > 0, high[todo], low[todo]) != h
        loose = np.where(stuck[:, None], f & (n[todo] != 0) & raises, loose)
        done = ~(below | above | loose).any(axis=1)
        u[todo[done]] = point[done]
        fixed[todo] = (f | below | above) & ~loose
        held[todo] = np.where(below, low[todo], np.where(above, high[todo], h))
        todo = todo[~done]
    for i in todo:  # active sets that go in circles: rare, and solved one by one
        u[i] = _least_norm(H[i], c[i], n[i], t[i], low[i], high[i])
    return u, reached


def _least_norm(
    H: Array,
    c: Array,
    n: Array,
    t: float,
    low: Array,
    high: Array,
    lines: tuple[Array, Array] | None = None,
) -> Array:
    """Solve one problem as the shortest ``y = Lᵀ(u − c)`` in a polyhedron, by non-negative least squares.

    ``lines`` (R, m), (R,) adds ``G u ≥ g``. Where there is no solution the answer is the centre, within the box.
    """
    back = np.linalg.inv(np.linalg.cholesky(H).T)
    extra, least = lines if lines is not None else (np.empty((0, len(c))), np.empty(0))
    G = np.concatenate([n[None], np.eye(len(c)), -np.eye(len(c)), extra])
    y = least_distance(G @ back, np.concatenate([[t], low, -high, least]) - G @ c)
    return np.clip(c if y is None else c + back @ y, low, high)


class Descent:
    """The numbers of S rows, each under its own matrix.

    Parameters
    ----------
    problem : Problem
    A : (S, d, d)
    rows : (S, d)
        Where to start, categories included.
    free : (S, m) bool
        Which numbers may move.
    """

    def __init__(self, problem: Problem, A: Array, rows: Array, free: Bools) -> None:
        self.problem, self.A, self.free = problem, A, free
        self.rows = rows.copy()
        n = problem.numbers
        # only the numbers that may move are worked on: (S, k) of them, a row with fewer has some that are held
        width = max(int(free.sum(axis=1).max(initial=0)), 1)
        self.place = np.argsort(~free, axis=1, kind="stable")[:, :width]
        self.columns = n.columns[self.place]
        self._each = np.arange(len(rows))[:, None]
        u, mine = rows[self._each, self.columns], np.take_along_axis(free, self.place, axis=1)
        self.low = np.where(mine, np.minimum(n.lower[self.place], u), u)
        self.high = np.where(mine, np.maximum(n.upper[self.place], u), u)
        self._quadratic()
        self.scores = problem.score(self.rows)

    def _quadratic(self) -> None:
        """Set H (S, k, k) and the centre c (S, k); derived columns count as they follow."""
        problem, each, width = self.problem, self._each, self.columns.shape[1]
        J = np.zeros((len(self.rows), width, self.rows.shape[1]))
        J[each, np.arange(width), self.columns] = 1.0
        if len(problem.derived):
            J[:, :, problem.derived] = slopes(problem, self.rows, self.place)
        JA = J @ self.A
        self.H = JA @ J.transpose(0, 2, 1)
        size = np.trace(self.H, axis1=1, axis2=2) / width
        self.H += (_RIDGE * size + 1e-12)[:, None, None] * np.eye(width)
        pull = (JA @ problem.moves(self.rows)[:, :, None])[:, :, 0]
        self.c = self._numbers() - np.linalg.solve(self.H, pull[:, :, None])[:, :, 0]

    def _numbers(self, which: Ints | slice = slice(None)) -> Array:
        """Return the numbers (S, k) that may move."""
        return np.take_along_axis(self.rows[which], self.columns[which], axis=1)

    def _slope(self, which: Ints, rows: Array) -> Array:
        """Return the gradient (n, k) of the logit by these numbers, at rows that stand for some of ours."""
        return gradient(self.problem, rows, self.place[which])

    def only(self, which: Ints) -> Descent:
        """Return the descent of some of the rows."""
        return Descent(self.problem, self.A[which], self.rows[which], self.free[which])

    def efforts(self) -> Array:
        """The efforts (S,) of the rows."""
        return of_each(self.A, self.problem.moves(self.rows))

    def _at(self, which: Ints, U: Array) -> Array:
        rows = self.rows[which].copy()
        np.put_along_axis(rows, self.columns[which], U, axis=1)
        return self.problem.follow(rows)

    def descend(self, rounds: int = 8) -> None:
        """Walk along the boundary while effort falls; rows that are not accepted stay as they are."""
        goal, problem = self.problem.goal, self.problem
        todo = np.flatnonzero(self.scores >= goal)
        bent = np.zeros(self.columns.shape)  # gradient where the last step failed
        tries = np.zeros(len(self.rows), dtype=int)
        for _ in range(rounds):
            if len(todo) == 0 or problem.late:
                break
            if len(problem.derived):
                self._quadratic()
            u, g = self._numbers(todo), self.scores[todo]
            n = self._slope(todo, self.rows[todo])
            kinked = bent[todo].any(axis=1)
            n[kinked] = 0.5 * (n[kinked] + bent[todo][kinked])
            t = (n * u).sum(axis=1) - (g - goal)
            v = self._target(todo, n, t)
            before = of_each(self.A[todo], problem.moves(self.rows[todo]))
            self._walk(todo, u, v)
            after = of_each(self.A[todo], problem.moves(self.rows[todo]))
            weak = after > before * (1 - _GAIN)
            tries[todo] = np.where(weak, tries[todo] + 1, 0)
            bent[todo] = 0.0
            if weak.any():
                bent[todo[weak]] = self._slope(todo[weak], self._at(todo[weak], v[weak]))
            todo = todo[tries[todo] < 2]

    def _target(self, which: Ints, n: Array, t: Array) -> Array:
        """Return the numbers (k, m) of least effort of some rows in the box, beyond ``n·u = t``, within linear rules."""
        H, c, low, high = self.H[which], self.c[which], self.low[which], self.high[which]
        v, _ = halfspace_in_box(H, c, n, t, low, high)
        L, side = self.problem.lines
        if len(side):
            fixed = self.rows[which].copy()
            np.put_along_axis(fixed, self.columns[which], 0.0, axis=1)
            G, least = -L.T[self.columns[which]], zero_missing(fixed) @ L.T - side  # (n, k, R), (n, R)
            for i in np.flatnonzero(((v[:, :, None] * G).sum(axis=1) < least - 1e-9).any(axis=1)):
                v[i] = _least_norm(H[i], c[i], n[i], t[i], low[i], high[i], (G[i].T, least[i]))
        return v

    def _walk(self, which: Ints, u: Array, v: Array) -> None:
        """Move rows from u towards v as far as the model accepts."""
        problem, k = self.problem, len(_SHARES)
        points = u[:, None] + _SHARES[:, None] * (v - u)[:, None]
        rows = self._at(np.repeat(which, k), points.reshape(-1, u.shape[1]))
        scores = problem.score(rows).reshape(-1, k)
        fine = scores >= problem.goal
        some = fine.any(axis=1)
        far = np.where(some, fine.argmax(axis=1), k)  # the largest accepted share
        share = np.where(some, _SHARES[np.minimum(far, k - 1)], 0.0)
        good = np.where(some, scores[np.arange(len(which)), np.minimum(far, k - 1)], self.scores[which])
        # between that share and the next larger one, by a secant that stops a little short
        partial = np.flatnonzero(far > 0)
        bad = scores[partial, far[partial] - 1]
        wide = _SHARES[far[partial] - 1] - share[partial]
        gap = good[partial] - bad
        extra = np.where(gap > 0, (good[partial] - problem.goal) / np.where(gap > 0, gap, 1.0), 0.0)
        tried = share.copy()
        tried[partial] += 0.98 * np.clip(extra, 0.0, 1.0) * wide
        rows = self._at(which, u + tried[:, None] * (v - u))
        scores = problem.score(rows)
        share = np.where(scores >= problem.goal, tried, share)
        self.rows[which] = self._at(which, u + share[:, None] * (v - u))
        self.scores[which] = np.where(scores >= problem.goal, scores, good)

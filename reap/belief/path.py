"""Following the central path of many problems at once.

The point of the path with parameter t maximises ``t · objective − φ``; its duality gap is ``order / t``. Off the path
a step centres; on it a step also predicts. With μ = 1/t and d = φ''⁻¹(objective), the path runs along ``t·d`` for a
relative fall of μ; Newton's step for the smaller μ would overshoot by μ/μ'. A second-order term follows the bend.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from reap import _clock, effort
from reap._typing import Array, Bools
from reap.belief.spectral import Point, Problems
from reap.belief.steps import Steps

#: Relative duality gap at which a solution is the point of the path we mean by "the centre".
GAP = 1e-8
#: Under this value of the objective the gap is absolute: rounding leaves nothing to gain.
FLOOR = 1e-5
#: Newton steps after which a problem is given up; a few tens are usual.
LIMIT = 200
#: Steps without getting further along the path after which rounding must be in the way.
PATIENCE = 8
#: Numbers in the largest array of a batch: small enough for memory, large enough that late finishers have company.
CACHE = 1_000_000


@dataclass(frozen=True)
class Solution:
    """Ends of the central paths: `A` (B, p, p), `r` (B,), and the cuts' multipliers `u` (B, k)."""

    A: Array
    r: Array
    u: Array


def follow(problems: Problems, A: Array, r: Array, *, gap: float = GAP, deadline: float = np.inf) -> Solution:
    """Follow the paths from strictly feasible A (B, p, p), r (B,) to the relative duality gap.

    At the `deadline`, a time of ``time.monotonic``, each path ends where it is: inside its set, with multipliers that
    still bound the optimum by weak duality.
    """
    B, p = len(A), A.shape[-1]
    k = problems.slack.shape[1]
    size = max(1, CACHE // max(1, (k + 1) * p * p))
    parts = []
    for start in range(0, B, size):
        rows = np.arange(start, min(B, start + size))
        parts.append(_follow(problems.take(rows), A[rows], r[rows], gap, deadline))
    return Solution(
        np.concatenate([part.A for part in parts]),
        np.concatenate([part.r for part in parts]),
        np.concatenate([part.u for part in parts]),
    )


def _follow(problems: Problems, A: Array, r: Array, gap: float, deadline: float) -> Solution:
    out = Solution(A.copy(), r.copy(), np.zeros((len(A), problems.slack.shape[1])))
    rows, point = np.arange(len(A)), Point(problems, A, r)
    best, stalled = np.zeros(len(A)), np.zeros(len(A), dtype=np.intp)
    for _ in range(LIMIT):
        _clock.check()
        if time.monotonic() > deadline:
            return out
        move = _advance(point, gap)
        following = _inside(point, move)
        # The furthest point on the path is kept: where rounding ends the path early, it is the answer.
        further = (move.away < 0.2) & (move.t > 1.05 * best)
        best, stalled = np.where(further, move.t, best), np.where(further | (best == 0), 0, stalled + 1)
        store = np.nonzero(further | move.done)[0]
        if len(store):
            out.A[rows[store]], out.r[rows[store]] = following.A[store], following.r[store]
            out.u[rows[store]] = move.multipliers(point)[store]
        done = move.done | (stalled > PATIENCE)
        if done.all():
            return out
        if done.any():
            left = np.nonzero(~done)[0]
            rows, best, stalled, following = rows[left], best[left], stalled[left], following.take(left)
        point = following
    return out


@dataclass(frozen=True)
class _Move:
    """Where a step leads: A (B, p, p), r (B,); how far along t and away from the path it began; who is done with it."""

    A: Array
    r: Array
    t: Array
    away: Array
    directions: Steps
    done: Bools

    def multipliers(self, point: Point) -> Array:
        """``u = 1/(ts)`` at the end of Newton's step, to first order (B, k)."""
        cut, t = self.directions.cut, self.t[:, None]
        out: Array = np.maximum(1.0 - t * cut[:, 0] - cut[:, 1], 0.0)
        out /= np.where(t > 0, t, np.inf) * point.slack
        return out


def _advance(point: Point, gap: float) -> _Move:
    """One step from a point."""
    problems = point.problems
    directions = point.directions()
    gram = directions.inner()
    if problems.radius or problems.objective is not None:
        pull, across = gram[:, 0, 0], gram[:, 0, 1]
        # The nearest t in the barrier's metric; at least so much that a first step from the analytic centre has
        # some length, and that a ball begins at a gap of 1/30 instead of running away to radius −∞.
        least = 30.0 * problems.order if problems.radius else 0.8 / np.sqrt(pull)
        t = np.maximum(-across / pull, least)
        end = problems.order / (gap * np.maximum(np.abs(_objective(point)), FLOOR))
        away = np.sqrt(np.maximum(t * (t * pull + 2.0 * across) + gram[:, 1, 1], 1e-24))
        # The step that is taken from here brings the distance under its cube.
        done = (np.abs(t / end - 1.0) < 0.05) & (away < 0.005)
    else:
        t, end = np.zeros(len(gram)), np.full(len(gram), np.inf)
        away = np.sqrt(np.maximum(gram[:, 1, 1], 1e-24))
        done = away < 1e-3
    # On the path, predict; the fall of μ amplifies the distance from it, so the nearer the bolder.
    along = np.maximum(t * directions.glance(), 1e-12)
    bold = np.where(along < 1.1, 0.97, 0.9) / along
    fall = np.minimum(np.minimum(bold, 1.0 - t / end), np.minimum(0.99, 1.0 - 3.0 * away))
    fall[(away > 0.15) | (t == 0)] = 0.0
    weights = np.ones((len(t), 2))
    weights[:, 0] = t * (1.0 + fall)
    second = point.curvature(directions.mix(weights))
    weights[:, 0] += t * fall**2
    step = directions.mix(weights)
    # Far from the path the bend means nothing, and a share 1/(1 + reach) of Newton's step is sure to lower t·φ:
    # by at least half the share times away², since each barrier term moves by at most `reach`.
    far = away > 1.0
    second.rows[far] = 0.0
    step.rows += second.rows
    reach = step.reach()
    share = np.where(far, 1.0 / (1.0 + reach), np.minimum(1.0, 0.97 / np.maximum(reach, 1e-12)))
    A, r = point.moved(step, share)
    return _Move(A, r, t, away, directions, done)


def _objective(point: Point) -> Array:
    F = point.problems.objective
    if F is None:
        return point.r
    return np.asarray(effort.of_each(point.A, F).sum(axis=1))


def _inside(point: Point, move: _Move) -> Point:
    """Return the next point, drawn back towards the last one where rounding has carried it over the boundary."""
    A, r = move.A, move.r
    for _ in range(40):
        following = Point(point.problems, A, r)
        outside = ~following.inside
        if not outside.any():
            return following
        A = np.where(outside[:, None, None], 0.5 * (A + point.A), A)
        r = np.where(outside, 0.5 * (r + point.r), r)
    return Point(point.problems, np.where(outside[:, None, None], point.A, A), np.where(outside, point.r, r))

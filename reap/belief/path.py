"""Following the central path of many problems at once.

The point of the path with parameter t maximises ``t · objective − φ``; its duality gap is ``order / t``. Off the path
a step centres; on it a step also predicts. With μ = 1/t and d = φ''⁻¹(objective), the path runs along ``t·d`` for a
relative fall of μ; Newton's step for the smaller μ would overshoot by μ/μ'. A second-order term follows the bend.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from reap._typing import Array, Bools
from reap.belief.spectral import Point, Problems

#: Relative duality gap at which a solution is the point of the path we mean by "the centre".
GAP = 1e-8
#: Under this value of the objective the gap is absolute: rounding leaves nothing to gain.
FLOOR = 1e-5
#: Newton steps after which a problem is given up; a few tens are usual.
LIMIT = 200
#: Numbers in the largest array of a batch that still stays in the processor's cache.
CACHE = 200_000


@dataclass(frozen=True)
class Solution:
    """Ends of the central paths: `A` (B, p, p), `r` (B,), and the cuts' multipliers `u` (B, k)."""

    A: Array
    r: Array
    u: Array


def follow(problems: Problems, A: Array, r: Array, *, gap: float = GAP) -> Solution:
    """Follow the paths from strictly feasible A (B, p, p), r (B,) to the relative duality gap."""
    B, p = len(A), A.shape[-1]
    k = problems.slack.shape[1]
    size = max(1, CACHE // max(1, (k + 1) * p * p))
    parts = []
    for start in range(0, B, size):
        rows = np.arange(start, min(B, start + size))
        parts.append(_follow(problems.take(rows), A[rows], r[rows], gap))
    return Solution(
        np.concatenate([part.A for part in parts]),
        np.concatenate([part.r for part in parts]),
        np.concatenate([part.u for part in parts]),
    )


def _follow(problems: Problems, A: Array, r: Array, gap: float) -> Solution:
    out = Solution(A.copy(), r.copy(), np.zeros((len(A), problems.slack.shape[1])))
    rows, point, patience = np.arange(len(A)), Point(problems, A, r), np.full(len(A), 6)
    for _ in range(LIMIT):
        (A, r), u, at_end, done = _advance(point, gap)
        patience = patience - at_end
        done = done | (patience <= 0)
        if done.any():
            finished = rows[done]
            out.A[finished], out.r[finished], out.u[finished] = point.A[done], point.r[done], u[done]
            left = np.nonzero(~done)[0]
            if not len(left):
                return out
            rows, problems, patience, A, r = rows[left], problems.take(left), patience[left], A[left], r[left]
            point = _inside(problems, A, r, point.A[left], point.r[left])
        else:
            point = _inside(problems, A, r, point.A, point.r)
    _, u, _, _ = _advance(point, gap)
    out.A[rows], out.r[rows], out.u[rows] = point.A, point.r, u
    return out


def _advance(point: Point, gap: float) -> tuple[tuple[Array, Array], Array, Bools, Bools]:
    """One step: the next A and r, the multipliers here, who is at the end of the path, who is done."""
    problems = point.problems
    directions = point.directions()
    gram = directions.inner()
    if problems.radius or problems.objective is not None:
        pull = gram[:, 0, 0]
        # The nearest t in the barrier's metric; from the analytic centre, a first step of moderate length.
        t = np.maximum(-gram[:, 0, 1] / pull, 0.8 / np.sqrt(pull))
        end = problems.order / (gap * np.maximum(np.abs(_objective(point)), FLOOR))
        away = np.sqrt(np.maximum(t * t * pull + 2 * t * gram[:, 0, 1] + gram[:, 1, 1], 0.0))
        at_end = np.abs(t / end - 1.0) < 0.05
        done = at_end & (away < 1e-3)
    else:
        t, end = np.zeros(len(gram)), np.full(len(gram), np.inf)
        away = np.sqrt(np.maximum(gram[:, 1, 1], 0.0))
        at_end = away < 1e-3
        done = away < 1e-9
    newton = directions.combine(np.stack([t, np.ones_like(t)], axis=1))
    with np.errstate(divide="ignore"):
        u = np.maximum(1.0 - newton.cut[:, 0], 0.0) / np.where(t > 0, t, np.inf)[:, None] / point.slack
    # On the path, predict; the fall of μ amplifies the distance from it, so the nearer the bolder.
    ahead = (away < 0.2) & (t > 0)
    along = directions.combine(np.stack([t, np.zeros_like(t)], axis=1)).glance()
    fall = np.minimum(1.0 - np.maximum(0.01, 2.0 * away), 0.97 / np.maximum(along, 1e-12))
    fall = np.where(ahead, np.minimum(fall, 1.0 - t / end), 0.0)
    damp = np.minimum(1.0, 0.9 / np.maximum(away, 1e-12))
    first = directions.combine(np.stack([t * (damp + fall), damp], axis=1))
    second = point.curvature(first)
    step = directions.combine(np.stack([t * (damp + fall + fall**2), damp], axis=1)) + second
    shorten = np.minimum(1.0, 0.97 / np.maximum(step.reach(), 1e-12))
    return point.moved(step.combine(shorten[:, None])), u, at_end, done


def _objective(point: Point) -> Array:
    F = point.problems.objective
    if F is None:
        return point.r
    out: Array = np.sum((F @ point.A) * F, axis=(1, 2))
    return out


def _inside(problems: Problems, A: Array, r: Array, last_A: Array, last_r: Array) -> Point:
    """Return the point, drawn back towards the last one where rounding has carried it over the boundary."""
    point = Point(problems, A, r)
    for _ in range(40):
        outside = ~point.inside
        if not outside.any():
            return point
        A = np.where(outside[:, None, None], 0.5 * (A + last_A), A)
        r = np.where(outside, 0.5 * (r + last_r), r)
        point = Point(problems, A, r)
    return Point(problems, np.where(outside[:, None, None], last_A, A), np.where(outside, last_r, r))

"""From points on the boundary to rows that can be shown: rounding by nearest planes."""

from __future__ import annotations

import numpy as np

from reap._typing import Array, Bools
from reap.effort import of_each
from reap.recourse.targets.problem import Problem
from reap.recourse.targets.slopes import gradient
from reap.space.grid import Numbers

#: Partial roundings kept while columns are rounded, and rows scored at the end.
_BEAM, _KEPT = 24, 10


def roundings(problem: Problem, A: Array, rows: Array, scores: Array, free: Bools) -> tuple[Array, Array]:
    """Return rows on the grids near accepted points (S, d), and their logits: (S, k, d), (S, k).

    With moves x from the point the effort changes by ``q·x + xᵀHx``, and the logit by about ``n·x``, which should
    stay just above the goal: ``F(x) = q·x + xᵀHx + ρ(n·x − s)²``. A beam search rounds one column after the other,
    coarse ones first, each about the value that is best given those before (Babai's nearest plane). The leaves
    of least effort that the linearised model accepts are scored.
    """
    n = problem.numbers
    if len(rows) == 0 or len(n.columns) == 0:
        return rows[:, None], problem.judge(rows)[:, None]
    U = rows[:, n.columns]
    slope = gradient(problem, rows)
    H, centre = _rounding_form(problem, A, rows, slope, scores, free)
    upward = n.snap(U + np.where(free, 0.5 * n.step * np.sign(slope), 0.0))  # accepted if any rounding is
    options = np.concatenate([upward[:, None], _nearest_planes(n, H, U, centre, free)], axis=1)
    guess = scores[:, None] + ((options - U[:, None]) * slope[:, None]).sum(axis=2)
    moved = np.repeat(rows[:, None], options.shape[1], axis=1)
    moved[:, :, n.columns] = options
    efforts = of_each(A, problem.moves(moved))
    short = np.maximum(problem.goal - guess, 0.0)
    efforts = np.where(short <= 0.02, efforts, efforts.max() * (2 + short))
    efforts[:, 0] = -1.0
    best = np.argsort(efforts, axis=1, kind="stable")[:, :_KEPT]
    chosen = problem.follow(np.take_along_axis(moved, best[:, :, None], axis=1).reshape(-1, rows.shape[1]))
    return chosen.reshape(*best.shape, -1), problem.judge(chosen).reshape(best.shape)


def _rounding_form(
    problem: Problem, A: Array, rows: Array, slope: Array, scores: Array, free: Bools
) -> tuple[Array, Array]:
    """Return the Hessian (S, m, m) and the centre (S, m), as moves, of the form that rounding minimises."""
    n = problem.numbers
    m = len(n.columns)
    H = A[:, n.columns[:, None], n.columns]
    H = H + (1e-6 * np.trace(H, axis1=1, axis2=2) / m + 1e-12)[:, None, None] * np.eye(m)
    q = 2 * (A @ problem.moves(rows)[:, :, None])[:, n.columns, 0]
    pull = np.where(free, slope, 0.0)
    # the multiplier of the boundary, q = rate · n, holds for numbers that no end of their range holds back
    U = rows[:, n.columns]
    inner = np.where((np.minimum(U - n.lower, n.upper - U) > 1e-9), pull, 0.0)
    inner = np.where(inner.any(axis=1, keepdims=True), inner, pull)
    back = inner / np.diagonal(H, axis1=1, axis2=2)
    rate = np.maximum((q * back).sum(axis=1) / np.maximum((inner * back).sum(axis=1), 1e-12), 1e-9)
    grain = 0.3 * np.sqrt(np.mean((pull * n.step) ** 2, axis=1)) + 1e-9
    weight = rate / grain
    want = grain + rate / (2 * weight) + problem.goal - scores
    H = H + weight[:, None, None] * pull[:, :, None] * pull[:, None, :]
    right = (weight * want)[:, None] * pull - q / 2
    return H, np.linalg.solve(H, right[:, :, None])[:, :, 0]


def _nearest_planes(n: Numbers, H: Array, U: Array, centre: Array, free: Bools) -> Array:
    """Return grid points (S, W, m) near ``U + centre`` in the metric H, by a beam search over columns."""
    S, m = U.shape
    coarse = n.step * np.sqrt(np.maximum(np.diagonal(H, axis1=1, axis2=2), 0.0))
    order = np.argsort(np.where(free, coarse, np.inf), axis=1, kind="stable")  # the last is rounded first
    each = np.arange(S)[:, None]
    R = np.linalg.cholesky(H[each[:, :, None], order[:, :, None], order[:, None, :]]).transpose(0, 2, 1)
    U, centre, free = U[each, order], centre[each, order], free[each, order]
    offs = np.zeros((S, 1, m))  # deviations from the centre
    total = np.zeros((S, 1))
    for i in range(m - 1, -1, -1):
        shift = (offs[:, :, i + 1 :] @ R[:, i, i + 1 :, None])[:, :, 0] / R[:, [i], i]
        column = order[:, i, None, None]
        ideal = (U + centre)[:, [i]] - shift
        value = n.snap(ideal[:, :, None] + n.step[column] * np.array([0.0, -1.0, 1.0]), column)
        value = np.where(free[:, i, None, None], value, U[:, i, None, None])
        off = value - (U + centre)[:, i, None, None]
        more = (R[:, i, i, None, None] * (off + shift[:, :, None])) ** 2
        more[:, :, 1][np.abs(value[:, :, 1] - value[:, :, 0]) < 1e-12] = np.inf
        more[:, :, 2][np.abs(value[:, :, 2] - value[:, :, 0]) < 1e-12] = np.inf
        sums = (total[:, :, None] + more).reshape(S, -1)
        keep = np.arange(sums.shape[1])[None] * np.ones((S, 1), dtype=np.intp)
        if sums.shape[1] > _BEAM:
            keep = np.argpartition(sums, _BEAM - 1, axis=1)[:, :_BEAM]
        offs = offs[each, keep // 3].copy()
        offs[:, :, i] = off.reshape(S, -1)[each, keep]
        total = sums[each, keep]
    found = np.where(np.isfinite(total)[:, :, None], offs, offs[:, [0]])
    out = np.empty_like(found)
    np.put_along_axis(
        out, np.broadcast_to(order[:, None], found.shape), found + (U + centre)[:, None], axis=2
    )
    return out

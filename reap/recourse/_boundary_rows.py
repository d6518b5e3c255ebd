"""From points to rows: rounding to what can be shown, and a local search over rows.

Only rows that can be shown count, so the last word is discrete: every candidate lies on the grids and is scored as it is.
"""

from __future__ import annotations

import numpy as np

from reap._typing import Array, Bools, Ints
from reap.recourse._boundary_pool import keys
from reap.recourse._boundary_terrain import Numbers, Terrain
from reap.recourse._efforts import efforts_each

_BEAM = 24
_KEPT = 10
_PAIRS = 16


def roundings(terrain: Terrain, A: Array, rows: Array, scores: Array, free: Bools) -> tuple[Array, Array]:
    """Return rows on the grids near accepted points (S, d), and their logits: (S, k, d), (S, k).

    With moves x from the point the effort changes by ``q·x + xᵀHx``, and the logit by about ``n·x``, which should
    stay just above the goal: ``F(x) = q·x + xᵀHx + ρ(n·x − s)²``. A beam search rounds one column after the other,
    coarse ones first, each about the value that is best given those before (Babai's nearest plane). The cheapest
    leaves that the linearised model accepts are scored.
    """
    n = terrain.numbers
    if len(rows) == 0 or len(n.columns) == 0:
        return rows[:, None], terrain.judge(rows)[:, None]
    U = rows[:, n.columns]
    slope = terrain.gradient(rows)
    H, centre = _rounding_form(terrain, A, rows, slope, scores, free)
    options = _nearest_planes(n, H, U, centre, free)
    guess = scores[:, None] + ((options - U[:, None]) * slope[:, None]).sum(axis=2)
    moved = np.repeat(rows[:, None], options.shape[1], axis=1)
    moved[:, :, n.columns] = options
    costs = efforts_each(A, np.nan_to_num(moved - terrain.z0))
    short = np.maximum(terrain.goal - guess, 0.0)
    costs = np.where(short <= 0.02, costs, costs.max() * (2 + short))
    best = np.argsort(costs, axis=1, kind="stable")[:, :_KEPT]
    chosen = terrain.follow(np.take_along_axis(moved, best[:, :, None], axis=1).reshape(-1, rows.shape[1]))
    return chosen.reshape(*best.shape, -1), terrain.judge(chosen).reshape(best.shape)


def _rounding_form(
    terrain: Terrain, A: Array, rows: Array, slope: Array, scores: Array, free: Bools
) -> tuple[Array, Array]:
    """Return the Hessian (S, m, m) and the centre (S, m), as moves, of the form that rounding minimises."""
    n = terrain.numbers
    m = len(n.columns)
    H = A[:, n.columns[:, None], n.columns]
    H = H + (1e-6 * np.trace(H, axis1=1, axis2=2) / m + 1e-12)[:, None, None] * np.eye(m)
    q = 2 * (A @ terrain.moves(rows)[:, :, None])[:, n.columns, 0]
    pull = np.where(free, slope, 0.0)
    back = np.linalg.solve(H, pull[:, :, None])[:, :, 0]
    price = np.maximum((q * back).sum(axis=1) / np.maximum((pull * back).sum(axis=1), 1e-12), 1e-9)
    grain = 0.3 * np.sqrt(np.mean((pull * n.step) ** 2, axis=1)) + 1e-9
    weight = price / grain
    want = grain + price / (2 * weight) + terrain.goal - scores
    H = H + weight[:, None, None] * pull[:, :, None] * pull[:, None, :]
    right = (weight * want)[:, None] * pull - q / 2
    return H, np.linalg.solve(H, right[:, :, None])[:, :, 0]


def _nearest_planes(n: Numbers, H: Array, U: Array, centre: Array, free: Bools) -> Array:
    """Return grid points (S, W, m) near ``U + centre`` in the metric H, by a beam search over columns."""
    S, m = U.shape
    coarse = n.step * np.sqrt(np.maximum(np.einsum("smm->sm", H), 0.0))
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


class Moves:
    """The single changes one can make to rows: a few steps of a number, part of the way back, another level."""

    def __init__(self, terrain: Terrain) -> None:
        self.terrain = terrain
        n = terrain.numbers
        self._steps = [self._sizes(j) for j in range(len(n.columns))]
        back = [1.0, 0.5, 0.25, 0.1]
        self.owner = np.array(
            [n.feature[j] for j, sizes in enumerate(self._steps) for _ in range(2 * len(sizes) + len(back))]
            + [c.feature for c in terrain.choices for _ in c.options],
            dtype=np.intp,
        )
        self._back = np.array(back)

    def _sizes(self, j: int) -> Array:
        n = self.terrain.numbers
        sizes = np.array([1.0, 2.0, 3.0]) * n.step[j]
        wider = np.array([0.003, 0.01, 0.03, 0.1])
        return np.unique(
            np.concatenate([sizes, np.rint(wider[wider > 3 * n.step[j]] / n.step[j]) * n.step[j]])
        )

    def of(self, rows: Array) -> Array:
        """Return the changes (R, M, d) that lead from rows (R, d) to their neighbours; zero where there is none."""
        terrain, n = self.terrain, self.terrain.numbers
        out = np.zeros((len(rows), len(self.owner), rows.shape[1]))
        at = 0
        for j, sizes in enumerate(self._steps):
            column = n.columns[j]
            here = rows[:, [column]]
            wanted = np.concatenate(
                [here - sizes, here + sizes, here + self._back * (n.start[j] - here)], axis=1
            )
            out[:, at : at + wanted.shape[1], column] = n.snap(wanted, np.array([j])) - here
            at += wanted.shape[1]
        for choice in terrain.choices:
            k = len(choice.options)
            block = out[:, at : at + k]
            block[:, :, choice.columns] = choice.options[None] - rows[:, None, choice.columns]
            at += k
        return out


def search(terrain: Terrain, A: Array, rows: Array, scores: Array, rounds: int = 12) -> tuple[Array, Array]:
    """Improve accepted rows (b, d), one for each matrix, by single changes and pairs of changes.

    All single changes of a row are scored; the logit of a pair is guessed as the sum of both, and the cheapest pairs
    that the guess accepts are scored too. Needs no gradient. Returns rows (b, d) and their logits (b,).
    """
    moves = Moves(terrain)
    rows, scores = rows.copy(), scores.copy()
    active = np.arange(len(A))
    for _ in range(rounds):
        if len(active) == 0 or terrain.late or len(moves.owner) == 0:
            break
        first, state = _states(rows[active])
        changes = moves.of(rows[active][first])
        near = terrain.follow((rows[active][first][:, None] + changes).reshape(-1, rows.shape[1]))
        near_scores = terrain.judge(near).reshape(len(first), -1)
        pairs = _pairs(
            terrain, A[active], rows[active], scores[active], changes, near_scores, state, moves.owner
        )
        tried = terrain.follow(pairs.reshape(-1, rows.shape[1]))
        tried_scores = terrain.judge(tried)
        options = np.concatenate(
            [near.reshape(len(first), -1, rows.shape[1])[state], tried.reshape(pairs.shape)], axis=1
        )
        values = np.concatenate([near_scores[state], tried_scores.reshape(pairs.shape[:2])], axis=1)
        costs = efforts_each(A[active], np.nan_to_num(options - terrain.z0))
        costs[values < terrain.goal] = np.inf
        best = costs.argmin(axis=1)
        each = np.arange(len(active))
        now = efforts_each(A[active], terrain.moves(rows[active]))
        better = costs[each, best] < now * (1 - 1e-9) - 1e-15
        rows[active[better]] = options[each[better], best[better]]
        scores[active[better]] = values[each[better], best[better]]
        active = active[better]
    return rows, scores


def _states(rows: Array) -> tuple[Ints, Ints]:
    """Return the index of the first of each set of equal rows, and which set each row is in."""
    _, first, state = np.unique(keys(rows), return_index=True, return_inverse=True)
    return first, state.ravel()


def _pairs(
    terrain: Terrain,
    A: Array,
    rows: Array,
    scores: Array,
    changes: Array,
    near_scores: Array,
    state: Ints,
    owner: Ints,
) -> Array:
    """Return the most promising pairs of changes applied to the rows, (b, k, d)."""
    S = changes[state]
    SA = S @ A
    single = 2 * (SA @ terrain.moves(rows)[:, :, None])[:, :, 0] + (SA * S).sum(axis=2)
    gain = np.nan_to_num(near_scores[state], neginf=-1e3) - scores[:, None]
    both = single[:, :, None] + single[:, None, :] + 2 * SA @ S.transpose(0, 2, 1)
    fits: Bools = scores[:, None, None] + gain[:, :, None] + gain[:, None, :] >= terrain.goal
    # a row that no single change may leave can still be left by two, where rules tie features together
    moved = np.abs(S).sum(axis=2) > 1e-9
    fits &= (owner[:, None] < owner[None]) & moved[:, :, None] & moved[:, None, :]
    both = np.where(fits & (both < 0), both, np.inf).reshape(len(A), -1)
    k = min(_PAIRS, both.shape[1])
    best = np.argpartition(both, k - 1, axis=1)[:, :k]
    i, j = np.divmod(best, len(owner))
    each = np.arange(len(A))[:, None]
    useful = np.isfinite(np.take_along_axis(both, best, axis=1))[:, :, None]
    return np.asarray(rows[:, None] + np.where(useful, S[each, i] + S[each, j], 0.0))

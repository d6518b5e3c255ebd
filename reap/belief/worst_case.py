"""The largest effort that any matrix of the set gives to a direction or a plan.

Weak duality certifies it: for any ``u ≥ 0``, ``max ⟨A, C⟩ ≤ ε·u + tr(C − Σ uₖMₖ)₊``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from reap import effort
from reap._arrays import symmetric, transpose
from reap._typing import Array, Bools
from reap.belief.cuts import Reduced, check_size
from reap.belief.spectral import Problems, Solution, follow

#: Relative duality gap of worst cases.
GAP = 1e-7


@dataclass(frozen=True)
class WorstCases:
    """Worst-case efforts of n separate directions.

    Parameters
    ----------
    costs : ``max vᵀAv`` over the set (n,), each reached by `matrix`.
    bounds : certified upper bounds (n,).
    """

    costs: Array
    bounds: Array
    _lift: Callable[[int], Array] = field(repr=False)

    @property
    def gaps(self) -> Array:
        """How far each cost may be from the true maximum (n,)."""
        out: Array = np.maximum(self.bounds - self.costs, 0.0)
        return out

    def matrix(self, i: int) -> Array:
        """Return a matrix (d, d) of the set at which direction i asks what `costs` says."""
        return self._lift(i)


@dataclass(frozen=True)
class WorstCasePlan:
    """Worst-case effort of a whole plan: the matrix (d, d) that reaches it and a certified upper bound."""

    cost: float
    bound: float
    matrix: Array

    @property
    def gap(self) -> float:
        """How far the cost may be from the true maximum."""
        return max(0.0, self.bound - self.cost)


def without_cuts(V: Array) -> WorstCases:
    """Before any answer the worst case is A = I."""
    size = effort.size(V)
    return WorstCases(size, size.copy(), lambda i: effort.identity(V.shape[1]))


def directions(cuts: Reduced, V: Array, S: Array, start: Callable[[], Array]) -> WorstCases:
    """Worst cases of n separate directions V (n, d): the free answers first, then one batch for the rest.

    Parameters
    ----------
    S : (p, p) a matrix well inside the cuts, the published centre.
    start : gives the analytic centre (p, p), where the paths begin.
    """
    size = effort.size(V)
    unit = V / np.sqrt(np.where(size > 0, size, 1.0))[:, None]
    inside, outside = _coordinates(unit, cuts.basis)
    rest = np.linalg.norm(outside, axis=1)
    full = cuts.dimension == V.shape[1]
    whole = inside if full else np.column_stack([inside, rest])
    ok, share = free(cuts, inside, rest, S)
    costs, bounds = np.ones((2, len(V)))
    solved: dict[int, Array] = {}
    left = np.nonzero(~ok & (size > 0))[0]
    if len(left):
        F = whole[left, None]
        found, upper = solve(cuts, F, start())
        costs[left] = effort.of_each(found.A, F)[:, 0]
        bounds[left] = np.clip(upper, costs[left], 1.0)
        solved = dict(zip(left.tolist(), found.A, strict=True))

    def lift(i: int) -> Array:
        B = solved.get(range(len(V))[i])
        if B is None:
            v, wide = whole[i], 0.5 * np.eye(whole.shape[1])
            wide[: len(S), : len(S)] = S
            P = np.eye(len(v)) - np.outer(v, v)
            B = share[i] * (P @ wide @ P) + np.outer(v, v)
        axis = outside[i] / rest[i] if rest[i] > 0 else outside[i]
        return cuts.lift(B, cuts.basis if full else np.column_stack([cuts.basis, axis]))

    return WorstCases(costs * size, bounds * size, lift)


def plan(cuts: Reduced, V: Array, start: Array) -> WorstCasePlan:
    """Worst case of a whole plan V (s, d), not zero: one matrix for all its steps."""
    size = float(effort.size(V.ravel()))
    inside, outside = _coordinates(V / np.sqrt(size), cuts.basis)
    _, lengths, axes = np.linalg.svd(outside, full_matrices=False)
    axes = axes[lengths > 1e-12]
    F = np.column_stack([inside, outside @ axes.T])
    found, upper = solve(cuts, F[None], start)
    # ⟨A, FᵀF⟩ as one sum over all moves; added up move by move it would round otherwise
    cost = float(np.sum((F @ found.A[0]) * F))
    matrix = cuts.lift(found.A[0], np.column_stack([cuts.basis, axes.T]))
    return WorstCasePlan(cost * size, max(cost, min(float(upper[0]), 1.0)) * size, matrix)


def free(cuts: Reduced, inside: Array, rest: Array, S: Array) -> tuple[Bools, Array]:
    """Directions whose worst case is the full ``|v|²``, found without solving anything.

    With ``P = I − vvᵀ`` and S in the set, ``A = c·PSP + vvᵀ`` has ``vᵀAv = 1`` and lies in ``0 ⪯ A ⪯ I`` for c in
    [0, 1]; every cut is linear in c, so some c will do where the intervals of all cuts meet.

    Parameters
    ----------
    inside, rest : coordinates (n, p) of unit directions in the span of the cuts, and how much is outside (n,).
    S : (p, p); outside the span it is ½.

    Returns
    -------
    Whether each direction is free (n,), and its c (n,).
    """
    k, m, p = cuts.a.shape
    a, b = cuts.a.reshape(k * m, p), cuts.b.reshape(k * m, p)
    va, vb, Sv = inside @ a.T, inside @ b.T, inside @ S
    vSv = (np.sum(Sv * inside, axis=1) + 0.5 * rest**2)[:, None]
    own = va * vb
    others = np.sum((a @ S) * b, axis=1) - va * (Sv @ b.T) - vb * (Sv @ a.T) + own * vSv
    own, others = (X.reshape(-1, k, m).sum(axis=2) for X in (own, others))
    room = cuts.slack - own
    nan = np.full_like(room, np.nan)
    ratio = np.divide(room, others, out=nan, where=others != 0)
    most = np.min(np.where(others > 0, ratio, 1.0), axis=1, initial=1.0)
    least = np.max(np.where(others < 0, ratio, 0.0), axis=1, initial=0.0)
    ok: Bools = (least <= most) & ~((others == 0) & (room < 0)).any(axis=1)
    # The middle of the interval keeps clear of rounding at either end.
    return ok, np.where(ok, 0.5 * (least + most), 0.0)


def solve(cuts: Reduced, F: Array, start: Array) -> tuple[Solution, Array]:
    """Maximise ``⟨A, FᵀF⟩`` for a batch of F (B, s, q) from the analytic centre `start` (p, p).

    Coordinates from p to q are outside the span of the cuts.

    Returns
    -------
    The solutions and their certified upper bounds (B,).
    """
    B, _, q = F.shape
    check_size(len(cuts), q)
    a, b = cuts.widen(q - cuts.dimension)
    A = 0.5 * np.eye(q)
    A[: cuts.dimension, : cuts.dimension] = start
    problems = Problems(a[None], b[None], cuts.slack[None], np.zeros((1, len(cuts))), objective=F)
    found = follow(problems, np.broadcast_to(A, (B, q, q)), np.zeros(B), gap=GAP)
    weights = np.repeat(found.u, a.shape[1], axis=1)
    X = transpose(a.reshape(-1, q) * weights[:, :, None]) @ b.reshape(-1, q)
    spectrum = np.linalg.eigvalsh(transpose(F) @ F - symmetric(X))
    return found, found.u @ cuts.slack + np.sum(np.maximum(spectrum, 0.0), axis=1)


def _coordinates(V: Array, basis: Array) -> tuple[Array, Array]:
    """Split directions (n, d) into coordinates in the basis (n, p) and what is left of them (n, d)."""
    inside = V @ basis
    rest = V - inside @ basis.T
    # Once more: what rounding left of the span must not count as a direction outside it.
    again = rest @ basis
    rest = rest - again @ basis.T
    rest[np.linalg.norm(rest, axis=1) < 1e-12] = 0.0
    return inside + again, rest

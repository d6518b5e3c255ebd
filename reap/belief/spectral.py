"""One Newton system of the barrier, solved in the eigenbasis of A.

Over matrices A (p, p) and, where a ball is asked for, its radius r, the barrier of the confidence set is

    φ(A, r) = −log det(A − σrI) − log det((1 − σr)I − A) − Σ log sₖ,     sₖ = εₖ − ⟨A, Mₖ⟩ − nₖr.

In the eigenbasis of A both determinants have a *diagonal* Hessian, ``1/(lᵢlⱼ) + 1/(hᵢhⱼ)`` with ``l = λ − σr`` and
``h = 1 − σr − λ``; the cuts add rank k and the radius rank one. So a Newton step costs one eigendecomposition and
one small symmetric system (Woodbury), O(k²p²), where a general solver pays O(p⁶). Everything has a batch axis B.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from reap._typing import Array, Bools, Ints


def transpose(X: Array) -> Array:
    """Swap the last two axes."""
    return np.swapaxes(X, -1, -2)


def symmetric(X: Array) -> Array:
    """Symmetric part of each matrix."""
    out: Array = 0.5 * (X + transpose(X))
    return out


@dataclass(frozen=True)
class Problems:
    """A batch of B problems over matrices of the same size with the same number of cuts.

    Maximise r (where `objective` is None and `radius`), or ``⟨A, FᵀF⟩``, or nothing (the analytic centre).

    Parameters
    ----------
    a, b : factors (B or 1, k, m, p) of the cuts.
    slack : ``εₖ`` (B or 1, k).
    ball : ``nₖ`` (B or 1, k): how much of the ball's radius a cut must keep away.
    sigma : 1 if the ball must also keep off the spectral bounds, else 0.
    radius : whether r is a variable; else it is 0.
    objective : F (B, s, p) or None.
    """

    a: Array
    b: Array
    slack: Array
    ball: Array
    sigma: float = 0.0
    radius: bool = False
    objective: Array | None = None

    @property
    def order(self) -> int:
        """Parameter of the barrier: the duality gap on the central path is ``order / t``."""
        return int(2 * self.a.shape[-1] + self.slack.shape[1])

    def take(self, rows: Ints) -> Problems:
        """Return the problems with these indices."""

        def pick(X: Array) -> Array:
            return X if len(X) == 1 else X[rows]

        goal = None if self.objective is None else self.objective[rows]
        return replace(
            self,
            a=pick(self.a),
            b=pick(self.b),
            slack=pick(self.slack),
            ball=pick(self.ball),
            objective=goal,
        )


@dataclass(frozen=True)
class Step:
    """Displacements in the eigenbasis, q of them for each problem.

    `A` (B, q, p, p), `r` (B, q), and relative to the distance from the boundary: `low` = L^-½ dL L^-½ and
    `high` = H^-½ dH H^-½ (B, q, p, p), and `cut` = ds/s (B, q, k). A step is feasible while none of these goes
    under −1, and the sum of their squares is its length in the barrier's own metric.
    """

    A: Array
    r: Array
    low: Array
    high: Array
    cut: Array

    def combine(self, weights: Array) -> Step:
        """Return ``Σ_q weights[:, q] · step_q`` as the only displacement; `weights` (B, q)."""

        def mix(X: Array) -> Array:
            flat = X.reshape(*weights.shape, -1)
            out: Array = (weights[:, None, :] @ flat).reshape(len(X), 1, *X.shape[2:])
            return out

        r: Array = np.sum(weights * self.r, axis=1, keepdims=True)
        return Step(mix(self.A), r, mix(self.low), mix(self.high), mix(self.cut))

    def __add__(self, other: Step) -> Step:
        return Step(
            self.A + other.A,
            self.r + other.r,
            self.low + other.low,
            self.high + other.high,
            self.cut + other.cut,
        )

    def inner(self) -> Array:
        """Products (B, q, q) of the displacements in the barrier's metric."""
        rows = len(self.r), self.r.shape[1], -1
        flat = np.concatenate(
            [self.low.reshape(rows), self.high.reshape(rows), self.cut.reshape(rows)], axis=2
        )
        out: Array = flat @ transpose(flat)
        return out

    def glance(self) -> Array:
        """Return a cheap estimate from below of `reach`: from the diagonals only (B,)."""
        low = np.min(np.diagonal(self.low[:, 0], axis1=1, axis2=2), axis=1, initial=0.0)
        high = np.min(np.diagonal(self.high[:, 0], axis1=1, axis2=2), axis=1, initial=0.0)
        out: Array = -np.minimum(np.minimum(low, high), np.min(self.cut[:, 0], axis=1, initial=0.0))
        return out

    def reach(self) -> Array:
        """How much of the way to the boundary the first displacement goes (B,); 1 touches it."""
        spectra = np.linalg.eigvalsh(np.stack([self.low[:, 0], self.high[:, 0]], axis=1))
        worst = np.min(spectra, axis=(1, 2), initial=0.0)
        out: Array = -np.minimum(worst, np.min(self.cut[:, 0], axis=1, initial=0.0))
        return out


class Point:
    """The barrier at A (B, p, p), r (B,): distances to the boundary, and Newton's system in the eigenbasis."""

    def __init__(self, problems: Problems, A: Array, r: Array) -> None:
        self.problems, self.A, self.r = problems, A, r
        values, self.U = np.linalg.eigh(A)
        shift = problems.sigma * r[:, None]
        self.low, self.high = values - shift, 1.0 - shift - values
        B, p = values.shape
        k, m = problems.slack.shape[1], problems.a.shape[2]
        a, b = ((X.reshape(len(X), k * m, p) @ self.U).reshape(B, k, m, p) for X in (problems.a, problems.b))
        if m == 1:
            M = a[:, :, 0, :, None] * b[:, :, 0, None, :]
        else:
            M = transpose(a) @ b
        self.M = symmetric(M).reshape(B, k, p * p)
        diagonal = self.M[:, :, :: p + 1]
        self.slack = problems.slack - (diagonal @ values[:, :, None])[..., 0] - problems.ball * r[:, None]

    @property
    def inside(self) -> Bools:
        """Whether each point is strictly inside its set (B,)."""
        spectral = (self.low > 0).all(axis=1) & (self.high > 0).all(axis=1)
        out: Bools = spectral & (self.slack > 0).all(axis=1)
        return out

    @cached_property
    def _system(self) -> tuple[Array, Array, Array, Array, Array]:
        """Rows V (B, k+1, p²), J and inverse (B, k+1, k+1), scale (B, k+1), 1/√D (B, p²).

        With ``X = √D∘dA`` and unknowns x = (relative cut multipliers, dr), the Newton equations are
        ``X = G − Vᵀx`` and ``(VVᵀ + J)x = VG + (e, −g)``, symmetric and scaled to a unit diagonal.
        """
        s, problems = self.slack, self.problems
        (B, p), k = self.low.shape, s.shape[1]
        il, ih = 1.0 / self.low, 1.0 / self.high
        weight = il[:, :, None] * il[:, None] + ih[:, :, None] * ih[:, None]
        root = (1.0 / np.sqrt(weight)).reshape(B, p * p)
        V = np.zeros((B, k + 1, p * p))
        np.multiply(self.M, root[:, None], out=V[:, :k])
        V[:, :k] /= s[:, :, None]
        J = np.zeros((B, k + 1, k + 1))
        corner = np.ones(B)
        if problems.radius:
            V[:, k, :: p + 1] = problems.sigma * (ih**2 - il**2) * root[:, :: p + 1]
            J[:, k, :k] = J[:, :k, k] = -problems.ball / s
            J[:, k, k] = -(problems.sigma**2) * np.sum(il**2 + ih**2, axis=1)
            # The corner of VVᵀ + J, without the cancellation between its two large terms.
            corner = problems.sigma**2 * np.sum(4.0 / (self.low**2 + self.high**2), axis=1)
        N = V @ transpose(V) + J
        N[:, range(k), range(k)] += 1.0
        J[:, range(k), range(k)] = 1.0
        N[:, k, k] = -corner
        scale = np.empty((B, k + 1))
        scale[:, :k] = 1.0 / np.sqrt(N[:, range(k), range(k)])
        scale[:, k] = 1.0 / np.sqrt(corner + np.sum((N[:, k, :k] * scale[:, :k]) ** 2, axis=1))
        N *= scale[:, :, None] * scale[:, None]
        # Cuts that are parallel to the last digit: the ridge decides, and refinement in `newton` pays for it.
        N[:, range(k), range(k)] += 1e-14
        inverse: Array = np.linalg.inv(N)
        return V, J, inverse, scale, root

    def newton(self, G: Array, g: Array, e: Array) -> Step:
        """Solve ``φ'' d = right side`` for q right sides at once.

        Parameters
        ----------
        G : (B, q, p, p) part for A, in the eigenbasis, without the cuts' share.
        g : (B, q) part for r, without the cuts' share.
        e : (B, q, k) the cuts' share: it stands for ``−Σ eₖ Mₖ/sₖ`` and ``−Σ eₖ nₖ/sₖ``.
        """
        V, J, inverse, scale, root = self._system
        B, q, p = G.shape[:3]
        k = self.slack.shape[1]
        X = G.reshape(B, q, p * p) * root[:, None]
        right = np.concatenate([e, -g[:, :, None]], axis=2)
        x = np.zeros((B, q, k + 1))
        # The second round refines: near the boundary V is so large that rounding alone would leave a cut.
        for _ in range(2):
            rest = X @ transpose(V) + right - x @ J
            change = (rest * scale[:, None]) @ inverse * scale[:, None]
            x = x + change
            X = X - change @ V
        r = x[:, :, k] if self.problems.radius else np.zeros((B, q))
        return self._step((X * root[:, None]).reshape(B, q, p, p), r, e - x[:, :, :k])

    def _step(self, dA: Array, dr: Array, cut: Array) -> Step:
        p = dA.shape[-1]
        low, high = dA, -dA
        if self.problems.sigma and self.problems.radius:
            shift = self.problems.sigma * dr[:, :, None, None] * np.eye(p)
            low, high = low - shift, high - shift
        il, ih = 1.0 / np.sqrt(self.low), 1.0 / np.sqrt(self.high)
        return Step(
            dA,
            dr,
            low * (il[:, None, :, None] * il[:, None, None]),
            high * (ih[:, None, :, None] * ih[:, None, None]),
            cut,
        )

    def directions(self) -> Step:
        """Return two displacements: ``φ''⁻¹`` of the objective, and Newton's for the barrier alone."""
        problems, il, ih = self.problems, 1.0 / self.low, 1.0 / self.high
        B, p = il.shape
        G, g, e = np.zeros((B, 2, p, p)), np.zeros((B, 2)), np.zeros((B, 2, self.slack.shape[1]))
        if problems.objective is not None:
            F = problems.objective @ self.U
            G[:, 0] = transpose(F) @ F
        elif problems.radius:
            g[:, 0] = 1.0
        G[:, 1].reshape(B, p * p)[:, :: p + 1] = il - ih
        g[:, 1] = -problems.sigma * np.sum(il + ih, axis=1)
        e[:, 1] = 1.0
        return self.newton(G, g, e)

    def curvature(self, step: Step) -> Step:
        """Second-order term of the path along a displacement d: ``−½ φ''⁻¹ φ'''[d, d]``."""
        il, ih = 1.0 / np.sqrt(self.low), 1.0 / np.sqrt(self.high)
        low = (step.low @ step.low) * (il[:, None, :, None] * il[:, None, None])
        high = (step.high @ step.high) * (ih[:, None, :, None] * ih[:, None, None])
        trace = np.trace(low, axis1=2, axis2=3) + np.trace(high, axis1=2, axis2=3)
        return self.newton(low - high, -self.problems.sigma * trace, step.cut**2)

    def moved(self, step: Step) -> tuple[Array, Array]:
        """Return A (B, p, p), r (B,) after the first displacement."""
        return symmetric(self.A + self.U @ step.A[:, 0] @ transpose(self.U)), self.r + step.r[:, 0]

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

from reap._arrays import symmetric, transpose
from reap._typing import Array, Bools, Ints
from reap.belief.steps import Steps


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

    def take(self, rows: Ints) -> Point:
        """Return the points with these indices."""
        other = object.__new__(Point)
        other.problems = self.problems.take(rows)
        other.A, other.r, other.U = self.A[rows], self.r[rows], self.U[rows]
        other.low, other.high = self.low[rows], self.high[rows]
        other.M, other.slack = self.M[rows], self.slack[rows]
        return other

    @cached_property
    def scales(self) -> Array:
        """``1/√(lᵢlⱼ)`` and ``1/√(hᵢhⱼ)`` (B, 2, p, p)."""
        root = 1.0 / np.sqrt(np.stack([self.low, self.high], axis=1))
        out: Array = root[:, :, :, None] * root[:, :, None]
        return out

    @property
    def inside(self) -> Bools:
        """Whether each point is strictly inside its set (B,)."""
        # eigh sorts the eigenvalues: the first is the nearest to 0, the last the nearest to 1.
        out: Bools = (self.low[:, 0] > 0) & (self.high[:, -1] > 0) & (self.slack > 0).all(axis=1)
        return out

    @cached_property
    def _system(self) -> tuple[Array, Array, Array]:
        """V (B, k+1, p²), the inverse of VVᵀ + J (B, k+1, k+1), 1/√D (B, 1, p²).

        With ``X = √D∘dA`` and unknowns x = (relative cut multipliers, dr), the Newton equations are ``X = G − Vᵀx`` and
        ``(VVᵀ + J)x = VG + (e, −g)``, symmetric; they are scaled to a unit diagonal before the inversion.
        """
        s, problems = self.slack, self.problems
        (B, p), k = self.low.shape, s.shape[1]
        squares = self.scales**2
        root = (1.0 / np.sqrt(squares[:, 0] + squares[:, 1])).reshape(B, 1, p * p)
        V = np.empty((B, k + 1, p * p))
        np.multiply(self.M, root / s[:, :, None], out=V[:, :k])
        V[:, k] = 0.0
        corner: Array | float = 1.0
        if problems.sigma:
            own = squares.reshape(B, 2, p * p)[:, :, :: p + 1]
            V[:, k, :: p + 1] = (own[:, 1] - own[:, 0]) * root[:, 0, :: p + 1]
        if problems.radius:
            # The corner of VVᵀ + J, without the cancellation between its two large terms.
            corner = problems.sigma * (4.0 / (self.low**2 + self.high**2)).sum(axis=1)
        N = V @ transpose(V)
        diagonal = N.reshape(B, -1)[:, :: k + 2]
        diagonal[:, :k] += 1.0
        if problems.radius:
            N[:, k, :k] -= problems.ball / s
            N[:, :k, k] = N[:, k, :k]
        diagonal[:, k] = 1.0
        scale = 1.0 / np.sqrt(diagonal)
        diagonal[:, k] = -corner
        scale[:, k] = 1.0 / np.sqrt(corner + ((N[:, k, :k] * scale[:, :k]) ** 2).sum(axis=1))
        both = scale[:, :, None] * scale[:, None]
        N *= both
        # Cuts that are parallel to the last digit: the ridge decides, and refinement in `newton` pays for it.
        diagonal[:, :k] += 1e-14
        return V, np.linalg.inv(N) * both, root

    @cached_property
    def _border(self) -> Array:
        """J (B, k+1, k+1): what the barrier of the cuts and of the radius adds to VVᵀ."""
        B, k = self.slack.shape
        J = np.zeros((B, k + 1, k + 1))
        diagonal = J.reshape(B, -1)[:, :: k + 2]
        diagonal[:, :k] = 1.0
        if self.problems.radius:
            J[:, k, :k] = J[:, :k, k] = -self.problems.ball / self.slack
            diagonal[:, k] = -self.problems.sigma * (self.low**-2 + self.high**-2).sum(axis=1)
        return J

    @cached_property
    def _rounds(self) -> int:
        """How often a solution is refined: by the digits that the smallest distance to the boundary costs."""
        nearest = min(self.low.min(), self.high.min(), self.slack.min(initial=1.0))
        if nearest > 1e-4:
            return 0
        # Many cuts in few dimensions are nearly dependent, and cost more digits.
        return 1 if nearest > 1e-7 or self.slack.shape[1] <= 2 * self.low.shape[1] else 3

    def newton(self, G: Array, g: Array, e: Array) -> Steps:
        """Solve ``φ″ d = right side`` for q right sides at once.

        Parameters
        ----------
        G : (B, q, p²) part for A, in the eigenbasis, without the cuts' share.
        g : (B, q) part for r, without the cuts' share.
        e : (B, q, k) the cuts' share: it stands for ``−Σ eₖ Mₖ/sₖ`` and ``−Σ eₖ nₖ/sₖ``.
        """
        V, inverse, root = self._system
        (B, q, size), k, p = G.shape, self.slack.shape[1], self.low.shape[1]
        Vt = transpose(V)
        X = G * root
        right = np.concatenate([e, -g[:, :, None]], axis=2)
        x = (X @ Vt + right) @ inverse
        X -= x @ V
        # Near the boundary V is so large that rounding alone would carry a step over a cut: refine.
        for _ in range(self._rounds):
            change = (X @ Vt + right - x @ self._border) @ inverse
            x += change
            X -= change @ V
        X *= root
        rows = np.empty((B, q, 3 * size + k + 1))
        rows[:, :, :size] = X
        np.negative(X, out=rows[:, :, size : 2 * size])
        if self.problems.sigma:
            rows[:, :, : size : p + 1] -= x[:, :, k:]
            rows[:, :, size : 2 * size : p + 1] -= x[:, :, k:]
        rows[:, :, : 2 * size] *= self.scales.reshape(B, 1, 2 * size)
        np.subtract(e, x[:, :, :k], out=rows[:, :, 2 * size : 2 * size + k])
        rows[:, :, 2 * size + k : -1] = X
        rows[:, :, -1] = x[:, :, k]
        return Steps(rows, p, k)

    def directions(self) -> Steps:
        """Return two displacements: ``φ″⁻¹`` of the objective, and Newton's for the barrier alone."""
        problems, below, above = self.problems, 1.0 / self.low, 1.0 / self.high
        B, p = below.shape
        G, g, e = np.zeros((B, 2, p * p)), np.zeros((B, 2)), np.zeros((B, 2, self.slack.shape[1]))
        if problems.objective is not None:
            F = problems.objective @ self.U
            G[:, 0] = (transpose(F) @ F).reshape(B, p * p)
        elif problems.radius:
            g[:, 0] = 1.0
        G[:, 1, :: p + 1] = below - above
        if problems.sigma:
            g[:, 1] = -(below + above).sum(axis=1)
        e[:, 1] = 1.0
        return self.newton(G, g, e)

    def curvature(self, step: Steps) -> Steps:
        """Second-order term of the path along one displacement d: ``−½ φ″⁻¹ φ‴[d, d]``."""
        B, p = self.low.shape
        blocks = step.blocks()
        bend = (blocks @ blocks) * self.scales
        g = np.zeros((B, 1))
        if self.problems.sigma:
            g[:, 0] = -bend.reshape(B, 2, p * p)[:, :, :: p + 1].sum(axis=(1, 2))
        return self.newton((bend[:, 0] - bend[:, 1]).reshape(B, 1, p * p), g, step.cut**2)

    def moved(self, step: Steps, share: Array) -> tuple[Array, Array]:
        """Return A (B, p, p), r (B,) after a share (B,) of the first displacement."""
        A = self.U @ (step.A[:, 0] * share[:, None, None]) @ transpose(self.U)
        return symmetric(self.A + A), self.r + share * step.r[:, 0]

"""One Newton system of the barrier, solved in the eigenbasis of A.

Over matrices A (p, p) and, where a ball is asked for, its radius r, the barrier of the confidence set is

    φ(A, r) = −log det(A − σrI) − log det((1 − σr)I − A) − Σ log sₖ,     sₖ = εₖ − ⟨A, Mₖ⟩ − nₖr.

In the eigenbasis of A both determinants have a *diagonal* Hessian, ``1/(lᵢlⱼ) + 1/(hᵢhⱼ)`` with ``l = λ − σr`` and
``h = 1 − σr − λ``; the cuts add rank k and the radius rank one. So a Newton step costs one eigendecomposition and
one small symmetric system (Woodbury), O(k²p²), where a general solver pays O(p⁶). Everything has a batch axis B.

A displacement is kept relative to the distance from the boundary (``Steps``). Many problems follow their central paths side by
side (``follow``): the point of the path with parameter t maximises ``t · objective − φ``; its duality gap is ``order / t``. Off
the path a step centres; on it a step also predicts. With μ = 1/t and d = φ''⁻¹(objective), the path runs along ``t·d`` for a
relative fall of μ; Newton's step for the smaller μ would overshoot by μ/μ'. A second-order term follows the bend.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from reap import _clock, effort
from reap._arrays import symmetric, transpose
from reap._typing import Array, Bools, Ints

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


# displacements ------------------------------------------------------------------------------------------


class Steps:
    """q displacements for each of B problems.

    Parameters
    ----------
    rows : (B, q, 3p² + k + 1)
    p : size of the matrices
    k : number of cuts
    """

    __slots__ = ("k", "p", "rows")

    def __init__(self, rows: Array, p: int, k: int) -> None:
        self.rows, self.p, self.k = rows, p, k

    @property
    def cut(self) -> Array:
        """(B, q, k)."""
        return self.rows[:, :, 2 * self.p**2 : 2 * self.p**2 + self.k]

    @property
    def A(self) -> Array:
        """(B, q, p, p)."""
        flat = self.rows[:, :, 2 * self.p**2 + self.k : -1]
        return flat.reshape(*flat.shape[:2], self.p, self.p)

    @property
    def r(self) -> Array:
        """(B, q)."""
        return self.rows[:, :, -1]

    def blocks(self) -> Array:
        """`low` and `high` (B, 2, p, p) of the first displacement."""
        return self.rows[:, 0, : 2 * self.p**2].reshape(-1, 2, self.p, self.p)

    def mix(self, weights: Array) -> Steps:
        """Return ``Σ_q weights[:, q] · step_q`` as the only displacement; `weights` (B, q)."""
        return Steps(weights[:, None] @ self.rows, self.p, self.k)

    def inner(self) -> Array:
        """Products (B, q, q) of the displacements in the barrier's metric."""
        flat = self.rows[:, :, : 2 * self.p**2 + self.k]
        out: Array = flat @ transpose(flat)
        return out

    def glance(self) -> Array:
        """Return an estimate from below of `reach`, from the diagonals only (B,)."""
        p, first = self.p, self.rows[:, 0]
        parts = first[:, : p * p : p + 1], first[:, p * p : 2 * p * p : p + 1], self.cut[:, 0]
        out: Array = -np.concatenate(parts, axis=1).min(axis=1)
        return out

    def reach(self) -> Array:
        """How much of the way to the boundary the first displacement goes (B,), 1 touches it; under 0.97 a bound."""
        blocks = self.blocks()
        worst = -np.sqrt((blocks * blocks).sum(axis=(2, 3)))
        # A spectrum is only worth its price where the Frobenius norm does not settle the matter.
        unclear = worst < -0.97
        if unclear.any():
            worst[unclear] = np.linalg.eigvalsh(blocks[unclear])[:, 0]
        out: Array = -np.minimum(worst.min(axis=1), self.cut[:, 0].min(axis=1, initial=0.0))
        return out


# Newton's system ----------------------------------------------------------------------------------------


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


# the central path ---------------------------------------------------------------------------------------


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
    rows, point = np.arange(len(A)), Point(problems, A, r)
    best, stalled = np.zeros(len(A)), np.zeros(len(A), dtype=np.intp)
    for _ in range(LIMIT):
        _clock.check()
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

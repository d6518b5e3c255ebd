"""How likely people's answers are, whoever they are: the marginal likelihood on fixed matrices.

`log p(answers of a person) = log Σ_f w_f mean_m Σ_t s_t Π_k P_t(answer_k | RᵀB_{fm}R)` over families f, kinds of people t, and
the same M matrices B for everybody and for every R: a smooth function of R, so its gradient is exact. An effort is
`⟨B, uuᵀ⟩` with `u = Rv`, so all efforts are one product of the matrices with the outer products of u, and
`∂/∂R = Σ 2 (Σ_m W_m B_m) u vᵀ`, W the slope of the log-likelihood by each effort: a second product. Nothing is sampled again.

Where there are columns c beside the moves, some people mind them: `⟨B, uuᵀ⟩ + (τ_m/k) Σ_j r_j c_j²`, with `r_j = e^{μ_j + z_mj}`.
`τ_m = ⟨B_m, RRᵀ⟩` is the trace of the person's matrix: a belief scales that to k, and a weight of 1 is worth a typical change.
Every case of what is minded (``minded``) is summed over, on a third of the matrices where anything is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp

from reap._typing import Array, Ints
from reap.belief.answers import People
from reap.belief.families import FAMILIES, Latents
from reap.belief.learning.past import Past
from reap.belief.learning.shares import minded
from reap.belief.learning.slopes import Answered, single

#: People whose answers are worked on at once.
_PART = 40
_LEAST = 1e-12
#: One matrix in this number stands for people who mind something beside the changes.
_FEWER = 3


@dataclass(frozen=True, eq=False)
class Likelihood:
    """What the answers of n people say.

    Parameters
    ----------
    logs : (n, s, f, t) array
        Log-likelihood of each person's answers for what is minded, family and kind, shares not counted.
    by_root : (n, k, k) array, optional
        Derivative by R of each person's log-likelihood under the shares given.
    by_weight : (n, e) array, optional
        Derivative by the typical weights μ.
    """

    logs: Array
    by_root: Array | None = None
    by_weight: Array | None = None


@dataclass(frozen=True, eq=False)
class Case:
    """People who mind the same columns: the matrices that stand for them `(m,)`, weights `(m, e)`, matrices of a family."""

    at: Ints
    weights: Array
    each: int


class Marginal:
    """The marginal likelihood of past answers as a function of R and of typical weights.

    Parameters
    ----------
    past : Past
    families : sequence of str
    matrices : int
        How many in all, the same number of each family.
    seed : int

    Examples
    --------
    >>> from reap.belief.answers import people
    >>> from reap.belief.learning.past import Comparison
    >>> easy, hard = np.array([[1.0, 0.0]]), np.array([[0.0, 1.0]])
    >>> past = Past.of([[Comparison((easy, hard))]] * 3, 2)
    >>> marginal = Marginal(past, ["gaussian"], 200, 0)
    >>> who = people()
    >>> alike = marginal.at(np.eye(2), who).logs.sum()
    >>> bool(marginal.at(np.diag([0.5, 2.0]), who).logs.sum() > alike)
    True
    """

    def __init__(self, past: Past, families: Sequence[str], matrices: int, seed: int) -> None:
        rng, k = np.random.default_rng(seed), past.dimension
        self.each = max(matrices // len(families), 1)
        latents = Latents.whole(rng.standard_normal((self.each, k + 1, k)))
        drawn = [FAMILIES[name](latents).matrices() for name in families]
        self._latents = rng.standard_normal((self.each, past.extra))
        self._setup(past, np.stack(drawn))

    def _setup(self, past: Past, drawn: Array) -> None:
        """Take matrices `(f, m, k, k)`."""
        self.past, self.parts = past, past.parts(_PART)
        k = past.dimension
        B = drawn.reshape(-1, k, k) * (k / np.einsum("fmii->fm", drawn).ravel())[:, None, None]  # to trace k
        self._upper = np.triu_indices(k)
        twice = np.where(self._upper[0] == self._upper[1], 1.0, 2.0)  # B_ij and B_ji
        self._flat = np.ascontiguousarray((B[:, self._upper[0], self._upper[1]] * twice).astype(np.float32))
        self._families = len(drawn)

    @classmethod
    def alike(cls, past: Past) -> Marginal:
        """Return the likelihood where everybody has the effort `|Rv|²` and minds nothing else."""
        made = cls.__new__(cls)
        made.each = 1
        past = Past(past.people, past.dimension)
        made._latents = np.zeros((1, 0))
        made._setup(past, np.eye(past.dimension)[None, None])
        return made

    def at(
        self, root: Array, who: People, *, sizes: Array | None = None, shares: Array | None = None
    ) -> Likelihood:
        """Return what the answers say for one R `(k, k)` and typical weights `(e,)`, by default 0.

        With the logarithms of shares `(s, f, t)` also the derivatives.
        """
        cases = self.cases(np.zeros(self.past.extra) if sizes is None else sizes)
        found = [self._part(past, root, who, cases, shares) for past in self.parts]
        logs = np.concatenate([each.logs for each in found])
        if shares is None:
            return Likelihood(logs)
        by_root = [each.by_root for each in found if each.by_root is not None]
        by_weight = [each.by_weight for each in found if each.by_weight is not None]
        return Likelihood(logs, np.concatenate(by_root), np.concatenate(by_weight))

    def cases(self, sizes: Array) -> list[Case]:
        """Return the people who mind nothing beside the changes, then those who mind something, for weights μ `(e,)`."""
        made = []
        for on in minded(len(sizes)):
            count = max(self.each // _FEWER, 1) if on.any() else self.each
            at = (np.arange(self._families)[:, None] * self.each + np.arange(count)).ravel()
            weights = np.where(on, np.exp(sizes + self._latents[:count]), 0.0)
            made.append(Case(at, np.tile(weights, (self._families, 1)), count))
        return made

    def efforts(self, past: Past, root: Array) -> tuple[Array, Array]:
        """Return the efforts `(M, o)` of all options of a part by their moves, and the moves `u = Rv` `(r, k)`."""
        moved = past.rows @ root.T
        outer = (moved[:, self._upper[0]] * moved[:, self._upper[1]]).astype(np.float32)
        by_row = self._flat @ outer.T
        if len(past.option_starts) != len(past.rows):
            by_row = np.add.reduceat(by_row, past.option_starts, axis=1)
        return np.maximum(by_row, np.float32(_LEAST)), moved

    def beside(self, past: Past, root: Array, case: Case) -> Array | None:
        """Return what the columns beside add to efforts `(m, o)` in a case; None where nothing is minded."""
        if not case.weights.any():
            return None
        added = (self._traces(root)[case.at, None] * case.weights) @ (past.beside**2).T
        return np.asarray(added.astype(np.float32))

    def minding(self, past: Past, root: Array, cases: Sequence[Case]) -> Array:
        """Return the efforts `(Σm, o)` of all options of a part, case after case."""
        by_moves, _ = self.efforts(past, root)
        added = [self.beside(past, root, case) for case in cases]
        parts = [
            by_moves[case.at] + (0.0 if more is None else more)
            for case, more in zip(cases, added, strict=True)
        ]
        return np.concatenate(parts)

    def _traces(self, root: Array) -> Array:
        """Return `τ_m/k` `(M,)`, of the matrices `RᵀBR`."""
        return np.asarray(self._flat @ (root @ root.T)[self._upper] / len(root))

    def each_answer(self, past: Past, efforts: Array, who: People) -> Array:
        """Return log-likelihoods `(M, a, t)` of the answers of a part."""
        return Answered(past, efforts, single(who)).logs

    def _part(
        self, past: Past, root: Array, who: People, cases: list[Case], shares: Array | None
    ) -> Likelihood:
        efforts, moved = self.efforts(past, root)
        added = [self.beside(past, root, case) for case in cases]
        minding = [
            efforts[case.at] if more is None else efforts[case.at] + more
            for case, more in zip(cases, added, strict=True)
        ]
        answered = [Answered(past, each, single(who)) for each in minding]
        # (m, n, t)
        totals = [np.add.reduceat(each.logs, past.first, axis=1).astype(float) for each in answered]
        logs = np.stack(
            [
                logsumexp(total.reshape(self._families, case.each, len(past), -1), axis=1) - np.log(case.each)
                for case, total in zip(cases, totals, strict=True)
            ]
        ).transpose(2, 0, 1, 3)
        if shares is None:
            return Likelihood(logs)
        whole = logsumexp(logs + shares, axis=(1, 2, 3))[:, None]
        steep, by_weight = np.zeros_like(efforts), np.zeros((len(past), past.extra))
        by_trace = np.zeros((len(efforts), len(past)))
        for s, (case, total) in enumerate(zip(cases, totals, strict=True)):
            # How far each matrix and kind explains each person (m, n, t)
            usual = np.repeat(shares[s], case.each, axis=0)[:, None] - np.log(case.each)
            part = answered[s].slopes(np.exp(total + usual - whole).astype(np.float32))
            steep[case.at] += part
            if (more := added[s]) is not None:
                by_person = np.add.reduceat(part * more, past.option_first, axis=1)  # (m, n)
                by_trace[case.at] += by_person / self._traces(root)[case.at, None] / len(root)
                by_weight += self._by_weight(past, part, root, case)
        by_root = self._by_root(past, steep, moved)
        if by_trace.any():
            by_root += 2 * self._square(by_trace) @ root
        return Likelihood(logs, by_root, by_weight)

    def _by_weight(self, past: Past, part: Array, root: Array, case: Case) -> Array:
        """Return the derivative by μ `(n, e)` of slopes by efforts `(m, o)`: `∂c/∂μ_j = (τ/k) r_j c_j²`."""
        summed = part.T @ (self._traces(root)[case.at, None] * case.weights)  # (o, e)
        return np.asarray(np.add.reduceat(summed * past.beside**2, past.option_first, axis=0))

    def _square(self, weights: Array) -> Array:
        """Return `Σ_m W_m B_m` `(n, k, k)` of weights `(M, n)`."""
        k = self.past.dimension
        flat = (weights.T.astype(np.float32) @ self._flat).astype(float)  # (n, k(k+1)/2), off-diagonals twice
        S = np.zeros((len(flat), k, k))
        S[:, self._upper[0], self._upper[1]] = flat / 2
        return S + S.transpose(0, 2, 1)

    def _by_root(self, past: Past, steep: Array, moved: Array) -> Array:
        """Return `Σ 2 (Σ_m W_m B_m) u vᵀ` `(n, k, k)`, summed over each person's rows."""
        # the gradient of each row's effort, 2Wu: its parts, not its effort
        pulled = 2 * np.einsum("rij,rj->ri", self._square(steep)[past.option], moved)
        return np.add.reduceat(pulled[:, :, None] * past.rows[:, None, :], past.row_starts, axis=0)


def folds(past: Past) -> tuple[Ints, Ints]:
    """Return two halves of the people: every other one, in an order that a hash gave."""
    return np.arange(0, len(past), 2), np.arange(1, len(past), 2)

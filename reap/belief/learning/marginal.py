"""How likely people's answers are, whoever they are: the marginal likelihood on fixed matrices.

`log p(answers of a person) = log Σ_f w_f mean_m Σ_t s_t Π_k P_t(answer_k | RᵀB_{fm}R)` over families f, kinds of people t, and
the same M matrices B for everybody and for every R: a smooth function of R, so its gradient is exact. An effort is
`⟨B, uuᵀ⟩` with `u = Rv`, so all efforts are one product of the matrices with the outer products of u, and
`∂/∂R = Σ 2 (Σ_m W_m B_m) u vᵀ`, W the slope of the log-likelihood by each effort: a second product. Nothing is sampled again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp

from reap._typing import Array, Ints
from reap.belief.answers import People
from reap.belief.learning.past import Past
from reap.belief.learning.slopes import log_probability, slopes
from reap.belief.prior import FAMILIES

#: People whose answers are worked on at once.
_PART = 40
_LEAST = 1e-12


@dataclass(frozen=True, eq=False)
class Likelihood:
    """What the answers of n people say.

    Parameters
    ----------
    logs : (n, f, t) array
        Log-likelihood of each person's answers for each family and kind, shares not counted.
    by_root : (n, k, k) array, optional
        Derivative by R of each person's log-likelihood under the shares given.
    """

    logs: Array
    by_root: Array | None


class Marginal:
    """The marginal likelihood of past answers as a function of R.

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
        latents = rng.standard_normal((self.each, k + 1, k))
        drawn = [FAMILIES[name](latents) for name in families]
        self._setup(past, np.stack(drawn))

    def _setup(self, past: Past, drawn: Array) -> None:
        """Take matrices `(f, m, k, k)`."""
        self.past, self.parts = past, past.parts(_PART)
        k = past.dimension
        B = drawn.reshape(-1, k, k) * (k / np.einsum("fmii->fm", drawn).ravel())[:, None, None]
        self._upper = np.triu_indices(k)
        twice = np.where(self._upper[0] == self._upper[1], 1.0, 2.0)  # B_ij and B_ji
        self._flat = np.ascontiguousarray((B[:, self._upper[0], self._upper[1]] * twice).astype(np.float32))
        self._families = len(drawn)

    @classmethod
    def alike(cls, past: Past) -> Marginal:
        """Return the likelihood where everybody has the effort `|Rv|²`."""
        made = cls.__new__(cls)
        made.each = 1
        made._setup(past, np.eye(past.dimension)[None, None])
        return made

    def at(self, root: Array, who: People, shares: Array | None = None) -> Likelihood:
        """Return what the answers say for one R `(k, k)`; with the families' shares `(f,)` also its derivative."""
        found = [self._part(past, root, who, shares) for past in self.parts]
        logs = np.concatenate([each.logs for each in found])
        slopes_ = [each.by_root for each in found if each.by_root is not None]
        return Likelihood(logs, np.concatenate(slopes_) if slopes_ else None)

    def efforts(self, past: Past, root: Array) -> tuple[Array, Array]:
        """Return the efforts `(M, o)` of all options of a part, and the moves `u = Rv` `(r, k)`."""
        moved = past.rows @ root.T
        outer = (moved[:, self._upper[0]] * moved[:, self._upper[1]]).astype(np.float32)
        by_row = self._flat @ outer.T
        if len(past.option_starts) != len(past.rows):
            by_row = np.add.reduceat(by_row, past.option_starts, axis=1)
        return np.maximum(by_row, _LEAST).astype(float), moved

    def each_answer(self, past: Past, efforts: Array, who: People) -> Array:
        """Return log-likelihoods `(M, a, t)` of the answers of a part."""
        logs = np.empty((len(efforts), past.answers, len(who.share)))
        for (same, _), (at, options) in past.groups.items():
            logs[:, at] = log_probability(efforts[:, options], same, who)
        return logs

    def _part(self, past: Past, root: Array, who: People, shares: Array | None) -> Likelihood:
        efforts, moved = self.efforts(past, root)
        each = self.each_answer(past, efforts, who)
        total = np.add.reduceat(each, past.first, axis=1)  # (M, n, t)
        by_family = total.reshape(self._families, self.each, len(past), -1)
        logs = logsumexp(by_family, axis=1).transpose(1, 0, 2) - np.log(self.each)
        if shares is None:
            return Likelihood(logs, None)
        # How far each matrix and kind explains each person (M, n, t)
        usual = np.repeat(np.log(np.maximum(shares, _LEAST)), self.each)[:, None, None] + np.log(who.share)
        explained = total + usual
        explained -= logsumexp(explained, axis=(0, 2), keepdims=True)
        weights = np.exp(explained)[:, past.person]
        steep = np.empty_like(efforts)
        for (same, _), (at, options) in past.groups.items():
            steep[:, options] = slopes(efforts[:, options], same, who, weights[:, at])
        return Likelihood(logs, self._by_root(past, steep, moved))

    def _by_root(self, past: Past, steep: Array, moved: Array) -> Array:
        """Return `Σ 2 (Σ_m W_m B_m) u vᵀ` `(n, k, k)`, summed over each person's rows."""
        k = past.dimension
        flat = (steep.T.astype(np.float32) @ self._flat).astype(float)  # (o, k(k+1)/2), off-diagonals twice
        S = np.zeros((len(flat), k, k))
        S[:, self._upper[0], self._upper[1]] = flat / 2
        S += S.transpose(0, 2, 1)
        pulled = 2 * np.einsum("rij,rj->ri", S[past.option], moved)
        return np.add.reduceat(pulled[:, :, None] * past.rows[:, None, :], past.row_starts, axis=0)


def mixed(logs: Array, shares: Array, kinds: Array) -> Array:
    """Return `log Σ_f w_f Σ_t s_t exp(logs)` `(n,)` of log-likelihoods `(n, f, t)`."""
    weights = np.log(np.maximum(shares, _LEAST))[:, None] + np.log(np.maximum(kinds, _LEAST))
    return np.asarray(logsumexp(logs + weights, axis=(1, 2)))


def responsibilities(logs: Array, shares: Array, kinds: Array) -> Array:
    """Return how likely each person is of each family and kind `(n, f, t)`."""
    weights = np.log(np.maximum(shares, _LEAST))[:, None] + np.log(np.maximum(kinds, _LEAST))
    total = logs + weights
    return np.asarray(np.exp(total - logsumexp(total, axis=(1, 2), keepdims=True)))


def folds(past: Past) -> tuple[Ints, Ints]:
    """Return two halves of the people: every other one, in an order that a hash gave."""
    return np.arange(0, len(past), 2), np.arange(1, len(past), 2)

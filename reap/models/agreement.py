"""When a model's retrainings agree on a row: enough of them today, and most of those to come.

Let ``u = expit((logit − boundary) / 4)`` be what one retraining says of a row; it accepts where u > ½. The m retrainings at hand
are a sample of those to come, with mean ū and standard deviation s. With confidence γ at least a share q of those to come
accepts, where

    ū − c s > ½,      c = t′_γ(m − 1, z_q √m) / √m,

with t′_γ the γ-quantile of the noncentral t and z_q the normal q-quantile: the lower one-sided tolerance bound of a normal sample
(``√m (ū − μ + z_q σ) / s`` is noncentral t, so that ``P(ū − c s ≤ μ − z_q σ) = γ``). Here ``γ = q``: as sure as the share that is
asked for. Below a half only the count is asked for.

Why not the prediction bound ``c = t_q √(1 + 1/m)``, which one more retraining meets in a share q of all cases? It is right for a
row that is fixed beforehand. A plan of least effort is found by looking at these very retrainings, and a search finds the rows
where their noise is kind; the excess confidence is what that costs. Measured with plans on retrainings that made none of them
(``docs/durability.md``): with γ from .5 to .8 a row too many was refused, with a γ above q plans asked for more than they had to.
A count of those that accept is noisier still: at the same share kept it asks for no less.

Models without a gradient, trees above all, leave a search more to pick from. There s is drawn towards the usual spread of rows
like it (``Spread``), which counts as k more degrees of freedom: ``c = t′_γ(k + m − 1, z_q √m) / √m``.

Why a quarter? Log-odds of retrainings are nearly normal, and then one factor does for linear models, networks and trees.
``expit(logit)`` is flat from 2 on: trees seem to agree where their log-odds differ widely, and .90 was kept where .95 was
asked for. A quarter of the log-odds is nearly straight up to 4, and still bounded: a member that is very sure counts as sure.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import ceil, sqrt

import numpy as np
from scipy.optimize import brentq
from scipy.special import digamma, expit, polygamma
from scipy.stats import nct, norm

from reap._typing import Array

#: From this many others on they are a sample, with a mean and a deviation.
SAMPLE = 8
#: Rows whose deviation is known, at least; a variance below which retrainings do not differ at all.
_ROWS, _SAME = 30, 1e-10
#: What is usual counts for no more than this many times a row's own retrainings.
_MOST = 10.0


def needed(share: float, count: int) -> int:
    """Return how many of some retrainings must accept: the share of them, or where they are few, what one more asks for.

    Examples
    --------
    >>> needed(0.95, 20), needed(0.9, 20), needed(0.0, 20), needed(0.95, 3)
    (19, 18, 0, 3)
    """
    if count >= SAMPLE:
        return ceil(share * count - 1e-9)
    return min(count, ceil(share * (count + 1) - 1e-9))


def agreed(logits: Array, boundary: float) -> Array:
    """Return u of the module's docstring, for logits of any shape."""
    return np.asarray(expit((logits - boundary) / 4))


def sampled(share: float, count: int) -> bool:
    """Return whether some others are a sample whose mean and deviation are asked about; below a half a count will do."""
    return count >= SAMPLE and 0.5 <= share < 1


@lru_cache(maxsize=64)
def tolerance(share: float, count: int, more: float = 0.0) -> float:
    """Return how many standard deviations the mean of a sample must be above, so that a share of all to come is above, too.

    The factor c of the module's docstring, for a sample of ``count`` values, the deviation known with ``more`` degrees of
    freedom than theirs.

    Examples
    --------
    >>> round(tolerance(0.95, 20), 3), round(tolerance(0.95, 100), 3), round(tolerance(0.5, 20), 3)
    (2.396, 1.927, 0.0)
    >>> round(tolerance(0.95, 20, more=40), 3)
    2.142
    """
    return float(nct.ppf(share, count - 1 + more, norm.ppf(share) * sqrt(count))) / sqrt(count)


@dataclass(frozen=True)
class Spread:
    """How far retrainings usually differ: the variance by their mean ū on a row, ``exp(level + slope (ū − ½)²)``.

    The deviation s of m retrainings on one row is known to a part in √(2 m − 2), a sixth for m = 20. A linear model's deviations
    move together. Trees judge neighbouring rows apart, and a search through thousands of rows ends where these m happen to
    agree: with gradient boosting on HELOC s was .7 of what fresh retrainings had on the rows of plans, their mean and
    the tails were as they should be. So the deviation needs more rows than one. Where means are alike, true deviations σ are
    nearly alike, and each is taken to be drawn from what is usual: ``k s₀²/σ²`` is χ² with k degrees of freedom, and

        log s₀² = a + b (ū − ½)².

    What is then known of σ after seeing s is the same with k + m − 1 degrees of freedom (Smyth, "Linear models and empirical
    Bayes methods for assessing differential expression", 2004) around

        s̃² = (k s₀² + (m − 1) s²) / (k + m − 1),

    whether the row was picked for its s or not. a, b and k fit the deviations of rows mixed of two people's values: like the end
    of a plan, nobody has such a row. (Rows of the training data themselves are told apart by whether a retraining has seen them.)
    There ``log s²`` has the mean ``log s₀² + β(m − 1) − β(k)``, with ``β(n) = ψ(n/2) − log(n/2)``, and the variance
    ``ψ′((m − 1)/2) + ψ′(k/2)``: least squares gives a and b, its rest gives k.

    Parameters
    ----------
    level, slope : float
        a and b of the module's docstring.
    weight : float
        k: what is usual counts as much as so many degrees of freedom.
    """

    level: float
    slope: float
    weight: float

    @classmethod
    def of(cls, u: Array) -> Spread | None:
        """Return the usual spread of values u (m, n) of m retrainings on n rows; None where too few rows tell."""
        freedom = len(u) - 1
        mean, variance = u.mean(axis=0), u.var(axis=0, ddof=1)
        known = variance > _SAME
        if known.sum() < _ROWS:
            return None
        columns = np.column_stack([np.ones(known.sum()), (mean[known] - 0.5) ** 2])
        logs = np.log(variance[known]) - _bias(freedom)
        (level, slope), *_ = np.linalg.lstsq(columns, logs, rcond=None)
        rest = logs - columns @ (level, slope)
        weight = _degrees(rest @ rest / (len(rest) - 2) - polygamma(1, freedom / 2), _MOST * freedom)
        return cls(float(level + _bias(weight)), float(slope), weight)

    def drawn(self, mean: Array, deviation: Array, count: int) -> Array:
        """Return deviations (n,) of ``count`` retrainings with means (n,), each drawn towards what is usual."""
        usual = np.exp(self.level + self.slope * (mean - 0.5) ** 2)
        own = count - 1
        return np.asarray(np.sqrt((self.weight * usual + own * deviation**2) / (self.weight + own)))


def _bias(freedom: float) -> float:
    """Return the mean of ``log(χ²/n)`` with n degrees of freedom."""
    return float(digamma(freedom / 2) - np.log(freedom / 2))


def _degrees(variance: float, most: float) -> float:
    """Return with how many degrees of freedom, at most so many, ``log χ²`` has a variance."""
    if variance <= polygamma(1, most / 2):
        return most
    return 2 * float(brentq(lambda half: polygamma(1, half) - variance, 1e-6, most / 2))


@dataclass(frozen=True)
class Rule:
    """How the scores of today's model and of others become one.

    Parameters
    ----------
    count : int
        How many of the others must accept.
    factor : float, or None
        How many standard deviations their mean must be above the boundary; None: not asked.
    shift : float
        The margin of today's model, as a logit.
    boundary : float
    usual : Spread, optional
        How far the others usually differ; None: only what they do on the row itself counts.
    """

    count: int
    factor: float | None
    shift: float
    boundary: float
    usual: Spread | None = None

    @classmethod
    def of(
        cls, share: float, others: int, shift: float, boundary: float, usual: Spread | None = None
    ) -> Rule:
        """Return the rule for a share of others."""
        more = 0.0 if usual is None else usual.weight
        factor = tolerance(float(share), others, more) if sampled(share, others) else None
        return cls(needed(share, others), factor, shift, boundary, usual)

    def candidates(self, logits: Array) -> Array:
        """Return what the rule takes the least of, (2 or 3, n), from logits (m + 1, n) with today's model first."""
        parts = [logits[0] - self.shift]
        if self.count:
            place = len(logits) - 1 - self.count
            parts.append(np.partition(logits[1:], place, axis=0)[place])
        if self.factor is not None:
            mean, deviation, _ = self.spread(logits)
            if self.usual is not None:
                deviation = self.usual.drawn(mean, deviation, len(logits) - 1)
            parts.append(16 * (mean - self.factor * deviation - 0.5) + self.boundary)
        return np.stack(parts)

    def spread(self, logits: Array) -> tuple[Array, Array, Array]:
        """Return mean (n,), standard deviation (n,) and the values u (m, n) themselves, of the others."""
        u = agreed(logits[1:], self.boundary)
        return u.mean(axis=0), u.std(axis=0, ddof=1), u

    def weights(self, logits: Array) -> Array:
        """Return how the binding logit changes with each member's, (m + 1, n).

        A single member that binds has 1; in the bound they have ``16 w_i u_i (1 − u_i) / 4`` with
        ``w_i = 1/m − c (u_i − ū) / ((m − 1) s)``.
        """
        parts = self.candidates(logits)
        binds, each = parts.argmin(axis=0), np.arange(logits.shape[1])
        found = np.zeros_like(logits)
        found[0, binds == 0] = 1.0
        if len(parts) > 1:
            who = 1 + np.abs(logits[1:] - parts[1]).argmin(axis=0)
            found[who[binds == 1], each[binds == 1]] = 1.0
        if self.factor is not None:
            mean, deviation, u = self.spread(logits[:, binds == 2])
            slopes = 1 / len(u) - self.factor * (u - mean) / ((len(u) - 1) * np.maximum(deviation, 1e-9))
            found[1:, binds == 2] = 4 * slopes * u * (1 - u)
        return found

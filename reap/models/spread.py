"""How far retrainings usually differ: deviations of single rows, drawn towards those of rows like them.

The deviation s of m retrainings on one row is known to a part in √(2 m − 2), a sixth for m = 20. A linear model's deviations
move together. Trees judge neighbouring rows apart, and a search through thousands of rows ends where these m happen to
agree: with gradient boosting on HELOC s was .7 of what fresh retrainings had on the rows of plans, their mean and
the tails were as they should be. So the deviation needs more rows than one. Where means are alike, true deviations σ are
nearly alike, and each is taken to be drawn from what is usual: ``k s₀²/σ²`` is χ² with k degrees of freedom, and

    log s₀² = a + b (ū − ½)².

What is then known of σ after seeing s is the same with k + m − 1 degrees of freedom (Smyth, "Linear models and empirical Bayes
methods for assessing differential expression", 2004) around

    s̃² = (k s₀² + (m − 1) s²) / (k + m − 1),

whether the row was picked for its s or not. a, b and k fit the deviations of rows mixed of two people's values: like the end of a
plan, nobody has such a row. (Rows of the training data themselves are told apart by whether a retraining has seen them.)
There ``log s²`` has the mean ``log s₀² + β(m − 1) − β(k)``, with ``β(n) = ψ(n/2) − log(n/2)``, and the variance
``ψ′((m − 1)/2) + ψ′(k/2)``: least squares gives a and b, its rest gives k.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq
from scipy.special import digamma, polygamma

from reap._typing import Array

#: Rows whose deviation is known, at least; a variance below which retrainings do not differ at all.
_ROWS, _SAME = 30, 1e-10
#: What is usual counts for no more than this many times a row's own retrainings.
_MOST = 10.0


@dataclass(frozen=True)
class Spread:
    """The usual variance of retrainings by their mean ū on a row, ``exp(level + slope (ū − ½)²)``.

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

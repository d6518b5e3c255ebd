"""By how much an answer becomes more or less likely when the effort of an option changes.

The probabilities are those of ``reap.belief.answers``; here are the derivatives of their logarithms.

- Two options, `x = (c_2−c_1)/(c_2+c_1)`, `P = η + (1−2η)σ(κx)`: `∂x/∂c_1 = −2c_2/(c_1+c_2)²`, `∂x/∂c_2 = 2c_1/(c_1+c_2)²`.
- More options, `P = 2η/k + (1−2η)s_1` with the softmax s of `−κ/2 log c`: `∂s_1/∂log c_j = −κ/2 s_1(δ_{1j} − s_j)`.
- "Same", `x = (c_max−c_min)/(c_max+c_min)`: through x, by the largest and the smallest alone.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.special import expit, softmax

from reap._typing import Array, Ints
from reap.belief.answers import SAME, People, choice_probability, same_probability
from reap.belief.learning.past import Past

_TINY = 1e-300


def log_probability(efforts: Array, same: bool, who: People) -> Array:
    """Return the log-likelihood `(…, t)` of an answer to options of efforts `(…, k)`, the chosen one first."""
    probability = (same_probability if same else choice_probability)(efforts, who)
    return np.asarray(np.log(np.maximum(probability, _TINY)))


def both(efforts: Array, same: bool, who: People) -> tuple[Array, Callable[[Array], Array]]:
    """Return the log-likelihood `(…, t)`, and ``slopes`` as a function of its weights: of two options with shared work."""
    if same or efforts.shape[-1] != 2:
        return log_probability(efforts, same, who), lambda weights: slopes(efforts, same, who, weights)
    chosen, other = efforts[..., 0], efforts[..., 1]
    total = np.maximum(chosen + other, np.finfo(efforts.dtype).tiny)
    attentive = expit(who.sharpness * ((other - chosen) / total)[..., None])
    probability = who.slip + (1 - 2 * who.slip) * attentive

    def by_efforts(weights: Array) -> Array:
        steep = weights * attentive * (1 - attentive) / probability
        by_x = steep @ ((1 - 2 * who.slip) * who.sharpness)
        by_x *= 2 / total**2
        return np.stack([-other * by_x, chosen * by_x], axis=-1)

    return np.log(probability), by_efforts


def slopes(efforts: Array, same: bool, who: People, weights: Array) -> Array:
    """Return `Σ_t w_t ∂ log P_t / ∂c_j` `(…, k)` of an answer.

    Parameters
    ----------
    efforts : (…, k) array
        Positive efforts, the chosen option first.
    same : bool
        Whether they were called the same.
    who : People
        Kinds of people t.
    weights : (…, t) array

    Examples
    --------
    >>> from reap.belief.answers import people
    >>> who, step = people(lapse=0.1, sharpness=5.0), 1e-6
    >>> at = np.array([1.0, 1.2])
    >>> found = slopes(at, False, who, np.ones(1))
    >>> by_hand = (log_probability(at + [step, 0], False, who) - log_probability(at, False, who)) / step
    >>> bool(abs(found[0] - by_hand[0]) < 1e-4)
    True
    """
    if same:
        return _same(efforts, who, weights)
    return _two(efforts, who, weights) if efforts.shape[-1] == 2 else _several(efforts, who, weights)


def _two(efforts: Array, who: People, weights: Array) -> Array:
    chosen, other = efforts[..., 0], efforts[..., 1]
    both = np.maximum(chosen + other, _TINY)
    attentive = expit(who.sharpness * ((other - chosen) / both)[..., None])
    probability = who.slip + (1 - 2 * who.slip) * attentive
    by_x = (
        weights
        * (1 - 2 * who.slip)
        * who.sharpness
        * attentive
        * (1 - attentive)
        / np.maximum(probability, _TINY)
    ).sum(axis=-1)
    return np.stack([-2 * other / both**2 * by_x, 2 * chosen / both**2 * by_x], axis=-1)


def _several(efforts: Array, who: People, weights: Array) -> Array:
    k = efforts.shape[-1]
    logs = np.log(np.maximum(efforts, _TINY))
    shares = softmax(-logs[..., None] * (who.sharpness / 2), axis=-2)  # (…, k, t)
    first = shares[..., :1, :]
    probability = 2 * who.slip / k + (1 - 2 * who.slip) * first
    at_first = np.zeros((k, 1))
    at_first[0] = 1.0
    by_log = -(1 - 2 * who.slip) * first * (who.sharpness / 2) * (at_first - shares)
    total = (weights[..., None, :] * by_log / np.maximum(probability, _TINY)).sum(axis=-1)
    return np.asarray(total / np.maximum(efforts, _TINY))


def _same(efforts: Array, who: People, weights: Array) -> Array:
    k = efforts.shape[-1]
    most, least = efforts.max(axis=-1), efforts.min(axis=-1)
    both = np.maximum(most + least, _TINY)
    x = ((most - least) / both)[..., None]
    over, under = expit(who.sharpness * (x + SAME)), expit(who.sharpness * (x - SAME))
    probability = 2 * who.slip / k + (1 - 2 * who.slip) * (over - under)
    steep = who.sharpness * (over * (1 - over) - under * (1 - under))
    by_x = (weights * (1 - 2 * who.slip) * steep / np.maximum(probability, _TINY)).sum(axis=-1)
    result = np.zeros_like(efforts)
    top, bottom = efforts.argmax(axis=-1)[..., None], efforts.argmin(axis=-1)[..., None]
    np.put_along_axis(result, top, (2 * least / both**2 * by_x)[..., None], axis=-1)
    np.put_along_axis(result, bottom, (-2 * most / both**2 * by_x)[..., None], axis=-1)
    return result


class Answered:
    """The answers of a part under efforts `(M, o)`: log-likelihoods `(M, a, t)`, and how they change with efforts.

    In single precision, as the efforts are: no probability is below a slip's.
    """

    def __init__(self, past: Past, efforts: Array, who: People) -> None:
        self._past, self._shape = past, efforts.shape
        self.logs = np.empty((len(efforts), past.answers, len(who.share)), dtype=efforts.dtype)
        self._slopes: list[tuple[Ints, Ints, Callable[[Array], Array]]] = []
        for (same, _), (at, options) in past.groups.items():
            self.logs[:, at], by_efforts = both(efforts[:, options], same, who)
            self._slopes.append((at, options, by_efforts))

    def slopes(self, weights: Array) -> Array:
        """Return `Σ_t w_t ∂ log P_t / ∂c` `(M, o)` for weights `(M, n, t)` of the people."""
        found, each = np.empty(self._shape, dtype=self.logs.dtype), weights[:, self._past.person]
        for at, options, by_efforts in self._slopes:
            found[:, options] = by_efforts(each[:, at])
        return found


def single(who: People) -> People:
    """Return kinds of people in single precision."""
    parts: list[Array] = [part.astype(np.float32) for part in who]
    return People(*parts)

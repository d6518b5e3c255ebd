"""How likely an answer is, given the efforts of the options."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from scipy.special import expit

from reap._errors import InputError
from reap._typing import Array, Ints
from reap.belief.cuts import as_moves

#: "Same" is said where the relative difference `(c_max − c_min) / (c_max + c_min)` is about this or less.
SAME = 0.05
#: The default kinds of people: sharpness, chance of a slip, share.
CAREFUL, MIDDLING, CARELESS = (200.0, 0.005, 0.6), (50.0, 0.05, 0.3), (20.0, 0.15, 0.1)
_TINY = 1e-300
#: An exponent whose power can still be summed.
_HUGE = 650.0


class People(NamedTuple):
    """Kinds of people, most careful first: sharpness κ, chance of a slip η (half the lapses), share; each `(t,)`."""

    sharpness: Array
    slip: Array
    share: Array


def people(lapse: float | None = None, sharpness: float | None = None) -> People:
    """Return the three default kinds of people, or the one kind that is described.

    Parameters
    ----------
    lapse : float, optional
        Share of answers given at random, `2η`. Alone, it comes with sharpness 50.
    sharpness : float, optional
        κ: how well small relative differences of effort are told apart. Alone, it comes with 10 % lapses.

    Examples
    --------
    >>> people().sharpness.tolist(), people(lapse=0.2).slip.tolist()
    ([200.0, 50.0, 20.0], [0.1])
    """
    if lapse is None and sharpness is None:
        return People(*np.array([CAREFUL, MIDDLING, CARELESS]).T)
    lapse = 0.1 if lapse is None else lapse
    sharpness = 50.0 if sharpness is None else sharpness
    if not 0 <= lapse <= 1:
        raise InputError(f"lapse is {lapse}; it is a share of answers, from 0 to 1.")
    if not 0 < sharpness < np.inf:
        raise InputError(f"sharpness is {sharpness}; it must be a positive, finite number.")
    return People(np.array([float(sharpness)]), np.array([lapse / 2]), np.ones(1))


def choice_probability(efforts: Array, who: People) -> Array:
    """Return the chance that the first option is chosen.

    For two options `η + (1−2η) σ(κ (c_2−c_1)/(c_2+c_1))`; for k of them `2η/k + (1−2η) / Σ_j (c_1/c_j)^{κ/2}`.
    The second at k = 2 is the first up to third order in the relative difference: they differ by < 0.002 for
    κ ≥ 20, and the first stays smooth where an effort is zero.

    Parameters
    ----------
    efforts : (..., k) array
        Efforts of the options, the chosen one first.
    who : People
        Kinds of people, t of them.

    Returns
    -------
    (..., t) array

    Examples
    --------
    >>> choice_probability(np.array([1.0, 1.0]), people()).tolist()
    [0.5, 0.5, 0.5]
    """
    k = efforts.shape[-1]
    if k == 2:
        attentive = expit(who.sharpness * _difference(efforts[..., 1], efforts[..., 0])[..., None])
    else:
        logs = np.log(np.maximum(efforts, _TINY))
        exponents = (logs[..., :1] - logs)[..., None] * (who.sharpness / 2)
        ratios = np.exp(np.minimum(exponents, _HUGE))
        attentive = 1.0 / ratios.sum(axis=-2)
    result: Array = 2 * who.slip / k + (1 - 2 * who.slip) * attentive
    return result


def choice_probabilities(efforts: Array, who: People) -> Array:
    """Return the chance `(..., k, t)` that each of k options is chosen, of which the sum is 1.

    Examples
    --------
    >>> choice_probabilities(np.array([1.0, 1.0, 1.0, 1.0]), people(lapse=0.1))[:, 0].tolist()
    [0.25, 0.25, 0.25, 0.25]
    """
    turned = [choice_probability(np.roll(efforts, -i, axis=-1), who) for i in range(efforts.shape[-1])]
    return np.stack(turned, axis=-2)


def same_probability(efforts: Array, who: People) -> Array:
    """Return how well "same" fits efforts `(..., k)`, for each of t kinds of people `(..., t)`.

    `2η/k + (1−2η) [σ(κ(x+τ)) − σ(κ(x−τ))]`, with `x = (c_max−c_min)/(c_max+c_min)` over the k options and τ = 0.05:
    two thresholds on the scale on which choices are made.

    Examples
    --------
    >>> same_probability(np.array([[1.0, 1.0], [1.0, 2.0]]), people(lapse=0.0, sharpness=200.0)).round(3).ravel().tolist()
    [1.0, 0.0]
    """
    x = _difference(efforts.max(axis=-1), efforts.min(axis=-1))[..., None]
    within = expit(who.sharpness * (x + SAME)) - expit(who.sharpness * (x - SAME))
    result: Array = 2 * who.slip / efforts.shape[-1] + (1 - 2 * who.slip) * within
    return result


def _difference(a: Array, b: Array) -> Array:
    """Return `(a − b)/(a + b)`, and 0 where both are 0."""
    result: Array = (a - b) / np.maximum(a + b, _TINY)
    return result


@dataclass(frozen=True)
class Answers:
    """All answers so far, never changed: the moves of all their options in one stack, so that one product gives all efforts.

    Examples
    --------
    >>> answers = Answers().add([np.array([[1.0]]), np.array([[2.0]])], same=False)
    >>> efforts = answers.efforts(answers.moves.T ** 2)
    >>> answers.log_likelihood(efforts, people(lapse=0.0, sharpness=10.0)).round(4).tolist()
    [[[-0.0025]]]
    """

    moves: Array = field(default_factory=lambda: np.empty((0, 0)))
    firsts: Ints = field(default_factory=lambda: np.empty(0, dtype=np.intp))
    groups: dict[tuple[bool, int], tuple[Ints, Ints]] = field(default_factory=dict)
    count: int = 0

    def add(self, options: Sequence[Array], *, same: bool) -> Answers:
        """Return these answers and one more: the moves `(s, d)` of its k options, the chosen one first."""
        k = len(options)
        moves = np.vstack([self.moves, *options] if self.count else list(options))
        lengths = [len(option) for option in options]
        firsts = np.append(self.firsts, len(self.moves) + np.cumsum([0, *lengths[:-1]]))
        columns = np.arange(len(firsts) - k, len(firsts))[None]
        rows = np.array([self.count])
        if (same, k) in self.groups:
            before = self.groups[same, k]
            rows, columns = np.append(before[0], rows), np.vstack([before[1], columns])
        return Answers(moves, firsts, {**self.groups, (same, k): (rows, columns)}, self.count + 1)

    def efforts(self, each: Array) -> Array:
        """Return the efforts `(n, m)` of all options from those `(n, r)` of their moves: the sum over a path."""
        return each if len(self.firsts) == len(self.moves) else np.add.reduceat(each, self.firsts, axis=1)

    def log_likelihood(self, efforts: Array, who: People) -> Array:
        """Return `(n, answers, t)` log-likelihoods from the efforts `(n, m)` of all options."""
        out = np.empty((len(efforts), self.count, len(who.slip)))
        for (same, _), (rows, columns) in self.groups.items():
            probability = (same_probability if same else choice_probability)(efforts[:, columns], who)
            out[:, rows] = np.log(np.maximum(probability, _TINY))
        return out


def moves_of(options: Sequence[Array], dimension: int) -> list[Array]:
    """Return the moves `(s, d)` of options, checked."""
    return [as_moves(option, dimension) for option in options]

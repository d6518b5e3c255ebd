"""How likely an answer is, given the efforts of the options."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
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
#: Share of people who weigh only what a question shows as different, and not what the options have in common.
NARROW = 0.3
_TINY = 1e-300
#: Steps of the table of answers to two options, for relative differences of effort from −1 to 1.
_STEPS = 4000
#: An exponent whose power can still be summed.
_HUGE = 650.0
#: Changes that are no further apart are the same.
_ALIKE = 1e-9


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


def pair_probabilities(efforts: Array, who: People) -> Array:
    """Return `choice_probabilities` (…, 2) of two options (…, 2), over the kinds of people, read off a table of 4,000 steps.

    Looking up is ten times as fast as the logistic function, and thousands of pairs are compared for every question.

    Examples
    --------
    >>> pair_probabilities(np.array([[1.0, 1.0], [1.0, 2.0]]), people()).round(3).tolist()
    [[0.5, 0.5], [0.967, 0.033]]
    """
    a, b = efforts[..., 0], efforts[..., 1]
    at = np.rint((_difference(b, a) + 1) * (_STEPS / 2)).astype(np.intp)
    first = (_chances(tuple(who.sharpness), tuple(who.slip)) @ who.share)[at]
    return np.stack([first, 1 - first], axis=-1)


@lru_cache(maxsize=8)
def _chances(sharpness: tuple[float, ...], slip: tuple[float, ...]) -> Array:
    """Return the chance (steps, t) that each of t kinds of people takes the first, by the relative difference of efforts."""
    ratios = np.linspace(-1.0, 1.0, _STEPS + 1)
    who = People(np.array(sharpness), np.array(slip), np.ones(len(slip)))
    return choice_probabilities(np.stack([1 - ratios, 1 + ratios], axis=-1) / 2, who)[:, 0]


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


def _log(probability: Array) -> Array:
    return np.asarray(np.log(np.maximum(probability, _TINY)))


def _difference(a: Array, b: Array) -> Array:
    """Return `(a − b)/(a + b)`, and 0 where both are 0."""
    result: Array = (a - b) / np.maximum(a + b, _TINY)
    return result


class Group(NamedTuple):
    """Answers with the same number of options k: their positions `(a,)`, and where their options stand in the stack.

    ``whole`` and ``seen`` are `(a, k)`: the options as they are, and in what a question shows as different.
    """

    answers: Ints
    whole: Ints
    seen: Ints


@dataclass(frozen=True)
class Answers:
    """All answers so far, never changed: the moves of all their options in one stack, so that one product gives all efforts.

    Examples
    --------
    >>> answers = Answers().add([np.array([[1.0]]), np.array([[2.0]])], same=False)
    >>> efforts = answers.efforts(answers.moves.T ** 2)
    >>> answers.log_likelihood(efforts, people(lapse=0.0, sharpness=10.0))[0, 0].round(4).tolist()
    [[-0.0025], [-0.0025]]
    """

    moves: Array = field(default_factory=lambda: np.empty((0, 0)))
    firsts: Ints = field(default_factory=lambda: np.empty(0, dtype=np.intp))
    groups: dict[tuple[bool, int], Group] = field(default_factory=dict)
    count: int = 0

    def add(self, options: Sequence[Array], *, same: bool, seen: Sequence[Array] = ()) -> Answers:
        """Return these answers and one more: the moves `(s, d)` of its k options, the chosen one first.

        ``seen``: the same options in what a question shows as different, where that is not all.
        """
        k, stacked = len(options), [*options, *seen]
        moves = np.vstack([self.moves, *stacked] if self.count else stacked)
        lengths = [len(option) for option in stacked]
        firsts = np.append(self.firsts, len(self.moves) + np.cumsum([0, *lengths[:-1]]))
        whole = len(self.firsts) + np.arange(k)
        one = Group(np.array([self.count]), whole[None], (whole + (k if seen else 0))[None])
        if (same, k) in self.groups:
            one = Group(*(np.concatenate(pair) for pair in zip(self.groups[same, k], one, strict=True)))
        return Answers(moves, firsts, {**self.groups, (same, k): one}, self.count + 1)

    def efforts(self, each: Array) -> Array:
        """Return the efforts `(n, m)` of all options from those `(n, r)` of their moves: the sum over a path."""
        return each if len(self.firsts) == len(self.moves) else np.add.reduceat(each, self.firsts, axis=1)

    def log_likelihood(self, efforts: Array, who: People) -> Array:
        """Return `(n, answers, 2, t)` log-likelihoods from the efforts `(n, m)` of all options.

        First of those who weigh options whole, then of those who weigh only what a question shows as different.
        """
        out = np.empty((len(efforts), self.count, 2, len(who.slip)))
        for (same, _), (answers, whole, seen) in self.groups.items():
            chance = same_probability if same else choice_probability
            out[:, answers] = _log(chance(efforts[:, whole], who))[:, :, None]
            partly = (whole != seen).any(axis=1)
            if partly.any():
                out[:, answers[partly], 1] = _log(chance(efforts[:, seen[partly]], who))
        return out


def as_seen(options: Sequence[Array], features: Ints) -> list[Array]:
    """Return the changes `(1, d)` of options in the features that a question shows as different; empty where that is all.

    Who reads "both options include this" may compare the rest alone. What a change adds to another, `A_ij`, is then not
    weighed, nor what comes by itself and has no row.

    Parameters
    ----------
    options : sequence of (s, d) arrays
        Moves of the options.
    features : (d,)
        The feature of each column; −1 where it has no row of its own. One of several columns differs where one of these does.

    Examples
    --------
    >>> [V.tolist() for V in as_seen([np.array([[1.0, 2.0]]), np.array([[1.0, 0.0]])], np.arange(2))]
    [[[0.0, 2.0]], [[0.0, 0.0]]]
    >>> as_seen([np.array([[1.0, 0.0]]), np.array([[0.0, 1.0]])], np.arange(2))
    []
    """
    ends = np.stack([option.sum(axis=0) for option in options])
    differ = (np.abs(ends - ends[0]) > _ALIKE).any(axis=0)
    rows = np.isin(features, features[differ & (features >= 0)])
    return [np.where(rows, end, 0.0)[None] for end in ends] if ends[:, ~rows].any() else []


def moves_of(options: Sequence[Array], dimension: int) -> list[Array]:
    """Return the moves `(s, d)` of options, checked."""
    return [as_moves(option, dimension) for option in options]

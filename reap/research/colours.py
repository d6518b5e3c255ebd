"""Which colour somebody likes best: how many answers each way of asking needs.

48 people compared every two of 37 colours. A session asks some of these comparisons and recommends a colour; its regret is the
share of comparisons won by the colour this person prefers most often, less that of the one recommended. What people like in
colours is no sum of amounts, so the belief is another one, through the same protocol: utilities that vary smoothly over the
colours, drawn many times from a Gaussian process and weighed by the answers.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from scipy.special import expit

from reap._typing import Array, Ints, Seed
from reap.belief.answers import stacked
from reap.belief.prior import LAPSE_SHARES, LAPSES
from reap.questions import Strategy

#: Kernel of the utilities, by the distance of colours in CIELAB: variance, length, and variance of each colour alone. Set once.
VARIANCE, LENGTH, OWN = 1.5, 40.0, 0.3
#: Utilities drawn.
DRAWN = 1000


class SmoothUtility:
    """A belief in utilities of m things, smooth over where they are; an option is one of these, as a unit vector.

    Parameters
    ----------
    places : (m, c) array
    random_state : int or Generator

    Examples
    --------
    >>> belief = SmoothUtility(np.array([[0.0], [1.0], [300.0]]))
    >>> belief.update(np.eye(3)[0], np.eye(3)[2])
    >>> efforts = belief.expected(np.eye(3))
    >>> bool(efforts[1] < efforts[2])  # near the one that was preferred
    True
    """

    def __init__(self, places: Array, random_state: Seed = 0) -> None:
        rng, self.dimension = np.random.default_rng(random_state), len(places)
        squares = ((places[:, None] - places[None]) ** 2).sum(axis=-1)
        K = VARIANCE * np.exp(-squares / (2 * LENGTH**2)) + OWN * np.eye(len(places))
        utilities = rng.standard_normal((DRAWN, len(places))) @ np.linalg.cholesky(K).T
        #: What each thing asks of each person: how far it is from the best that anybody drawn sees in anything.
        self._efforts = utilities.max() - utilities
        self._lapses = rng.choice(LAPSES, DRAWN, p=LAPSE_SHARES)
        self._logs = np.zeros(DRAWN)

    @property
    def weights(self) -> Array:
        """How likely the person is each of those drawn, (n,)."""
        weights = np.exp(self._logs - self._logs.max())
        return np.asarray(weights / weights.sum())

    def update(self, chosen: Array, others: Array | Sequence[Array]) -> None:
        """Learn that one thing was preferred to another."""
        efforts = self.efforts(np.stack([np.ravel(chosen), np.ravel(np.asarray(others))]))
        self._logs = self._logs + np.log(self.answer_probabilities(efforts[:, None])[:, 0, 0])

    def update_same(self, options: Sequence[Array]) -> None:
        """Learn nothing: these people always had a preference."""

    def efforts(self, options: Sequence[Array] | Array) -> Array:
        """Return what options ask of each person drawn, (n, m)."""
        return np.asarray(self._efforts @ np.abs(stacked(options, self.dimension)[0]).T)

    def expected(self, options: Sequence[Array] | Array) -> Array:
        """Return the expected effort of options, (m,)."""
        return np.asarray(self.weights @ self.efforts(options))

    def estimate(self) -> Array:
        """Return the matrix (m, m) with the expected efforts in its diagonal."""
        return np.diag(self.weights @ self._efforts)

    def sample(self, n: int, random_state: Seed | None = None) -> Array:
        """Draw the matrices (n, m, m) of n people."""
        some = np.random.default_rng(random_state).choice(DRAWN, n, p=self.weights)
        return np.asarray(self._efforts[some][:, None] * np.eye(self.dimension))

    def answer_probabilities(
        self, efforts: Array, people: Ints | None = None, *, slips: bool = True
    ) -> Array:
        """Return how likely each of two options is to be chosen, (s, q, 2) from efforts (s, q, 2): by their difference."""
        lapses = (self._lapses if people is None else self._lapses[people])[:, None] * slips
        first = lapses / 2 + (1 - lapses) * expit(efforts[..., 1] - efforts[..., 0])
        return np.stack([first, 1 - first], axis=-1)

    def copy(self) -> Self:
        """Return an independent copy."""
        return copy.copy(self)


def regrets(
    answers: Array, belief: SmoothUtility, strategy: Strategy, most: int, rng: np.random.Generator
) -> Array:
    """Return the regret after 0 … ``most`` answers (most + 1,) of one person.

    Parameters
    ----------
    answers : (m, m) array
        1 where thing i, shown first, was preferred to j.
    """
    m = len(answers)
    wins = (answers + 1 - answers.T).sum(axis=1) - 1.0  # in either place, without the comparison with itself
    wins /= 2 * (m - 1)
    known, options = belief.copy(), np.eye(m)
    asked: list[tuple[int, ...]] = []
    found: list[float] = []
    for step in range(most + 1):
        found.append(wins.max() - wins[int(known.expected(options).argmin())])
        choice: Any = None
        if step < most:
            choice = strategy.choose(options, known, asked=asked, random_state=rng)
        if choice is None:
            return np.array(found + found[-1:] * (most - step))
        first, second = (int(i) for i in rng.permutation(choice.options))
        asked.append(choice.options)
        chosen, other = (first, second) if answers[first, second] else (second, first)
        known.update(options[chosen], options[other])
    return np.array(found)

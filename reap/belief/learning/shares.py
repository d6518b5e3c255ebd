"""How common people of each kind are: EM, with a few people like the start added.

People differ in their family of effort matrices, in how carefully they answer, and in whether they mind each of the columns
beside the moves. Some name an option without looking: what they said teaches nothing, and the more likely that is of somebody,
the less they teach. E: how likely each person is of each kind. M: their mean, with `PSEUDO` people who are as the start says.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import product

import numpy as np
from scipy.special import logsumexp

from reap._typing import Array
from reap.belief.answers import people
from reap.belief.families import ALIKE, PEOPLE
from reap.belief.prior import ABSENT

#: People like the start who are added to those who answered.
PSEUDO = 10.0
#: Share of people who name options without looking, before any answer; of these, who name the same place throughout.
GUESSING, PLACES = 0.02, 0.5
#: Rounds at most, and a change of all shares that is none: those of guessing people are the last to settle.
_ROUNDS, _STILL, _LEAST = 2_000, 1e-6, 1e-12
#: Every family that a learnt prior may use, with its weight before any answer.
FAMILIES = {**PEOPLE, **dict.fromkeys(ALIKE, 0.5)}


@dataclass(frozen=True, eq=False)
class Shares:
    """Shares of families `(f,)` and of kinds of care `(t,)`, each of sum 1; of people who guess, and who mind each column `(e,)`.

    ``places``: of those who guess, the share who name the option in the same place throughout.

    Examples
    --------
    >>> Shares.default().kinds.tolist(), Shares.start().families.shape, Shares.start(2).logs.shape
    ([0.6, 0.3, 0.1], (9,), (4, 9, 3))
    """

    families: Array
    kinds: Array
    guessing: float = GUESSING
    minders: Array = field(default_factory=lambda: np.zeros(0))
    places: float = PLACES

    @classmethod
    def default(cls, extra: int = 0) -> Shares:
        """Return the shares of the default prior: nobody of the families for people who are alike."""
        weights = np.array([PEOPLE.get(name, 0.0) for name in FAMILIES])
        return cls(weights / weights.sum(), people().share, minders=np.full(extra, 1 - ABSENT))

    @classmethod
    def start(cls, extra: int = 0) -> Shares:
        """Return the shares from which learning starts, and towards which it is drawn."""
        weights = np.array(list(FAMILIES.values()))
        return cls(weights / weights.sum(), people().share, minders=np.full(extra, 1 - ABSENT))

    @property
    def logs(self) -> Array:
        """Log of how common each combination is `(s, f, t)`: what is minded (``minded``), family, care."""
        chosen = minded(len(self.minders))
        states = np.where(chosen, self.minders, 1 - self.minders).prod(axis=1)
        parts = (states[:, None, None], self.families[:, None], self.kinds)
        return np.asarray(sum(np.log(np.maximum(part, _LEAST)) for part in parts))

    @property
    def _flat(self) -> Array:
        return np.concatenate([self.families, self.kinds, [self.guessing, self.places], self.minders])

    def mixed(self, logs: Array) -> Array:
        """Return `log Σ share · exp(logs)` `(n,)` of log-likelihoods `(n, s, f, t)`."""
        return np.asarray(logsumexp(logs + self.logs, axis=(1, 2, 3)))

    def blind(self, guessed: Array) -> Array:
        """Return the log-likelihood `(n, 2)` of people who guess, at random and by place, with how common each is of them."""
        return np.asarray(guessed + np.log(np.maximum([1 - self.places, self.places], _LEAST)))

    def explain(self, logs: Array, guessed: Array) -> tuple[Array, Array]:
        """Return how likely each person is of each kind `(n, s, f, t)`, and that they guess `(n, 2)`: together 1."""
        looked = logs + (self.logs + np.log1p(-self.guessing))
        blind = self.blind(guessed) + np.log(max(self.guessing, _LEAST))
        total = np.logaddexp(logsumexp(looked, axis=(1, 2, 3)), logsumexp(blind, axis=1))
        return np.exp(looked - total[:, None, None, None]), np.exp(blind - total[:, None])

    def learnt(self, logs: Array, guessed: Array) -> Shares:
        """Return the shares under which log-likelihoods `(n, s, f, t)` and `(n, 2)` are most likely, drawn towards these."""
        now, on = self, minded(len(self.minders))
        for _ in range(_ROUNDS):
            found, blind = now.explain(logs, guessed)
            looked = float(found.sum())
            families = PSEUDO * self.families + found.sum(axis=(0, 1, 3))
            kinds = PSEUDO * self.kinds + found.sum(axis=(0, 1, 2))
            states = found.sum(axis=(0, 2, 3))
            before, now = (
                now,
                Shares(
                    families / families.sum(),
                    kinds / kinds.sum(),
                    (PSEUDO * self.guessing + float(blind.sum())) / (PSEUDO + len(blind)),
                    (PSEUDO * self.minders + on.T @ states) / (PSEUDO + looked),
                    float(
                        (self.places + blind[:, 1].sum()) / (1 + blind.sum())
                    ),  # one person who guesses is added
                ),
            )
            if np.abs(now._flat - before._flat).max() < _STILL:
                break
        return now

    def spread(self, logs: Array, guessed: Array) -> Shares:
        """Return the standard deviations of these shares, in their places: one kind against all the others.

        A share s of which each person n has `r_n` has the score `r_n/s − (1−r_n)/(1−s)`; the sum of its squares is what the
        answers determine, and the people added determine `PSEUDO/(s(1−s))`.
        """
        found, blind = self.explain(logs, guessed)
        of = np.maximum(found.sum(axis=(1, 2, 3)), _LEAST)[:, None]
        return replace(
            self,
            families=_spread(found.sum(axis=(1, 3)) / of, self.families, of),
            kinds=_spread(found.sum(axis=(1, 2)) / of, self.kinds, of),
            guessing=float(
                _spread(blind.sum(axis=1, keepdims=True), np.array([self.guessing]), np.ones((1, 1)))[0]
            ),
            minders=_spread(found.sum(axis=(2, 3)) @ minded(len(self.minders)) / of, self.minders, of),
        )


def minded(extra: int) -> Array:
    """Return which of e columns are minded, in each of the `2^e` cases `(s, e)`: first none.

    Examples
    --------
    >>> minded(2).tolist()
    [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]
    """
    return np.array(list(product((0.0, 1.0), repeat=extra)))


def _spread(each: Array, shares: Array, weights: Array) -> Array:
    """Return the standard deviations `(c,)` of shares `(c,)` that each person has by `(n, c)`, people counting by `(n, 1)`."""
    inside = np.clip(shares, 1e-6, 1 - 1e-6)
    score = weights * (each / inside - (1 - each) / (1 - inside))
    return np.asarray(1 / np.sqrt((score**2).sum(axis=0) + PSEUDO / (inside * (1 - inside))))

"""How common people of each kind are: EM, with a few people like the start added.

People differ in their family of effort matrices, in how carefully they answer, and in whether they mind each of the columns
beside the moves. Some name an option without looking: what they said teaches nothing, and the more likely that is of somebody,
the less they teach. E: how likely each person is of each kind. M: their mean, with some people who are as the start says.
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

#: People like the start who are added to those who answered; for kinds of care more, because a few answers hardly tell
#: careless people from those who guess: with ten of them a third of the guessing were taken for careless.
PSEUDO, PSEUDO_CARE = 10.0, 100.0
#: Share of people who name options without looking, before any answer; of these, who name the same place throughout.
GUESSING, PLACES = 0.02, 0.5
#: Rounds at most, and a change of all shares that is none: those of guessing people are the last to settle.
_ROUNDS, _STILL, _LEAST = 2_000, 1e-6, 1e-12
#: Every family that a learnt prior may use, with its weight before any answer.
FAMILIES = {**PEOPLE, **{name: 0.5 for name in ALIKE if name not in PEOPLE}}


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
        """Return the shares of the default prior: nobody of the families that only a learnt prior uses."""
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
            kinds = PSEUDO_CARE * self.kinds + found.sum(axis=(0, 1, 2))
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
        """Return the standard deviations of these shares, in their places.

        Who answers carelessly and who guesses are hard to tell apart, so what one gains the other loses: kinds of care and
        guessing people have one covariance. Families, and who minds a column, are taken against all the others (``_spread``).
        """
        found, blind = self.explain(logs, guessed)
        of = np.maximum(found.sum(axis=(1, 2, 3)), _LEAST)[:, None]
        each = np.hstack([found.sum(axis=(1, 2)), blind.sum(axis=1, keepdims=True)])
        looked = 1 - self.guessing
        together = _covariance(each, np.append(looked * self.kinds, self.guessing))
        by_kind = (np.eye(len(self.kinds)) - self.kinds[:, None]) / looked  # of shares among those who looked
        return replace(
            self,
            families=_spread(found.sum(axis=(1, 3)) / of, self.families, of),
            kinds=np.sqrt(np.diag(by_kind @ together @ by_kind.T)),
            guessing=float(np.sqrt(together.sum())),
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


def _covariance(each: Array, shares: Array) -> Array:
    """Return the covariance `(c−1, c−1)` of shares `(c,)` of sum 1 without the last, that each person has by `(n, c)`.

    The score of person n is `r_nj/s_j − r_nc/s_c`; the sum of its squares is what the answers determine, and the people added
    determine as much as `PSEUDO` of whom it were known. The sum of all entries is the variance of the last share.

    Examples
    --------
    >>> known = np.repeat(np.eye(2), [150, 50], axis=0)
    >>> round(float(_covariance(known, np.array([0.75, 0.25])).sum() / (0.75 * 0.25 / 210)), 6)
    1.0
    """
    inside = np.clip(shares, 1e-6, 1.0)
    score = each[:, :-1] / inside[:-1] - each[:, -1:] / inside[-1]
    added = PSEUDO * (np.diag(1 / inside[:-1]) + 1 / inside[-1])
    return np.asarray(np.linalg.inv(score.T @ score + added))


def _spread(each: Array, shares: Array, weights: Array) -> Array:
    """Return the standard deviations `(c,)` of shares `(c,)` that each person has by `(n, c)`, people counting by `(n, 1)`.

    A share s of which each person n has `r_n` has the score `r_n/s − (1−r_n)/(1−s)`; the sum of its squares is what the
    answers determine, and the people added determine `PSEUDO/(s(1−s))`.
    """
    inside = np.clip(shares, 1e-6, 1 - 1e-6)
    score = weights * (each / inside - (1 - each) / (1 - inside))
    return np.asarray(1 / np.sqrt((score**2).sum(axis=0) + PSEUDO / (inside * (1 - inside))))

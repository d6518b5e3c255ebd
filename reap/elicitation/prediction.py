"""The held-out question: its answer is predicted before it is asked, so that everybody sees how well we know this person.

It is a fair question, drawn at random among those that people in general answer either way. A question that everybody
answers alike would be a hit without any knowledge of this person. Once it is answered, it counts like any other answer:
the prediction stands in the log before it, so nothing is lost for honesty, and the plan must not lose a comparison.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from reap._typing import Array
from reap.language import _

#: Shares of people before any answer between which a question is open.
OPEN = (0.2, 0.8)


@runtime_checkable
class Predicting(Protocol):
    """A belief that can say how likely each answer is, such as ``reap.Posterior``."""

    def efforts(self, options: Sequence[Array] | Array) -> Array:
        """Return the effort of each of m options under each particle, (particles, m)."""

    def choice_probabilities(self, options: Sequence[Array] | Array) -> Array:
        """Return how likely each of k options is to be chosen, (k,)."""


@dataclass(frozen=True)
class Prediction:
    """What we predicted for the held-out question, and what the person said.

    Parameters
    ----------
    predicted : int
        The option that we expected to be chosen.
    probability : float
        How likely we thought that was.
    answer : int, str or None
        What the person answered; None while the question is open.

    Examples
    --------
    >>> told = Prediction(predicted=1, probability=0.83, answer=1)
    >>> told.hit, Prediction(1, 0.83, "skip").hit
    (True, None)
    >>> print(told)
    We predicted your last answer: you chose what we expected.
    """

    predicted: int
    probability: float
    answer: int | str | None = None

    @property
    def hit(self) -> bool | None:
        """Whether the person chose the predicted option; None where they chose none, or have not answered."""
        return self.answer == self.predicted if isinstance(self.answer, int) else None

    def __str__(self) -> str:
        if self.hit is None:
            return _("There is no answer to compare our prediction with.")
        if self.hit:
            return _("We predicted your last answer: you chose what we expected.")
        return _("We predicted your last answer wrongly: we do not know you well yet.")


def held_out(
    burden: Array, moves: Sequence[Array], prior: Predicting, rng: np.random.Generator
) -> tuple[int, int] | None:
    """Return a question that people in general answer either way, drawn at random; None where there is none.

    Parameters
    ----------
    burden : (n, n)
        Infinite for two options that must not stand together.
    moves : n arrays (s, d)
    prior : Predicting
        What was believed before the first answer.
    """
    first, second = np.nonzero(np.triu(np.isfinite(burden), 1))
    if not len(first):
        return None
    efforts = prior.efforts(moves)
    share = (efforts[:, first] < efforts[:, second]).mean(axis=0)
    open_ = np.flatnonzero((share >= OPEN[0]) & (share <= OPEN[1]))
    if not len(open_):
        return None
    pick = int(rng.choice(open_))
    return int(first[pick]), int(second[pick])

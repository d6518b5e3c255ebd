"""Which options make sense side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from reap._typing import Array, Bools
from reap.questions import Choice, Strategy

#: Encoded changes smaller than this are rounding.
_RESOLUTION = 1e-9
#: A question with an option that asks for all that another asks for must save so many times what one without does.
WORTH = 1.25


@dataclass(frozen=True, eq=False)
class Comparisons:
    """How N options compare in the eyes of a person, each field (N, N).

    Parameters
    ----------
    burden : how many features they differ in.
    alike : whether they lead to the same row, by different steps.
    nested : whether one asks for all that the other asks for, and more.
    """

    burden: Array
    alike: Bools
    nested: Bools

    @classmethod
    def of(cls, burden: Array, changes: Array) -> Comparisons:
        """Compare options by what they change (N, d), for a known burden."""
        moving = changes[:, (np.abs(changes) > _RESOLUTION).any(axis=0)]
        no_more = asks_no_more(moving, moving)
        return cls(burden, no_more & no_more.T, no_more ^ no_more.T)

    def choose(
        self,
        strategy: Strategy,
        moves: Sequence[Array],
        belief: Any,
        asked: Sequence[Sequence[int]],
        rng: np.random.Generator,
    ) -> Choice | None:
        """Return a strategy's question, or one almost as good that is better to look at.

        Options that differ only in their steps are compared where nothing else is left to ask. An option that asks
        for all that another asks for is seldom preferred, but can be: a shorter loan may be easier with a smaller
        amount. So it is shown where that saves clearly more (``WORTH``) than the best other question does.
        """

        def ask(apart: Bools) -> Choice | None:
            burden = np.where(apart, np.inf, self.burden)
            return strategy.choose(moves, belief, asked=asked, burden=burden, random_state=rng)

        apart = self.alike
        choice = ask(apart)
        if choice is None and apart.sum() > len(apart):
            apart = np.zeros_like(apart)
            choice = ask(apart)
        if choice is None or not self.nested[np.ix_(choice.options, choice.options)].any():
            return choice
        neat = ask(apart | self.nested)
        return choice if neat is None or choice.gain > WORTH * neat.gain else neat


def asks_no_more(changes: Array, others: Array) -> Bools:
    """Return which changes (n, d) ask for no more than which others (m, d) in any column; (n, m).

    Every column moves no farther, and to the same side. A level of a category is a move of its columns, so either
    both take the same level or the first keeps its own. Two that ask for no more than each other end in the same row.

    Examples
    --------
    >>> amount, both, age = np.array([[-0.5, 0.0], [-0.5, 0.2], [0.0, 0.1]])
    >>> asks_no_more(np.array([amount, age]), np.array([both, amount])).tolist()
    [[True, True], [True, False]]
    """
    mine, theirs = changes[:, None], others[None]
    no_farther = (mine * theirs > 0) & (np.abs(mine) <= np.abs(theirs) + _RESOLUTION)
    return np.asarray(((np.abs(mine) <= _RESOLUTION) | no_farther).all(axis=-1))

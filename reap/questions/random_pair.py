"""Random questions: what every other strategy has to beat."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from reap._typing import Array, Seed
from reap.questions._options import Options
from reap.questions._strategy import Choice, Moves, check_options

if TYPE_CHECKING:
    from reap.belief import Belief


@dataclass(frozen=True)
class Random:
    """Distinct options drawn at random, every unasked question equally likely; `Choice.score` is ``nan``.

    Parameters
    ----------
    options : int
        Options to a question; fewer where there are fewer distinct ones.

    Examples
    --------
    >>> choice = Random(options=3).choose(np.eye(5), np.eye(5), random_state=1)
    >>> len(set(choice.options))
    3
    """

    options: int = 2

    def __post_init__(self) -> None:
        check_options(self.options)

    def choose(
        self,
        moves: Moves,
        belief: Belief | Array | None = None,
        asked: Iterable[Sequence[int]] = (),
        burden: Array | None = None,
        *,
        random_state: Seed = 0,
    ) -> Choice | None:
        """Return a random unasked question, or None if there is none; the belief is not looked at."""
        options = Options(moves)
        shown = options.asked(asked)
        rng = np.random.default_rng(random_state)
        distinct = options.distinct(rng)
        size = min(self.options, len(distinct))
        if size < 2:
            return None
        if math.comb(len(distinct), size) > 2 * len(shown):
            while True:  # more than half of all questions are new: two draws on average
                drawn = rng.choice(distinct, size, replace=False)
                if frozenset(options.labels[drawn].tolist()) not in shown:
                    return Choice(tuple(sorted(drawn.tolist())), math.nan, 1)
        new = [
            question
            for question in itertools.combinations(distinct.tolist(), size)
            if frozenset(options.labels[list(question)].tolist()) not in shown
        ]
        if not new:
            return None
        return Choice(tuple(sorted(new[rng.integers(len(new))])), math.nan, 1)

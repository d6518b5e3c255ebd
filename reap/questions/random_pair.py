"""Random questions: what every other strategy has to beat."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from reap._typing import Array, Ints, Seed
from reap.questions.options import Asked, Options
from reap.questions.strategy import Burden, Choice, Moves, check_options

if TYPE_CHECKING:
    from reap.belief import Belief

#: Questions drawn before all are listed, and how many are listed at most.
_TRIES, _LISTED = 1000, 20_000


@dataclass(frozen=True)
class Random:
    """Distinct options drawn at random, every unasked question equally likely; `Choice.score` is ``nan``.

    Parameters
    ----------
    options : int
        Options to a question; fewer where there are fewer distinct ones, or where no more may stand together.

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
        burden: Array | Burden | None = None,
        *,
        plans: int | None = None,
        random_state: Seed = 0,
    ) -> Choice | None:
        """Return a random unasked question, or None if there is none; the belief is not looked at."""
        options = Options(moves)
        shown, reading = options.asked(asked), Burden.of(burden, len(options))
        rng = np.random.default_rng(random_state)
        distinct = options.distinct(rng)
        most = min(self.options, len(distinct))
        least = most if reading.rows is None or np.isfinite(reading.rows).all() else 2
        for size in range(most, max(least, 2) - 1, -1):
            drawn = _draw(options, distinct, size, shown, reading, rng)
            if drawn is not None:
                return Choice(tuple(sorted(drawn)), math.nan, 1)
        return None


def _draw(
    options: Options, distinct: Ints, size: int, asked: Asked, burden: Burden, rng: np.random.Generator
) -> list[int] | None:
    """Return a new question of `size` options that may stand together; None where none is found."""

    def fits(question: Ints) -> bool:
        new = frozenset(options.labels[question].tolist()) not in asked
        return new and not burden.clash(question[None])[0]

    count = math.comb(len(distinct), size)
    if count > 2 * len(asked):
        for _ in range(_TRIES):  # more than half of all questions are new: mostly two draws are enough
            drawn = rng.choice(distinct, size, replace=False)
            if fits(drawn):
                return [int(i) for i in drawn]
    if count > _LISTED:
        return None
    new = [
        question for question in itertools.combinations(distinct.tolist(), size) if fits(np.array(question))
    ]
    return list(new[rng.integers(len(new))]) if new else None

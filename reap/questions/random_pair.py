"""Random questions: what every other strategy has to beat."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np

from reap._typing import Ints
from reap.questions.strategy import Choice, Strategy, Task, check_options

#: Questions drawn before all are listed, and how many are listed at most.
_TRIES, _LISTED = 1000, 20_000


@dataclass(frozen=True)
class Random(Strategy):
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

    def best(self, task: Task) -> Choice | None:
        """Return a random unasked question, or None if there is none; the belief is not looked at."""
        distinct = task.distinct()
        most = min(self.options, len(distinct))
        least = most if task.burden is None or np.isfinite(task.burden).all() else 2
        for size in range(most, max(least, 2) - 1, -1):
            drawn = _draw(task, distinct, size)
            if drawn is not None:
                return Choice(tuple(sorted(drawn)), math.nan, 1)
        return None


def _draw(task: Task, distinct: Ints, size: int) -> list[int] | None:
    """Return a new question of `size` options that may stand together; None where none is found."""

    def fits(question: Ints) -> bool:
        new = frozenset(task.labels[question].tolist()) not in task.asked
        return new and not task.clash(question[None])[0]

    count = math.comb(len(distinct), size)
    if count > 2 * len(task.asked):
        for _ in range(_TRIES):  # more than half of all questions are new: mostly two draws are enough
            drawn = task.rng.choice(distinct, size, replace=False)
            if fits(drawn):
                return [int(i) for i in drawn]
    if count > _LISTED:
        return None
    new = [q for q in itertools.combinations(distinct.tolist(), size) if fits(np.array(q))]
    return list(new[task.rng.integers(len(new))]) if new else None

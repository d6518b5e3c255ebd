"""Plans of up to three changes where clocks go on meanwhile: every combination of values, each on its own day.

A plan takes as long as its slowest action, and all clocks go on by that: changes do not add up, but with the leaves that each
value and each day leave within reach as words (see ``LeafWords``) the leaf of a combination is

    word(a) & word(b) & word(c) & word(day),    day = max(day(a), day(b), day(c)),

a few operations for each of a hundred thousand combinations. A ladder has a value for each cell *and* each day that trees tell
apart, so nothing between two of its values matters.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy.special import expit

from reap._typing import Array, Bools, Ints
from reap.models.trees import Reader
from reap.models.trees.scoring import Words
from reap.recourse.targets.problem import Problem
from reap.recourse.targets.trees.ladders import FORCED, Ladder
from reap.recourse.targets.trees.minimal import minimal, spread

#: Combinations looked at, at most; ladders are thinned to so many.
_COMBINATIONS = 400_000
#: Words put through at a time, so that they stay in the processor's cache.
_WORDS = 60_000


@dataclass(frozen=True, eq=False)
class Arm:
    """One ladder: what each value leaves of the leaves, (n, words), and how many months it takes, (n,)."""

    ladder: Ladder
    words: Words
    months: Ints
    touched: frozenset[int]  # features whose cells it moves


class Timed:
    """All that up to three changes can do for one subject.

    Parameters
    ----------
    problem : Problem
    reader : Reader
        With words.
    ladders : list of Ladder
        From the problem's base, in full length.
    changes : int

    Attributes
    ----------
    rows : (n, d)
        Accepted ones before which no other lies, support by support; not yet judged by the model.
    whole : bool
        Whether every combination was looked at.
    """

    def __init__(self, problem: Problem, reader: Reader, ladders: list[Ladder], changes: int) -> None:
        assert reader.scoring.words is not None
        self.problem, self.reader, self.leaves = problem, reader, reader.scoring.words
        self.goal = float(expit(problem.goal))
        self.clocks = [k for k, f in enumerate(problem.space.features) if f.clock is not None]
        self._days: dict[int, Words] = {}
        self.now = int(self._followed(problem.base[None])[1][0])
        most = min(changes, 3)
        size = _values(ladders, most)
        self.whole = all(len(ladder) <= size for ladder in ladders)
        self.arms = [self._arm(ladder.only(ladder.thinned(size))) for ladder in ladders]
        moved = frozenset[int]().union(*(arm.touched for arm in self.arms))
        still = [k for k in range(len(reader.cells)) if k not in moved and k not in self.clocks]
        self._still = self.leaves.always & self._word(reader.places(problem.base[None]), still)[0]
        #: Which combinations are enough for some ladders, or nearer ones or fewer are: nothing beyond is minimal.
        self._enough: dict[tuple[Arm, ...], Bools] = {}
        parts = [np.zeros((0, problem.space.dimension))]
        for count in range(1, most + 1):
            for some in combinations(self.arms, count):
                apart = sum(len(arm.touched) for arm in some)
                if len(frozenset[int]().union(*(arm.touched for arm in some))) < apart:
                    self.whole = False  # a derived feature ties them together
                elif not problem.late:
                    parts.append(self._found(list(some)))
        self.whole &= not problem.late
        self.rows = problem.follow(np.concatenate(parts))

    def _word(self, places: Ints, features: Iterable[int]) -> Words:
        """Return the leaves that some features leave, (n, words), of cells (n, f)."""
        out = self.leaves.all_leaves(len(places))
        for k in features:
            out &= self.leaves.of(k, places[:, k])
        return out

    def _followed(self, rows: Array) -> tuple[Ints, Ints]:
        """Return the cells (n, f) of rows (n, d) once clocks have followed, and the months (n,) they take; −1: illegal."""
        rows = self.problem.follow(rows)
        places = self.reader.places(rows)
        months = np.nan_to_num(self.problem.space.months(self.problem.z0, rows), nan=-1.0).astype(np.intp)
        days, first = np.unique(months, return_index=True)
        new = [(int(day), at) for day, at in zip(days, first, strict=True) if day not in self._days]
        if new:
            words = self._word(places[[at for _, at in new]], self.clocks)
            self._days |= {day: word for (day, _), word in zip(new, words, strict=True)}
        return places, months

    def _arm(self, ladder: Ladder) -> Arm:
        rows = np.repeat(self.problem.base[None], len(ladder), axis=0)
        rows[:, ladder.columns] = ladder.blocks
        places, months = self._followed(rows)
        fine = months >= 0
        fine[0] = True
        ladder, places, months = ladder.only(np.flatnonzero(fine)), places[fine], months[fine]
        turned = np.flatnonzero((places != places[0]).any(axis=0)).tolist()
        touched = frozenset({ladder.feature, *turned} - set(self.clocks))
        return Arm(ladder, self._word(places, touched), months, touched)

    def _accepted(self, arms: list[Arm], rungs: Ints, days: Ints) -> Bools:
        """Return which combinations of rungs (n, arms) the model accepts on given days (n,)."""
        fixed = self._still
        for other in self.arms:
            if other not in arms:
                fixed = fixed & other.words[0]
        known, which = np.unique(days, return_inverse=True)
        clock = np.array([self._days[int(day)] for day in known])
        out = np.zeros(len(rungs), dtype=bool)
        size = max(1, _WORDS // self.leaves.width)
        for begin in range(0, len(rungs), size):
            part = slice(begin, begin + size)
            words = clock[which[part]] & fixed
            for axis, arm in enumerate(arms):
                words &= arm.words[rungs[part, axis]]
            raw = self.leaves.base + self.leaves.reached(words)
            out[part] = self.reader.forest.combined(raw) >= self.goal
        return out

    def _found(self, arms: list[Arm]) -> Array:
        """Return the rows (n, d), clocks not yet moved, of the minimal combinations in which all of some ladders move."""
        open_ = self._open(arms)
        rungs = np.stack(np.nonzero(open_), axis=1)
        months = np.stack([arm.months[rungs[:, i]] for i, arm in enumerate(arms)], axis=1)
        days = months.max(axis=1, initial=self.now)
        fine = np.flatnonzero(self._accepted(arms, rungs, days))
        if len(fine) == 0:
            self._enough[tuple(arms)] = ~open_
            return np.zeros((0, self.problem.space.dimension))
        rungs, months, days = rungs[fine], months[fine], days[fine]
        kept = self._honest(arms, rungs, months, days)
        if self.problem.space.rules:
            kept[kept] = self.problem.legal(self.problem.follow(self._rows(arms, rungs[kept])))
        accepted = np.zeros_like(open_)
        accepted[tuple(rungs[kept].T)] = True
        sides = [arm.ladder.sides for arm in arms]
        least = np.stack(np.nonzero(minimal(accepted, sides)), axis=1)
        for axis, side in enumerate(sides):
            accepted = spread(accepted, side, axis)
        self._enough[tuple(arms)] = accepted | ~open_
        return self._rows(arms, least)

    def _open(self, arms: list[Arm]) -> Bools:
        """Return the combinations (n_1, …) in which all of some ladders move and no part of which is known to be enough."""
        out = np.ones([len(arm.ladder) for arm in arms], dtype=bool)
        for axis, arm in enumerate(arms):
            np.moveaxis(out, axis, 0)[0] = False
            enough = self._enough.get(tuple(other for other in arms if other is not arm))
            if enough is not None:  # a level that the person must leave is not kept by doing less
                free = np.flatnonzero(arm.ladder.sides != FORCED)
                np.moveaxis(out, axis, 0)[free] &= ~enough
        return out

    def _honest(self, arms: list[Arm], rungs: Ints, months: Ints, days: Ints) -> Bools:
        """Return which accepted combinations need their slowest actions for more than the waiting; see ``Problem.honest``."""
        slow = (months == days[:, None]) & (days > self.now)[:, None]
        rest = np.where(slow, 0, rungs)
        soon = np.where(slow, self.now, months).max(axis=1, initial=self.now)
        tried = np.column_stack([np.tile(rest, (2, 1)), np.concatenate([days, soon])])
        sizes = tried.max(axis=0) + 1
        _, first, which = np.unique(
            tried @ np.append(1, np.cumprod(sizes[:-1])), return_index=True, return_inverse=True
        )
        enough = self._accepted(arms, tried[first, :-1], tried[first, -1])[which.ravel()]
        return np.asarray(~slow.any(axis=1) | ~enough.reshape(2, -1).any(axis=0))

    def _rows(self, arms: list[Arm], rungs: Ints) -> Array:
        rows = np.repeat(self.problem.base[None], len(rungs), axis=0)
        for axis, arm in enumerate(arms):
            rows[:, arm.ladder.columns] = arm.ladder.blocks[rungs[:, axis]]
        return rows


def _values(ladders: list[Ladder], changes: int) -> int:
    """Return to how many values ladders are thinned so that all combinations of up to so many changes are few enough."""
    low, high = 2, max((len(ladder) for ladder in ladders), default=2)
    while low < high:
        size = (low + high + 1) // 2
        total = np.ones(1)  # combinations by the number of changes
        for ladder in ladders:
            total = np.append(total, 0.0) + np.append(0.0, total) * (min(len(ladder), size) - 1)
        if total[: changes + 1].sum() <= _COMBINATIONS:
            low = size
        else:
            high = size - 1
    return low

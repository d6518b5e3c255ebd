"""Every row of a problem's grid with few changes: how many there are, and all of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from reap._typing import Array, Bools, Ints
from reap.recourse.targets.problem import Problem


@dataclass(frozen=True)
class Axis:
    """A feature that may change: its encoded columns (w,), and the values (k, w) they may take."""

    feature: int
    columns: Ints
    values: Array


def row_count(problem: Problem, most: int | None = None, places: int | None = None) -> float:
    """Return how many rows there are with ``most`` changes or fewer, legal or not; see ``Listing``."""
    n, sizes = problem.numbers, np.ones(1)  # by the number of changes
    if places is None:  # a number may have a million values: they are counted, not listed
        acts = problem.acts[n.feature]
        counts = [(a, b) if act else (a + b, 0.0) for a, b, act in zip(*n.counts, acts, strict=True)]
        counts += [(float(c.own >= 0), len(c.options) - float(c.own >= 0)) for c in problem.choices]
    else:
        counts = [(float(stays.sum()), float(moves.sum())) for stays, moves in _axes(problem, places)]
    for same, moved in counts:
        sizes = np.append(same * sizes, 0.0) + np.append(0.0, moved * sizes)
    return float(sizes[: None if most is None else most + 1].sum())


class Listing:
    """Every row of the grid with ``most`` changes or fewer, by the places of its values; made when looked at.

    With ``places`` a number takes that many values at most to each side of its start, closer together near it: effort
    grows with the square of the way.

    Parameters
    ----------
    problem : Problem
    most : int, optional
    places : int, optional

    Attributes
    ----------
    axes : list of Axis
        What may change: each number, then each choice.
    where : (axes, n)
        Which of the values of each axis a row takes.
    """

    def __init__(self, problem: Problem, most: int | None = None, places: int | None = None) -> None:
        n, self.problem = problem.numbers, problem
        self.axes = [
            Axis(int(n.feature[j]), n.columns[j : j + 1], n.some_values(j, places)[:, None])
            for j in range(len(n.columns))
        ] + [Axis(choice.feature, choice.columns, choice.options) for choice in problem.choices]
        self.where = _where(tuple(moves.tobytes() for _, moves in _axes(problem, places)), most)

    def __len__(self) -> int:
        return int(self.where.shape[1])

    def rows(self, some: Ints | None = None) -> Array:
        """Return the vectors of some rows (k,), or of all, (k, d)."""
        if some is None:
            return self._rows
        return self._rows[some] if "_rows" in self.__dict__ else self._made(self.where[:, some])

    @cached_property
    def _rows(self) -> Array:
        return self._made(self.where)

    def _made(self, where: npt.NDArray[Any]) -> Array:
        rows = np.repeat(self.problem.base[None], where.shape[1], axis=0)
        for axis, place in zip(self.axes, where, strict=True):
            rows[:, axis.columns] = axis.values[place]
        return self.problem.follow(rows)


def everything(problem: Problem, most: int | None = None, places: int | None = None) -> Array:
    """Return every row of the grid with ``most`` changes or fewer, (n, d); see ``Listing``."""
    return Listing(problem, most, places).rows()


@lru_cache(maxsize=16)
def _where(moves: tuple[bytes, ...], most: int | None) -> npt.NDArray[Any]:
    """Return the places (axes, n) of all combinations of values with ``most`` changes or fewer, the last axis first.

    ``moves`` says of the values of each axis whether they are a change, a byte each. People who have as much room share it.
    """
    count, where = np.zeros(1, dtype=np.intp), np.zeros((0, 1), dtype=np.uint16)
    for own in (np.frombuffer(bits, dtype=bool) for bits in moves):
        total = (count[:, None] + own).ravel()
        few = np.arange(len(total)) if most is None else np.flatnonzero(total <= most)
        row, place = few // len(own), few % len(own)
        where = np.concatenate([where[:, row], place[None].astype(np.min_scalar_type(len(own)))])
        count = total[few]
    where.flags.writeable = False
    return where


def _axes(problem: Problem, places: int | None) -> list[tuple[Bools, Bools]]:
    """For each number, then each choice: which of its values (k,) are no change, and which are one; waiting is none."""
    n, axes = problem.numbers, []
    for j, start in enumerate(n.start):
        moves = (np.abs(n.some_values(j, places) - start) > 1e-9) & problem.acts[n.feature[j]]
        axes.append((~moves, moves))
    for choice in problem.choices:
        moves = np.arange(len(choice.options)) != choice.own
        axes.append((~moves, moves))
    return axes

"""Every row of a problem's grid with few changes: how many there are, and all of them."""

from __future__ import annotations

import numpy as np

from reap._typing import Array, Bools
from reap.recourse.targets.problem import Problem


def row_count(problem: Problem, most: int | None = None, places: int | None = None) -> float:
    """Return how many rows there are with ``most`` changes or fewer, legal or not; see ``everything``."""
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


def everything(problem: Problem, most: int | None = None, places: int | None = None) -> Array:
    """Return every row of the grid with ``most`` changes or fewer, (n, d).

    With ``places`` a number takes that many values at most to each side of its start, closer together near it: effort
    grows with the square of the way.
    """
    n, count = problem.numbers, np.zeros(1, dtype=np.intp)
    where = np.zeros((1, 0), dtype=np.intp)
    for stays, moves in _axes(problem, places):
        row, place = np.divmod(np.arange(len(count) * len(stays)), len(stays))
        total = count[row] + moves[place]
        few = np.ones(len(row), dtype=bool) if most is None else total <= most
        where, count = np.column_stack([where[row[few]], place[few]]), total[few]
    rows = np.repeat(problem.base[None], len(where), axis=0)
    for j, column in enumerate(n.columns):
        rows[:, column] = n.some_values(j, places)[where[:, j]]
    for j, choice in enumerate(problem.choices, len(n.columns)):
        rows[:, choice.columns] = choice.options[where[:, j]]
    return problem.follow(rows)


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

"""Rows on the way to a row: where a score does not rise steadily, one of them may be accepted and ask for less.

Taking back one number at a time does not find it: with trees two may have to go back together.
"""

from __future__ import annotations

from itertools import chain, combinations, islice

import numpy as np

from reap import effort
from reap._arrays import row_keys
from reap._typing import Array, Ints
from reap.recourse.targets.order import undominated
from reap.recourse.targets.problem import Problem
from reap.space.grid import Numbers

#: Rows tried on the way to one.
_TRIED = 1_000


def lowered(problem: Problem, A: Array, rows: Array, of: Ints | None = None) -> Array:
    """Return for each of accepted rows (n, d) an accepted one that asks for no more, of least effort under its matrix.

    Matrices are (n, d, d), or any number of them with ``of`` (n,) to say which is whose. What is returned is not
    dominated by any row tried on the way.
    """
    of = np.arange(len(rows)) if of is None else of
    first, which = np.unique(row_keys(rows), return_index=True, return_inverse=True)[1:]
    parts = [_between(problem, row) for row in rows[first]]
    scores = np.split(
        problem.judge(np.concatenate(parts)) if parts else np.zeros(0),
        np.cumsum([len(p) for p in parts])[:-1],
    )
    least = []
    for some, judged in zip(parts, scores, strict=True):
        fine = some[judged >= problem.goal]
        least.append(fine[undominated(problem.moves(fine)[:, problem.own])] if len(fine) else fine)
    out = rows.copy()
    for i, k in enumerate(which.ravel()):
        if len(least[k]):
            out[i] = least[k][effort.of_change(A[of[i]], problem.moves(least[k])).argmin()]
    return out


def _between(problem: Problem, row: Array) -> Array:
    """Return the rows (n, d) in which each change of a row (d,) is made in part, in full or not at all; itself last."""
    n, changed = problem.all_numbers, np.flatnonzero(problem.changed(row[None])[0])
    if 2 ** len(changed) > 2 * _TRIED:  # who has to change two dozen features has millions of rows on the way
        return _without(problem, row, changed)
    most = max(2, int(_TRIED ** (1 / max(len(changed), 1))))
    rows = problem.base[None]
    for k in changed:
        place, columns = np.flatnonzero(n.feature == k), problem.columns(int(k))
        blocks = np.stack([problem.base[columns], row[columns]])
        if len(place):
            own, value = problem.base[columns.start], row[columns.start]
            values = _inside(n, int(place[0]), min(own, value) + 1e-9, max(own, value) - 1e-9, most - 2)
            blocks = np.concatenate([[own], values, [value]])[:, None]
        rows = np.repeat(rows, len(blocks), axis=0)
        rows[:, columns] = np.tile(blocks, (len(rows) // len(blocks), 1))
    return problem.follow(rows)


def _without(problem: Problem, row: Array, changed: Ints) -> Array:
    """Return the rows (n, d) in which one, two or more changes of a row (d,) are not made, as many as are tried; itself last."""
    fewer = chain.from_iterable(combinations(changed, size) for size in range(1, len(changed)))
    sets = list(islice(fewer, _TRIED))
    rows = np.repeat(row[None], len(sets) + 1, axis=0)
    for i, features in enumerate(sets):
        for k in features:
            columns = problem.columns(int(k))
            rows[i, columns] = problem.base[columns]
    return problem.follow(rows)


def _inside(n: Numbers, j: int, low: float, high: float, count: int) -> Array:
    """Return ``count`` or fewer grid values of one number above one encoded value and below another, evenly spread.

    They are counted, not listed: a range may have a million.
    """
    low, high = (np.array([low, high]) * n.scale[j] + n.base[j]) / n.unit[j]
    first, last = max(np.floor(low) + 1, n.first[j]), min(np.ceil(high) - 1, n.last[j])
    away = np.arange(last - first + 1) if last - first < count else np.linspace(0, last - first, count)
    places = first + np.unique(np.rint(away))
    return n.on_grid((places * n.unit[j] - n.base[j]) / n.scale[j], np.full(len(places), j))

"""Every support on every day: how long a plan takes moves the clocks, so each number of months is a problem of its own.

Along a support acceptance may begin in one month, end in the next and begin again: somebody's last inquiry is then long enough
ago, or their oldest account no longer counts. So each support is looked at after every number of months T, all of its numbers
as far as they get in T, its levels switched. Where that is accepted and was not a month sooner, a stretch begins.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from reap import effort
from reap._typing import Array, Ints
from reap.recourse.targets.problem import Problem
from reap.recourse.targets.reduction import reduced

#: Rows looked at, at most; where there are more, nothing is.
_ROWS = 12_000
#: Values of a number that are looked at to each side of the start: whoever owes 10⁹ has as many, and no memory holds them.
_VALUES = 1_000
#: Beginnings of stretches that are taken back as far as they stay accepted: the nearest.
_STARTS = 24


def stretches(problem: Problem) -> Array:
    """Return accepted irreducible rows (n, d), at least one for the nearest stretches; none where nothing takes time."""
    nothing = problem.base[None][:0]
    if problem.waits or not problem.space.timed:
        return nothing
    feature, ways = _ways(problem)
    most = min(problem.max_changes or 3, 3)
    sets = [s for k in range(1, most + 1) for s in combinations(range(len(feature)), k)]
    took = [problem.space.months(problem.z0, way) for way in ways]
    months = 1.0 + max((t.max() for t in took), default=0.0)
    if not sets or len(sets) * months > _ROWS:
        return nothing
    ends = _ends(problem.base, ways, took, np.arange(months))
    parts = [_rows(problem, feature, ends, s) for s in sets if len({feature[i] for i in s}) == len(s)]
    d = len(problem.base)
    rows = problem.follow(np.concatenate(parts)).reshape(len(parts), -1, d)  # (supports, months, d)
    fine = problem.judge(rows) >= problem.goal
    begins = fine & ~np.pad(fine, ((0, 0), (1, 0)))[:, :-1]
    found = rows[begins]
    found = found[np.argsort(effort.size(problem.moves(found)), kind="stable")[:_STARTS]]
    if len(found) == 0:
        return nothing
    eye = np.broadcast_to(np.eye(d), (len(found), d, d))
    return np.concatenate([found, reduced(problem, eye, found)[0]])


def _ways(problem: Problem) -> tuple[Ints, list[Array]]:
    """Return what the person can do, one thing each: its feature (k,), and the rows (v, d) of all its values, nearest first."""
    n, base = problem.numbers, problem.base
    feature, ways = list[int](), list[Array]()
    for j, column in enumerate(n.columns):
        known = n.some_values(j, _VALUES)
        for side in (-1, 1):
            values = np.sort(side * known[side * (known - base[column]) > 1e-9]) * side
            if len(values):
                way = np.repeat(base[None], len(values), axis=0)
                way[:, column] = values
                feature.append(int(n.feature[j]))
                ways.append(problem.follow(way))
    for choice in problem.choices:
        for k, option in enumerate(choice.options):
            if k != choice.own:
                way = base[None].copy()
                way[:, choice.columns] = option
                feature.append(choice.feature)
                ways.append(problem.follow(way))
    return np.array(feature, dtype=np.intp), ways


def _ends(base: Array, ways: list[Array], took: list[Array], months: Array) -> Array:
    """Return how far k ways (v, d) that take so long (v,) get in some months (t,), (k, t, d).

    What takes longer than there are months is not done yet: the row (d,) stays as it is.
    """
    ends = np.repeat(np.repeat(base[None, None], len(ways), axis=0), len(months), axis=1)
    for i, (way, t) in enumerate(zip(ways, took, strict=True)):
        done = np.searchsorted(t, months, side="right") - 1  # the farthest value that is reached by then
        ends[i, done >= 0] = way[done[done >= 0]]
    return ends


def _rows(problem: Problem, feature: Ints, ends: Array, support: tuple[int, ...]) -> Array:
    """Return the rows (months, d) of a support after every number of months, its own columns alone."""
    rows = np.repeat(problem.base[None], ends.shape[1], axis=0)
    for i in support:
        columns = problem.columns(int(feature[i]))
        rows[:, columns] = ends[i][:, columns]
    return rows

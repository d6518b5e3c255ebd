"""Rows of real people, stripped to what is enough for this person.

Somebody whom the model accepts shows a combination of values that works. Taken over whole it changes far too much; a few
of its changes are often enough. Up to three changes are taken over in every combination, all scored in one batch. Where
more are allowed, changes are undone one after the other while the row stays accepted.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from reap import effort
from reap._arrays import unique_rows
from reap._typing import Array, Bools
from reap.recourse.targets.problem import Problem

#: Accepted people looked at, and combinations of their changes: of a model with a gradient, and of any other.
_PEOPLE = 40
_COMBINATIONS, _BLACK_BOX = 4_000, 2_000
#: Changes that are taken over in every combination.
_FEW = 3


def people(problem: Problem, data: Array, rng: np.random.Generator) -> tuple[Array, Array]:
    """Return rows (n, d) that take over some of the changes of accepted rows (N, d), and their logits (n,)."""
    nearest = _nearest(problem, data)
    logits = problem.judge(nearest, counted=False)
    rows = nearest[logits >= problem.goal][:_PEOPLE]
    if len(rows) == 0:
        return nearest[:0], logits[:0]
    for choice in problem.choices:  # a level that helps nobody here is not taken over
        rows[np.ix_(~choice.among(rows), choice.columns)] = problem.base[choice.columns]
    most = problem.max_changes
    parts = [_combined(problem, rows, min(_FEW, most or _FEW), rng)]
    if most is None or most > _FEW:
        parts.append(_stripped(problem, rows, rng))
    made = np.concatenate(parts)
    made = made[unique_rows(made)]
    return made, problem.judge(made)


def _nearest(problem: Problem, data: Array, count: int = 256) -> Array:
    """Return what the subject would become on the way to other rows: projected, nearest first, each once."""
    if len(data) == 0:
        return problem.base[None]
    # columns that stay take the subject's own values, so they say nothing about who is near
    own = np.concatenate([problem.numbers.columns, *(choice.columns for choice in problem.choices)])
    away = effort.size(effort.changes(data[:, own], problem.base[own]))
    data = data[np.sort(np.argsort(away, kind="stable")[: 3 * count])]
    rows = problem.tidy(problem.within(data))
    rows = rows[unique_rows(rows)]
    size = effort.size(problem.moves(rows))
    rows = rows[np.argsort(size, kind="stable")[:count]]
    if problem.space.rules:
        # the exact search takes a millisecond a row
        broken = np.flatnonzero(~problem.legal(rows, counted=False))[:50]
        rows[broken] = problem.tidy(problem.within(rows[broken], exact=True))
    return rows


def _combined(problem: Problem, rows: Array, most: int, rng: np.random.Generator) -> Array:
    """Return rows (n, d) with up to ``most`` of the changes of each of rows (N, d)."""
    budget = (_COMBINATIONS if problem.smooth else _BLACK_BOX) // len(rows)
    changed = problem.changed(rows)
    every = np.flatnonzero(changed.any(axis=0))
    sets = np.zeros((0, changed.shape[1]), dtype=bool)  # all combinations of features that somebody changes
    for size in range(1, most + 1):
        chosen = np.array(list(combinations(every, size)), dtype=np.intp).reshape(-1, size)
        block = np.zeros((len(chosen), changed.shape[1]), dtype=bool)
        np.put_along_axis(block, chosen, True, axis=1)
        sets = np.concatenate([sets, block])
    fits = ~(sets[None] & ~changed[:, None]).any(axis=2)  # (N, sets), those of a person's own changes
    owner, which = np.nonzero(fits)
    if len(owner) > budget * len(rows):
        few = np.sort(rng.choice(len(owner), budget * len(rows), replace=False))
        owner, which = owner[few], which[few]
    return problem.partly(rows[owner], sets[which])


def _stripped(problem: Problem, rows: Array, rng: np.random.Generator) -> Array:
    """Return rows with their changes undone, in an order of its own for each, while they stay accepted."""
    rows = rows.copy()
    changed: Bools = problem.changed(rows)
    order = np.argsort(rng.random(changed.shape), axis=1)
    for feature in order.T:
        each = np.flatnonzero(changed[np.arange(len(rows)), feature])
        kept = changed[each]
        kept[np.arange(len(each)), feature[each]] = False
        tried = problem.partly(rows[each], kept)
        fine = problem.judge(tried, counted=False) >= problem.goal
        rows[each[fine]], changed[each[fine]] = tried[fine], kept[fine]
    return rows

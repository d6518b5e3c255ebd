"""The best plan of at most three changes that enumeration finds: every support, a dense grid on it, then local refinement.

Slow by design. It shares ladders, legality and the model with the engine, and nothing of its search.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np

from reap._typing import Array, Bools, Ints
from reap.effort import Efforts
from reap.models import Classifier
from reap.recourse.ladders import Ladder
from reap.recourse.problem import Problem

#: Values tried of a feature on supports of one, two and three features, to each side.
PLACES = {1: 200, 2: 24, 3: 7}
#: Supports refined for each matrix, and the steps that refinement tries.
REFINED = 16
STEPS = (1, 2, 4, 8, 16, 32, 64, 128)
#: Rows scored at once.
BATCH = 100_000


def best(engine: Any, x: Any, A: Array | Efforts, most: int = 3, asked: Classifier | None = None) -> Array:
    """Return the least effort (b,) of irreducible rows for matrices (b, d, d), or efforts; infinite where enumeration finds none.

    ``asked``: who decides, where a quicker copy of the engine's model is at hand.
    """
    z0 = engine.space.vector(x)
    problem = Problem(engine.space, asked or engine.classifier_, z0, most)
    people = Efforts.of(A).within(problem.moving)
    rows = np.concatenate(
        [problem.own[None][:0], *(found for size in range(1, most + 1) for found in _supports(problem, size))]
    )
    least = np.full(len(people), np.inf)
    if len(rows) == 0:
        return least
    efforts, support = problem.ask(people, rows), problem.supports(rows)
    for b in range(len(people)):
        person = people[b : b + 1]
        order = np.argsort(efforts[b], kind="stable")
        starts = rows[order[np.unique(support[order], return_index=True)[1]]]
        mine = problem.ask(person, starts)[0]
        refined = _refined(problem, person, starts[np.argsort(mine, kind="stable")[:REFINED]])
        bare = np.array([_stripped(problem, person, row) for row in refined])
        least[b] = problem.ask(person, bare).min()
    return least


def _supports(problem: Problem, size: int) -> Iterator[Ints]:
    """Yield accepted legal places (n, f) of all supports of a size."""
    axes = [(f, _some(ladder, PLACES[size])) for f, ladder in enumerate(problem.ladders)]
    waiting, count = list[Ints](), 0
    for support in combinations([axis for axis in axes if len(axis[1])], size):
        mesh = np.meshgrid(*(places for _, places in support), indexing="ij")
        rows = np.repeat(problem.own[None], mesh[0].size, axis=0)
        for (f, _), places in zip(support, mesh, strict=True):
            rows[:, f] = places.ravel()
        waiting.append(rows)
        count += len(rows)
        if count > BATCH:
            yield _accepted(problem, np.concatenate(waiting))
            waiting, count = [], 0
    if waiting:
        yield _accepted(problem, np.concatenate(waiting))


def _accepted(problem: Problem, rows: Ints) -> Ints:
    return rows[_fine(problem, rows)]


def _fine(problem: Problem, rows: Ints) -> Bools:
    return np.asarray(problem.judge(rows) >= problem.goal)


def _some(ladder: Ladder, count: int) -> Ints:
    """Return places other than one's own: all, or so many to each side, denser near the start."""
    every = np.arange(ladder.length)
    if not ladder.ordered or ladder.length <= 2 * count:
        return every[every != ladder.own]
    share = (np.arange(1, count + 1) / count) ** 1.5
    ways = [np.rint(share * ladder.own), np.rint(share * (ladder.length - 1 - ladder.own))]
    some = np.concatenate([ladder.own - ways[0], ladder.own + ways[1]]).astype(np.intp)
    return np.unique(some[some != ladder.own])


def _refined(problem: Problem, person: Efforts, rows: Ints, rounds: int = 60) -> Ints:
    """Return places (n, f) after descent by steps of one of the numbers that each row changes, or two at once."""
    done = []
    for row in rows:
        least = float(problem.ask(person, row[None])[0, 0])
        for _ in range(rounds):
            moving = np.flatnonzero((row != problem.own) & problem.ordered)
            shifts = [(f, sign * k) for f in moving for k in STEPS for sign in (-1, 1)]
            several = [(s,) for s in shifts] + [(s, t) for s, t in combinations(shifts, 2) if s[0] != t[0]]
            near = np.repeat(row[None], len(several), axis=0)
            for k, parts in enumerate(several):
                for f, shift in parts:
                    near[k, f] = np.clip(near[k, f] + shift, 0, problem.length[f] - 1)
            if len(near) == 0:
                break
            efforts = problem.ask(person, near)[0]
            some = np.flatnonzero(efforts < least * (1 - 1e-9))
            some = some[_fine(problem, near[some])]
            if len(some) == 0:
                break
            pick = some[efforts[some].argmin()]
            row, least = near[pick], float(efforts[pick])
        done.append(row)
    return np.array(done)


def _stripped(problem: Problem, person: Efforts, row: Ints) -> Ints:
    """Return places (f,) of which no change can be left out and none taken back a step; what leaves least effort goes first."""
    while True:
        less = []
        for f in np.flatnonzero(row != problem.own):
            back = [problem.own[f]]
            if problem.ordered[f]:
                back.append(row[f] - np.sign(row[f] - problem.own[f]))
            for place in back:
                less.append(row.copy())
                less[-1][f] = place
        some = _accepted(problem, np.array(less)) if less else row[None][:0]
        some = some[(some != problem.own).any(axis=1)]
        if len(some) == 0:
            return row
        row = some[problem.ask(person, some)[0].argmin()]

"""The best plan of at most three changes that enumeration finds: every support, a dense grid on it, then local refinement.

Slow by design. It shares the grid, the legality and the model with the engine, and nothing of its search.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np

from reap import effort
from reap._typing import Array
from reap.recourse.targets.problem import Problem
from reap.recourse.targets.reduction import reduced
from reap.recourse.targets.search import sooner

#: Values tried of a number on supports of one, two and three features.
PLACES = {1: 400, 2: 48, 3: 14}
#: Supports refined for each matrix, and the steps of the grid that refinement tries.
REFINED = 16
STEPS = (1, 2, 4, 8, 16, 32, 64, 128)
#: Rows scored at once.
BATCH = 200_000


def best(engine: Any, x: Any, A: Array, most: int = 3) -> Array:
    """Return the least effort (b,) of irreducible rows for matrices (b, d, d); infinite where enumeration finds none."""
    space, z0 = engine.space, engine.space.vector(x)
    problem = Problem(sooner(space, engine.classifier_, z0), engine.classifier_, z0, most)
    found = [rows for size in range(1, most + 1) for rows in _supports(problem, A, size)]
    if not found:
        return np.full(len(A), np.inf)
    rows, efforts = (np.stack(part) for part in zip(*found, strict=True))  # (S, b, d), (S, b)
    chosen = np.argsort(efforts, axis=0)[:REFINED]
    least = np.full(len(A), np.inf)
    for b, matrix in enumerate(A):
        starts = rows[chosen[:, b], b][np.isfinite(efforts[chosen[:, b], b])]
        if len(starts):
            refined = _refined(problem, matrix, starts)
            refined, _ = reduced(problem, np.repeat(matrix[None], len(refined), axis=0), refined)
            least[b] = effort.of_change(matrix, problem.moves(refined)).min()
    return least


def _supports(problem: Problem, A: Array, size: int) -> Any:
    """Yield, for each support with an accepted row on its grid, the best row (b, d) and its effort (b,)."""
    axes = _axes(problem, PLACES[size])
    waiting: list[Array] = []
    for support in combinations(axes, size):
        mesh = np.indices([len(values) for _, values in support]).reshape(size, -1)
        rows = np.repeat(problem.base[None], mesh.shape[1], axis=0)
        for (columns, values), place in zip(support, mesh, strict=True):
            rows[:, columns] = values[place]
        waiting.append(rows)
        if sum(map(len, waiting)) > BATCH:
            yield from _scored(problem, A, waiting)
            waiting = []
    yield from _scored(problem, A, waiting)


def _scored(problem: Problem, A: Array, parts: list[Array]) -> Any:
    if not parts:
        return
    rows = problem.follow(np.concatenate(parts))
    fine = problem.judge(rows) >= problem.goal
    begin = 0
    for part in parts:
        here = slice(begin, begin := begin + len(part))
        accepted = rows[here][fine[here]]
        if len(accepted):
            efforts = effort.of_changes(A, problem.moves(accepted))
            place = efforts.argmin(axis=1)
            yield accepted[place], efforts[np.arange(len(A)), place]


def _axes(problem: Problem, places: int) -> list[tuple[Any, Array]]:
    """Return (columns, values other than one's own) of every feature that may move."""
    n, axes = problem.numbers, list[tuple[Any, Array]]()
    for j, column in enumerate(n.columns):
        if n.last[j] - n.first[j] < places:
            values = n.values(j)
        else:  # denser near the start: effort grows with the square of the way
            share = (np.arange(1, places // 2 + 1) / (places // 2)) ** 1.5
            ways = [share * (end - n.start[j]) for end in (n.lower[j], n.upper[j])]
            values = np.unique(n.on_grid(n.start[j] + np.concatenate(ways), np.full(len(share) * 2, j)))
        values = values[np.abs(values - n.start[j]) > 1e-9]
        axes.append(([column], values[:, None]))
    for choice in problem.choices:
        others = [k for k in range(len(choice.options)) if k != choice.own]
        axes.append((choice.columns, choice.options[others]))
    return [axis for axis in axes if len(axis[1])]


def _refined(problem: Problem, A: Array, rows: Array, rounds: int = 60) -> Array:
    """Return rows (n, d) after descent on the grid of the numbers each one changes: one of them, or two at once."""
    n = problem.numbers
    for _ in range(rounds):
        tried, owner = [rows], [np.arange(len(rows))]
        for i, row in enumerate(rows):
            moving = np.flatnonzero(np.abs(row[n.columns] - n.start) > 1e-9)
            shifts = [(j, sign * k * n.step[j]) for j in moving for k in STEPS for sign in (-1, 1)]
            several = [(s,) for s in shifts] + [(s, t) for s, t in combinations(shifts, 2) if s[0] != t[0]]
            near = np.repeat(row[None], len(several), axis=0)
            for k, parts in enumerate(several):
                for j, shift in parts:
                    near[k, n.columns[j]] += shift
            tried.append(problem.tidy(near))
            owner.append(np.full(len(near), i))
        every, whose = np.concatenate(tried), np.concatenate(owner)
        efforts = effort.of_change(A, problem.moves(every))
        efforts[problem.judge(every) < problem.goal] = np.inf
        # the problem counts changes: a number that came back to its start only makes the support smaller
        place = np.array([np.flatnonzero(whose == i)[efforts[whose == i].argmin()] for i in range(len(rows))])
        if (place == np.arange(len(rows))).all():
            break
        rows = every[place]
    return rows

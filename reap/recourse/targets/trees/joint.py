"""Features that a derived one ties together, such as debt and income where a ratio follows both, moved together."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from reap._typing import Array
from reap.recourse.targets.problem import Problem
from reap.recourse.targets.trees.ladders import Ladder, rivals

#: Rows tried of features that a derived one ties together.
_JOINT = 2_500


def joint(problem: Problem, ladders: list[Ladder], changes: int) -> Array:
    """Return accepted rows (n, d) in which features that share a derived one move together, their values thinned."""
    others = rivals(problem, ladders)
    parts = [np.zeros((0, problem.space.dimension))]
    if not any(others):
        return parts[0]
    for count in range(2, min(changes, 3) + 1):
        for some in combinations(range(len(ladders)), count):
            if any(not others[i] & set(some) for i in some):
                continue
            rows, room = problem.base[None], float(_JOINT)
            tried = sorted(
                ((_values(problem, ladders[i]), ladders[i]) for i in some), key=lambda one: len(one[0])
            )
            for left, (blocks, ladder) in zip(range(count, 0, -1), tried, strict=True):
                own = problem.columns(ladder.feature)
                if len(blocks) > room ** (1 / left):  # too many: those at which its own trees decide
                    blocks = ladder.blocks[
                        ladder.thinned(int(room ** (1 / left)) + 1)[1:], : own.stop - own.start
                    ]
                room /= len(blocks)
                rows = np.repeat(rows, len(blocks), axis=0)
                rows[:, own] = np.tile(blocks, (len(rows) // len(blocks), 1))
            rows = problem.follow(rows)
            parts.append(rows[problem.judge(rows) >= problem.goal])
    return np.concatenate(parts)


def _values(problem: Problem, ladder: Ladder) -> Array:
    """Return all values (k, w) that a ladder's feature may take beside its own; of more than can be tried only some."""
    n = problem.numbers
    own = problem.columns(ladder.feature)
    place = np.flatnonzero(n.feature == ladder.feature)
    if len(place):
        values = n.some_values(int(place[0]), _JOINT)[:, None]
    else:
        values = ladder.blocks[1:, : own.stop - own.start]
    return np.asarray(values[np.abs(values - problem.base[own]).max(axis=1) > 1e-9])

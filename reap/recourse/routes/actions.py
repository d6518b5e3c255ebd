"""The route of a plan: its actions one a step, in an order that is legal at every step.

Actions that raise the score most for their effort come first. Where one alone would break a rule, another comes
first, or both go together. The order does not depend on the person's matrix, so a target has one route.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from reap import effort
from reap._typing import Array
from reap.recourse.targets.problem import Problem


def routes(problem: Problem, targets: Array) -> list[Array]:
    """Return the path (s + 1, d) to each of targets (n, d): the start, then the row after each step."""
    actions = [np.flatnonzero(changed).tolist() for changed in problem.changed(targets)]
    alone = [
        _stages(problem, target, [[a] for a in acts]) for target, acts in zip(targets, actions, strict=True)
    ]
    scores = np.split(problem.score(np.concatenate(alone)), np.cumsum([len(a) for a in alone])[:-1])
    paths = []
    for target, acts, rows, gains in zip(targets, actions, alone, scores, strict=True):
        sizes = np.maximum(effort.size(problem.moves(rows)), 1e-12)
        order = [acts[i] for i in np.argsort(-(gains - problem.score_now) / sizes, kind="stable")]
        steps = _grouped(problem, target, order) if problem.tied else [[a] for a in order]
        taken = np.cumsum([len(step) for step in steps])
        flat = [a for step in steps for a in step]
        stages = _stages(problem, target, [flat[:k] for k in taken])
        stages[-1] = target
        paths.append(np.concatenate([problem.z0[None], stages]))
    return paths


def _stages(problem: Problem, target: Array, sets: list[list[int]]) -> Array:
    """Return the rows (n, d) in which some of the target's actions are done."""
    kept = np.zeros((len(sets), len(problem.space.features)), dtype=bool)
    for k, done in enumerate(sets):
        kept[k, done] = True
    return problem.partly(np.repeat(target[None], len(sets), axis=0), kept, problem.z0)


def _grouped(problem: Problem, target: Array, order: list[int]) -> list[list[int]]:
    """Return the actions in steps: always the first that can be done now; two or more together where no single one can."""
    steps: list[list[int]] = []
    left = list(order)
    while left:
        for size in range(1, len(left) + 1):
            sets = [list(s) for s in combinations(left, size)]
            done = [a for step in steps for a in step]
            rows = _stages(problem, target, [done + s for s in sets])
            if size == len(left):
                rows[-1] = target
            # from the start: what a rule asks for beside an action may have been done in an earlier step
            legal = problem.space.allows(problem.z0, rows)
            if legal.any() or size == len(left):
                chosen = int(legal.argmax()) if legal.any() else 0
                steps.append(sets[chosen])
                left = [a for a in left if a not in sets[chosen]]
                break
    return steps

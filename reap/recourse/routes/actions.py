"""The route of a plan: its actions one a step, in an order that is legal at every step.

All actions begin today and go on side by side, so every stage is judged against the start. What takes longest comes first;
of what takes equally long, what raises the score most for its effort. Then comes waiting, where the actions are
not enough, and last, in one step, what is chosen on the day of the application. Where an action alone would break a rule,
another comes first, or both go together. The order does not depend on the person's matrix, so a target has one route.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from reap import effort
from reap._typing import Array
from reap.recourse.problem import Problem

#: Features that are done in one step.
Features = tuple[int, ...]


def routes(problem: Problem, targets: Array) -> list[Array]:
    """Return the path (s + 1, d) to each of targets (n, d): the start, then the row after each step."""
    changed = problem.changed(targets)
    actions = [np.flatnonzero(c & problem.acts).tolist() for c in changed]
    clocks = [np.flatnonzero(c & ~problem.acts).tolist() for c in changed]
    alone = [
        _stages(problem, target, [(a,) for a in acts]) for target, acts in zip(targets, actions, strict=True)
    ]
    rows, ends = np.concatenate(alone), np.cumsum([len(a) for a in alone])[:-1]
    several = any(len(acts) > 1 for acts in actions)  # one action has no order
    worth = np.split(_worth(problem, rows) if several else np.zeros(len(rows)), ends)
    months = np.split(np.nan_to_num(problem.space.months(problem.z0, rows)), ends)
    total = problem.space.months(problem.z0, targets)
    orders = list[list[Features]]()
    for i, acts in enumerate(actions):
        by_worth = [acts[k] for k in np.lexsort((-worth[i], -months[i]))]
        parts: list[Features] = [(a,) for a in by_worth if not _on_the_day(problem, a)]
        if clocks[i] and total[i] > months[i].max(initial=0.0):
            parts.append(tuple(clocks[i]))
        if last := tuple(a for a in by_worth if _on_the_day(problem, a)):
            parts.append(last)
        orders.append(parts)
    found = [_along(problem, target, order) for target, order in zip(targets, orders, strict=True)]
    if problem.tied:  # most are legal as they are; the others need another order
        legal = problem.space.allows(problem.z0, np.concatenate(found))
        for i, fine in enumerate(np.split(legal, np.cumsum([len(stages) for stages in found])[:-1])):
            if not fine.all():
                found[i] = _along(problem, targets[i], _grouped(problem, targets[i], orders[i]))
    return [np.concatenate([problem.z0[None], stages]) for stages in found]


def _along(problem: Problem, target: Array, steps: list[Features]) -> Array:
    """Return the rows (s, d) after each of some steps to a target (d,)."""
    stages = _stages(problem, target, [sum(steps[: k + 1], ()) for k in range(len(steps))])
    stages[-1:] = target
    return stages


def _worth(problem: Problem, rows: Array) -> Array:
    """Return how much the score of each of rows (n, d) gains for its effort, (n,)."""
    size = effort.size(problem.moves(rows))
    return (problem.score(rows) - problem.score_now) / np.maximum(size, 1e-12)


def _on_the_day(problem: Problem, feature: int) -> bool:
    return problem.space.features[feature].when == "application"


def _stages(problem: Problem, target: Array, sets: list[Features]) -> Array:
    """Return the rows (n, d) in which some of the target's actions are done."""
    kept = np.zeros((len(sets), len(problem.space.features)), dtype=bool)
    for k, done in enumerate(sets):
        kept[k, list(done)] = True
    return problem.partly(np.repeat(target[None], len(sets), axis=0), kept, problem.z0)


def _grouped(problem: Problem, target: Array, order: list[Features]) -> list[Features]:
    """Return the parts of a plan in steps: always the first that can be done now; several together where none can."""
    steps: list[Features] = []
    left = list(order)
    while left:
        for size in range(1, len(left) + 1):
            sets = list(combinations(left, size))
            done = sum(steps, ())
            rows = _stages(problem, target, [sum(some, done) for some in sets])
            if size == len(left):
                rows[-1] = target
            # from the start: what a rule asks for beside an action may have been done in an earlier step
            legal = problem.space.allows(problem.z0, rows)
            if legal.any() or size == len(left):
                chosen = sets[int(legal.argmax()) if legal.any() else 0]
                steps.append(sum(chosen, ()))
                left = [part for part in left if part not in chosen]
                break
    return steps

"""Irreducible rows: no action can be left out, no number taken back a step, and the row still be accepted.

Under some matrices a needless change looks like a saving, because changes can help each other. Nobody should be told to
make it, so a row is reduced whatever its effort; of several ways to reduce it, the one that leaves least effort is taken.
"""

from __future__ import annotations

import numpy as np

from reap import effort
from reap._typing import Array
from reap.recourse.targets.problem import Problem

#: Parts of the way back to the start that are tried beside leaving an action out and one step.
_BACK = np.array([0.5, 0.2, 0.05, 0.01])


def reduced(problem: Problem, A: Array, rows: Array, rounds: int = 200) -> tuple[Array, Array]:
    """Return irreducible rows (n, d) made of accepted rows (n, d), each for its own matrix (n, d, d), and their logits (n,).

    In each round one action is taken back as far as it can be, the one that leaves least effort.
    """
    back = problem.nearer or (lambda some: some)
    rows = back(rows.copy())
    scores = problem.judge(rows)
    active = np.arange(len(rows))
    for _ in range(rounds):
        if len(active) == 0:
            break
        less = smaller(problem, rows[active])  # (n, actions, kinds, d)
        judged = problem.passed(less.reshape(-1, less.shape[3])).reshape(less.shape[:3])
        judged[
            np.abs(problem.moves(less) - problem.moves(rows[active])[:, None, None]).max(axis=3) <= 1e-9
        ] = -np.inf
        ends, ahead = _farthest(problem, less, judged)
        efforts = np.where(ahead >= problem.goal, effort.of_each(A[active], problem.moves(ends)), np.inf)
        best, each = efforts.argmin(axis=1), np.arange(len(active))
        some = np.isfinite(efforts[each, best])
        rows[active[some]] = back(ends[each, best][some])
        scores[active[some]] = ahead[each, best][some]
        active = active[some]
    return rows, scores


def _farthest(problem: Problem, less: Array, judged: Array) -> tuple[Array, Array]:
    """Return how far each action can be taken back, rows (n, a, d), and their logits (n, a), of rows (n, a, k, d) and theirs.

    Kinds go from all of the way back to one step; the first that is accepted and no pretext counts. Pretexts are rare: the
    first are looked at, and the others only where one of these is a pretext.
    """
    for _ in range(2):
        far = (judged >= problem.goal).argmax(axis=2)[:, :, None]
        ends = np.take_along_axis(less, far[:, :, :, None], axis=2)[:, :, 0]
        ahead = np.take_along_axis(judged, far, axis=2)[:, :, 0]
        row, action = np.nonzero(ahead >= problem.goal)
        ahead[row, action] = problem.honest(ends[row, action], ahead[row, action])
        pretext = ahead[row, action] < problem.goal
        if not pretext.any():
            break
        row, action = row[pretext], action[pretext]
        some = less[row, action]
        judged[row, action] = problem.honest(
            some.reshape(-1, some.shape[2]), judged[row, action].ravel()
        ).reshape(some.shape[:2])
    return ends, ahead


def smaller(problem: Problem, rows: Array) -> Array:
    """Return rows (n, actions, kinds, d) that ask for less than rows (n, d).

    Every action left out, and every number or ordered level some parts of the way and one step back. Where
    there is nothing between, the action is left out again; where a row has fewer actions than another, it repeats itself.
    """
    n, base = problem.all_numbers, problem.base
    changed = problem.changed(rows)
    width = max(int(changed.sum(axis=1).max(initial=0)), 1)
    feature = np.argsort(~changed, axis=1, kind="stable")[:, :width]  # (n, w), the changed ones first
    each = np.arange(len(rows))[:, None]
    kept = np.repeat(changed[:, None], width, axis=1)
    kept[each, np.arange(width), feature] = False
    whole = np.repeat(rows[:, None], width, axis=1).reshape(-1, len(base))
    without = problem.partly(whole, kept.reshape(-1, kept.shape[2])).reshape(len(rows), width, 1, len(base))
    if len(n.columns) == 0:
        return np.asarray(without)
    number = np.full(changed.shape[1], -1)
    number[n.feature] = np.arange(len(n.feature))
    j = number[feature][:, :, None]  # (n, w, 1), −1 where it is no number
    columns = n.columns[j]
    here, start = rows[each[:, :, None], columns], base[columns]
    back = np.concatenate([here + _BACK * (start - here), here + np.sign(start - here) * n.step[j]], axis=2)
    back = np.clip(n.snap(back, j), np.minimum(here, start), np.maximum(here, start))
    # a part of the way that snaps to where the row is would take nothing back
    back = np.where((j >= 0) & (np.abs(back - here) > 1e-9), back, start)
    less = np.repeat(without, back.shape[2], axis=2)
    number_rows = np.repeat(rows[:, None, None], width, axis=1)
    less = np.where(j[:, :, :, None] >= 0, number_rows, less)
    np.put_along_axis(
        less, np.broadcast_to(columns[:, :, :, None], (*back.shape, 1)), back[:, :, :, None], axis=3
    )
    less = np.where(j[:, :, :, None] >= 0, less, without)
    out = np.concatenate([without, less], axis=2)
    return np.asarray(problem.follow(out.reshape(-1, len(base))).reshape(out.shape))

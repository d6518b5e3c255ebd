"""The cheapest row of each matrix, judged by the model itself, with what can be taken back of it."""

from __future__ import annotations

import numpy as np

from reap._arrays import unique_rows
from reap._typing import Array, Ints
from reap.effort import of_changes
from reap.recourse.targets.pool import Best, Pool
from reap.recourse.targets.problem import Problem
from reap.recourse.targets.trees.ladders import Ladder

#: Rounds in which winners are judged, and rows judged in a round at most.
_ROUNDS, _JUDGED = 8, 1_000


def judge_winners(best: Best, rows: Array, efforts: Array, ladders: list[Ladder], pool: Pool) -> None:
    """Let the model judge the cheapest of rows (n, d) for each matrix, by their efforts (b, n), until all winners hold.

    What can be taken back of a winner is judged with it.
    """
    problem, A = best.problem, best.A
    sound = np.zeros(
        len(rows), dtype=np.int8
    )  # 1 the model accepts it as it is, −1 it does not, or less is enough
    scores = np.full(len(rows), -np.inf)
    for _ in range(_ROUNDS):
        live = np.where(sound >= 0, efforts, np.inf)
        win = live.argmin(axis=1)
        todo = np.unique(win[np.isfinite(live[np.arange(len(A)), win]) & (sound[win] == 0)])
        if len(todo) == 0:
            break
        less, of = _less(problem, ladders, rows[todo])
        judged = problem.judge(np.concatenate([rows[todo], less]))
        scores[todo] = judged[: len(todo)]
        good = judged[len(todo) :] >= problem.goal
        sound[todo] = np.where(scores[todo] >= problem.goal, 1, -1)
        sound[todo[of[good]]] = -1
        fresh = less[good]
        fresh = fresh[unique_rows(fresh)] if len(fresh) else fresh
        rows = np.concatenate([rows, fresh])
        efforts = np.concatenate([efforts, of_changes(A, problem.moves(fresh))], axis=1)
        sound = np.concatenate([sound, np.zeros(len(fresh), dtype=np.int8)])
        scores = np.concatenate([scores, np.full(len(fresh), -np.inf)])
    best.offer(rows[sound > 0], scores[sound > 0])
    left = np.flatnonzero(~best.found)
    if len(left):  # less would be enough, but the rounds are over: what is accepted is better than nothing
        rest = Best(pool, A[left])
        rest.offer(rows, scores)
        best.rows[left], best.scores[left], best.efforts[left] = rest.rows, rest.scores, rest.efforts


def _less(problem: Problem, ladders: list[Ladder], rows: Array) -> tuple[Array, Ints]:
    """Return rows that ask for a part of what each of some rows (n, d) asks for, and of which one each is."""
    parts, of = [np.zeros((0, rows.shape[1]))], [np.zeros(0, dtype=np.intp)]
    most = max(2, _JUDGED // (3 * max(len(rows), 1)))
    widths = [problem.space.features[ladder.feature].width for ladder in ladders]
    owned = [ladder.columns[:width] for ladder, width in zip(ladders, widths, strict=True)]
    moved = np.array(
        [
            (np.abs(rows[:, own] - ladder.blocks[0, : len(own)]) > 1e-9).any(axis=1)
            for ladder, own in zip(ladders, owned, strict=True)
        ]
    ).reshape(len(ladders), len(rows))
    for i, row in enumerate(rows):
        for k in np.flatnonzero(moved[:, i]):
            ladder, own, width = ladders[k], owned[k], widths[k]
            place = np.flatnonzero((np.abs(ladder.blocks[:, :width] - row[own]) <= 1e-9).all(axis=1))
            nearer = np.zeros(1, dtype=np.intp)
            if len(place):
                side = ladder.side(int(ladder.sides[place[0]]))
                nearer = np.concatenate(
                    [nearer, side[side < place[0]]] if ladder.sides[place[0]] < 3 else [nearer]
                )
            if len(nearer) > most:
                nearer = nearer[np.unique(np.rint(np.linspace(0, len(nearer) - 1, most)).astype(np.intp))]
            block = np.repeat(row[None], len(nearer), axis=0)
            block[:, own] = ladder.blocks[nearer, :width]
            parts.append(block)
            of.append(np.full(len(block), i))
    return problem.follow(np.concatenate(parts)), np.concatenate(of)

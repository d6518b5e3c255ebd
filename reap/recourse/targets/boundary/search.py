"""Local search over rows that can be shown: neighbours are scored as they are, no gradient is needed."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from reap._arrays import row_keys
from reap._typing import Array, Bools, Ints
from reap.effort import of_each
from reap.recourse.targets.problem import Problem

#: Shares of the way back to the start.
_BACK = np.array([1.0, 0.5, 0.25, 0.1])
#: Rows of one subject whose neighbours are remembered at most.
_KNOWN = 500


class Moves:
    """The single changes one can make to rows: a few steps of a number, part of the way back, another level.

    With ``ends`` also to the ends of a number.
    """

    def __init__(self, problem: Problem, ends: bool = False) -> None:
        self.problem, self.ends = problem, ends
        n = problem.numbers
        self._steps = [self._sizes(j) for j in range(len(n.columns))]
        counts = [2 * len(sizes) + len(_BACK) + 2 * ends for sizes in self._steps]
        self.owner = np.concatenate(
            [np.repeat(n.feature, counts), *([c.feature] * len(c.options) for c in problem.choices)]
        ).astype(np.intp)

    def _sizes(self, j: int) -> Array:
        n = self.problem.numbers
        sizes = np.array([1.0, 2.0, 3.0]) * n.step[j]
        wider = np.array([0.003, 0.01, 0.03, 0.1])
        return np.unique(
            np.concatenate([sizes, np.rint(wider[wider > 3 * n.step[j]] / n.step[j]) * n.step[j]])
        )

    def of(self, rows: Array) -> Array:
        """Return the changes (R, M, d) that lead from rows (R, d) to their neighbours; zero where there is none."""
        problem, n = self.problem, self.problem.numbers
        out = np.zeros((len(rows), len(self.owner), rows.shape[1]))
        at = 0
        for j, sizes in enumerate(self._steps):
            column = n.columns[j]
            here = rows[:, [column]]
            parts = [here - sizes, here + sizes, here + _BACK * (n.start[j] - here)]
            if self.ends:
                parts.append(np.broadcast_to([n.lower[j], n.upper[j]], (len(rows), 2)))
            wanted = np.concatenate(parts, axis=1)
            out[:, at : at + wanted.shape[1], column] = n.snap(wanted, np.array([j])) - here
            at += wanted.shape[1]
        for choice in problem.choices:
            k = len(choice.options)
            block = out[:, at : at + k]
            block[:, :, choice.columns] = choice.options[None] - rows[:, None, choice.columns]
            at += k
        return out


#: Of rows, by their bytes, what the model says of their neighbours, and which of these are legal; both (moved,).
Known: TypeAlias = dict[bytes, tuple[Array, Bools]]


def search(
    problem: Problem, A: Array, rows: Array, scores: Array, known: Known | None = None, rounds: int = 12
) -> tuple[Array, Array]:
    """Improve accepted rows (b, d), one for each matrix, by single changes and pairs of changes.

    All single changes of a row are scored; the logit of a pair is guessed as the sum of both, and the pairs of least effort
    that the guess accepts are scored too. Needs no gradient. Returns rows (b, d) and their logits (b,). Whatever the matrix,
    a row has the same neighbours: those that are ``known`` are not scored again.
    """
    moves, known = Moves(problem), {} if known is None else known
    rows, scores = rows.copy(), scores.copy()
    active = np.arange(len(A))
    for _ in range(rounds):
        if len(active) == 0 or problem.late or len(moves.owner) == 0:
            break
        first, state = _states(rows[active])
        near = Neighbours(problem, moves, rows[active][first], scores[active][first], known)
        pairs = near.pairs(A[active], state)
        options = np.concatenate([near.rows[state], pairs], axis=1)
        values = np.concatenate([near.judged[state], _judged(problem, pairs)], axis=1)
        efforts = of_each(A[active], problem.moves(options))
        now = of_each(A[active], problem.moves(rows[active]))
        efforts[(values < problem.goal) | (efforts >= (now * (1 - 1e-9) - 1e-15)[:, None])] = np.inf
        best = _honest(problem, options, values, efforts)
        each = np.arange(len(active))
        better = np.isfinite(efforts[each, best])
        rows[active[better]] = options[each[better], best[better]]
        scores[active[better]] = values[each[better], best[better]]
        active = active[better]
    return rows, scores


def _honest(problem: Problem, options: Array, values: Array, efforts: Array) -> Ints:
    """Return the option (b,) of least effort of each row that is no pretext, of options (b, k, d) with logits, efforts (b, k).

    Pretexts are rare, and to know one takes longer than a score. So the best are looked at, and all the others only where one
    of these is a pretext. Efforts of pretexts that were met are infinite then.
    """
    best = efforts.argmin(axis=1)
    rows = np.flatnonzero(np.isfinite(efforts[np.arange(len(best)), best]))
    kept = problem.honest(options[rows, best[rows]], values[rows, best[rows]]) >= problem.goal
    rows = rows[~kept]
    if len(rows):
        some, option = np.nonzero(np.isfinite(efforts[rows]))
        some = rows[some]
        kept = problem.honest(options[some, option], values[some, option]) >= problem.goal
        efforts[some[~kept], option[~kept]] = np.inf
        best[rows] = efforts[rows].argmin(axis=1)
    return np.asarray(best)


def climb(problem: Problem, rows: Array, scores: Array, rounds: int = 30) -> tuple[Array, Array]:
    """Raise the logits of legal rows (R, d) by single changes until one is accepted or none can be raised."""
    moves = Moves(problem, ends=True)
    rows, scores = rows.copy(), scores.copy()
    for _ in range(rounds):
        if len(rows) == 0 or len(moves.owner) == 0 or problem.late or scores.max() >= problem.goal:
            break
        near = Neighbours(problem, moves, rows, scores)
        judged = problem.honest(near.rows.reshape(-1, rows.shape[1]), near.judged.ravel())
        problem.saw(near.rows.reshape(-1, rows.shape[1]), judged)
        judged = judged.reshape(near.judged.shape)
        best = judged.argmax(axis=1)
        each = np.arange(len(rows))
        higher = judged[each, best] > scores + 1e-9
        if not higher.any():
            break
        rows[higher] = near.rows[each, best][higher]
        scores[higher] = judged[each, best][higher]
    return rows, scores


class Neighbours:
    """The rows one single change away from rows (R, d), scored.

    Attributes
    ----------
    changes, rows : (R, M, d)
    guessed : (R, M), the logit of every neighbour, legal or not
    judged : (R, M), the same, −inf where it is illegal; pretexts are among them
    """

    def __init__(
        self, problem: Problem, moves: Moves, rows: Array, scores: Array, known: Known | None = None
    ) -> None:
        self.problem, self.owner, self.here, self.scores = problem, moves.owner, rows, scores
        self.changes = moves.of(rows)
        self.moved = np.abs(self.changes).sum(axis=2) > 1e-9
        self.rows = np.repeat(rows[:, None], len(moves.owner), axis=1)
        changed = problem.follow((self.rows + self.changes)[self.moved])
        self.rows[self.moved] = changed
        self.guessed = np.repeat(scores[:, None], len(moves.owner), axis=1)
        self.guessed[self.moved], legal = self._scored(changed, {} if known is None else known)
        self.judged = self.guessed.copy()
        self.judged[self.moved] = np.where(legal, self.guessed[self.moved], -np.inf)

    def _scored(self, changed: Array, known: Known) -> tuple[Array, Bools]:
        """Return the logits of all neighbours that moved (k, d), row by row, and which of them are legal, (k,) both."""
        if len(known) > _KNOWN:
            known.clear()
        keys, counts = [row.tobytes() for row in self.here], self.moved.sum(axis=1)
        new = np.array([key not in known for key in keys], dtype=bool)
        if new.any():
            some = changed[np.repeat(new, counts)]
            ends = np.cumsum(counts[new])[:-1]
            each = zip(
                np.split(self.problem.score(some), ends),
                np.split(self.problem.legal(some), ends),
                strict=True,
            )
            known.update(zip([key for key, one in zip(keys, new, strict=True) if one], each, strict=True))
        values, legal = zip(*(known[key] for key in keys), strict=True)
        return np.concatenate(values), np.concatenate(legal)

    def pairs(self, A: Array, state: Ints, count: int = 16) -> Array:
        """Return the most promising pairs of changes for each matrix, applied to the row it is at, (b, k, d).

        ``state`` (b,) says at which row. One of both moves a feature that the row changes already: it takes something
        back, and the other makes up for it. A change that is illegal alone may be legal with another.
        """
        S, here, owner = self.changes[state], self.here[state], self.owner
        SA = S @ A
        single = 2 * (SA @ self.problem.moves(here)[:, :, None])[:, :, 0] + (SA * S).sum(axis=2)
        gain = (self.guessed - self.scores[:, None])[state]
        moved = self.moved[state]
        inside = moved & self.problem.changed(here)[:, owner]
        width = int(inside.sum(axis=1).max(initial=0))
        if width == 0:
            return here[:, None]
        first = np.argsort(~inside, axis=1, kind="stable")[:, :width]  # (b, w), those inside come first
        each = np.arange(len(A))[:, None]
        both = (
            single[each, first][:, :, None] + single[:, None, :] + 2 * SA[each, first] @ S.transpose(0, 2, 1)
        )
        fits = (
            gain[each, first][:, :, None] + gain[:, None, :]
            >= (self.problem.goal - self.scores)[state, None, None]
        )
        fits &= (owner[first][:, :, None] != owner) & inside[each, first][:, :, None] & moved[:, None, :]
        both = np.where(fits & (both < 0), both, np.inf).reshape(len(A), -1)
        best = np.argpartition(both, min(count, both.shape[1]) - 1, axis=1)[:, :count]
        i, j = np.divmod(best, len(owner))
        useful = np.isfinite(np.take_along_axis(both, best, axis=1))[:, :, None]
        pairs = here[:, None] + np.where(useful, S[each, first[each, i]] + S[each, j], 0.0)
        return self.problem.follow(pairs.reshape(-1, pairs.shape[2])).reshape(pairs.shape)


def _judged(problem: Problem, rows: Array) -> Array:
    """Return the logits (b, k) of rows (b, k, d), pretexts among them, of equal ones once: matrices agree on many."""
    first, state = _states(rows.reshape(-1, rows.shape[-1]))
    scores = problem.passed(rows.reshape(-1, rows.shape[-1])[first])
    return np.asarray(scores[state].reshape(rows.shape[:2]))


def _states(rows: Array) -> tuple[Ints, Ints]:
    """Return the index of the first of each set of equal rows, and which set each row is in."""
    _, first, state = np.unique(row_keys(rows), return_index=True, return_inverse=True)
    return first, state.ravel()

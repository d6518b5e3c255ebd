"""Least effort subject to acceptance, over legal rows of few changes, for many matrices at once."""

from __future__ import annotations

import numpy as np

from reap._typing import Array, Bools, Ints
from reap.effort import of_each
from reap.recourse.targets import pool
from reap.recourse.targets.boundary.numbers import Descent
from reap.recourse.targets.boundary.rounding import roundings
from reap.recourse.targets.boundary.search import Known, climb, search
from reap.recourse.targets.pool import Best, Pool, best_of_supports, build
from reap.recourse.targets.problem import Problem

#: Supports in which each matrix descends, and rows around which it searches; see ``_tries``.
_STARTS, _SEARCHES = 6, 3
#: Effort of some numbers is next to free where the eigenvalues of its matrix differ by this factor.
_NARROW = 1e6
#: Of more matrices than this, a few that are so do not get their slopes followed: at most this share of them.
_MANY, _RARE = 8, 0.25
#: Steps below this share of the range are as good as continuous.
_FINE = 0.02


class Boundary:
    """Rows of least effort on the decision boundary of one subject.

    Parameters
    ----------
    problem : Problem
    data : (n, d)
        Accepted rows of other people.
    rng : Generator
    whole : int
        Where there are no more rows than this, every one is looked at.
    """

    def __init__(
        self, problem: Problem, data: Array, rng: np.random.Generator, whole: int | None = None
    ) -> None:
        self.problem = problem
        self._neighbours: Known = {}
        self.pool = build(problem, data, rng, pool.ENUMERATED if whole is None else whole)
        if len(self.pool) == 0 and not self.pool.complete:
            rejected = self.pool.rejected
            rows, scores = climb(problem, rejected, problem.judge(rejected, all_scores=True))
            fine = scores >= problem.goal
            self.pool = Pool(problem, rows[fine], scores[fine])

    def solve(self, A: Array) -> Best:
        """Return the accepted row of least effort for each matrix (b, d, d)."""
        best = Best(self.pool, A)
        if self.pool.complete or len(self.pool) == 0:
            return best
        matrix, place = best_of_supports(self.pool.cells, best.of_pool, self._tries(_STARTS, len(A)))
        rows, scores = self.pool.rows[place], self.pool.logits[place]
        follows = self._follows(A)
        if (some := follows[matrix]).any():
            more = self._descend(best, matrix[some], rows[some], scores[some])
            matrix, rows, scores = (
                np.concatenate(both) for both in zip((matrix, rows, scores), more, strict=True)
            )
        self._search(best, matrix, rows, scores)
        if follows.any():
            self._polish(best, follows)
        return best

    def _follows(self, A: Array) -> Bools:
        """Return for which matrices (b, d, d) to follow the slope, (b,).

        Where every support was looked at, single steps from there on find as much, unless some combination of numbers is
        next to free: then the least effort lies in a narrow valley that steps do not follow. Of the many matrices that a belief
        draws for a question a few are so, and following them would take a third of the time of all.
        """
        columns = self.problem.numbers.columns
        if not self.problem.smooth or len(columns) == 0:
            return np.zeros(len(A), dtype=bool)
        if not self.pool.dense:
            return np.ones(len(A), dtype=bool)
        narrow = np.asarray(np.linalg.cond(A[:, columns[:, None], columns]) > _NARROW)
        return narrow & (len(A) <= _MANY or narrow.mean() > _RARE)

    def _descend(self, best: Best, matrix: Ints, rows: Array, scores: Array) -> tuple[Ints, Array, Array]:
        """Return what a walk along the boundary within the supports of the starts rounds to: matrices, rows, logits."""
        problem, A = self.problem, best.A
        walk = self._descent(A[matrix], rows)
        walk.descend(3)
        keep = _best_of(matrix, walk.efforts(), self._tries(_SEARCHES, len(A)))
        which, walk = matrix[keep], walk.only(keep)
        walk.descend(6)
        near, near_scores = roundings(problem, A[which], walk.rows, walk.scores, walk.free)
        if problem.space.rules:  # the walk does not know them: the nearest row that obeys is a start as well
            obeying = problem.tidy(problem.within(walk.rows, exact=True))
            near = np.concatenate([near, obeying[:, None]], axis=1)
            near_scores = np.concatenate([near_scores, problem.judge(obeying)[:, None]], axis=1)
        best.offer(near.reshape(-1, near.shape[2]), near_scores.ravel())
        efforts = np.where(near_scores >= problem.goal, of_each(A[which], problem.moves(near)), np.inf)
        place = efforts.argmin(axis=1)
        each = np.arange(len(place))
        real = np.isfinite(efforts[each, place])
        each, place = each[real], place[real]
        return which[each], near[each, place], near_scores[each, place]

    def _tries(self, count: int, matrices: int) -> int:
        """Return how many tries each of some matrices gets: few matrices more, and more without a gradient."""
        most = 3 if self.problem.smooth else 8
        return int(np.clip(20 * count // matrices, (count + 1) // 2, most * count))

    def _descent(self, A: Array, rows: Array, among: Bools | None = None) -> Descent:
        """Return the descent of rows (S, d) in the numbers that they change, or those ``among`` them (m,).

        Where changes are not counted every number may move.
        """
        n = self.problem.numbers
        free = np.abs(rows[:, n.columns] - n.start) > 1e-9
        if self.problem.max_changes is None:
            free[:] = True
        return Descent(self.problem, A, rows, free if among is None else free & among)

    def _search(self, best: Best, matrix: Ints, rows: Array, scores: Array) -> None:
        """Search around the starts of least effort of each matrix; what is found for one is a start for the others."""
        for _ in range(3):
            if len(matrix) == 0:
                break
            keep = _best_of(
                matrix,
                of_each(best.A[matrix], self.problem.moves(rows)),
                self._tries(_SEARCHES, len(best.A)),
            )
            matrix, rows, scores = matrix[keep], rows[keep], scores[keep]
            rows, scores = search(self.problem, best.A[matrix], rows, scores, self._neighbours)
            own = best.efforts.copy()
            np.minimum.at(own, matrix, of_each(best.A[matrix], self.problem.moves(rows)))
            best.offer(rows, scores)
            matrix = np.flatnonzero(best.efforts < own * (1 - 1e-9))
            rows, scores = best.rows[matrix], best.scores[matrix]

    def _polish(self, best: Best, some: Bools) -> None:
        """Let the fine numbers of the best rows of some matrices (b,) settle, the others as they are."""
        fine = self.problem.numbers.step < _FINE
        found = np.flatnonzero(best.found & some)
        if not fine.any() or len(found) == 0:
            return
        rows = best.rows[found]
        walk = self._descent(best.A[found], rows, fine)
        walk.descend(4)
        near, scores = roundings(self.problem, best.A[found], walk.rows, walk.scores, walk.free)
        best.offer(near.reshape(-1, near.shape[2]), scores.ravel())


def _best_of(group: Ints, efforts: Array, count: int) -> Ints:
    """Return the indices of the ``count`` of least effort in every group."""
    order = np.lexsort((efforts, group))
    starts = np.flatnonzero(np.r_[True, np.diff(group[order]) > 0])
    rank = np.arange(len(order)) - np.repeat(starts, np.diff(np.r_[starts, len(order)]))
    return order[rank < count]

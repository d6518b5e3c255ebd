"""The rows a person could be told to become: irreducible, and none of them asks for all that another asks for."""

from __future__ import annotations

import numpy as np

from reap import effort
from reap._arrays import unique_rows
from reap._typing import Array, Ints
from reap.plan import Plan
from reap.recourse.targets.between import lowered
from reap.recourse.targets.order import asks_no_more, undominated
from reap.recourse.targets.pool import Source, best_of_supports, supports
from reap.recourse.targets.problem import Problem
from reap.recourse.targets.reduction import reduced

#: Supports whose best row each matrix reduces, of few matrices more: what is reducible may look better than it is.
_SUPPORTS, _FEW = 2, 8
#: Rounds in which a row gives way to one of the pool that asks for less.
_ROUNDS = 3


class Targets:
    """All that is known of where one subject can go, shared by all questions about them.

    Parameters
    ----------
    source : Source
        Finds accepted rows of least effort.
    """

    def __init__(self, source: Source) -> None:
        self.source = source
        self.problem: Problem = source.problem
        self.pool = source.pool
        #: Plans that were made, by what their words depend on and by the row they lead to.
        self.plans: dict[tuple[str, bool, int], Plan] = {}

    def __len__(self) -> int:
        return len(self.pool)

    def least(self, A: Array) -> tuple[Array, Array]:
        """Return the target (b, d) of least effort for each matrix (b, d, d), and its effort (b,)."""
        found = np.concatenate(self.source.solve(A).offered)
        found = found[unique_rows(found)]
        cells = supports(self.problem, found)
        found, cells = found[order := np.argsort(cells, kind="stable")], cells[order]
        count = int(np.clip(4 * _FEW // len(A), _SUPPORTS, _FEW))
        matrix, place = best_of_supports(cells, effort.of_changes(A, self.problem.moves(found)), count)
        rows = self.settled(A[matrix], found[place])
        efforts = effort.of_changes(A, self.problem.moves(rows))
        place = efforts.argmin(axis=1)
        return rows[place], efforts[np.arange(len(A)), place]

    def settled(self, A: Array, rows: Array) -> Array:
        """Return irreducible rows (k, d) made of one for each matrix; none asks for all that another, or the pool, does."""
        first = unique_rows(rows)
        rows, A = rows[first], A[first]
        whole = self.pool.complete  # then nothing can be taken back that the pool does not hold
        # scores that do not rise steadily, and a pool that misses some
        uneven = self.problem.tied and not self.problem.smooth
        for _ in range(_ROUNDS if not whole else 100):
            if not whole:
                if uneven:
                    rows = lowered(self.problem, A, rows)
                rows, _ = reduced(self.problem, A, rows)
            less = self._less(A, rows)
            if (less < 0).all():
                break
            rows = np.where((less >= 0)[:, None], self.pool.rows[less], rows)
        else:
            rows, _ = reduced(self.problem, A, rows)
        rows = rows[unique_rows(rows)]
        return np.asarray(rows[undominated(self.problem.moves(rows)[:, self.problem.own])])

    def _less(self, A: Array, rows: Array) -> Ints:
        """Return, for each row (k, d), the row of the pool of least effort that asks for less in every way; −1: none."""
        moves, pool = self.problem.moves(rows)[:, self.problem.own], self.problem.moves(self.pool.rows)
        size, sizes = effort.size(pool), effort.size(self.problem.moves(rows))
        near = np.flatnonzero(size < sizes.max() * (1 - 1e-9))
        if len(near) == 0:
            return np.full(len(rows), -1)
        below = asks_no_more(pool[near][:, self.problem.own], moves) & (size[near, None] < sizes * (1 - 1e-9))
        efforts = np.where(below.T, effort.of_changes(A, pool[near]), np.inf)
        return np.where(below.any(axis=0), near[efforts.argmin(axis=1)], -1)

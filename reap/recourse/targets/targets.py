"""The rows a person could be told to become: irreducible, and none of them asks for all that another asks for."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from hashlib import sha256

import numpy as np
from cachetools import LRUCache

from reap import _clock, effort
from reap._arrays import unique_rows
from reap._typing import Array, Bools, Ints
from reap.plan import Plan
from reap.recourse.targets.between import lowered
from reap.recourse.targets.order import Changes, undominated
from reap.recourse.targets.pool import Source, best_of_supports, supports
from reap.recourse.targets.problem import Problem
from reap.recourse.targets.reduction import reduced

#: Supports whose best row each matrix reduces, of few matrices more: what is reducible may look better than it is.
_SUPPORTS, _FEW = 2, 8
#: Sets of matrices whose targets are kept.
_SOLVED = 32
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
        self._lock, self._counting, self._waiting = threading.RLock(), threading.Lock(), 0
        self.problem: Problem = source.problem
        self.pool = source.pool
        #: Plans that were made, by what their words depend on and by the row they lead to.
        self.plans: dict[tuple[str, bool, int], Plan] = {}
        self._solved: LRUCache[bytes, tuple[Array, Array]] = LRUCache(_SOLVED)
        #: Rows, by their bytes, of which nothing can be taken back.
        self._bare: set[bytes] = set()
        #: Of each row of the pool whether it is irreducible, 1 or 0; −1 where nobody has asked.
        self._minimal = np.full(len(self.pool), -1, dtype=np.int8)

    def __len__(self) -> int:
        return len(self.pool)

    @contextmanager
    def lent(self) -> Iterator[None]:
        """Be lent to whoever asks, one at a time; who has it gives way to nobody while others wait for it."""
        if not self._lock.acquire(blocking=False):
            self._wait(1)
            try:
                self._lock.acquire()
            finally:
                self._wait(-1)
        try:
            with _clock.holding(lambda: self._waiting > 0):
                yield
        finally:
            self._lock.release()

    def _wait(self, change: int) -> None:
        with self._counting:
            self._waiting += change

    def least(self, A: Array) -> tuple[Array, Array]:
        """Return the target (b, d) of least effort for each matrix (b, d, d), and its effort (b,).

        Sessions with one person begin alike, and a session that is replayed goes on alike: what was found before is known.
        """
        key = sha256(A.tobytes()).digest()
        known = self._solved.get(key)
        if known is None:
            known = self._least(A)
            if not self.problem.late:  # what was cut short may come out better next time
                self._solved[key] = known
        return known

    def _least(self, A: Array) -> tuple[Array, Array]:
        found = np.concatenate(self.source.solve(A).offered)
        found = found[unique_rows(found)]
        cells = supports(self.problem, found)
        found, cells = found[order := np.argsort(cells, kind="stable")], cells[order]
        count = int(np.clip(4 * _FEW // len(A), _SUPPORTS, _FEW))
        matrix, place = best_of_supports(cells, effort.of_changes(A, self.problem.moves(found)), count)
        rows = self.settled(A[matrix], found[place])
        matrix, place = self._overlooked(A, effort.of_changes(A, self.problem.moves(rows)).min(axis=1))
        if len(place):
            more = self.settled(A[matrix], self.pool.rows[place])
            rows = np.concatenate([rows, more])
            rows = rows[undominated(self.problem.moves(rows)[:, self.problem.own])]
        efforts = effort.of_changes(A, self.problem.moves(rows))
        place = efforts.argmin(axis=1)
        return rows[place], efforts[np.arange(len(A)), place]

    def lighter(self, A: Array, some: Sequence[Bools]) -> Array:
        """Return targets (k, d) of least effort for matrices (b, d, d) within each of some parts of the pool, all (N,)."""
        matrices, places = list[Ints](), list[Ints]()
        for part in map(np.flatnonzero, some):
            efforts = effort.of_changes(A, self._asked[0][part])
            matrix, place = best_of_supports(self.pool.cells[part], efforts, _SUPPORTS)
            matrices.append(matrix)
            places.append(part[place])
        rows = self.pool.rows[np.concatenate(places)]
        return self.settled(A[np.concatenate(matrices)], rows) if len(rows) else rows

    def _overlooked(self, A: Array, known: Array) -> tuple[Ints, Ints]:
        """Return (matrix, row of the pool): for each matrix (b, d, d) the irreducible rows of less effort than is known (b,).

        Where changes help each other much, the easiest rows of the best supports are all reducible, and what is left of them is
        harder than an irreducible row of a support that was not looked at.
        """
        efforts = effort.of_changes(A, self._asked[0])
        matrix, place = np.nonzero(efforts < known[:, None] * (1 - 1e-9))
        fine = self._irreducible(place)
        matrix, place = matrix[fine], place[fine]
        order = np.lexsort((efforts[matrix, place], matrix))
        matrix, place = matrix[order], place[order]
        rank = np.arange(len(matrix)) - np.searchsorted(matrix, matrix)
        return matrix[rank < _FEW], place[rank < _FEW]

    def _irreducible(self, places: Ints) -> Bools:
        """Return which rows of the pool, by their places (k,), ask for all that no other row of it asks for."""
        moves, size, changes = self._asked
        new = np.unique(places)
        new = new[self._minimal[new] < 0]
        if len(new):
            below = changes.asking_no_more(moves[new][:, self.problem.own])
            less = size[:, None] < size[new] * (1 - 1e-9)
            self._minimal[new] = ~(below & less).any(axis=0)
        return np.asarray(self._minimal[places] > 0)

    def settled(self, A: Array, rows: Array) -> Array:
        """Return irreducible rows (k, d) made of one for each matrix; none asks for all that another, or the pool, does."""
        first = unique_rows(rows)
        rows, A = rows[first], A[first]
        whole = self.pool.complete  # then nothing can be taken back that the pool does not hold
        # scores that do not rise steadily, and a pool that misses some
        uneven = self.problem.tied and not self.problem.smooth
        moving = np.arange(len(rows))  # whole: who has nothing below stays
        for _ in range(_ROUNDS if not whole else 100):
            if not whole:
                if uneven:
                    rows = lowered(self.problem, A, rows)
                rows = self._reduced(A, rows)
            less = self._less(A[moving], rows[moving])
            some = less >= 0
            if not some.any():
                break
            rows = rows.copy()
            rows[moving[some]] = self.pool.rows[less[some]]
            moving = moving[some] if whole else moving
        else:
            rows = self._reduced(A, rows)
        rows = rows[unique_rows(rows)]
        return np.asarray(rows[undominated(self.problem.moves(rows)[:, self.problem.own])])

    def _reduced(self, A: Array, rows: Array) -> Array:
        """Return irreducible rows (k, d) made of one for each matrix; what was left of a row before is irreducible."""
        new = np.array([row.tobytes() not in self._bare for row in rows], dtype=bool)
        if new.any():
            rows = rows.copy()
            rows[new], _ = reduced(self.problem, A[new], rows[new])
            if (
                self.problem.nearer is None
            ):  # else a row may still be taken back to where the model cannot tell it
                self._bare |= {row.tobytes() for row in rows[new]}
        return rows

    def _less(self, A: Array, rows: Array) -> Ints:
        """Return, for each row (k, d), the row of the pool of least effort that asks for less in every way; −1: none."""
        pool, size, changes = self._asked
        moves = self.problem.moves(rows)
        found = np.full(len(rows), -1)
        less = changes.asking_no_more(moves[:, self.problem.own])
        less &= size[:, None] < effort.size(moves) * (1 - 1e-9)
        for k in np.flatnonzero(less.any(axis=0)):
            below = np.flatnonzero(less[:, k])
            found[k] = below[effort.of_changes(A[k : k + 1], pool[below])[0].argmin()]
        return found

    @cached_property
    def _asked(self) -> tuple[Array, Array, Changes]:
        """The whole changes (N, d) of the pool, their sizes (N,), and what they ask of a person."""
        moves = self.problem.moves(self.pool.rows)
        return moves, effort.size(moves), Changes(moves[:, self.problem.own])

"""The subject's pool: accepted legal rows of few changes, from every support, or those worth a look, and from real people.

Built once for each subject, whatever the matrix, and then only read: the same question always gets the same answer.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from reap import effort
from reap._arrays import row_keys, unique_rows
from reap._typing import Array, Bools, Ints
from reap.recourse.targets import told_apart
from reap.recourse.targets.enumeration import Listing, everything, row_count
from reap.recourse.targets.months import stretches
from reap.recourse.targets.order import asks_no_more
from reap.recourse.targets.people import people
from reap.recourse.targets.problem import Problem
from reap.recourse.targets.rays import Items, rays

#: Where there are up to this many rows of few changes, or of any number, they are scored whole; trees that were read are quick.
ENUMERATED, QUICK = 16_000, 50_000
#: Rows at which every support is looked at, of a model with a gradient and of any other, and the values of a number
#: to each side of its start that are tried: as many as the rows allow.
SCANNED, _BLACK_BOX = 16_000, 4_000
_PLACES = (24, 16, 12, 8)
#: Rows kept of a larger one.
KEPT = 4_000
#: Rows of the fewest and smallest changes, whose every extension leaves the pool.
_SMALLEST = 96


class Pool:
    """Accepted legal rows of one subject.

    Parameters
    ----------
    problem : Problem
    rows : (N, d), on the grid, legal, accepted
    logits : (N,)
    complete : bool
        Whether these are all there are.
    rejected : (k, d), optional
        The legal rows that come closest, where none is accepted.
    dense : bool
        Whether every support was looked at, at some values of its numbers.
    """

    def __init__(
        self,
        problem: Problem,
        rows: Array,
        logits: Array,
        complete: bool = False,
        rejected: Array | None = None,
        dense: bool = False,
    ) -> None:
        order = np.argsort(cells := supports(problem, rows), kind="stable")
        self.problem, self.complete, self.dense = problem, complete, dense
        self.rows, self.logits, self.cells = rows[order], logits[order], cells[order]
        self.rejected = rows[:0] if rejected is None else rejected

    def __len__(self) -> int:
        return len(self.rows)


class Best:
    """The accepted row of least effort known for each of b matrices; rows found for one are offered to all.

    Parameters
    ----------
    pool : Pool
    A : (b, d, d)
    """

    def __init__(self, pool: Pool, A: Array) -> None:
        self.problem, self.A = pool.problem, A
        self.efforts = np.full(len(A), np.inf)
        self.rows = np.repeat(pool.problem.base[None], len(A), axis=0)
        self.scores = np.full(len(A), -np.inf)
        self.offered: list[Array] = []
        self.of_pool = self.offer(pool.rows, pool.logits)

    @property
    def found(self) -> Bools:
        """Which matrices have a row at all, (b,)."""
        return np.asarray(np.isfinite(self.efforts))

    def offer(self, rows: Array, scores: Array) -> Array:
        """Take the accepted ones of rows (N, d) that ask for less than the known; return their efforts (b, accepted)."""
        fine = scores >= self.problem.goal
        if not fine.any():
            return np.empty((len(self.A), 0))
        rows, scores = rows[fine], scores[fine]
        self.offered.append(rows)
        efforts = effort.of_changes(self.A, self.problem.moves(rows))
        place = efforts.argmin(axis=1)
        least = efforts[np.arange(len(place)), place]
        better = least < self.efforts * (1 - 1e-12)
        self.efforts[better] = least[better]
        self.rows[better], self.scores[better] = rows[place[better]], scores[place[better]]
        return efforts


class Source(Protocol):
    """Where targets come from: the decision boundary, or trees that were read."""

    problem: Problem
    pool: Pool

    def solve(self, A: Array) -> Best:
        """Return the accepted row of least effort for each matrix (b, d, d)."""
        ...


def best_of_supports(cells: Ints, efforts: Array, count: int) -> tuple[Ints, Ints]:
    """Return (matrix, row): for each matrix the rows of least effort (b, N) in its best ``count`` supports.

    ``cells`` (N,) are the supports of the rows, ascending; see ``supports``.
    """
    if len(cells) == 0:
        return np.empty(0, dtype=np.intp), np.empty(0, dtype=np.intp)
    begins = np.flatnonzero(np.r_[True, np.diff(cells) > 0])
    least = np.minimum.reduceat(efforts, begins, axis=1)  # (b, supports)
    count = min(count, len(begins))
    best = np.argpartition(least, count - 1, axis=1)[:, :count]
    matrix = np.repeat(np.arange(len(efforts)), count)
    ends = np.r_[begins[1:], len(cells)]
    rows = [
        begins[c] + efforts[b, begins[c] : ends[c]].argmin()
        for b, c in zip(matrix, best.ravel(), strict=True)
    ]
    return matrix, np.array(rows, dtype=np.intp)


def build(problem: Problem, data: Array, rng: np.random.Generator, whole: int) -> Pool:
    """Return the pool of a subject: of at most ``whole`` rows all, else from rows (n, d) of others and from supports."""
    if (known := enumerated(problem, whole)) is not None:
        return known
    scanned = scan(problem)
    rows, logits = scanned or rays(Items(problem).helpful())
    begun = stretches(problem)
    parts = [(rows, logits), (begun, problem.judge(begun))]
    if scanned is None or not problem.smooth:
        parts.append(people(problem, data, rng))
    rows, logits = (np.concatenate(part) for part in zip(*parts, strict=True))
    first = unique_rows(rows)
    rows, logits = rows[first], logits[first]
    kept = np.flatnonzero(logits >= problem.goal)
    kept = kept[_worth(problem, rows[kept])]
    if len(kept) > KEPT:
        kept = kept[_spread(problem, rows[kept])]
    problem.saw(rows, logits)
    closest = np.argsort(-logits, kind="stable")[:8]
    rejected = rows[closest[np.isfinite(logits[closest])]]
    return Pool(problem, rows[kept], logits[kept], rejected=rejected, dense=scanned is not None)


def enumerated(problem: Problem, whole: int = ENUMERATED) -> Pool | None:
    """Return every accepted legal row of a small space; None where there are too many to look at.

    Rows of more changes than were asked for count only where there is no other, and then those of the fewest.
    """
    most = problem.space.most_changes
    asked = most if problem.max_changes is None else problem.max_changes
    if row_count(problem, asked) > whole:
        return None
    listing = Listing(problem, asked)
    scores = _of_listing(listing)
    fine = np.flatnonzero(scores >= problem.goal)
    if len(fine):
        return Pool(problem, listing.rows(fine), scores[fine], complete=True)
    if asked is not None and row_count(problem, most) > whole:
        return Pool(problem, listing.rows(fine), scores[fine])
    listing = Listing(problem, most)
    scores = _of_listing(listing, counted=False)
    if problem.closest < problem.goal:  # the margin is a preference; here nothing else is left
        problem.goal = np.nextafter(problem.classifier.boundary, np.inf)
    fine = np.flatnonzero(scores >= problem.goal)
    rows, scores = listing.rows(fine), scores[fine]
    if len(rows) and asked is not None:
        counts = problem.counts(rows)
        problem.max_changes = max(asked, int(counts.min()))
        rows, scores = rows[counts <= problem.max_changes], scores[counts <= problem.max_changes]
    return Pool(problem, rows, scores, complete=True)


def _of_listing(listing: Listing, counted: bool = True) -> Array:
    """Return the logits (n,) of all rows of a listing as ``Problem.judge`` does; where none is accepted, of all.

    The problem remembers the row that comes closest.
    """
    problem, scores = listing.problem, told_apart.scores(listing)
    if scores is None:
        rows = listing.rows()
        scores = _judged(problem, rows) if counted else problem.judge(rows, counted=False, all_scores=True)
    else:
        fine = np.flatnonzero(scores >= problem.goal)
        scores[fine] = problem.honest(listing.rows(fine), scores[fine])
    closest = np.flatnonzero(scores == scores.max(initial=-np.inf))[:1]
    problem.saw(listing.rows(closest), scores[closest])
    return scores


def scan(problem: Problem) -> tuple[Array, Array] | None:
    """Return rows of every support at some values of their numbers, and their logits; None where there are too many."""
    for places in _PLACES:
        if row_count(problem, problem.max_changes, places) <= (SCANNED if problem.smooth else _BLACK_BOX):
            rows = everything(problem, problem.max_changes, places)
            return rows, _judged(problem, rows)
    return None


def _judged(problem: Problem, rows: Array) -> Array:
    """Return the logits of accepted rows (n, d); where there is none, of all, to know which come closest."""
    scores = problem.judge(rows)
    return scores if (scores >= problem.goal).any() else problem.judge(rows, all_scores=True)


def _worth(problem: Problem, rows: Array) -> Bools:
    """Return which accepted rows (n, d) do not ask for all that one of the smallest of them asks for, and more, (n,)."""
    moves = problem.moves(rows)[:, problem.own]
    size = effort.size(moves)
    small = np.lexsort((size, problem.counts(rows)))[:_SMALLEST]
    more = asks_no_more(moves[small], moves) & (size[small, None] < size * (1 - 1e-9))
    return np.asarray(~more.any(axis=0))


def _spread(problem: Problem, rows: Array) -> Ints:
    """Return which KEPT rows to keep: the nearest of every support, then the second nearest, and so on."""
    cells, size = supports(problem, rows), effort.size(problem.moves(rows))
    order = np.lexsort((size, cells))
    starts = np.flatnonzero(np.r_[True, np.diff(cells[order]) > 0])
    rank = np.empty(len(rows), dtype=np.intp)
    rank[order] = np.arange(len(rows)) - np.repeat(starts, np.diff(np.r_[starts, len(rows)]))
    return np.sort(np.lexsort((size, rank))[:KEPT])


def supports(problem: Problem, rows: Array) -> Ints:
    """Number the supports of rows (n, d), (n,): which numbers rise or fall, and which levels categories take."""
    kind = rows - problem.z0
    columns = problem.numbers.columns
    kind[:, columns] = np.sign(np.where(np.abs(kind[:, columns]) > 1e-9, kind[:, columns], 0.0))
    kind[:, ~problem.own] = 0.0
    return np.unique(row_keys(kind), return_inverse=True)[1].ravel()

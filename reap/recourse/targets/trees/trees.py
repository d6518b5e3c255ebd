"""Least effort subject to acceptance where the model is a tree ensemble that was read.

Per subject one walk of all trees gives the exact score of every change of up to three features; the accepted ones that
ask for no more than any other are the pool. For each matrix the best supports are solved on all their values, then
the model itself judges the winners and what could be taken back of them. What the model does not accept is never returned.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from reap import effort
from reap._arrays import row_keys, unique_rows
from reap._typing import Array, Bools
from reap.models.trees import Reader
from reap.recourse.targets.between import lowered
from reap.recourse.targets.boundary.boundary import Boundary
from reap.recourse.targets.boundary.search import search
from reap.recourse.targets.order import asks_no_more, undominated
from reap.recourse.targets.people import people
from reap.recourse.targets.pool import Best, Pool
from reap.recourse.targets.problem import Problem
from reap.recourse.targets.reduction import reduced
from reap.recourse.targets.trees.climbs import climbs
from reap.recourse.targets.trees.joint import joint
from reap.recourse.targets.trees.ladders import Ladder, Ladders, groups, rivals
from reap.recourse.targets.trees.nearer import nearer
from reap.recourse.targets.trees.search import Search
from reap.recourse.targets.trees.timed import Timed
from reap.recourse.targets.trees.winners import judge_winners

#: Rows of the pool.
_KEPT = 400
#: Values of a feature at which its rivals are looked at, itself included; see ``rivals``.
_RIVALS = 9
#: Later days from which changes are looked for, where clocks go on.
_DAYS = 3


class Trees:
    """What one subject's questions share: the problem, the searches, the pool. Answers as ``Boundary`` does.

    Parameters
    ----------
    problem : Problem
    reader : Reader
        Of the problem's model.
    data : (n, d)
        Accepted rows of other people.
    rng : Generator
    futile : int
        Changes that are known not to be enough.
    """

    def __init__(
        self, problem: Problem, reader: Reader, data: Array, rng: np.random.Generator, futile: int = 0
    ) -> None:
        self.problem, self.reader = problem, reader
        self.searches: list[Search] = []
        self.full: list[Ladder] = []
        budget = (problem.max_changes or len(problem.space.features)) - int(
            problem.counts(problem.base[None])[0]
        )
        whole = futile < 3 and budget > 0  # three changes are all that is looked at from the start
        timed = self._timed(budget) if problem.space.timed and reader.quick and whole else None
        found = np.zeros((0, problem.space.dimension))
        if timed is None or not timed.whole or (budget > 3 and not len(timed.rows)):
            if whole:
                for anchor in (problem.base, *self._later()):
                    self._start(anchor, np.zeros(len(problem.space.features), dtype=bool), budget)
            elif budget > 0:
                self.full = Ladders(
                    problem, reader, problem.base, np.zeros(len(problem.acts), dtype=bool)
                ).all
            found = self._nearest()
            if len(found) == 0 and budget > 3:
                for anchor, moved in climbs(problem, reader, budget - 3):
                    self._start(anchor, moved, 3)
                found = self._nearest()
        if timed is not None:
            found = np.concatenate([found, timed.rows])
        if not problem.tied:
            problem.nearer = partial(nearer, problem, self.full)
        self.tied = problem.tied or budget > 3
        if (
            budget > 3 and problem.tied and reader.quick
        ):  # reading knows little of so many changes that are tied
            others = Boundary(problem, data, rng).pool.rows
        else:
            others = people(problem, data, rng)[0] if problem.tied or len(found) == 0 else found[:0]
        rows = np.concatenate([problem.base[None], found, others, joint(problem, self.full, budget)])
        rows = rows if problem.nearer is None else problem.nearer(rows)
        rows = rows[unique_rows(rows)]
        scores = problem.judge(rows)
        fine = scores >= problem.goal
        rows, scores = rows[fine], scores[fine]
        if len(rows):
            kept = undominated(self._own(rows))
            rows, scores = rows[kept], scores[kept]
        elif not np.isfinite(problem.closest) or problem.closest < problem.goal:
            problem.judge(self._highest(), all_scores=True)  # so that a refusal can say how close it came
        self.pool = Pool(problem, rows, scores)

    def _timed(self, budget: int) -> Timed | None:
        """Return all that a few changes can do while clocks go on; None where waiting is open, so that days are free."""
        if self.problem.waits:
            return None
        made = Ladders(
            self.problem, self.reader, self.problem.base, np.zeros(len(self.problem.acts), dtype=bool)
        )
        self.full = made.all
        forced = int(self.problem.counts(self.problem.base[None])[0])
        return Timed(self.problem, self.reader, made.all, budget + forced) if made.all else None

    def _later(self) -> Array:
        """Return the subject's row at a few later days (n, d) that the trees tell apart: clocks go on while people act."""
        rows = self.problem.later()
        if len(rows) == 0:
            return rows
        _, first = np.unique(row_keys(self.reader.places(rows).astype(float)), return_index=True)
        first = np.sort(first)[1:]  # today is the first of them
        return rows[
            first[np.unique(np.rint(np.linspace(0, len(first) - 1, _DAYS)).astype(np.intp))]
            if len(first)
            else first
        ]

    def _start(self, anchor: Array, held: Bools, changes: int) -> None:
        """Add the searches from one row, features that are held left as they are."""
        made = Ladders(self.problem, self.reader, anchor, held)
        if not held.any() and not self.full:
            self.full = made.all
        self._add(made, groups(self.problem, made.all), changes)
        if changes < 2:
            return
        others, done = rivals(self.problem, made.all), set[int]()
        for i, ladder in enumerate(
            made.all
        ):  # rivals move together: one to a few of its values, the rest from there
            if others[i] - done:
                done.add(i)
                for block in ladder.blocks[ladder.thinned(_RIVALS)[1:]]:
                    self._beside(made, ladder, block, {made.all[j].feature for j in others[i]}, changes - 1)

    def _beside(self, made: Ladders, ladder: Ladder, block: Array, features: set[int], changes: int) -> None:
        """Add the searches from a row in which one ladder is at a value, over groups with one of its rivals."""
        anchor = made.anchor.copy()
        anchor[ladder.columns] = block
        held = np.arange(len(self.problem.space.features)) == ladder.feature
        moved = Ladders(self.problem, self.reader, anchor, held)
        some = [g for g in groups(self.problem, moved.all) if any(one.feature in features for one in g)]
        self._add(moved, some, changes)

    def _add(self, made: Ladders, some: list[list[Ladder]], changes: int) -> None:
        for group in some:
            if group and not self.problem.late:
                one = Search(self.problem, self.reader, made.anchor, made.now, group, changes)
                self.searches.append(one)

    def solve(self, A: Array) -> Best:
        """Return the cheapest accepted row for each matrix (b, d, d)."""
        problem = self.problem
        best = Best(Pool(problem, self.pool.rows[:0], self.pool.logits[:0]), A)
        if not self.searches or not len(self.pool):
            best.offer(self.pool.rows, self.pool.logits)
            return best
        parts = [one.best(A) for one in self.searches]
        rows = np.concatenate([self.pool.rows, *(rows for rows, _ in parts)])
        first = unique_rows(rows)
        rows = rows[first]
        if not self.tied:  # then a search knows the efforts of its rows: nothing follows what it changes
            of_pool = effort.of_changes(A, problem.moves(self.pool.rows))
            efforts = np.concatenate([of_pool, *(efforts for _, efforts in parts)], axis=1)[:, first]
            judge_winners(best, rows, efforts, self.full, self.pool)
            return best
        # reading knows little of rules, of derived features and of more than three changes
        rough = Best(Pool(problem, self.pool.rows[:0], self.pool.logits[:0]), A)
        rows = rows[self._open(rows)]
        judge_winners(rough, rows, effort.of_changes(A, problem.moves(rows)), self.full, self.pool)
        known = np.flatnonzero(rough.found)
        better, _ = search(problem, A[known], rough.rows[known], rough.scores[known])
        better = lowered(
            problem, A[known], np.concatenate([better, rough.rows[known]]), np.tile(np.arange(len(known)), 2)
        )
        better, scores = reduced(problem, np.tile(A[known], (2, 1, 1)), better)
        fine = self._open(better)
        best.offer(
            np.concatenate([better[fine], self.pool.rows]), np.concatenate([scores[fine], self.pool.logits])
        )
        return best

    def _open(self, rows: Array) -> Bools:
        """Return which rows (n, d) do not ask for all that one of the pool asks for, and more."""
        below = asks_no_more(self._own(self.pool.rows), self._own(rows))
        equal = asks_no_more(self._own(rows), self._own(self.pool.rows)).T
        return np.asarray(~(below & ~equal).any(axis=0))

    def _own(self, rows: Array) -> Array:
        """Return the changes of rows (n, d) in the columns that a person sets."""
        return self.problem.moves(rows)[:, self.problem.own]

    def _nearest(self) -> Array:
        """Return the rows of the pool: the least change of every support, then the second, up to a number (n, d)."""
        parts = []
        A = np.eye(self.problem.space.dimension)[None]
        for one in self.searches:
            if len(one.cells) == 0:
                continue
            efforts = one.grid.efforts(A, one.cells)[0]
            support = row_keys(one.grid.supports(one.cells).astype(float))
            order = np.lexsort((efforts, support))
            starts = np.flatnonzero(np.concatenate([[True], np.diff(support[order]) != 0]))
            rank = np.empty(len(order), dtype=np.intp)
            rank[order] = np.arange(len(order)) - np.repeat(
                starts, np.diff(np.concatenate([starts, [len(order)]]))
            )
            chosen = np.lexsort((efforts, rank))[: max(20, _KEPT // len(self.searches))]
            parts.append(one.grid.rows(one.cells[chosen]))
            parts.append(one.best(A)[0])
        rows = np.concatenate(parts) if parts else np.zeros((0, self.problem.space.dimension))
        return rows[unique_rows(rows)] if len(rows) else rows

    def _highest(self) -> Array:
        """Return the rows (n, d) of the highest scores that were read."""
        rows = [self.problem.base[None]]
        for one in self.searches:
            top = np.argsort(-one.grid.gains, kind="stable")[:8]
            rows += [one.grid.rows(one.closest), one.grid.rows(np.stack([top, top * 0, top * 0], axis=1))]
        return np.concatenate(rows)

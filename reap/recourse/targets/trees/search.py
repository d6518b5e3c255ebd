"""Plans of a few changes from one row: a pool whatever the matrix, then the best supports of each matrix exactly."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from reap._typing import Array, Ints
from reap.effort import size
from reap.models.trees import Reader
from reap.recourse.targets.problem import Problem
from reap.recourse.targets.trees.blend import Blend
from reap.recourse.targets.trees.cells import accepted_cells
from reap.recourse.targets.trees.grid import Grid, Support
from reap.recourse.targets.trees.ladders import DOWN, RUNGS, UP, Ladder, ruled

#: Ladders of which all triples are tried, and values of a ladder where rules ask for every cell's legality.
_LADDERS, _RULED_RUNGS = 24, 25
#: Supports solved for a matrix, features added to the best of them, cells around which finer values are tried.
_SUPPORTS, _EXTENDED, _FINE = 6, 5, 3
#: Cells offered for a matrix.
_OFFERED = 40


class Search:
    """What all matrices share for one subject and one row to start from.

    Parameters
    ----------
    problem : Problem
    reader : Reader
    anchor : (d,)
    now : (c,)
        The anchor, transformed.
    ladders : list of Ladder
        In full length; no two move the same derived column.
    changes : int
        How many features may change that have not changed in the anchor.
    """

    def __init__(
        self, problem: Problem, reader: Reader, anchor: Array, now: Array, ladders: list[Ladder], changes: int
    ) -> None:
        self.problem, self.reader, self.anchor, self.now = problem, reader, anchor, now
        moved = problem.changed(anchor[None])[0]
        self.fresh = np.array([not moved[ladder.feature] for ladder in ladders])
        self.full, self.room = ladders, changes
        self.changes = min(changes + int((~self.fresh).sum()), 3)
        most = _RULED_RUNGS if problem.space.rules else RUNGS
        self.kept = [ladder.thinned(most) for ladder in ladders]
        short = [ladder.only(rungs) for ladder, rungs in zip(ladders, self.kept, strict=True)]
        self.grid = Grid(problem, reader, anchor, now, short, self.changes)
        self.cells = self._pool()
        self._last: tuple[Array, tuple[Array, Array]] | None = None

    def _pool(self) -> Ints:
        """Return the minimal cells (n, 3) of the most useful ladders."""
        grid, chosen = self.grid, self._useful()
        blend, marks = grid.blend, grid.marks
        if len(chosen) < len(grid.ladders):
            blend = Blend(self.reader.forest, grid.leaves.keep(chosen), blend.sizes[chosen])
            marks = type(marks)(marks.first[chosen], marks.ladder, marks.rung)
            grid.known(chosen, blend)
        changes = 2 if self.problem.late else self.changes
        some = [grid.ladders[k] for k in chosen]
        found, self.closest = accepted_cells(blend, some, marks, grid.goal, changes)
        for code in np.unique(
            grid.supports(self.closest), axis=0
        ):  # few values were tried: now all of the best supports
            found = np.concatenate([found, grid.solve(tuple((int(c) // 8, int(c) % 8) for c in code))])
        found = _distinct(found)
        fresh = np.concatenate([self.fresh, [False]])[marks.ladder[found]]
        return np.asarray(found[fresh.sum(axis=1) <= self.room])

    def _fits(self, support: Support) -> bool:
        return 0 < len(support) <= self.changes and sum(bool(self.fresh[k]) for k, _ in support) <= self.room

    def _useful(self) -> Ints:
        """Return the ladders that promise most: by what a change adds, squared, for its size, and by what it adds."""
        grid = self.grid
        if len(grid.ladders) <= _LADDERS:
            return np.arange(len(grid.ladders))
        gain = np.maximum(grid.gains, 0.0)[1:]
        owner = grid.marks.ladder[1:]
        ranks = []
        for value in (gain**2 / (size(grid.moves[1:]) + 1e-9), gain):
            best = np.zeros(len(grid.ladders))
            np.maximum.at(best, owner, value)
            ranks.append(np.argsort(np.argsort(-best, kind="stable"), kind="stable"))
        return np.sort(np.argsort(np.minimum(ranks[0], ranks[1] + 0.5), kind="stable")[:_LADDERS])

    def best(self, A: Array) -> tuple[Array, Array]:
        """Return rows (n, d) worth a look for matrices (b, d, d), and their efforts (b, n): exact by what was read.

        The last single matrix is remembered: the pool is made for the identity, and a table of people is asked about it.
        """
        if self._last is not None and np.array_equal(self._last[0], A):
            return self._last[1]
        found = self._best(A)
        if len(A) == 1 and not self.problem.late:
            self._last = A, found
        return found

    def _best(self, A: Array) -> tuple[Array, Array]:
        grid = self.grid
        found = self.cells
        efforts = grid.efforts(A, found)
        solved = [found[:0]]
        for support in self._supports(A, found, efforts):
            if self.problem.late:
                break
            solved.append(grid.solve(support))
        new = _distinct(np.concatenate(solved))
        found = np.concatenate([found, new])
        first = np.unique(_codes(found), return_index=True)[1]
        found, efforts = found[first], np.concatenate([efforts, grid.efforts(A, new)], axis=1)[:, first]
        if self.problem.space.rules:
            near = _least(efforts, 10 * _OFFERED)
            near = near[self.problem.legal(grid.rows(found[near]))]
            found, efforts = found[near], efforts[:, near]
        offered = _least(efforts, _OFFERED)
        rows, costs = [grid.rows(found[offered])], [efforts[:, offered]]
        fine = self._window(found[_least(efforts, _FINE)])
        if fine is not None:
            finer, some = fine
            efforts = finer.efforts(A, some)
            offered = _least(efforts, _OFFERED)
            rows.append(finer.rows(some[offered]))
            costs.append(efforts[:, offered])
        return np.concatenate(rows), np.concatenate(costs, axis=1)

    def _supports(self, A: Array, found: Ints, efforts: Array) -> list[Support]:
        """Return the supports that are among the best of some matrix, and those with one or two other features in them."""
        grid = self.grid
        codes = grid.supports(found)
        order = np.argsort(number := _codes(codes), kind="stable")
        begin = np.flatnonzero(np.diff(number[order], prepend=-1))
        codes = codes[order[begin]]
        least = np.minimum.reduceat(efforts[:, order], begin, axis=1) if len(found) else efforts
        chosen: set[Support] = set()
        for effort, strong in zip(least, self._arms(A), strict=True):
            best = np.argsort(effort, kind="stable")[:_SUPPORTS]
            known = [tuple((int(c) // 8, int(c) % 8) for c in codes[i] if c >= 0) for i in best]
            limit = 9 * effort[best[0]] + 1e-12 if len(best) else 0.0
            chosen |= {support for i, support in zip(best, known, strict=True) if effort[i] <= limit}
            for support in known[:2] or [()]:
                chosen |= self._extended(support, strong)
        return sorted(filter(self._fits, chosen))

    def _arms(self, A: Array) -> list[list[tuple[int, int]]]:
        """Return for each matrix the (ladder, side) pairs that add most, squared, for their effort; and those rules name."""
        grid = self.grid
        side = np.concatenate([ladder.sides[1:] for ladder in grid.ladders])
        code = 8 * grid.marks.ladder[1:] + side  # rising: a ladder has one side after the other
        begin = np.flatnonzero(np.diff(code, prepend=-1))
        value = np.maximum(grid.gains[1:], 0.0) ** 2 / (grid.single_efforts(A)[:, 1:] + 1e-9)
        best = np.argsort(-np.maximum.reduceat(value, begin, axis=1), axis=1, kind="stable")[:, :_EXTENDED]
        out = [[(int(c) // 8, int(c) % 8) for c in strong] for strong in code[begin][best]]
        if self.problem.space.rules:  # a change that rules want may add nothing by itself
            out = [list(dict.fromkeys(arms + self._ruled())) for arms in out]
        return out

    def _ruled(self) -> list[tuple[int, int]]:
        names = ruled(self.problem)
        return [
            (k, int(side))
            for k, ladder in enumerate(self.grid.ladders)
            if ladder.feature in names
            for side in np.unique(ladder.sides[1:])
        ]

    def _extended(self, support: Support, arms: list[tuple[int, int]]) -> set[Support]:
        """Return supports of full size with new features: a further change may let the others be taken back."""
        size = self.changes
        kept = [support] if len(support) < size else list(combinations(support, size - 1))
        out = set()
        for part in kept:
            others = [arm for arm in arms if arm[0] not in {k for k, _ in part}]
            for extra in combinations(others, min(size - len(part), 2)):
                if len({k for k, _ in extra}) == len(extra):
                    out.add(tuple(sorted((*part, *extra))))
        return out

    def _window(self, found: Ints) -> tuple[Grid, Ints] | None:
        """Return a finer grid around cells (n, 3) whose ladders were thinned, and its minimal cells; None where none was."""
        grid, wanted, thinned = self.grid, dict[int, set[int]](), False
        if self.problem.late:
            return None
        supports: set[Support] = set()
        for cell in found:
            moved = [(int(grid.marks.ladder[m]), int(grid.marks.rung[m])) for m in cell if m > 0]
            if moved:
                supports.add(tuple(sorted((k, int(grid.ladders[k].sides[rung])) for k, rung in moved)))
            for k, rung in moved:
                side = int(grid.ladders[k].sides[rung])
                whole, kept = self.full[k].side(side), self.kept[k][grid.ladders[k].side(side)]
                around = kept
                if len(whole) > len(kept) and side in (UP, DOWN):
                    thinned = True
                    place = int(np.searchsorted(kept, self.kept[k][rung]))
                    near = kept[place - 2] if place >= 2 else whole[0]
                    far = kept[min(place + 2, len(kept) - 1)]
                    around = np.arange(near, far + 1)
                wanted.setdefault(k, set()).update(around.tolist())
        if not thinned:
            return None
        names = sorted(wanted)
        rungs = [np.array([0, *sorted(wanted[k])], dtype=np.intp) for k in names]
        ladders = [self.full[k].only(r) for k, r in zip(names, rungs, strict=True)]
        ladders = [ladder.only(ladder.thinned(RUNGS)) for ladder in ladders]
        finer = Grid(self.problem, self.reader, self.anchor, self.now, ladders, self.changes)
        new = {k: i for i, k in enumerate(names)}
        some = [finer.solve(tuple((new[k], side) for k, side in support)) for support in sorted(supports)]
        return finer, _distinct(np.concatenate(some))


def _distinct(cells: Ints) -> Ints:
    """Return cells (n, 3), their marks rising, each once."""
    cells = np.sort(cells, axis=1)
    return cells[np.unique(_codes(cells), return_index=True)[1]]


def _codes(triples: Ints) -> Ints:
    """Return one number for each of triples (n, 3) of numbers from −1 on, in their order."""
    base = int(triples.max(initial=0)) + 2
    return np.asarray((triples + 1) @ (base**2, base, 1))


def _least(efforts: Array, count: int) -> Ints:
    """Return the ``count`` least of each row of efforts (b, n), together."""
    if efforts.shape[1] <= count:
        return np.arange(efforts.shape[1])
    return np.unique(np.argpartition(efforts, count - 1, axis=1)[:, :count])

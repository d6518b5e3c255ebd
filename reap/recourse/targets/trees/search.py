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

    def _pool(self) -> Ints:
        """Return the minimal cells (n, 3) of the most useful ladders."""
        grid, chosen = self.grid, self._useful()
        blend, marks = grid.blend, grid.marks
        if len(chosen) < len(grid.ladders):
            blend = Blend(self.reader.forest, grid.leaves.keep(chosen), blend.sizes[chosen])
            marks = type(marks)(marks.first[chosen], marks.ladder, marks.rung)
        changes = 2 if self.problem.late else self.changes
        some = [grid.ladders[k] for k in chosen]
        found, self.closest = accepted_cells(blend, some, marks, grid.goal, changes)
        for code in np.unique(
            grid.supports(self.closest), axis=0
        ):  # few values were tried: now all of the best supports
            found = np.concatenate([found, grid.solve(tuple((int(c) // 8, int(c) % 8) for c in code))])
        found = np.unique(np.sort(found, axis=1), axis=0)
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
        """Return rows (n, d) worth a look for matrices (b, d, d), and their efforts (b, n): exact by what was read."""
        grid = self.grid
        found = self.cells
        efforts = grid.efforts(A, found)
        for support in self._supports(A, found, efforts):
            if self.problem.late:
                break
            found = np.concatenate([found, grid.solve(support)])
        found = np.unique(np.sort(found, axis=1), axis=0)
        efforts = grid.efforts(A, found)
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
        codes, which = np.unique(grid.supports(found), axis=0, return_inverse=True)
        least = np.full((len(A), len(codes)), np.inf)
        for row, effort in zip(least, efforts, strict=True):
            np.minimum.at(row, which.ravel(), effort)
        known = [tuple((int(c) // 8, int(c) % 8) for c in code if c >= 0) for code in codes]
        chosen: set[Support] = set()
        arms = self._arms(A)
        for effort, strong in zip(least, arms, strict=True):
            order = np.argsort(effort, kind="stable")[:_SUPPORTS]
            chosen |= {known[i] for i in order if effort[i] <= 9 * effort[order[0]] + 1e-12}
            for i in order[:2]:
                chosen |= self._extended(known[i], strong)
            if not len(order):
                chosen |= self._extended((), strong)
        return sorted(filter(self._fits, chosen))

    def _arms(self, A: Array) -> list[list[tuple[int, int]]]:
        """Return for each matrix the (ladder, side) pairs that add most, squared, for their effort; and those rules name."""
        grid = self.grid
        side = np.concatenate([ladder.sides[1:] for ladder in grid.ladders])
        names, which = np.unique(8 * grid.marks.ladder[1:] + side, return_inverse=True)
        gain = np.maximum(grid.gains[1:], 0.0) ** 2
        out = []
        for effort in grid.single_efforts(A)[:, 1:]:
            value = np.zeros(len(names))
            np.maximum.at(value, which.ravel(), gain / (effort + 1e-9))
            strong = names[np.argsort(-value, kind="stable")[:_EXTENDED]]
            out.append([(int(code) // 8, int(code) % 8) for code in strong])
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
        return finer, np.unique(np.sort(np.concatenate(some), axis=1), axis=0)


def _least(efforts: Array, count: int) -> Ints:
    """Return the ``count`` least of each row of efforts (b, n), together."""
    if efforts.shape[1] <= count:
        return np.arange(efforts.shape[1])
    return np.unique(np.argpartition(efforts, count - 1, axis=1)[:, :count])

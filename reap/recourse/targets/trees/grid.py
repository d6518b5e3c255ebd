"""A row and a few values for each of its features: rows, efforts and scores of all their combinations."""

from __future__ import annotations

import numpy as np

from reap._typing import Array, Ints
from reap.effort import of_changes
from reap.models.trees import Reader
from reap.recourse.targets.problem import Problem
from reap.recourse.targets.trees.blend import Blend
from reap.recourse.targets.trees.ladders import Ladder
from reap.recourse.targets.trees.leaves import walk
from reap.recourse.targets.trees.marks import Marks
from reap.recourse.targets.trees.minimal import minimal

#: What a score must have beyond the goal: effects are added in single precision.
_ROUNDING = 1e-6

#: The ladders, each with a side, that a plan moves; rising.
Support = tuple[tuple[int, int], ...]


class Grid:
    """Combinations of values around one row.

    Parameters
    ----------
    problem : Problem
    reader : Reader
    anchor : (d,)
    now : (c,)
        The anchor, transformed.
    ladders : list of Ladder
        Of at most 63 values each.
    changes : int
        How many of them may move.
    """

    def __init__(
        self, problem: Problem, reader: Reader, anchor: Array, now: Array, ladders: list[Ladder], changes: int
    ) -> None:
        self.problem, self.anchor, self.ladders = problem, anchor, ladders
        self.marks = Marks.of(ladders)
        sizes = np.array([len(ladder) for ladder in ladders])
        self.leaves = walk(reader.forest, ladders, now, changes)
        self.blend = Blend(reader.forest, self.leaves, sizes)
        self.goal = reader.forest.level(problem.goal) + _ROUNDING
        self.moves = np.zeros((1 + int((sizes - 1).sum()), len(anchor)))
        for k, ladder in enumerate(ladders):
            own = slice(self.marks.first[k] + 1, self.marks.first[k] + len(ladder))
            self.moves[own, ladder.columns] = ladder.blocks[1:] - ladder.blocks[0]
        self._solved: dict[Support, Ints] = {}
        self._places, self._known = dict[int, int](), self.blend

    def known(self, ladders: Ints, blend: Blend) -> None:
        """Let effects among some ladders (k,) be taken from a blend of these alone, which has made them already."""
        self._places, self._known = {int(k): i for i, k in enumerate(ladders)}, blend

    def rows(self, cells: Ints) -> Array:
        """Return the rows (n, d) of cells (n, 3); clocks follow, which ladders do not know: all actions share them."""
        out = np.repeat(self.anchor[None], len(cells), axis=0)
        for axis in range(cells.shape[1]):
            ladder = self.marks.ladder[cells[:, axis]]
            for k in np.unique(ladder[ladder >= 0]):
                at = np.flatnonzero(ladder == k)
                out[np.ix_(at, self.ladders[k].columns)] = self.ladders[k].blocks[
                    self.marks.rung[cells[at, axis]]
                ]
        return self.problem.follow(out) if self.problem.space.timed else out

    def efforts(self, A: Array, cells: Ints) -> Array:
        """Return the efforts (b, n) of cells (n, 3) under matrices (b, d, d).

        Changes of different ladders add up, so with ``Q_ij = w_iᵀAw_j`` of single moves, and ``w_0`` what the anchor has
        moved already, ``ΔᵀAΔ = Q_00 + Σ_i (Q_ii + 2 Q_0i) + 2 Σ_{i<j} Q_ij``. The parts are needed because there are hundreds of
        moves and a hundred thousand cells: the full product for every cell would take a hundred times as long.
        """
        present = np.bincount(cells.ravel(), minlength=len(self.moves)) > 0
        used, place = np.flatnonzero(present), (np.cumsum(present) - 1)[cells.T]
        start = self.problem.moves(self.anchor)
        W = np.concatenate([start[None], self.moves[used]])
        columns = np.flatnonzero(np.abs(W).max(axis=0) > 0)
        W = W[:, columns]
        out = np.empty((len(A), len(cells)))
        first, second, third = place
        for i, matrix in enumerate(A[:, columns][:, :, columns]):
            Q = W @ matrix @ W.T
            alone = np.diagonal(Q)[1:] + 2 * Q[0, 1:]
            flat, n = Q[1:, 1:].ravel(), len(used)
            total = alone.take(first) + alone.take(second) + alone.take(third) + Q[0, 0]
            for a, b in ((first, second), (first, third), (second, third)):
                total += 2 * flat.take(a * n + b)
            out[i] = total
        return np.maximum(out, 0.0)

    def single_efforts(self, A: Array) -> Array:
        """Return the efforts (b, marks) of each change alone."""
        column = np.array([ladder.columns[0] for ladder in self.ladders], dtype=np.intp)[self.marks.ladder]
        alone = self.moves[np.arange(len(self.moves)), column]
        out = np.maximum(alone * A[:, column, column] * alone, 0.0)
        for k, ladder in enumerate(self.ladders):  # levels have a few columns of the hundred
            if len(c := ladder.columns) > 1:
                own = slice(self.marks.first[k] + 1, self.marks.first[k] + len(ladder))
                out[:, own] = of_changes(A[:, c][:, :, c], self.moves[own, c])
        return np.asarray(out)

    @property
    def gains(self) -> Array:
        """What each change alone adds to the score, (marks,)."""
        blend = self.blend
        return np.concatenate([[0.0], *(blend.one(k)[1:] - blend.start for k in range(len(self.ladders)))])

    def supports(self, cells: Ints) -> Ints:
        """Return the supports of cells (n, 3) as numbers (n, 3), ``8 · ladder + side``, rising; −1 for no change."""
        sides = np.concatenate([[0], *(ladder.sides[1:] for ladder in self.ladders)])
        code = np.where(cells > 0, 8 * self.marks.ladder[cells] + sides[cells], -1)
        return np.sort(code, axis=1)

    def solve(self, support: Support) -> Ints:
        """Return the minimal accepted legal cells (n, 3) of one support, of all its values."""
        if support not in self._solved:
            ladders = tuple(k for k, _ in support)
            rungs = [np.concatenate([[0], self.ladders[k].side(side)]) for k, side in support]
            blend, names = self.blend, ladders
            if all(k in self._places for k in ladders):
                blend, names = self._known, tuple(self._places[k] for k in ladders)
            if blend.bound(names, rungs) < self.goal:
                self._solved[support] = np.zeros((0, 3), dtype=np.intp)
                return self._solved[support]
            accepted = blend.scores(names, rungs) >= self.goal
            if self.problem.space.rules:
                at = np.nonzero(accepted)
                accepted[at] = self.problem.legal(self.rows(self.marks.at(ladders, rungs, at)))
            good = minimal(accepted, [self.ladders[k].sides[r] for k, r in zip(ladders, rungs, strict=True)])
            self._solved[support] = self.marks.at(ladders, rungs, np.nonzero(good))
        return self._solved[support]

"""All plans of up to three changes that the trees accept and none of which asks for all of another.

Singles and pairs at full resolution; triples on the few values of each side at which some curve reaches a new high.
A cell is a triple of *marks*, one for each change: mark ``first[k] + v`` is rung v ≥ 1 of ladder k, 0 is no change.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from itertools import combinations
from math import comb

import numpy as np

from reap._typing import Array, Bools, Ints
from reap.recourse.targets.trees.blend import Blend
from reap.recourse.targets.trees.effects import Floats
from reap.recourse.targets.trees.ladders import DOWN, FORCED, LEVEL, OWN, UP, Ladder
from reap.recourse.targets.trees.marks import Marks
from reap.recourse.targets.trees.minimal import least_of, minimal, spread
from reap.recourse.targets.trees.tables import Tables

#: Values of a side that triples are tried on, at least; more where that takes no more cells and products than these.
_VALUES, _CELLS, _PRODUCTS = 8, 3e6, 5e8
#: Cells that come closest, kept where none is accepted.
_CLOSEST = 24
#: Cells tried at a time; triples at a time, where those that come closest are looked for.
_CHUNK, _AT_ONCE = 1_250_000, 256


def accepted_cells(
    blend: Blend, ladders: list[Ladder], marks: Marks, goal: float, changes: int
) -> tuple[Ints, Ints]:
    """Return the minimal cells (n, 3) of all supports of up to ``changes`` ladders, and, if none, those that come closest."""
    whole = [np.arange(len(ladder)) for ladder in ladders]
    found = [np.zeros((0, 3), dtype=np.intp)]
    for k in range(len(ladders)):
        accepted = blend.one(k) >= goal
        if accepted.any():
            found.append(marks.at((k,), [whole[k]], np.nonzero(minimal(accepted, [ladders[k].sides]))))
    if changes >= 2:
        blend.index(2)
        for a, b in np.argwhere(np.triu(blend.pair_bounds() >= goal, 1)).tolist():
            scores = blend.two(a, b)
            if scores.max() >= goal:
                good = minimal(scores >= goal, [ladders[a].sides, ladders[b].sides])[1:, 1:]
                place = tuple(p + 1 for p in np.nonzero(good))
                found.append(marks.at((a, b), [whole[a], whole[b]], place))
    if changes >= 3 and len(ladders) >= 3:
        triples = Triples(blend, ladders, marks, goal)
        found.append(triples.found())
        if not any(map(len, found)):
            return found[0], triples.closest()
    return np.concatenate(found), found[0]


#: Kinds of blocks: values of a number or ordered levels, levels, levels of which the person must take one.
_ORDERED, _LEVELS, _FORCED = range(3)


class Triples:
    """Triples of ladders on a few of their values, all at once.

    Ladders are cut to *blocks* of equal length, padded with values that are never accepted: a number's h values up and h down,
    or 2 h levels; a ladder of more levels becomes several blocks.
    """

    def __init__(self, blend: Blend, ladders: list[Ladder], marks: Marks, goal: float) -> None:
        self.blend, self.ladders, self.marks, self.goal = blend, ladders, marks, goal
        self.leaves = blend.index(3)
        self.half = self._half()
        self.size = 2 * self.half + 1
        blocks: list[tuple[int, int, Ints]] = []  # kind, ladder, rungs
        for k, ladder in enumerate(ladders):
            blocks += [(kind, k, rungs) for kind, rungs in self._blocks(k, ladder)]
        blocks.sort(key=lambda block: block[:2])
        self.kind = np.array([block[0] for block in blocks], dtype=np.intp)
        self.of = np.array([block[1] for block in blocks], dtype=np.intp)
        self.rungs = np.array([block[2] for block in blocks], dtype=np.intp).reshape(-1, self.size)
        self.real = self.rungs >= 0
        self.rungs = np.maximum(self.rungs, 0)
        ordered = np.repeat([OWN, UP, DOWN], [1, self.half, self.half])
        others = [np.repeat([OWN, side], [1, 2 * self.half]) for side in (LEVEL, FORCED)]
        self.sides = [ordered, *others]

    def _half(self) -> int:
        """Return how many values of a side are tried: all where ladders are few or short."""
        longest = max(max(len(ladder.side(side)) for side in (UP, DOWN)) for ladder in self.ladders)
        cells = _CELLS / len(self.blend.parts)
        count = min(cells / comb(len(self.ladders), 3), _PRODUCTS / max(self.leaves, 1)) ** (1 / 3)
        return int(np.clip((count - 1) / 2, _VALUES, max(longest, _VALUES)))

    def _blocks(self, k: int, ladder: Ladder) -> list[tuple[int, Ints]]:
        out = []
        ways = [ladder.side(side) for side in (UP, DOWN)]
        if any(len(way) > self.half for way in ways):
            gains = self.blend.curves(k)
            ways = [_records(gains[way], ladder.weights[way], way, self.half) for way in ways]
        if any(len(way) for way in ways):
            rungs = np.full(self.size, -1)
            rungs[0] = 0
            for begin, way in zip((1, 1 + self.half), ways, strict=True):
                rungs[begin : begin + len(way)] = way
            out.append((_ORDERED, rungs))
        for kind, side in ((_LEVELS, LEVEL), (_FORCED, FORCED)):
            levels = ladder.side(side)
            for begin in range(0, len(levels), 2 * self.half):
                part = levels[begin : begin + 2 * self.half]
                rungs = np.full(self.size, -1)
                rungs[0] = 0
                rungs[1 : 1 + len(part)] = part
                out.append((kind, rungs))
        return out

    def found(self) -> Ints:
        """Return the minimal cells (n, 3) in which all three change.

        Few of the cells are looked at: where two of the changes are enough none of a third is minimal, and where two are bounded
        away from the goal whatever the third (``Tables.reach``) none is accepted.
        """
        out = [np.zeros((0, 3), dtype=np.intp)]
        for kinds, blocks in self._alike(self._promising(self.goal)):
            t, *at = self._open(kinds, blocks)
            least = least_of(t, np.stack(at, axis=1), [self.sides[kind] for kind in kinds])
            out.append(self._marked(blocks[t[least]], np.stack(at, axis=1)[least]))
        return np.concatenate(out)

    def _open(self, kinds: Ints, blocks: Ints) -> tuple[Ints, Ints, Ints, Ints]:
        """Return accepted cells of triples of blocks (n, 3) of some kinds, no two of whose changes are enough.

        They are given by the place of their triple and by those of their values.
        """
        forest, (x, y, z) = self.blend.forest, blocks.T
        open_ = forest.blend([table.reach(blocks) for table in self._tables]) >= self.goal
        open_ &= self._moves[x][:, :, None] & self._moves[y][:, None, :]
        if kinds[2] != _FORCED:
            open_ &= ~self._enough[x, y]
        t, a, b = np.nonzero(open_)
        if len(t) == 0:
            return t, a, b, t
        which, near = np.unique(t, return_inverse=True)
        x, y, z = blocks[t].T
        accepted = (
            forest.blend([table.cells(blocks[which], near, a, b) for table in self._tables]) >= self.goal
        )
        accepted &= self._moves[z]
        if kinds[1] != _FORCED:
            accepted &= ~self._enough[x, z, a]
        if kinds[0] != _FORCED:
            accepted &= ~self._enough[y, z, b]
        row, c = np.nonzero(accepted)
        return t[row], a[row], b[row], c

    @cached_property
    def _moves(self) -> Bools:
        """Which places of blocks are changes, (R, K): neither the first nor padding."""
        moves = self.real.copy()
        moves[:, 0] = False
        return moves

    @cached_property
    def _enough(self) -> Bools:
        """Which values of two blocks are enough without a third, or nearer ones are, (R, R, K, K)."""
        pairs = self.blend.forest.blend([table.start + table.both for table in self._tables]) >= self.goal
        pairs &= self.real[:, None, :, None] & self.real[None, :, None, :]
        for kind, sides in enumerate(self.sides):
            own = np.flatnonzero(self.kind == kind)
            pairs[own] = spread(pairs[own], sides, 2)
            pairs[:, own] = spread(pairs[:, own], sides, 3)
        return np.asarray(pairs)

    def closest(self) -> Ints:
        """Return the cells (n, 3) of the highest scores, one a triple of blocks."""
        cells, tops = np.zeros((0, 3), dtype=np.intp), np.zeros(0)
        triples, bound = self._bounded()
        for begin in range(
            0, len(triples), _AT_ONCE
        ):  # the most promising first, until no other can come as close
            if len(tops) == _CLOSEST and bound[begin] < tops[-1]:
                break
            some = triples[begin : begin + _AT_ONCE]
            for _, blocks, scores in self._scores(some):
                flat = scores[:, 1:, 1:, 1:].reshape(len(blocks), -1)
                best = np.argsort(-flat.max(axis=1), kind="stable")[:_CLOSEST]
                at = np.stack(np.unravel_index(flat[best].argmax(axis=1), [self.size - 1] * 3), axis=1)
                cells = np.concatenate([cells, self._marked(blocks[best], at + 1)])
                tops = np.concatenate([tops, flat[best].max(axis=1)])
            order = np.argsort(-tops, kind="stable")[:_CLOSEST]
            cells, tops = cells[order], tops[order]
        return cells

    def _marked(self, blocks: Ints, at: Ints) -> Ints:
        """Return places (n, 3) in triples of blocks (n, 3) as marks."""
        return np.asarray(self.marks.first[self.of[blocks]] + self.rungs[blocks, at])

    def _scores(self, triples: Ints) -> Iterator[tuple[Ints, Ints, Floats]]:
        """Yield the kinds (3,) of triples of blocks (n, 3), those of one kind together, and their scores, (n, K, K, K)."""
        for kinds, some in self._alike(triples):
            scores = self.blend.forest.blend([table.scores(some) for table in self._tables])
            if not self.blend.forest.plain:  # padding is low in every member, but a calibrator may level it
                a, b, c = (self.real[i] for i in some.T)
                real = a[:, :, None, None] & b[:, None, :, None] & c[:, None, None, :]
                scores = np.where(real, scores, -np.inf)
            yield kinds, some, scores

    def _alike(self, triples: Ints) -> Iterator[tuple[Ints, Ints]]:
        """Yield the kinds (3,) of triples of blocks (n, 3), and those of one kind together, so many that they stay in cache."""
        code = self.kind[triples] @ (9, 3, 1)
        part = max(1, _CHUNK // self.size**3)
        for kinds in np.unique(code):
            group = triples[code == kinds]
            for begin in range(0, len(group), part):
                yield self.kind[group[0]], group[begin : begin + part]

    @cached_property
    def _tables(self) -> list[Tables]:
        return [Tables(effects, self.of, self.rungs, self.real) for effects in self.blend.parts]

    def _bounded(self) -> tuple[Ints, Floats]:
        """Return all triples of blocks (n, 3), and what they could score at most (n,); the highest first."""
        x, y, z = np.array(list(combinations(range(len(self.of)), 3)), dtype=np.intp).reshape(-1, 3).T
        apart = (self.of[x] != self.of[y]) & (self.of[x] != self.of[z]) & (self.of[y] != self.of[z])
        triples = np.stack([x, y, z], axis=1)[apart]
        if len(triples) == 0:
            return triples, np.zeros(0)
        bound = np.asarray(self.blend.forest.blend([table.bound(triples) for table in self._tables]))
        order = np.argsort(-bound, kind="stable")
        return triples[order], bound[order]

    def _promising(self, goal: float) -> Ints:
        """Return the triples of blocks (n, 3) that could reach a goal, by a bound on their effects, in their order."""
        triples, bound = self._bounded()
        triples = triples[bound >= goal]
        return np.asarray(triples[np.lexsort(triples.T[::-1])])


def _records(curves: Array, weights: Array, rungs: Ints, count: int) -> Ints:
    """Return at most ``count`` rungs: where some curve (n, c) reaches a new high by the greatest jumps, then the weightiest.

    The others matter too: it may take three changes together to get anything at all.
    """
    if len(rungs) <= count:
        return rungs
    top = np.maximum.accumulate(np.maximum(curves, 0.0), axis=0)
    highest, jump = top[-1].max(), top
    jump[1:] = top[1:] - top[:-1]
    value = jump.max(axis=1) + 0.25 * jump.mean(axis=1)
    value += 1e-9 * (highest + 1e-3) * weights / weights.max()
    return rungs[np.sort(np.argsort(-value, kind="stable")[:count])]

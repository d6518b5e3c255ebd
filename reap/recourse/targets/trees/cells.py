"""All plans of up to three changes that the trees accept and none of which asks for all of another.

Singles and pairs at full resolution; triples on the few values of each side at which some curve reaches a new high.
A cell is a triple of *marks*, one for each change: mark ``first[k] + v`` is rung v ≥ 1 of ladder k, 0 is no change.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from math import comb

import numpy as np

from reap._typing import Array, Ints
from reap.recourse.targets.trees.effects import Effects, Floats
from reap.recourse.targets.trees.ladders import DOWN, FORCED, LEVEL, OWN, UP, Ladder
from reap.recourse.targets.trees.minimal import minimal

#: Values of a side that triples are tried on, at least; more where that takes no more cells and products than these.
_VALUES, _CELLS, _PRODUCTS = 8, 3e6, 5e8
#: Cells that come closest, kept where none is accepted.
_CLOSEST = 24
#: Cells tried at a time.
_CHUNK = 1_250_000


@dataclass(frozen=True)
class Marks:
    """Which rung of which ladder a mark stands for."""

    first: Ints  # (m,)
    ladder: Ints  # (marks,), −1 for mark 0
    rung: Ints

    @classmethod
    def of(cls, ladders: list[Ladder]) -> Marks:
        """Return the marks of ladders."""
        counts = [len(ladder) - 1 for ladder in ladders]
        first = np.concatenate([[0], np.cumsum(counts)]).astype(np.intp)
        ladder = np.concatenate([[-1], np.repeat(np.arange(len(ladders)), counts)])
        rungs = [np.arange(1, len(ladder)) for ladder in ladders]
        return cls(first, ladder, np.concatenate([[0], *rungs]).astype(np.intp))

    def at(self, ladders: tuple[int, ...], rungs: list[Ints], chosen: tuple[Ints, ...]) -> Ints:
        """Return the cells (n, 3) that places ``chosen`` among rungs of some ladders stand for."""
        out = np.zeros((len(chosen[0]), 3), dtype=np.intp)
        for axis, (k, r, place) in enumerate(zip(ladders, rungs, chosen, strict=True)):
            out[:, axis] = np.where(r[place] > 0, self.first[k] + r[place], 0)
        return out


def accepted_cells(
    effects: Effects, ladders: list[Ladder], marks: Marks, goal: float, changes: int
) -> tuple[Ints, Ints]:
    """Return the minimal cells (n, 3) of all supports of up to ``changes`` ladders, and, if none, those that come closest."""
    whole = [np.arange(len(ladder)) for ladder in ladders]
    found = [np.zeros((0, 3), dtype=np.intp)]
    for k in range(len(ladders)):
        good = minimal(effects.start + effects.one[k] >= goal, [ladders[k].sides])
        found.append(marks.at((k,), [whole[k]], np.nonzero(good)))
    if changes >= 2:
        effects.index(2)
        for a, b in combinations(range(len(ladders)), 2):
            scores = effects.start + effects.one[a][:, None] + effects.one[b] + effects.two(a, b)
            if scores.max() >= goal:
                good = minimal(scores >= goal, [ladders[a].sides, ladders[b].sides])[1:, 1:]
                place = tuple(p + 1 for p in np.nonzero(good))
                found.append(marks.at((a, b), [whole[a], whole[b]], place))
    if changes >= 3 and len(ladders) >= 3:
        triples = Triples(effects, ladders, marks, goal)
        found.append(triples.found())
        if not any(map(len, found)):
            return found[0], triples.closest()
    return np.concatenate(found), found[0]


class Triples:
    """Triples of ladders on a few of their values, all at once.

    Ladders are cut to *blocks* of equal length, padded with values that are never accepted: a number's h values up and h down,
    or 2 h levels; a ladder of more levels becomes several blocks.
    """

    def __init__(self, effects: Effects, ladders: list[Ladder], marks: Marks, goal: float) -> None:
        self.effects, self.ladders, self.marks, self.goal = effects, ladders, marks, goal
        self.sets = effects.index(3)
        self.half = self._half()
        self.size = 2 * self.half + 1
        blocks: list[tuple[int, int, Ints]] = []  # kind (0 ordered, 1 levels, 2 forced), ladder, rungs
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
        leaves = sum(self.effects.count(some) for some in self.sets)
        count = min(_CELLS / comb(len(self.ladders), 3), _PRODUCTS / max(leaves, 1)) ** (1 / 3)
        return int(np.clip((count - 1) / 2, _VALUES, max(longest, _VALUES)))

    def _blocks(self, k: int, ladder: Ladder) -> list[tuple[int, Ints]]:
        gains = self._gains(k)
        out = []
        ways = []
        for side in (UP, DOWN):
            rungs = ladder.side(side)
            ways.append(_records(gains[:, rungs], ladder.weights[rungs], rungs, self.half))
        if any(len(way) for way in ways):
            rungs = np.full(self.size, -1)
            rungs[0] = 0
            for begin, way in zip((1, 1 + self.half), ways, strict=True):
                rungs[begin : begin + len(way)] = way
            out.append((0, rungs))
        for kind, side in ((1, LEVEL), (2, FORCED)):
            levels = ladder.side(side)
            for begin in range(0, len(levels), 2 * self.half):
                part = levels[begin : begin + 2 * self.half]
                rungs = np.full(self.size, -1)
                rungs[0] = 0
                rungs[1 : 1 + len(part)] = part
                out.append((kind, rungs))
        return out

    def _gains(self, k: int) -> Array:
        """Return what each value of a ladder adds, alone and beside each value of every other, (curves, n)."""
        one = self.effects.one[k][None]
        beside = [self.effects.two(g, k) for g in range(len(self.ladders)) if g != k]
        return np.concatenate([one, *(one + two for two in beside)])

    def found(self) -> Ints:
        """Return the minimal cells (n, 3) in which all three change."""
        out = [np.zeros((0, 3), dtype=np.intp)]
        for kinds, blocks, scores in self._scores(self.goal):
            accepted = scores >= self.goal - self.effects.start
            some = np.flatnonzero(accepted.any(axis=(1, 2, 3)))
            good = minimal(accepted[some], [self.sides[kind] for kind in kinds])
            t, *at = np.nonzero(good[:, 1:, 1:, 1:])
            out.append(self._marked(blocks[some[t]], np.stack(at, axis=1) + 1))
        return np.concatenate(out)

    def closest(self) -> Ints:
        """Return the cells (n, 3) of the highest scores, one a triple of blocks."""
        cells, tops = [np.zeros((0, 3), dtype=np.intp)], [np.zeros(0)]
        for _, blocks, scores in self._scores(-np.inf):
            flat = scores[:, 1:, 1:, 1:].reshape(len(blocks), -1)
            best = np.argsort(-flat.max(axis=1), kind="stable")[:_CLOSEST]
            at = np.stack(np.unravel_index(flat[best].argmax(axis=1), [self.size - 1] * 3), axis=1)
            cells.append(self._marked(blocks[best], at + 1))
            tops.append(flat[best].max(axis=1))
        return np.concatenate(cells)[np.argsort(-np.concatenate(tops), kind="stable")[:_CLOSEST]]

    def _marked(self, blocks: Ints, at: Ints) -> Ints:
        """Return places (n, 3) in triples of blocks (n, 3) as marks."""
        return np.asarray(self.marks.first[self.of[blocks]] + self.rungs[blocks, at])

    def _scores(self, goal: float) -> Iterator[tuple[Ints, Ints, Floats]]:
        """Yield the kinds (3,) of triples of blocks (n, 3) that may reach a goal, and what they add, (n, K, K, K)."""
        if len(self.of) < 3:
            return
        one, two = self._tables
        three, place = self._third
        x, y, z = self._promising(goal)
        triples = np.stack([x, y, z], axis=1)
        pattern = self.kind[triples]
        part = max(1, _CHUNK // self.size**3)
        for kinds in np.unique(pattern, axis=0):
            group = triples[(pattern == kinds).all(axis=1)]
            for begin in range(0, len(group), part):
                a, b, c = group[begin : begin + part].T
                scores = (one[a][:, :, None] + one[b][:, None, :] + two[a, b])[:, :, :, None]
                scores = scores + two[a, c][:, :, None, :] + (one[c][:, None, :] + two[b, c])[:, None]
                scores += three[place[a, b, c]]
                yield kinds, group[begin : begin + part], scores

    @cached_property
    def _tables(self) -> tuple[Floats, Floats]:
        """Return effects of blocks (R, K) and of pairs of blocks (R, R, K, K); −inf where a value is padding."""
        R, K = self.rungs.shape
        one, two = np.empty((R, K), dtype=np.float32), np.zeros((R, R, K, K), dtype=np.float32)
        for i, k in enumerate(self.of):
            one[i] = np.where(self.real[i], self.effects.one[k][self.rungs[i]], -np.inf)
        for i, j in combinations(range(R), 2):
            if self.of[i] != self.of[j]:
                two[i, j] = self.effects.two(self.of[i], self.of[j])[np.ix_(self.rungs[i], self.rungs[j])]
                two[j, i] = two[i, j].T
        return one, two

    @cached_property
    def _third(self) -> tuple[Floats, Ints]:
        """Return the effects of triples of blocks (n, K, K, K), and where each triple's stands; 0 where it has none."""
        R, K = self.rungs.shape
        place = np.zeros((R, R, R), dtype=np.intp)
        blocks = [np.flatnonzero(self.of == k) for k in range(len(self.ladders))]
        parts = [np.zeros((1, K, K, K), dtype=np.float32)]
        count = 1
        for a, b, c in self.sets:
            if not (len(blocks[a]) and len(blocks[b]) and len(blocks[c])):
                continue
            rungs = [self.rungs[blocks[k]] for k in (a, b, c)]
            table = self.effects.three((a, b, c), [r.ravel() for r in rungs])
            if not table.any():
                continue
            shape = [len(r) if i == 0 else K for r in rungs for i in (0, 1)]
            table = table.reshape(shape).transpose(0, 2, 4, 1, 3, 5)
            for i, j, h in np.ndindex(table.shape[:3]):
                mine = np.array([blocks[a][i], blocks[b][j], blocks[c][h]])
                order = np.argsort(mine)
                place[tuple(mine[order])] = count
                parts.append(table[i, j, h].transpose(order)[None])
                count += 1
        return np.concatenate(parts), place

    def _promising(self, goal: float) -> tuple[Ints, Ints, Ints]:
        """Return the triples of blocks that could reach a goal, by a bound on their effects."""
        (one, two), (three, place) = self._tables, self._third
        R = len(self.of)
        x, y, z = np.array(list(combinations(range(R), 3)), dtype=np.intp).reshape(-1, 3).T
        apart = (self.of[x] != self.of[y]) & (self.of[x] != self.of[z]) & (self.of[y] != self.of[z])
        x, y, z = x[apart], y[apart], z[apart]
        most = one.max(axis=1)
        pair = two.max(axis=(2, 3))
        both = (one[:, None, :, None] + one[None, :, None, :] + two).max(axis=(2, 3))
        top = three.max(axis=(1, 2, 3))[place[x, y, z]]
        bound = both[x, y] + most[z] + pair[x, z] + pair[y, z]
        bound = np.minimum(bound, both[x, z] + most[y] + pair[x, y] + pair[y, z])
        bound = np.minimum(bound, both[y, z] + most[x] + pair[x, y] + pair[x, z])
        likely = bound + top >= goal - self.effects.start
        return x[likely], y[likely], z[likely]


def _records(curves: Array, weights: Array, rungs: Ints, count: int) -> Ints:
    """Return at most ``count`` rungs: where some curve (c, n) reaches a new high by the greatest jumps, then the weightiest.

    The others matter too: it may take three changes together to get anything at all.
    """
    if len(rungs) <= count:
        return rungs
    top = np.maximum.accumulate(np.maximum(curves, 0.0), axis=1)
    jump = np.diff(top, axis=1, prepend=0.0)
    value = jump.max(axis=0) + 0.25 * jump.mean(axis=0)
    value += 1e-9 * (top[:, -1].max() + 1e-3) * weights / weights.max()
    return rungs[np.sort(np.argsort(-value, kind="stable")[:count])]

"""The effects of blocks of rungs on one member's raw score, side by side: singles, pairs and triples of blocks."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from reap._typing import Bools, Ints
from reap.recourse.targets.trees.effects import Effects, Floats

#: The effect of a value that is only padding: never accepted, and still a number that a calibrator takes.
_NEVER = -1e9


class Tables:
    """Effects of R blocks of K rungs each.

    Parameters
    ----------
    effects : Effects
        Indexed up to triples.
    of : (R,)
        The ladder of each block.
    rungs : (R, K)
    real : (R, K) bool
        Which of them are no padding.

    Attributes
    ----------
    one : (R, K)
    two : (R, R, K, K)
    three : (n, K, K, K)
        Of those triples of blocks that have an effect; the first has none.
    place : (R, R, R)
        Where a triple's stands among them.
    """

    def __init__(self, effects: Effects, of: Ints, rungs: Ints, real: Bools) -> None:
        self.start, self.of, self.rungs = np.float32(effects.start), of, rungs
        R, K = rungs.shape
        self.one = np.empty((R, K), dtype=np.float32)
        self.two = np.zeros((R, R, K, K), dtype=np.float32)
        for i, k in enumerate(of):
            self.one[i] = np.where(real[i], effects.one[k][rungs[i]], _NEVER)
        for i, j in combinations(range(R), 2):
            if of[i] != of[j]:
                self.two[i, j] = effects.two(of[i], of[j])[rungs[i][:, None], rungs[j]]
                self.two[j, i] = self.two[i, j].T
        self.three, self.place = self._third(effects)

    def _third(self, effects: Effects) -> tuple[Floats, Ints]:
        R, K = self.rungs.shape
        place = np.zeros((R, R, R), dtype=np.intp)
        blocks = [np.flatnonzero(self.of == k) for k in range(len(effects.sizes))]
        parts = [np.zeros((1, K, K, K), dtype=np.float32)]
        for a, b, c in effects.index(3):
            if not (len(blocks[a]) and len(blocks[b]) and len(blocks[c])):
                continue
            rungs = [self.rungs[blocks[k]] for k in (a, b, c)]
            table = effects.three((a, b, c), [r.ravel() for r in rungs])
            if not table.any():
                continue
            shape = [len(r) if i == 0 else K for r in rungs for i in (0, 1)]
            table = table.reshape(shape).transpose(0, 2, 4, 1, 3, 5)
            for i, j, h in np.ndindex(table.shape[:3]):
                mine = np.array([blocks[a][i], blocks[b][j], blocks[c][h]])
                order = np.argsort(mine)
                place[tuple(mine[order])] = len(parts)
                parts.append(table[i, j, h].transpose(order)[None])
        return np.concatenate(parts), place

    def bound(self, x: Ints, y: Ints, z: Ints) -> Floats:
        """Return what triples of blocks (n,) each can score at most, (n,)."""
        one, two = self.one, self.two
        most, pair = one.max(axis=1), two.max(axis=(2, 3))
        both = (one[:, None, :, None] + one[None, :, None, :] + two).max(axis=(2, 3))
        top = self.three.max(axis=(1, 2, 3))[self.place[x, y, z]]
        bound = both[x, y] + most[z] + pair[x, z] + pair[y, z]
        bound = np.minimum(bound, both[x, z] + most[y] + pair[x, y] + pair[y, z])
        bound = np.minimum(bound, both[y, z] + most[x] + pair[x, y] + pair[x, z])
        return np.asarray(self.start + bound + top)

    def scores(self, a: Ints, b: Ints, c: Ints) -> Floats:
        """Return the raw scores of all values of triples of blocks (n,) each, (n, K, K, K)."""
        one, two = self.one, self.two
        scores = (self.start + one[a][:, :, None] + one[b][:, None, :] + two[a, b])[:, :, :, None]
        scores = scores + two[a, c][:, :, None, :] + (one[c][:, None, :] + two[b, c])[:, None]
        scores += self.three[self.place[a, b, c]]
        return np.asarray(scores)

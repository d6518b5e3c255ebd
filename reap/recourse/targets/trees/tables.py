"""The effects of blocks of rungs on one member's raw score, side by side: singles, pairs and triples of blocks."""

from __future__ import annotations

from itertools import combinations, permutations

import numpy as np

from reap._typing import Bools, Ints
from reap.recourse.targets.trees.effects import SLACK, Effects, Floats

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
        Of those triples of blocks that were asked for (``fill``) and have an effect; the first has none.
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
        self.place = np.zeros((R, R, R), dtype=np.intp)
        self.three = np.zeros((1, K, K, K), dtype=np.float32)
        self._effects, self._known = effects, set[tuple[int, int, int]]()
        self._blocks = [np.flatnonzero(of == k) for k in range(len(effects.sizes))]
        #: What triples of ladders can add beyond their pairs at most, in every order, (m, m, m).
        self._most = np.zeros([len(effects.sizes)] * 3, dtype=np.float32)
        ladders = np.array(effects.index(3), dtype=np.intp).reshape(-1, 3)
        most = [effects.most(some) for some in effects.index(3)]
        for order in permutations(ladders.T):
            self._most[order] = most

    def fill(self, triples: Ints) -> None:
        """Let the third effects of triples of blocks (n, 3) be known."""
        ladders = np.unique(np.sort(self.of[triples], axis=1), axis=0)
        wanted = [tuple(some) for some in ladders[self._most[tuple(ladders.T)] > 0].tolist()]
        parts, count = [self.three], len(self.three)
        for some in wanted:
            if some in self._known:
                continue
            self._known.add(some)
            table = self._third(some)
            if not table.any():
                continue
            for at in np.ndindex(table.shape[:3]):
                mine = np.array([self._blocks[k][i] for k, i in zip(some, at, strict=True)])
                order = np.argsort(mine)
                self.place[tuple(mine[order])] = count
                parts.append(table[at].transpose(order)[None])
                count += 1
        self.three = np.concatenate(parts)

    def _third(self, ladders: tuple[int, int, int]) -> Floats:
        """Return the third effects of three ladders' blocks, (n_a, n_b, n_c, K, K, K)."""
        K = self.rungs.shape[1]
        rungs = [self.rungs[self._blocks[k]] for k in ladders]
        table = self._effects.three(ladders, [r.ravel() for r in rungs])
        shape = [len(r) if i == 0 else K for r in rungs for i in (0, 1)]
        return np.asarray(table.reshape(shape).transpose(0, 2, 4, 1, 3, 5))

    def bound(self, triples: Ints, *, rough: bool) -> Floats:
        """Return what triples of blocks (n, 3) can score at most, (n,); ``rough``: before ``fill``."""
        one, two = self.one, self.two
        x, y, z = triples.T
        most, pair = one.max(axis=1), two.max(axis=(2, 3))
        both = (one[:, None, :, None] + one[None, :, None, :] + two).max(axis=(2, 3))
        if rough:
            top = self._most[tuple(self.of[triples].T)]
        else:
            top = self.three.max(axis=(1, 2, 3))[self.place[x, y, z]]
        bound = both[x, y] + most[z] + pair[x, z] + pair[y, z]
        bound = np.minimum(bound, both[x, z] + most[y] + pair[x, y] + pair[y, z])
        bound = np.minimum(bound, both[y, z] + most[x] + pair[x, y] + pair[x, z])
        return np.asarray(self.start + bound + top + SLACK)

    def scores(self, a: Ints, b: Ints, c: Ints) -> Floats:
        """Return the raw scores of all values of triples of blocks (n,) each, (n, K, K, K)."""
        one, two = self.one, self.two
        scores = (self.start + one[a][:, :, None] + one[b][:, None, :] + two[a, b])[:, :, :, None]
        scores = scores + two[a, c][:, :, None, :] + (one[c][:, None, :] + two[b, c])[:, None]
        scores += self.three[self.place[a, b, c]]
        return np.asarray(scores)

"""The effects of blocks of rungs on one member's raw score, side by side: singles, pairs and triples of blocks."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from reap._typing import Bools, Ints
from reap.recourse.targets.trees.effects import SLACK, Effects, Floats

#: The effect of a value that is only padding: never accepted, and still a number that a calibrator takes.
_NEVER = -1e9


class Tables:
    """Effects of R blocks of K rungs each, the first of which is no change.

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
    both : (R, R, K, K)
        What two blocks add, alone and together.
    three : (n, K, K, K)
        Of those triples of blocks that were asked for (``fill``) and have an effect; the first has none.
    place : (R, R, R)
        Where a triple's stands among them.
    """

    def __init__(self, effects: Effects, of: Ints, rungs: Ints, real: Bools) -> None:
        self.start, self.of, self.rungs = np.float32(effects.start), of, rungs
        R, K = rungs.shape
        self.one = np.stack([effects.one[k][r] for k, r in zip(of, rungs, strict=True)]).astype(np.float32)
        self.one[~real] = _NEVER
        self.two = self._pairs(effects)
        self.both = self.one[:, None, :, None] + self.one[None, :, None, :] + self.two
        self.place = np.zeros((R, R, R), dtype=np.intp)
        self.three = np.zeros((1, K, K, K), dtype=np.float32)
        self._effects, self._known = effects, np.zeros((R, R, R), dtype=bool)

    def _pairs(self, effects: Effects) -> Floats:
        place, table = effects.pairs
        a, b = np.nonzero(self.of[:, None] < self.of)
        two = np.zeros((len(self.of), len(self.of), *[self.rungs.shape[1]] * 2), dtype=np.float32)
        ladders = place[self.of[a], self.of[b]]
        two[a, b] = table[ladders[:, None, None], self.rungs[a][:, :, None], self.rungs[b][:, None, :]]
        two[b, a] = two[a, b].transpose(0, 2, 1)
        return two

    def fill(self, triples: Ints) -> None:
        """Let the third effects of triples of blocks (n, 3) be known."""
        some = ~self._known[tuple(triples.T)] & (self._most(triples) > 0)
        new = triples[some]
        self._known[tuple(new.T)] = True
        self.place[tuple(new.T)] = len(self.three) + np.arange(len(new))
        self.three = np.concatenate([self.three, self._effects.threes(self.of[new], self.rungs[new])])

    def _most(self, triples: Ints) -> Floats:
        """Return what triples of blocks (n, 3) can add beyond their pairs at most, (n,)."""
        return self._effects.most_of_three(self.of[triples])

    def bound(self, triples: Ints, *, rough: bool) -> Floats:
        """Return what triples of blocks (n, 3) can score at most, (n,); ``rough``: before ``fill``."""
        x, y, z = triples.T
        most, (both, pair) = self.one.max(axis=1), self._highest
        top = self._most(triples) if rough else self.three.max(axis=(1, 2, 3))[self.place[x, y, z]]
        bound = both[x, y] + most[z] + pair[x, z] + pair[y, z]
        bound = np.minimum(bound, both[x, z] + most[y] + pair[x, y] + pair[y, z])
        bound = np.minimum(bound, both[y, z] + most[x] + pair[x, y] + pair[x, z])
        return np.asarray(self.start + bound + top + SLACK)

    @cached_property
    def _highest(self) -> tuple[Floats, Floats]:
        """The highest of ``both`` and of ``two``, (R, R) each."""
        return self.both.max(axis=(2, 3)), self.two.max(axis=(2, 3))

    def reach(self, triples: Ints) -> Floats:
        """Return what values of the first two of triples of blocks (n, 3) can score at most with any change of the third.

        ``both_ab + min(max_c(one_c + two_ac) + max_c two_bc, max_c(one_c + two_bc) + max_c two_ac) + max_c three_abc``, (n, K, K).
        """
        x, y, z = triples.T
        peak, lift = self._thirds
        bound = peak[x, z][:, :, None] + lift[y, z][:, None, :]
        np.minimum(bound, lift[x, z][:, :, None] + peak[y, z][:, None, :], out=bound)
        bound += self.both[x, y]
        bound += self.three[:, :, :, 1:].max(axis=3)[self.place[x, y, z]]
        bound += self.start + SLACK
        return bound

    @cached_property
    def _thirds(self) -> tuple[Floats, Floats]:
        """What a change of a second block adds at most beside each value of a first: with what it adds alone, and without it."""
        with_own = self.one[None, :, None, 1:] + self.two[:, :, :, 1:]
        return with_own.max(axis=3), self.two[:, :, :, 1:].max(axis=3)

    def cells(self, triples: Ints, a: Ints, b: Ints) -> Floats:
        """Return the raw scores of triples of blocks (n, 3), the first two at places (n,) each, the third at all: (n, K)."""
        x, y, z = triples.T
        scores = self.one[z] + (self.start + self.both[x, y, a, b])[:, None]
        scores += self.two[x, z, a]
        scores += self.two[y, z, b]
        scores += self.three[self.place[x, y, z], a, b]
        return np.asarray(scores)

    def scores(self, a: Ints, b: Ints, c: Ints) -> Floats:
        """Return the raw scores of all values of triples of blocks (n,) each, (n, K, K, K)."""
        one, two = self.one, self.two
        scores = (self.start + self.both[a, b])[:, :, :, None]
        scores = scores + two[a, c][:, :, None, :] + (one[c][:, None, :] + two[b, c])[:, None]
        scores += self.three[self.place[a, b, c]]
        return np.asarray(scores)

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
    """

    def __init__(self, effects: Effects, of: Ints, rungs: Ints, real: Bools) -> None:
        self.start, self.of, self.rungs = np.float32(effects.start), of, rungs
        self.one = np.stack([effects.one[k][r] for k, r in zip(of, rungs, strict=True)]).astype(np.float32)
        self.one[~real] = _NEVER
        self.two = self._pairs(effects)
        self.both = self.one[:, None, :, None] + self.one[None, :, None, :] + self.two
        self._effects = effects

    def _pairs(self, effects: Effects) -> Floats:
        place, table = effects.pairs
        a, b = np.nonzero(self.of[:, None] < self.of)
        two = np.zeros((len(self.of), len(self.of), *[self.rungs.shape[1]] * 2), dtype=np.float32)
        ladders = place[self.of[a], self.of[b]]
        two[a, b] = table[ladders[:, None, None], self.rungs[a][:, :, None], self.rungs[b][:, None, :]]
        two[b, a] = two[a, b].transpose(0, 2, 1)
        return two

    def three(self, triples: Ints) -> tuple[Ints, Floats]:
        """Return what triples of blocks (n, 3) add beyond their pairs, (k, K, K, K), and where each stands among these, (n,).

        Those without an effect share the first.
        """
        some = self._most(triples) > 0
        new = triples[some]
        none = np.zeros((1, *[self.rungs.shape[1]] * 3), dtype=np.float32)
        effects = self._effects.threes(self.of[new], self.rungs[new]) if len(new) else none[:0]
        return np.where(some, np.cumsum(some), 0), np.concatenate([none, effects])

    def _most(self, triples: Ints) -> Floats:
        """Return what triples of blocks (n, 3) can add beyond their pairs at most, (n,)."""
        return self._effects.most_of_three(self.of[triples])

    def bound(self, triples: Ints) -> Floats:
        """Return what triples of blocks (n, 3) can score at most, (n,)."""
        x, y, z = triples.T
        most, (both, pair) = self.one.max(axis=1), self._highest
        bound = both[x, y] + most[z] + pair[x, z] + pair[y, z]
        bound = np.minimum(bound, both[x, z] + most[y] + pair[x, y] + pair[y, z])
        bound = np.minimum(bound, both[y, z] + most[x] + pair[x, y] + pair[x, z])
        return np.asarray(self.start + bound + self._most(triples) + SLACK)

    @cached_property
    def _highest(self) -> tuple[Floats, Floats]:
        """The highest of ``both`` and of ``two``, (R, R) each."""
        return self.both.max(axis=(2, 3)), self.two.max(axis=(2, 3))

    def reach(self, triples: Ints) -> Floats:
        """Return what values of the first two of triples of blocks (n, 3) can score at most with any change of the third.

        ``both_ab + min(max_c(one_c + two_ac) + max_c two_bc, max_c(one_c + two_bc) + max_c two_ac) + most``, (n, K, K).
        """
        x, y, z = triples.T
        peak, lift = self._thirds
        bound = peak[x, z][:, :, None] + lift[y, z][:, None, :]
        np.minimum(bound, lift[x, z][:, :, None] + peak[y, z][:, None, :], out=bound)
        bound += self.both[x, y]
        bound += (self.start + SLACK + self._most(triples))[:, None, None]
        return np.asarray(bound)

    @cached_property
    def _thirds(self) -> tuple[Floats, Floats]:
        """What a change of a second block adds at most beside each value of a first: with what it adds alone, and without it."""
        with_own = self.one[None, :, None, 1:] + self.two[:, :, :, 1:]
        return with_own.max(axis=3), self.two[:, :, :, 1:].max(axis=3)

    def cells(self, triples: Ints, t: Ints, a: Ints, b: Ints) -> Floats:
        """Return the raw scores where the first two of triples of blocks (n, 3), by their places t (m,), are at places (m,) each.

        The third is at all of its own: (m, K).
        """
        place, three = self.three(triples)
        x, y, z = triples[t].T
        scores = self.one[z] + (self.start + self.both[x, y, a, b])[:, None]
        scores += self.two[x, z, a]
        scores += self.two[y, z, b]
        scores += three[place[t], a, b]
        return np.asarray(scores)

    def scores(self, triples: Ints) -> Floats:
        """Return the raw scores of all values of triples of blocks (n, 3), (n, K, K, K)."""
        one, two, (place, three), (a, b, c) = self.one, self.two, self.three(triples), triples.T
        scores = (self.start + self.both[a, b])[:, :, :, None]
        scores = scores + two[a, c][:, :, None, :] + (one[c][:, None, :] + two[b, c])[:, None]
        scores += three[place]
        return np.asarray(scores)

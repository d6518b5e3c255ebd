"""Scores of combinations of changes: the effects on each member's raw score, and what the members make of them together."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from reap._typing import Array, Ints
from reap.models.trees import Forest
from reap.recourse.targets.trees.effects import SLACK, Effects, Floats
from reap.recourse.targets.trees.leaves import Leaves


class Blend:
    """What rungs of ladders score, on the scale of ``forest.level``.

    Parameters
    ----------
    forest : Forest
    leaves : Leaves
        Within reach.
    sizes : (m,)
        Values of each ladder.

    Attributes
    ----------
    parts : list of Effects, one a member
    """

    def __init__(self, forest: Forest, leaves: Leaves, sizes: Ints) -> None:
        self.forest, self.sizes = forest, sizes
        self.parts = [Effects(leaves.of(i), sizes, member.base) for i, member in enumerate(forest.members)]

    @cached_property
    def start(self) -> float:
        """The score where nothing changes."""
        return float(self.forest.blend([np.array([part.start]) for part in self.parts])[0])

    def index(self, order: int) -> int:
        """Note which leaves take part in every effect of an order; return how many, all effects together."""
        return sum(len(part.index(order).leaf) for part in self.parts)

    def one(self, k: int) -> Array:
        """Return the scores of each value of a ladder alone, (n,)."""
        return np.asarray(self.forest.blend([part.start + part.one[k] for part in self.parts]))

    def two(self, a: int, b: int) -> Floats:
        """Return the scores of values of two ladders together, (n_a, n_b)."""
        parts = [p.start + p.one[a][:, None] + p.one[b] + p.two(a, b) for p in self.parts]
        return np.asarray(self.forest.blend(parts))

    def pair_bounds(self) -> Array:
        """Return what values of every two ladders a < b can score together at most, (m, m)."""
        out = []
        for part in self.parts:
            place, table = part.pairs
            one = np.array([values.max() for values in part.one])
            out.append(part.start + one[:, None] + one + table.max(axis=(1, 2))[place] + SLACK)
        return np.asarray(self.forest.blend(out))

    def scores(self, ladders: tuple[int, ...], rungs: list[Ints]) -> Floats:
        """Return the scores of all combinations of rungs of one, two or three ladders in rising order."""
        return np.asarray(self.forest.blend([part.scores(ladders, rungs) for part in self.parts]))

    def bound(self, ladders: tuple[int, ...], rungs: list[Ints]) -> float:
        """Return what these scores can be at most."""
        return float(self.forest.blend([np.array([part.bound(ladders, rungs)]) for part in self.parts])[0])

    def curves(self, k: int) -> Array:
        """Return what each value of a ladder adds to raw scores, alone and beside each value of every other, (n, curves)."""
        out = []
        for part in self.parts:
            one = part.one[k][:, None]
            out += [one, *(one + part.two(k, g) for g in range(len(self.sizes)) if g != k)]
        return np.concatenate(out, axis=1)

"""How much each change, pair and triple of changes adds to a member's raw score, exactly.

With ``D_k(v) = [v ∈ set_k] − [0 ∈ set_k]`` the score of ``leaves.py`` splits into anchored effects, one a set u of ladders:

    F(v) = F(0) + Σ_u f_u(v),    f_u(v) = Σ_leaves value · Π_{k∈u} D_k(v_k) · Π_{k∉u} [0 ∈ set_k].

Only leaves that use all of u, and miss nothing outside u, take part in f_u.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from reap._typing import Array, Ints
from reap.recourse.targets.trees.leaves import Leaves

Floats = npt.NDArray[np.floating[Any]]
#: What bounds have beyond what they bound: effects are added in single precision, and a calibrator may jump.
SLACK = 1e-4


class Effects:
    """Effects of up to three changes.

    Parameters
    ----------
    leaves : Leaves
    sizes : (m,)
        Values of each ladder.
    base : float
        The raw score without any tree.

    Attributes
    ----------
    start : float
        The raw score where nothing changes.
    one : list of (n,)
        The effect of each value of each ladder.
    """

    def __init__(self, leaves: Leaves, sizes: Ints, base: float) -> None:
        self.leaves, self.sizes = leaves, sizes
        self.start = base + float(leaves.values[leaves.needed == 0].sum())
        self._known: dict[tuple[int, ...], Ints] = {}
        self._sets: dict[int, list[tuple[int, ...]]] = {}  # by the order of effects
        self._most: dict[tuple[int, ...], float] = {}
        self._two: dict[tuple[int, int], Floats] = {}
        self._values = leaves.values.astype(np.float32)
        self.index(1)
        self.one = [self._first(k) for k in range(len(sizes))]

    def index(self, order: int) -> list[tuple[int, ...]]:
        """Note which leaves take part in every effect of an order; return the sets of ladders that have one."""
        if order not in self._sets:
            leaf, ladders = _members(self.leaves, order)
            place = np.lexsort(ladders.T[::-1])
            leaf, ladders = leaf[place], ladders[place]
            new = np.flatnonzero((ladders[1:] != ladders[:-1]).any(axis=1)) + 1
            first = ladders[np.concatenate([[0], new])] if len(leaf) else ladders
            self._sets[order] = [tuple(some) for some in first.tolist()]
            self._known.update(zip(self._sets[order], np.split(leaf, new), strict=False))
            if len(leaf):
                parts = np.add.reduceat(self._parts(leaf, order), np.concatenate([[0], new]))
                self._most.update(zip(self._sets[order], parts.tolist(), strict=True))
        return self._sets[order]

    def count(self, ladders: tuple[int, ...]) -> int:
        """Return how many leaves take part in an effect."""
        return len(self._taking_part(ladders))

    def _taking_part(self, ladders: tuple[int, ...]) -> Ints:
        if len(ladders) in self._sets:
            return self._known.get(ladders, np.zeros(0, dtype=np.intp))
        if ladders not in self._known:
            leaf = min((self.leaves.users(k) for k in ladders), key=len)
            some = leaf[:, None], np.array(ladders)
            inside = self.leaves.needed[leaf] == self.leaves.missed[some].sum(axis=1)
            self._known[ladders] = leaf[inside & self.leaves.used[some].all(axis=1)]
        return self._known[ladders]

    def _first(self, k: int) -> Array:
        leaf = self._taking_part((k,))
        D = self.leaves.differences(leaf, k, np.arange(self.sizes[k]))
        return np.asarray(self.leaves.values[leaf] @ D)

    def two(self, a: int, b: int) -> Floats:
        """Return what values of two ladders add together beyond each alone, (n_a, n_b)."""
        if a > b:
            return self.two(b, a).T
        if (a, b) not in self._two:
            leaf = self._taking_part((a, b))
            D, E = (self.leaves.differences(leaf, k, np.arange(self.sizes[k])) for k in (a, b))
            self._two[a, b] = (D * self._values[leaf, None]).T @ E
        return self._two[a, b]

    def three(self, ladders: tuple[int, int, int], rungs: list[Ints]) -> Floats:
        """Return what rungs of three ladders, in rising order, add beyond their pairs: (K, L, M)."""
        leaf = self._taking_part(ladders)
        D, E, F = (self.leaves.differences(leaf, k, r) for k, r in zip(ladders, rungs, strict=True))
        both = (E[:, :, None] * F[:, None, :]).reshape(len(leaf), E.shape[1] * F.shape[1])
        return ((D * self._values[leaf, None]).T @ both).reshape([len(r) for r in rungs])

    def most(self, ladders: tuple[int, ...]) -> float:
        """Return what ladders together can add beyond fewer of them at most.

        ``D`` is 0 or 1 where the ladder must be moved to reach a leaf, else 0 or −1: the sign of each leaf's part is known.
        """
        if len(ladders) in self._sets:
            return self._most.get(ladders, 0.0)
        leaf = self._taking_part(ladders)
        return float(self._parts(leaf, len(ladders)).sum())

    def _parts(self, leaf: Ints, order: int) -> Floats:
        """Return what leaves (n,) can add to an effect of an order at most, (n,)."""
        odd = (order - self.leaves.needed[leaf]) % 2
        return np.maximum(np.where(odd, -self._values[leaf], self._values[leaf]), 0.0)

    def bound(self, ladders: tuple[int, ...], rungs: list[Ints]) -> float:
        """Return what ``scores`` of rungs of up to three ladders can be at most; a pair's are exact."""
        if len(ladders) == 1:
            return self.start + float(self.one[ladders[0]][rungs[0]].max()) + SLACK
        pairs = list(combinations(range(len(ladders)), 2))
        two = {p: self.two(ladders[p[0]], ladders[p[1]])[np.ix_(rungs[p[0]], rungs[p[1]])] for p in pairs}
        one = [self.one[k][r] for k, r in zip(ladders, rungs, strict=True)]
        both = {p: float((one[p[0]][:, None] + one[p[1]] + two[p]).max()) for p in pairs}
        if len(ladders) == 2:
            return self.start + both[0, 1] + SLACK
        top = {p: float(two[p].max()) for p in pairs}
        most = min(
            both[p] + float(one[3 - sum(p)].max()) + sum(top[q] for q in pairs if q != p) for p in pairs
        )
        return self.start + most + self.most(ladders) + SLACK

    def scores(self, ladders: tuple[int, ...], rungs: list[Ints]) -> Floats:
        """Return the raw scores of all combinations of rungs of one, two or three ladders in rising order."""
        total = np.full([len(r) for r in rungs], self.start, dtype=np.float32)
        axes = range(len(ladders))

        def add(values: Floats, some: tuple[int, ...]) -> None:
            total[...] += values.reshape([len(rungs[i]) if i in some else 1 for i in axes])

        for i in axes:
            add(self.one[ladders[i]][rungs[i]], (i,))
        for i, j in combinations(axes, 2):
            add(self.two(ladders[i], ladders[j])[np.ix_(rungs[i], rungs[j])], (i, j))
        if len(ladders) == 3:
            add(self.three((ladders[0], ladders[1], ladders[2]), rungs), (0, 1, 2))
        return total


def _members(leaves: Leaves, order: int) -> tuple[Ints, Ints]:
    """Return leaves (n,) and sets of ladders (n, order), rising, so that the leaf takes part in the set's effect."""
    spare = leaves.used & ~leaves.missed
    ladder = np.arange(len(leaves.full))
    found: list[tuple[Ints, Ints]] = [(np.zeros(0, dtype=np.intp), np.zeros((0, order), dtype=np.intp))]
    for count in range(order + 1):
        leaf = np.flatnonzero(leaves.needed == count)
        some = np.nonzero(leaves.missed[leaf])[1].reshape(len(leaf), count)
        last = np.full(len(leaf), -1)
        for _ in range(order - count):
            row, extra = np.nonzero(spare[leaf] & (ladder > last[:, None]))
            leaf, some, last = leaf[row], np.column_stack([some[row], extra]), extra
        found.append((leaf, np.sort(some, axis=1)))
    return np.concatenate([leaf for leaf, _ in found]), np.concatenate([some for _, some in found])

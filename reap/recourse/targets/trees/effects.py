"""How much each change, pair and triple of changes adds to a member's raw score, exactly.

With ``D_k(v) = [v ∈ set_k] − [0 ∈ set_k]`` the score of ``leaves.py`` splits into anchored effects, one a set u of ladders:

    F(v) = F(0) + Σ_u f_u(v),    f_u(v) = Σ_leaves value · Π_{k∈u} D_k(v_k) · Π_{k∉u} [0 ∈ set_k].

Only leaves that use all of u, and miss nothing outside u, take part in f_u.
"""

from __future__ import annotations

from functools import cached_property
from itertools import combinations, permutations
from typing import Any

import numpy as np
import numpy.typing as npt

from reap._typing import Array, Ints
from reap.recourse.targets.trees.leaves import Leaves
from reap.recourse.targets.trees.sets import Sets

Floats = npt.NDArray[np.floating[Any]]
#: What bounds have beyond what they bound: effects are added in single precision, and a calibrator may jump.
SLACK = 1e-4
#: Products of leaves and values made at a time, so that they stay in the processor's cache.
_PRODUCTS = 400_000


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
        self._sets: dict[int, Sets] = {}  # by the order of effects
        self._two: dict[tuple[int, int], Floats] = {}
        self._values = leaves.values.astype(np.float32)
        self.index(1)
        self.one = [self._first(k) for k in range(len(sizes))]

    def index(self, order: int) -> Sets:
        """Note which leaves take part in every effect of an order."""
        if order not in self._sets:
            self._sets[order] = Sets.of(self.leaves, order, self._parts)
        return self._sets[order]

    def _taking_part(self, ladders: tuple[int, ...]) -> Ints:
        if len(ladders) in self._sets:
            return self._sets[len(ladders)].leaves_of(ladders)
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

    @cached_property
    def pairs(self) -> tuple[Ints, Floats]:
        """What values of every two ladders add beyond each alone, (n, w, w), and the place of each pair, (m, m), a < b.

        All ladders are as long as the longest here, what is beyond their end means nothing; pairs without an effect share one.
        """
        sets, m, width = self.index(2), len(self.sizes), int(self.sizes.max())
        place = np.zeros((m, m), dtype=np.intp)
        place[tuple(sets.names.T)] = 1 + np.arange(len(sets.names))
        rungs = np.broadcast_to(np.arange(width), (len(sets.names), 2, width))
        table = self._products(2, np.arange(len(sets.names)), sets.names, rungs)
        return place, np.concatenate([np.zeros((1, width, width), dtype=np.float32), table])

    def two(self, a: int, b: int) -> Floats:
        """Return what values of two ladders add together beyond each alone, (n_a, n_b)."""
        if a > b:
            return self.two(b, a).T
        if (a, b) not in self._two:
            if 2 in self._sets:
                place, table = self.pairs
                self._two[a, b] = table[place[a, b], : self.sizes[a], : self.sizes[b]]
            else:
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

    def threes(self, ladders: Ints, rungs: Ints) -> Floats:
        """Return the same of many triples (n, 3) that have an effect, in any order, each on its own rungs (n, 3, K)."""
        return self._products(3, self._triple[tuple(ladders.T)], ladders, rungs)

    def most_of_three(self, ladders: Ints) -> Floats:
        """Return what triples of ladders (n, 3), in any order, can add beyond their pairs at most, (n,); see ``most``."""
        place, most = self._triple[tuple(ladders.T)], np.append(self.index(3).most, 0.0)
        return np.asarray(most[place], dtype=np.float32)

    @cached_property
    def _triple(self) -> Ints:
        """The place of each triple of ladders, in every order, among those with an effect; −1 for the others."""
        names = self.index(3).names
        place = np.full([len(self.sizes)] * 3, -1, dtype=np.intp)
        for order in permutations(names.T):
            place[order] = np.arange(len(names))
        return place

    def _products(self, order: int, which: Ints, ladders: Ints, rungs: Ints) -> Floats:
        """Return the effects (n, K, …) of sets of ladders (n, order) by their places (n,), each on its own rungs (n, order, K).

        ``Σ_leaves value · D_a(v_a) · …`` as one product of matrices a set; sets of about as many leaves are put together.
        """
        sets, K = self._sets[order], rungs.shape[2]
        count = sets.begin[which + 1] - sets.begin[which]
        out = np.zeros((len(which), K, K ** (order - 1)), dtype=np.float32)
        width = 1
        while width < 2 * count.max(initial=0):
            group = np.flatnonzero((count <= width) & (2 * count > width))
            size = max(1, _PRODUCTS // (width * out.shape[2]))
            for begin in range(0, len(group), size):
                some = group[begin : begin + size]
                inside = np.arange(width) < count[some, None]
                leaf = sets.leaf[np.where(inside, sets.begin[which[some], None] + np.arange(width), 0)]
                D = [self.leaves.differences_of(leaf, ladders[some, i], rungs[some, i]) for i in range(order)]
                D[0] *= np.where(inside, self._values[leaf], 0.0)[:, :, None]
                rest = D[1]
                if order == 3:
                    rest = (D[1][:, :, :, None] * D[2][:, :, None, :]).reshape(len(some), width, -1)
                out[some] = D[0].transpose(0, 2, 1) @ rest
            width *= 2
        return out.reshape(len(which), *[K] * order)

    def most(self, ladders: tuple[int, ...]) -> float:
        """Return what ladders together can add beyond fewer of them at most.

        ``D`` is 0 or 1 where the ladder must be moved to reach a leaf, else 0 or −1: the sign of each leaf's part is known.
        """
        return float(self._parts(self._taking_part(ladders), len(ladders)).sum())

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
        one = [self.one[k][r].astype(np.float32) for k, r in zip(ladders, rungs, strict=True)]
        if len(ladders) == 1:
            return np.asarray(np.float32(self.start) + one[0])

        def two(i: int, j: int) -> Floats:
            return self.two(ladders[i], ladders[j])[np.ix_(rungs[i], rungs[j])]

        both = np.float32(self.start) + one[0][:, None] + one[1] + two(0, 1)
        if len(ladders) == 2:
            return np.asarray(both)
        total = self.three((ladders[0], ladders[1], ladders[2]), rungs)
        total += both[:, :, None]
        total += two(0, 2)[:, None]
        total += one[2] + two(1, 2)
        return total

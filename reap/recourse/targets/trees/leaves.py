"""One walk of all trees: which values of each feature lead to which leaf.

A leaf is reached by a product of sets, one for each feature, so the raw score of a row is

    F(v) = base + Σ_leaves value · Π_features [v_k ∈ set_k],

with v_k a rung of feature k's ladder, 0 for the value it starts from. Leaves that need more changes than are allowed
are left out on the way.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from reap._typing import Array, Bools, Ints
from reap.models.trees import Forest
from reap.recourse.targets.trees.ladders import Ladder

Words = npt.NDArray[np.uint64]
_ONE = np.uint64(1)


@dataclass(frozen=True, eq=False)
class Leaves:
    """The leaves within reach.

    Parameters
    ----------
    values : (n,)
    masks : (n, m)
        Bit v of entry k: rung v of ladder k leads to the leaf.
    full : (m,)
        The mask of a ladder to which the leaf is indifferent.
    member : (n,)
        Whose trees they belong to.
    """

    values: Array
    masks: Words
    full: Words
    member: Ints

    @cached_property
    def used(self) -> Bools:
        """Which ladders matter to a leaf, (n, m)."""
        return np.asarray(self.masks != self.full)

    @cached_property
    def missed(self) -> Bools:
        """Which ladders must be moved to reach a leaf, (n, m)."""
        return np.asarray((self.masks & _ONE) == 0)

    @cached_property
    def needed(self) -> Ints:
        """How many ladders must be moved to reach a leaf, (n,)."""
        return np.asarray(self.missed.sum(axis=1))

    def differences(self, leaves: Ints, ladder: int, rungs: Ints) -> npt.NDArray[np.float32]:
        """Return ``[v ∈ set] − [0 ∈ set]`` for rungs v (K,) of a ladder and the sets of leaves (n,): (n, K)."""
        masks = self.masks[leaves, ladder][:, None]
        found = (masks >> rungs.astype(np.uint64)) & _ONE
        return np.asarray(found.astype(np.float32) - (masks & _ONE).astype(np.float32))

    def differences_of(self, leaves: Ints, ladders: Ints, rungs: Ints) -> npt.NDArray[np.float32]:
        """Return the same of sets (s, n) of leaves, each for a ladder (s,) and rungs (s, K) of its own: (s, n, K)."""
        masks = self.masks[leaves, ladders[:, None]][:, :, None]
        found = (masks >> rungs[:, None].astype(np.uint64)) & _ONE
        return np.asarray(found.astype(np.float32) - (masks & _ONE).astype(np.float32))

    def users(self, ladder: int) -> Ints:
        """Return the leaves to which a ladder matters."""
        if ladder not in self._users:
            self._users[ladder] = np.flatnonzero(self.used[:, ladder])
        return self._users[ladder]

    @cached_property
    def _users(self) -> dict[int, Ints]:
        return {}

    def keep(self, ladders: Ints) -> Leaves:
        """Return the leaves that are reached without moving any but the given ladders."""
        others = np.delete(np.arange(len(self.full)), ladders)
        chosen = ~self.missed[:, others].any(axis=1)
        return Leaves(
            self.values[chosen], self.masks[chosen][:, ladders], self.full[ladders], self.member[chosen]
        )

    def of(self, member: int) -> Leaves:
        """Return the leaves of one member."""
        own = self.member == member
        return self if own.all() else Leaves(self.values[own], self.masks[own], self.full, self.member[own])


def walk(forest: Forest, ladders: list[Ladder], now: Array, changes: int) -> Leaves:
    """Return the leaves that a transformed row (c,) can reach with this number of changes or fewer."""
    m, count = len(ladders), max(len(ladder) for ladder in ladders)
    width = -(-count // 8) * 8
    owner = np.full(len(now), -1)
    table = np.repeat(now[:, None], width, axis=1)  # the value of each column for every rung of its ladder
    for k, ladder in enumerate(ladders):
        owner[ladder.inputs] = k
        table[ladder.inputs, : len(ladder)] = ladder.seen.T
    full = np.array([(1 << len(ladder)) - 1 for ladder in ladders], dtype=np.uint64)
    node = forest.roots.copy()
    masks = np.repeat(full[None], len(node), axis=0)
    needed = np.zeros(len(node), dtype=np.int8)
    found: list[tuple[Array, Words, Ints]] = []
    is_leaf = forest.leaf
    while len(node):
        done = is_leaf[node]
        found.append((forest.value[node[done]], masks[done], forest.member[node[done]]))
        node, masks, needed = node[~done], masks[~done], needed[~done]
        column = forest.feature[node]
        left = _word(forest.goes_left(node, table[column]))
        mover = owner[column]
        free = mover >= 0
        place = np.arange(len(node)), np.where(free, mover, 0)
        mask = masks[place]
        own = (mask & _ONE).astype(bool)
        parts = []
        for word, child in ((left, forest.left), (~left, forest.right)):
            rest, stays = mask & word, (word & _ONE).astype(bool)
            cost = needed + (free & own & ~stays)
            go = np.where(free, (rest != 0) & (cost <= changes), stays)
            moved = masks[go]
            moved[np.arange(len(moved)), place[1][go]] = np.where(free, rest, mask)[go]
            parts.append((child[node[go]], moved, cost[go]))
        node, masks, needed = (np.concatenate(both) for both in zip(*parts, strict=True))
    values, words, members = (np.concatenate(part) for part in zip(*found, strict=True))
    return Leaves(values, words.reshape(-1, m), full, members)


def _word(bits: Bools) -> Words:
    """Return rows of at most 64 bits as words, (n,)."""
    packed = np.packbits(bits, axis=1, bitorder="little")
    words = np.zeros((len(bits), 8), dtype=np.uint8)
    words[:, : packed.shape[1]] = packed
    return words.view("<u8")[:, 0].astype(np.uint64)

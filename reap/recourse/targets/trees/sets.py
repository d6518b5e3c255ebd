"""Which leaves take part in which effects: all sets of ladders of one size, side by side."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from reap._typing import Array, Ints
from reap.recourse.targets.trees.leaves import Leaves


@dataclass(frozen=True, eq=False)
class Sets:
    """The sets of ladders that have an effect of one order.

    Parameters
    ----------
    names : (s, order)
        Their ladders, each rising.
    begin : (s + 1,)
        Where the leaves of each begin.
    leaf : (n,)
        The leaves, set by set.
    most : (s,)
        What each effect can be at most.
    """

    names: Ints
    begin: Ints
    leaf: Ints
    most: Array

    @classmethod
    def of(
        cls, leaves: Leaves, order: int, parts: Callable[[Ints, int], npt.NDArray[np.floating[Any]]]
    ) -> Sets:
        """Return the effects of an order; ``parts(leaf, order)`` is what leaves (n,) can add to one at most, (n,)."""
        leaf, ladders = _taking_part(leaves, order)
        code = ladders @ len(leaves.full) ** np.arange(order)[::-1]
        place = np.argsort(code, kind="stable")
        leaf, ladders, code = leaf[place], ladders[place], code[place]
        first = np.flatnonzero(np.diff(code, prepend=-1))
        most = np.add.reduceat(parts(leaf, order), first) if len(leaf) else np.zeros(0)
        return cls(ladders[first], np.append(first, len(leaf)), leaf, most)

    def leaves_of(self, ladders: tuple[int, ...]) -> Ints:
        """Return the leaves that take part in the effect of a set of ladders."""
        i = self._place.get(ladders)
        return self.leaf[:0] if i is None else self.leaf[self.begin[i] : self.begin[i + 1]]

    @cached_property
    def _place(self) -> dict[tuple[int, ...], int]:
        return {tuple(name): i for i, name in enumerate(self.names.tolist())}


def _taking_part(leaves: Leaves, order: int) -> tuple[Ints, Ints]:
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

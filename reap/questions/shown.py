"""How many rows a question shows: all of its options together, not two at a time.

Of four options, each two may differ in three features and all of them in five; people attend to about two.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from reap._typing import Bools, Ints


class Shown(NamedTuple):
    """In which features options differ, and in how many a question may.

    Parameters
    ----------
    apart : sequence of (n, n, f) arrays
        Features in which two options differ, for blocks of options that count on one after the other: plans, then parts.
    most : float
        Rows of a question.

    Examples
    --------
    >>> rows = np.array([[1, 1, 0, 0], [0, 0, 1, 0], [0, 1, 0, 0], [1, 0, 1, 0]])
    >>> shown = Shown([rows[:, None] != rows[None]], most=3)
    >>> shown.fits([0, 1], np.array([2, 3])).tolist(), shown._replace(most=2).fits([0, 2], np.array([1, 3])).tolist()
    ([True, True], [False, False])
    """

    apart: Sequence[Bools]
    most: float

    def fits(self, chosen: Sequence[int], more: Ints) -> Bools:
        """Return which of more options (m,) can join those chosen, all of one block, (m,)."""
        first = 0
        for block in self.apart:
            if chosen[0] < first + len(block):
                own = block[chosen[0] - first]  # a feature is a row where one differs from the first
                rows = own[[i - first for i in chosen]].any(axis=0) | own[more - first]
                return np.asarray(rows.sum(axis=1) <= self.most)
            first += len(block)
        raise IndexError(f"option {chosen[0]} of {first}")

"""Which cell each feature of a row lies in, most of them known from the row before.

A search asks about one person's rows again and again, and all but a few features of such rows are as they were.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from reap._typing import Array, Ints

#: Features in which rows may differ from the one that is remembered, before another one is.
_MOVED = 6


class Places:
    """Looks up cells, and remembers those of one row.

    Parameters
    ----------
    blocks : sequence of slice
        The encoded columns of each feature, in their order.
    look : callable
        ``look(k, Z)`` returns the cells (n,) of feature k of vectors (n, d).
    features : sequence of int
        Those that have cells; all others lie in cell 0.

    Examples
    --------
    >>> places = Places([slice(0, 1), slice(1, 2)], lambda k, Z: Z[:, k].astype(int), [1])
    >>> places.of(np.array([[5.0, 7.0], [5.0, 8.0]])).tolist()
    [[0, 7], [0, 8]]
    """

    def __init__(
        self, blocks: Sequence[slice], look: Callable[[int, Array], Ints], features: Sequence[int]
    ) -> None:
        self._starts = np.array([block.start for block in blocks], dtype=np.intp)
        self._look, self._features = look, np.array(features, dtype=np.intp)
        self._known: tuple[Array, Ints] | None = (
            None  # one pair, so that threads see a row with its own cells
        )

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the row: it is somebody's."""
        return {**self.__dict__, "_known": None}

    def of(self, Z: Array) -> Ints:
        """Return the cells (n, f) of vectors (n, d)."""
        if len(Z) == 0:
            return np.zeros((0, len(self._starts)), dtype=np.intp)
        known = self._known
        if known is None or self._moved(Z[:1], known[0]).sum() > _MOVED:
            known = self._known = Z[0].copy(), self._looked_up(Z[:1])
        row, cells = known
        places = np.repeat(cells[None], len(Z), axis=0)
        moved = self._moved(Z, row)
        for k in self._features[moved[self._features]].tolist():
            places[:, k] = self._look(k, Z)
        return places

    def _moved(self, Z: Array, row: Array) -> Any:
        """Return which features of any of vectors (n, d) differ from a row (d,), (f,); a missing value always does."""
        return np.logical_or.reduceat((row != Z).any(axis=0), self._starts)

    def _looked_up(self, Z: Array) -> Ints:
        cells = np.zeros(len(self._starts), dtype=np.intp)
        for k in self._features.tolist():
            cells[k] = self._look(k, Z)[0]
        return cells

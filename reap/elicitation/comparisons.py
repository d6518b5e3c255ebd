"""Which options may stand side by side: few rows that differ, each by something one can feel, nothing asked before."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from reap import effort
from reap._typing import Array, Bools
from reap.elicitation.verdicts import noticed
from reap.recourse.targets.order import asks_no_more
from reap.space import ActionSpace

#: Rows that differ in a question at most; one more where nothing else helps and it gains this share of the effort.
ROWS, WORTH_A_ROW = 3, 0.15


class Comparisons:
    """Every two of n options, as the person would read them.

    Parameters
    ----------
    space : ActionSpace
    start : (d,)
        Where the person stands.
    ends : (n, d)
        Where the options lead.

    Attributes
    ----------
    rows : (n, n)
        How many features two options differ in, without those that follow from others, go by themselves or are entailed.
    """

    def __init__(self, space: ActionSpace, start: Array, ends: Array) -> None:
        own = [feature.derived is None and feature.clock is None for feature in space.features]
        columns = np.array([space.slices[f.name].start for f in space.features])
        self._changes = effort.changes(ends, start)
        gaps = np.abs(self._changes[:, None] - self._changes[None])
        self._least = noticed(space)
        self._columns, self._own = columns, np.array(own)
        self._differ = np.maximum.reduceat(gaps > 1e-9, columns, axis=-1)[..., self._own]
        felt = np.maximum.reduceat(gaps >= self._least, columns, axis=-1)[..., self._own]
        self.rows: Array = (self._differ & ~self._entailed(space, start, ends)).sum(axis=-1).astype(float)
        free = np.repeat(self._own, np.diff([*columns, space.dimension]))
        below = asks_no_more(self._changes[:, free], self._changes[:, free])
        self._fair: Bools = (felt == self._differ).all(axis=-1) & ~below & ~below.T & ~self._one_deed(space)

    def _one_deed(self, space: ActionSpace) -> Bools:
        """Return which pairs (n, n) differ only in what one and the same doing brings about."""
        deeds = np.array([feature.deed for feature in space.features])[self._own]
        one = [(self._differ <= (deeds == deed)).all(axis=-1) for deed in set(deeds) - {""}]
        return np.asarray(np.any(one, axis=0) if one else np.zeros(self._differ.shape[:2], dtype=bool))

    def _entailed(self, space: ActionSpace, start: Array, ends: Array) -> Bools:
        """Return which features (n, n, own) two options change, if at all, only because a rule asks for it."""
        if not space.rules:
            return np.zeros_like(self._differ)
        still = ~np.maximum.reduceat(np.abs(self._changes) > 1e-9, self._columns, axis=-1)
        quiet = (still | space.entailed(start, ends))[:, self._own]
        return np.asarray(quiet[:, None] & quiet[None])

    def burden(self, most: float, asked: Iterable[Sequence[Array]]) -> Array:
        """Return ``rows``, infinite for two options that must not stand together, (n, n).

        They ask for all of the other and more; they differ in more than ``most`` rows, in one by less than one can feel, or
        only in what the same deed brings about; or the rows in which they differ read like those of two options (k, d) that
        were ``asked`` about.
        """
        fair = self._fair & (self.rows <= most)
        for question in asked:
            for i in range(len(question)):
                for j in range(i):
                    alike = self._alike(question[i], question[j])
                    fair &= ~alike & ~alike.T
        return np.where(fair, self.rows, np.inf)

    def _alike(self, first: Array, second: Array) -> Bools:
        """Return which pairs (n, n) a person cannot tell from two changes (d,) that were compared."""
        apart: Bools = np.abs(first - second) > 1e-9
        rows: Bools = np.maximum.reduceat(apart[None], self._columns, axis=-1)[0, self._own]
        same_rows = (self._differ == rows).all(axis=-1)
        gaps = np.abs(self._changes[None] - np.stack([first, second])[:, None])  # (2, n, d)
        near: Bools = np.asarray((gaps < self._least)[..., apart].all(axis=-1))
        return np.asarray(same_rows & near[0, :, None] & near[1])

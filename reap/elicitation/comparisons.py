"""Which options may stand side by side: few rows that differ, each by something one can feel, nothing asked before."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from reap import effort
from reap._typing import Array, Bools
from reap.elicitation.verdicts import noticed
from reap.recourse.reduce import asks_no_more
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
    apart : (n, n, f)
        In which features two options differ, of those that are for the person to do.
    rows : (n, n)
        How many features two options differ in, without those that follow from others, go by themselves or are entailed.
    """

    def __init__(self, space: ActionSpace, start: Array, ends: Array) -> None:
        own = [feature.derived is None and feature.clock is None for feature in space.features]
        columns = np.array([space.slices[f.name].start for f in space.features])
        self._changes = effort.changes(ends, start)
        gaps = np.abs(self._changes[:, None] - self._changes[None])
        self._least = noticed(space, start)
        self._columns, self._own = columns, np.array(own)
        self._differ = np.maximum.reduceat(gaps > 1e-9, columns, axis=-1)[..., self._own]
        felt = np.maximum.reduceat(gaps >= self._least, columns, axis=-1)[..., self._own]
        # "35 months instead of 36" is not felt either, however far the other option goes
        sizes = np.abs(self._changes)
        slight = (sizes > 1e-9) & (sizes < self._least)
        slight = np.logical_or.reduceat(slight, columns, axis=-1)[:, self._own]
        felt &= ~(slight[:, None] | slight[None])
        self.apart: Bools = self._differ & ~self._entailed(space, start, ends)
        self.rows: Array = self.apart.sum(axis=-1).astype(float)
        free = np.repeat(self._own, np.diff([*columns, space.dimension]))
        asked = with_included(space, self._changes)
        below = asks_no_more(asked[:, free], asked[:, free])
        if any(feature.deed for feature in space.features):
            doings = self._doings(space, start, ends, asked, free)
            below |= asks_no_more(doings, doings)
        self._fair: Bools = (felt == self._differ).all(axis=-1) & ~below & ~below.T

    def _doings(self, space: ActionSpace, start: Array, ends: Array, asked: Array, free: Bools) -> Array:
        """Return what a person does for each option, (n, c): how long they do what one deed brings about, and all other changes.

        Whoever pays on time for a year makes up for one late payment and for another: that is one doing, not two.
        """
        months, columns = space.months_of_each(start, ends), []
        free = free.copy()
        for deed in sorted({feature.deed for feature in space.features} - {""}):
            own = [i for i, feature in enumerate(space.features) if feature.deed == deed]
            moved = np.zeros(len(ends), dtype=bool)
            for i in own:
                block = space.slices[space.features[i].name]
                moved |= (np.abs(self._changes[:, block]) > 1e-9).any(axis=1)
                free[block] = False
            columns.append(np.maximum(months[:, own].max(axis=1), moved))
        return np.column_stack([asked[:, free], *columns])

    def _entailed(self, space: ActionSpace, start: Array, ends: Array) -> Bools:
        """Return which features (n, n, own) two options change, if at all, only because a rule asks for it."""
        if not space.rules:
            return np.zeros_like(self._differ)
        still = ~np.maximum.reduceat(np.abs(self._changes) > 1e-9, self._columns, axis=-1)
        quiet = (still | space.entailed(start, ends))[:, self._own]
        return np.asarray(quiet[:, None] & quiet[None])

    def burden(self, most: float, asked: Iterable[Sequence[Array]]) -> Array:
        """Return ``rows``, infinite for two options that must not stand together, (n, n).

        One asks for all that is to be done for the other, or for all of it and more; they differ in more than ``most`` rows, or
        in one by less than one can feel; or the rows in which they differ read like those of two options (k, d) that
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


def with_included(space: ActionSpace, changes: Array) -> Array:
    """Return changes (n, d) in which a level that ``includes`` others takes these too.

    Whoever keeps 200 DM in an account keeps it above 0: seen so, the first asks for all of the second and more, although
    the levels of a category have no order.

    Examples
    --------
    >>> from reap.space import Feature
    >>> levels = ("none", "some", "much")
    >>> space = ActionSpace([Feature("savings", "categorical", levels=levels, includes=[("much", "some")])])
    >>> with_included(space, np.array([[-1.0, 0.0, 1.0], [-1.0, 1.0, 0.0], [0.0, -1.0, 1.0]])).tolist()
    [[-1.0, 1.0, 1.0], [-1.0, 1.0, 0.0], [0.0, -1.0, 1.0]]
    """
    taken = changes
    for feature in space.features:
        first = space.slices[feature.name].start
        pairs = [
            (first + feature.levels.index(a), first + feature.levels.index(b)) for a, b in feature.includes
        ]
        for _ in pairs:  # "1,000" includes "500", and that "100": a chain is no longer than the list
            for more, less in pairs:
                too = (taken[:, more] > 0) & (taken[:, less] == 0)
                if too.any():
                    taken = taken.copy()
                    taken[too, less] = taken[too, more]
    return taken

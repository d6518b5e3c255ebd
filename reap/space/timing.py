"""Time as a space answers for it: which columns move by themselves, how long a change takes, when that is in words."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from reap._typing import Array
from reap.space.clocks import Clocks
from reap.space.layout import Layout
from reap.space.words import date_in_words


class Timing(Layout):
    """What an ``ActionSpace`` knows of time; ``clocks.py`` has the arithmetic."""

    _clocks: Clocks

    @cached_property
    def movable(self) -> list[int] | None:
        """The encoded columns that some plan may move: nothing can be learnt about the others. None if there are none."""
        moving = self.following
        for feature in self.features:
            columns = self.slices[feature.name]
            moving = [*moving, *(range(columns.start, columns.stop) if feature.is_action else ())]
        return sorted(moving) or None

    @cached_property
    def following(self) -> list[int]:
        """The encoded columns that nobody sets and that move all the same: of derived features and, with paces, of clocks.

        An engine that puts rows together itself sets them by ``follow``.
        """
        return [
            self.slices[f.name].start
            for f in self.features
            if f.derived is not None or (f.clock is not None and self.timed)
        ]

    @property
    def timed(self) -> bool:
        """Whether some action takes time; otherwise nothing is dated and clocks stay as they are."""
        return self._clocks.on

    def months(self, z0: Any, Z: Any) -> Array:
        """Return the whole months (n,) that changes from ``z0`` to ``Z`` take: frames, or vectors (d,) or (n, d).

        The largest of the actions' times, or longer where the clocks say that the person waits; 0 for what has no pace;
        NaN where the clocks of a row disagree.

        Examples
        --------
        >>> import pandas as pd
        >>> from reap.space import ActionSpace, Feature
        >>> debt = Feature("debt", range=(0, 9000), pace="200 EUR a month")
        >>> space = ActionSpace([debt, Feature("age", "integer", range=(18, 80), clock="years")])
        >>> now = pd.DataFrame({"debt": [5000.0], "age": [30]})
        >>> space.months(now, pd.DataFrame({"debt": [2000.0, 2000.0, 5000.0], "age": [31, 30, 32]}))
        array([15., nan, 24.])
        """
        old, new = self._nearest_codes(z0), self._nearest_codes(Z)
        return self._clocks.months(np.broadcast_to(old, new.shape), new)

    def action_months(self, z0: Array, z: Array) -> dict[str, int]:
        """Return the whole months that each action between two vectors (d,) takes, by feature."""
        old, new = self._nearest_codes(np.asarray(z0)), self._nearest_codes(np.asarray(z))
        took = {}
        for i in np.flatnonzero(self.changed(z0, z)[0]):
            feature = self.features[i]
            if feature.is_action:
                alone = old.copy()
                alone[:, i] = new[:, i]
                took[feature.name] = int(self._clocks.needed(old, alone)[0])
        return took

    def months_of_each(self, z0: Array, Z: Array) -> Array:
        """Return the whole months (n, f) that each action between vectors (d,) and (n, d) takes; 0 for what has no pace."""
        return self._clocks.each(self._nearest_codes(np.asarray(z0)), self._nearest_codes(np.asarray(Z)))

    def when(self, months: float, start: Any = None) -> str:
        """Return a time in words: "in month 5", or "by March 2027" where the day to count from is given.

        Examples
        --------
        >>> from reap.space import ActionSpace, Feature
        >>> space = ActionSpace([Feature("x", range=(0, 1))])
        >>> space.when(5), space.when(5, start="2026-10-16"), space.when(0)
        ('in month 5', 'by March 2027', 'at once')
        """
        return date_in_words(months, start)

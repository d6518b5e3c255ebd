"""What answers have said of single plans, and what one more would: a plan that lost is not recommended while its winner is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from reap._typing import Bools, Ints


class Losing(NamedTuple):
    """Which of n plans are beaten, and which would be if another lost a comparison now.

    People slip. Whoever slips in a comparison of two plans loses the better one, until something else beats the worse: so the
    loss of a plan also frees what that plan has beaten.

    Parameters
    ----------
    beaten : (n,)
        Lost to a plan that could be recommended.
    covers : (n, n)
        Whether the second asks for all of the first, and so loses with it; every plan for all of itself.
    still : (n, n)
        Whether the second stays beaten where the first loses.

    Examples
    --------
    >>> known = Losing(np.array([False, True]), np.eye(2, dtype=bool), np.array([[False, False], [False, True]]))
    >>> known.after([0]).tolist(), known.after([1]).tolist()  # the first has beaten the second
    ([True, False], [False, True])
    """

    beaten: Bools
    covers: Bools
    still: Bools

    def some(self, kept: Ints) -> Losing:
        """Return the same of some of the plans."""
        each = np.ix_(kept, kept)
        return Losing(self.beaten[kept], self.covers[each], self.still[each])

    def after(self, losers: Sequence[int] | Ints) -> Bools:
        """Return which plans (n,) cannot be recommended once some have lost to another; none of them: as it is now."""
        if len(losers) == 0:
            return self.beaten
        return np.asarray(self.covers[losers].any(axis=0) | self.still[losers].all(axis=0))

    @property
    def after_one(self) -> Bools:
        """Which plans cannot be recommended once one has lost, (n + 1, n); the last row: as it is now."""
        return np.vstack([self.covers | self.still, self.beaten])

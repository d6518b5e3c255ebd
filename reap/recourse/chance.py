"""The easiest chance of a yes: of the rows that today's model accepts, the one of least ``effort ÷ share``.

The *share* is that of the model's possible updates that accept a row, too. Who has to try until an update says yes spends
``effort ÷ share`` on average, so this is the honest middle between a plan at the very edge, which is a coin toss, and a plan that
holds at any price. Nobody is asked for more than ``MOST`` times the easiest plan.

*Which rows.* The easiest ones, those where acceptance begins, and the easiest that half and that four fifths of the updates
accept: these three searches are made once for each person, and every row of them is weighed. A row with one of its actions left
out is weighed too.

*Which share.* A row is ranked by how likely one more update accepts it (``Acceptance.likely``); people are shown the plain count.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from cachetools import LRUCache

from reap._arrays import row_keys
from reap._typing import Array
from reap.effort import Efforts
from reap.recourse.acceptance import Acceptance
from reap.recourse.engine import Subject
from reap.recourse.search import Reachable, Searches
from reap.space import Limits

#: A plan asks for no more than this many times the easiest.
MOST = 1.5
#: The shares of the updates for which rows are looked for, beside those of today's model alone.
LEVELS = (0.5, 0.8)
#: Rows whose share is kept.
_KEPT = 20_000


@dataclass
class Chances:
    """Finds the easiest chance of a yes among all rows that are known of a person.

    Parameters
    ----------
    acceptance : Acceptance
        Today's model and its possible updates.
    max_changes : int, optional
        Actions of a plan at most.
    others : (n, d)
        Rows of people who are accepted.
    """

    acceptance: Acceptance
    max_changes: int | None
    others: Array
    _shares: LRUCache[int, float] = field(default_factory=lambda: LRUCache(_KEPT))

    def __post_init__(self) -> None:
        levels = (self.acceptance.holding(share) for share in LEVELS)
        self._levels = [
            Searches(one.classifier, self.max_changes, others=self.others, for_people=True) for one in levels
        ]

    def least(
        self, subject: Subject, limits: Limits | None, people: Efforts, found: Reachable, deadline: float
    ) -> tuple[Array, Array]:
        """Return for each of b people the row (b, d) of least ``effort ÷ share``, and its effort (b,)."""
        easiest, least = found.least(people)
        offered = [easiest, found.rows, *self._harder(subject, limits, people, found, deadline)]
        rows, efforts, worth = self._judged(subject, people, found, np.concatenate(offered), least)
        best = rows[np.unique(worth.argmin(axis=1))]
        rows, efforts, worth = self._judged(
            subject, people, found, np.concatenate([best, _parts(found, best)]), least
        )
        chosen, each = worth.argmin(axis=1), np.arange(len(people))
        none = ~np.isfinite(
            worth[each, chosen]
        )  # where the model itself refuses all of them, its own search says so
        return (
            np.where(none[:, None], easiest, rows[chosen]),
            np.where(none, least, efforts[each, chosen]),
        )

    def _harder(
        self, subject: Subject, limits: Limits | None, people: Efforts, found: Reachable, deadline: float
    ) -> list[Array]:
        """Return rows (n, d) that more of the updates accept, of each level."""
        rows = []
        for search in self._levels:
            with search.of(subject, limits, deadline) as harder:
                if len(harder) and harder.problem.waits == found.problem.waits:
                    rows += [harder.least(people)[0], harder.rows]
        return rows

    def _judged(
        self, subject: Subject, people: Efforts, found: Reachable, rows: Array, least: Array
    ) -> tuple[Array, Array, Array]:
        """Return rows (n, d) worth looking at, their efforts (b, n), and ``effort ÷ share``, infinite where it is too much."""
        problem = found.problem
        rows = rows[np.unique(row_keys(rows), return_index=True)[1]]
        there = problem.then(rows)
        efforts = subject.efforts(people, there)
        limit = MOST * least[:, None] * (1 + 1e-9)
        kept = (efforts <= limit).any(axis=0) & problem.space.allows(problem.z0, there)
        if problem.most is not None:
            kept &= problem.changed(rows)[:, problem.acts].sum(axis=1) <= problem.most
        rows, efforts = rows[kept], efforts[:, kept]
        shares = self.shares(there[kept])
        worth = efforts / np.where(shares > 0, shares, 1.0)
        return rows, efforts, np.where((efforts <= limit) & (shares > 0), worth, np.inf)

    def shares(self, rows: Array) -> Array:
        """Return how likely one more update of the model accepts rows (n, d), (n,); 0 where today's model refuses."""
        keys = row_keys(rows).tolist()
        new = [i for i, key in enumerate(keys) if key not in self._shares]
        known = {key: self._shares[key] for key in keys if key in self._shares}
        if new:
            fresh = self.acceptance.likely(rows[new])
            fresh[~self.acceptance.classifier.accepts(rows[new])] = 0.0
            known.update(zip((keys[i] for i in new), fresh.tolist(), strict=True))
            self._shares.update(known)
        return np.array([known[key] for key in keys])


def _parts(found: Reachable, rows: Array) -> Array:
    """Return rows (n, d) with one of their actions left out."""
    problem = found.problem
    changed = problem.changed(rows)
    row, feature = np.nonzero(changed & problem.acts)
    kept = changed[row].copy()
    kept[np.arange(len(row)), feature] = False
    some = kept.any(axis=1)
    return problem.partly(rows[row[some]], kept[some], problem.z0)

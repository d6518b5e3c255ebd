"""Several models asked in stages: a row that is refused already is not shown to the rest of them.

A search looks at thousands of rows for those that are accepted, by today's model and by most of its retrainings. Most rows fail
with the first few that are asked, so the others need not be.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeVar

import numpy as np

from reap._typing import Array
from reap.models.agreement import Rule
from reap.models.together import Stacked

Member = TypeVar("Member")
#: How many of the others are asked before the rest, and rows for which that is worth the calls to networks of one shape.
_FIRST, _ROWS = 4, 48


class Group(Protocol):
    """Some members on the same rows."""

    def logits(self, Z: Array) -> Array:
        """Return the logits of all members, (m, n)."""


def stages(members: Sequence[Member]) -> list[Sequence[Member]]:
    """Return members in the groups in which they are asked: today's model, a few of the others, the rest.

    Examples
    --------
    >>> stages("today and more".split()), stages(range(8))
    ([['today'], ['and', 'more']], [range(0, 1), range(1, 5), range(5, 8)])
    """
    parts = members[:1], members[1 : 1 + _FIRST], members[1 + _FIRST :]
    return [part for part in parts if len(part)]


def from_least(groups: Sequence[Group], rule: Rule, others: int, Z: Array, least: float) -> Array:
    """Return the binding logits (n,) of rows (n, d) that are ``least`` or more, −inf where they are less.

    A row is out where today's model says less, or where more of the ``others`` do than a rule leaves out.
    """
    found = np.full(len(Z), -np.inf)
    if len(Z) < _ROWS and all(isinstance(group, Stacked) for group in groups):
        groups = [_Whole(groups)]
    live, known = np.arange(len(Z)), np.empty((0, len(Z)))
    for group in groups:
        known = np.concatenate([known, group.logits(Z[live])])
        fine = known[0] - rule.shift >= least
        if rule.count:
            fine &= (known[1:] < least).sum(axis=0) <= others - rule.count
        live, known = live[fine], known[:, fine]
        if len(live) == 0:
            return found
    logits = rule.candidates(known).min(axis=0)
    found[live] = np.where(logits >= least, logits, -np.inf)
    return found


class _Whole:
    """All groups at once."""

    def __init__(self, groups: Sequence[Group]) -> None:
        self._groups = groups

    def logits(self, Z: Array) -> Array:
        return np.concatenate([group.logits(Z) for group in self._groups])

"""Several models asked in stages: a row that is refused already is not shown to the rest of them.

A search looks at thousands of rows for those that are accepted, by today's model and by most of its retrainings. Most rows fail
with the first few that are asked, so the others need not be.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import Protocol, TypeVar

import numpy as np

from reap._typing import Array
from reap.models.agreement import Rule

Member = TypeVar("Member")
#: How many of the others are asked before the rest.
_FIRST = (4,)
#: Rows for which stages are worth the calls to networks of one shape.
_ROWS = 48


class Group(Protocol):
    """Some members on the same rows."""

    def logits(self, Z: Array) -> Array:
        """Return the logits of all members, (m, n)."""


def stages(members: Sequence[Member], first: Sequence[int] = _FIRST) -> list[Sequence[Member]]:
    """Return members in the groups in which they are asked: today's model, some of the others, ``first`` so many, the rest.

    Examples
    --------
    >>> stages("today and more".split()), stages(range(8))
    ([['today'], ['and', 'more']], [range(0, 1), range(1, 5), range(5, 8)])
    """
    ends = [0, *accumulate((1, *first)), len(members)]
    parts = (members[begin:end] for begin, end in pairwise(ends))
    return [part for part in parts if len(part)]


def from_least(
    groups: Sequence[Group], rule: Rule, others: int, Z: Array, least: float, few: Group | None = None
) -> Array:
    """Return the binding logits (n,) of rows (n, d) that are ``least`` or more, −inf where they are less.

    A row is out where today's model says less, or where more of the ``others`` do than a rule leaves out, or where they differ
    so much that no word of the rest could help. Of few rows all members are asked at once, as ``few``.
    """
    found = np.full(len(Z), -np.inf)
    if len(Z) < _ROWS and few is not None:
        groups = [few]
    live, known = np.arange(len(Z)), np.empty((0, len(Z)))
    for group in groups:
        known = np.concatenate([known, group.logits(Z[live])])
        fine = known[0] - rule.shift >= least
        if rule.count:
            fine &= (known[1:] < least).sum(axis=0) <= others - rule.count
            if 1 < len(known) - 1 < others:
                fine &= rule.hopeful(known[1:], others, least)
        live, known = live[fine], known[:, fine]
        if len(live) == 0:
            return found
    logits = rule.candidates(known).min(axis=0)
    found[live] = np.where(logits >= least, logits, -np.inf)
    return found


class Whole:
    """All of some groups at once."""

    def __init__(self, groups: Sequence[Group]) -> None:
        self._groups = groups

    def logits(self, Z: Array) -> Array:
        """Return the logits of all members, (m, n)."""
        return np.concatenate([group.logits(Z) for group in self._groups])

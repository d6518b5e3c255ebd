"""Times within an option: "apply for no credit for 4 months" while all of it takes 10.

A person who reads both wonders where the other 6 come from. So what takes all of the time says it, "pay off the 4 cards, which
takes 10 months", and stands first; the shorter doing goes on meanwhile. Where nothing that is done takes so long, the rest is
waiting, and that is said.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from reap.language import _, ngettext
from reap.plan import Plan
from reap.space import Change
from reap.space.deeds import together
from reap.space.words import lowered


def sentences(doings: Sequence[list[Change]], slowest: Mapping[str, int]) -> list[str]:
    """Return doings as sentences without full stops: what is ``slowest`` says its months and stands first, then the rest."""
    months = [max((slowest.get(change.feature, 0) for change in doing), default=0) for doing in doings]
    slow = [takes(doing, n) for doing, n in zip(doings, months, strict=True) if n]
    rest = [doing for doing, n in zip(doings, months, strict=True) if not n]
    return slow + [meanwhile(doing) if slow else together(doing) for doing in rest]


def takes(doing: list[Change], months: int) -> str:
    """Return a doing with the time that it takes, unless it says that itself."""
    if months_said(doing):
        return together(doing)
    time = ngettext("{n} month", "{n} months", months).format(n=months)
    return _("{change}, which takes {time}").format(change=together(doing), time=time)


def meanwhile(doing: list[Change]) -> str:
    """Return a doing that goes on while another, longer one does; one that says no time needs no such word."""
    said = together(doing)
    return _("during that time, {change}").format(change=lowered(said)) if months_said(doing) else said


def unclear(plan: Plan, doings: Sequence[Sequence[Change]]) -> bool:
    """Return whether a doing says a time of its own that is not the time of all of the plan."""
    return any(said and said < plan.months for said in map(months_said, doings))


def months_said(doing: Sequence[Change]) -> int:
    """Return the months that the sentence of a doing mentions; 0 where it mentions none."""
    longest = max(doing, key=lambda change: change.months)
    return longest.months if longest.says_months else 0


def slowest(plan: Plan) -> dict[str, int]:
    """Return the features whose change takes all of the plan's time, with its months; none where the person waits besides.

    What a rule asks for counts for the change that asks for it: whoever pays off the last card owes nothing any more.
    """
    if waits(plan):
        return {}
    space, start, end = plan.space, plan.path[0], plan.path[-1]
    asker = space.entailing(start, end[None])[0]
    slow = np.flatnonzero(space.slowest(start, end[None])[0])
    return {space.features[asker[i] if asker[i] >= 0 else i].name: plan.months for i in slow}


def waits(plan: Plan) -> bool:
    """Return whether a plan ends later than the last of its actions."""
    return max((change.months for change in plan.changes), default=0) < plan.months

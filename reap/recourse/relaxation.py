"""Which limits would have to go where they leave no plan: one search, for every engine."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterable, Sequence

from reap.language import _, listed
from reap.space import ActionSpace, Limits

#: Sets of limits that are tried at most to find a smaller one.
_TRIES = 60


def relaxations(limits: Limits, possible: Callable[[Limits], bool]) -> list[tuple[str, ...]]:
    """Return the sets of limits, each of which would have to go for a plan to exist, by their names.

    Where single limits suffice, these; else one set, the smallest that is found: first limits are put back one by one
    while a plan remains, then smaller sets are tried. Empty where the limits are not to blame.
    """

    def suffices(lifted: Iterable[str]) -> bool:
        return possible(functools.reduce(Limits.without, lifted, limits))

    names = limits.names
    single: list[tuple[str, ...]] = [(name,) for name in names if suffices((name,))]
    if single:
        return single
    if len(names) < 2 or not suffices(names):
        return []
    needed = list(names)
    for name in names:
        if len(needed) > 2 and suffices(rest := [other for other in needed if other != name]):
            needed = rest
    smaller = (itertools.combinations(names, size) for size in range(2, len(needed)))
    tried = itertools.islice(itertools.chain.from_iterable(smaller), _TRIES)
    return [next(filter(suffices, tried), tuple(needed))]


def advice(space: ActionSpace, found: Sequence[Sequence[str]]) -> str:
    """Return a sentence on the sets of limits that would have to go; empty where none would help."""

    whole = {"max_changes": _("number of changes"), "within_months": _("time")}

    def label(name: str) -> str:
        return f"“{whole[name] if name in whole else space.feature(name).label}”"

    if not found:
        return ""
    named = listed((together([label(name) for name in names]) for names in found), "or")
    return _("Without your limit on {limits} there is a plan.").format(limits=named)


def together(names: Sequence[str]) -> str:
    """Return names that go together in words.

    Examples
    --------
    >>> together(["age"]), together(["age", "amount"]), together(["age", "amount", "savings"])
    ('age', 'age together with amount', 'age together with amount and savings')
    """
    first, *more = names
    if not more:
        return first
    return _("{first} together with {others}").format(first=first, others=listed(more))

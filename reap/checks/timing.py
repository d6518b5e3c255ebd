"""How long a change takes, and where the clocks are then: judged from two rows in units, as in ``legality``."""

from __future__ import annotations

import math
from typing import Any

from reap.checks.values import Row, missing, rank, same
from reap.space import ActionSpace, Feature, Limits


def time_of(space: ActionSpace, before: Row, after: Row, limits: Limits | None = None) -> int | None:
    """Return the fewest months, up to the horizon, at which all clocks agree and all actions are done; else None.

    Examples
    --------
    >>> debt = Feature("debt", range=(0, 90), pace="10 a month")
    >>> space = ActionSpace([debt, Feature("age", "integer", range=(18, 80), clock="years")])
    >>> time_of(space, {"debt": 50, "age": 30}, {"debt": 20, "age": 30})
    3
    >>> time_of(space, {"debt": 50, "age": 30}, {"debt": 20, "age": 32})
    24
    """
    dated = any(f.pace is not None and f.actionable for f in space.features)
    within = limits.within_months if limits else None
    last = space.horizon if within is None else min(space.horizon, within)
    for months in range(last + 1) if dated else [0]:
        if all(_in_time(f, before[f.name], after[f.name], months) for f in space.features):
            return months
    return None


def needed(space: ActionSpace, before: Row, after: Row) -> int:
    """Return the whole months that the actions between two rows take, side by side."""
    took = [_months(f, before[f.name], after[f.name]) for f in space.features]
    return math.ceil(max(took) - 1e-6)


def then(feature: Feature, old: Any, months: int) -> Any:
    """Return where a clock is after some months."""
    if missing(old):
        return old
    there = old + months / (12 if feature.clock == "years" else 1)
    if feature.step is not None:
        there = math.floor(there / feature.step + 1e-6) * feature.step
    if feature.bounds is not None:
        there = min(there, feature.bounds[1])
    there = max(old, there)
    return round(there) if feature.kind == "integer" else there


def _months(feature: Feature, old: Any, new: Any) -> float:
    """Return the months that one action takes; none for what has no pace."""
    if (
        missing(old)
        or missing(new)
        or not feature.is_action
        or feature.pace is None
        or same(feature, old, new)
    ):
        return 0.0
    pace, moved = float(feature.pace), abs(rank(feature, new) - rank(feature, old))
    if feature.is_number:
        return moved / pace
    return (moved if feature.kind == "ordinal" else 1.0) * pace


def _in_time(feature: Feature, old: Any, new: Any, months: int) -> bool:
    if missing(old) or missing(new):
        return feature.clock is None or (missing(old) and missing(new))
    if feature.clock is not None:
        return same(feature, then(feature, old, months), new)
    return _months(feature, old, new) <= months + 1e-6

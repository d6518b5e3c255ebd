"""Is a change legal, and how long does it take? Judged from two rows in units and what the features declare.

The library has a judge of its own, ``ActionSpace.allows``, which works on codes and parsed rules. This one shares none of
it: it reads the same declarations and sentences again, slowly and plainly, so that each can find the other's errors.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from reap.space import ActionSpace, Feature, Limits
from reap.space.rules import Expression

#: One row in units, by feature.
Row = Mapping[str, Any]


def same(feature: Feature, old: Any, new: Any) -> bool:
    """Return whether two values of a feature are the same; a missing one is only like another missing one."""
    if missing(old) or missing(new):
        return missing(old) and missing(new)
    return bool(abs(new - old) <= tolerance(feature) if feature.is_number else old == new)


def missing(value: Any) -> bool:
    """Return whether there is no value."""
    return bool(pd.isna(value))


def rank(feature: Feature, value: Any) -> float:
    """Return where a value stands: a number itself, a level by its place."""
    return float(value) if feature.is_number else float(feature.levels.index(value))


def tolerance(feature: Feature) -> float:
    """Return how far apart two values of a feature may be and still be the same."""
    return 1e-7 * feature.scale


def violations(space: ActionSpace, before: Row, after: Row, limits: Limits | None = None) -> list[str]:
    """Return what is wrong with a change from one row to another, each as a sentence.

    Examples
    --------
    >>> import pandas as pd, reap
    >>> X = pd.DataFrame({"age": [20, 60], "debts": [0, 5]})
    >>> space = reap.ActionSpace.from_frame(X, increasing=["age"], rules=["10 * debts <= age"])
    >>> violations(space, {"age": 30, "debts": 2}, {"age": 29, "debts": 3})
    ['age falls', 'the rule "10 * debts <= age" is broken']
    """
    own = done(space, before, after)
    wrong = [said for feature in space.features for said in _of_feature(feature, space, before, own, after)]
    wrong += [f'the rule "{rule}" is broken' for rule in space.rules if not obeys(rule, space, before, after)]
    if time_of(space, before, after, limits) is None:
        wrong.append("no time puts all clocks where they are and leaves enough for the actions")
    changed = actions(space, before, after)
    counts = [space.max_changes, limits.max_changes if limits else None]
    wrong += [
        f"{len(changed)} features change, {k} may" for k in counts if k is not None and len(changed) > k
    ]
    wrong += _of_limits(space, before, own, limits) if limits else []
    there = _of_limits(space, after, after, limits) if limits else []
    return wrong + [said for said in there if said not in wrong]


def actions(space: ActionSpace, before: Row, after: Row) -> list[str]:
    """Return the features a person changes between two rows; what is derived only follows, and clocks go by themselves."""
    own = done(space, before, after)
    return [f.name for f in space.features if f.is_set and not same(f, before[f.name], own[f.name])]


def done(space: ActionSpace, before: Row, after: Row) -> dict[str, Any]:
    """Return a row with only what the person does: without what features that have moved bring to others.

    Examples
    --------
    >>> income, debt = Feature("income", range=(0, 90)), Feature("debt", range=(0, 90), effect="-0.5 * income")
    >>> space = ActionSpace([income, debt])
    >>> done(space, {"income": 10.0, "debt": 50.0}, {"income": 30.0, "debt": 38.0})
    {'income': 30.0, 'debt': 48.0}
    """
    if not any(f.effect for f in space.features):
        return dict(after)
    row = {**after, **{f.name: before[f.name] for f in space.features if f.only_moved}}
    for feature in space.features:
        if feature.effect is not None and not feature.only_moved and not missing(after[feature.name]):
            row[feature.name] = _plain(feature, after[feature.name] - _brought(feature, space, before, after))
    return derived(space, before, row)


def brought(space: ActionSpace, before: Row, own: Row) -> dict[str, Any]:
    """Return a row of what a person does with what that brings to other features, and to others by these."""
    row = dict(own)
    for _ in space.features if any(f.effect for f in space.features) else ():  # no chain of effects is longer
        for feature in space.features:
            if feature.effect is not None and not missing(own[feature.name]):
                more = _brought(feature, space, before, row)
                row[feature.name] = _plain(feature, own[feature.name] + more)
        row = derived(space, before, row)
    return row


def _plain(feature: Feature, value: float) -> float:
    """Return a number as it is written: whole where it must be."""
    return round(value) if feature.kind == "integer" and np.isfinite(value) else value


def _brought(feature: Feature, space: ActionSpace, before: Row, after: Row) -> float:
    """Return by how much a feature moves because others have."""
    formula = Expression(str(feature.effect).removeprefix("only "))
    causes = dict.fromkeys((*formula.names, *(name for name, _ in formula.levels)))
    if all(same(space.feature(name), before[name], after[name]) for name in causes):
        return 0.0

    def value(row: Row) -> float:
        known: dict[Any, Any] = {name: _number(space.feature(name), row[name]) for name in formula.names}
        known = {name: 0.0 if missing(number) else number for name, number in known.items()}
        return float(
            formula(known | {(name, level): float(row[name] == level) for name, level in formula.levels})
        )

    moved = value(after) - value(before)
    return math.floor(moved + 0.5 + 1e-6) if feature.kind == "integer" and np.isfinite(moved) else moved


def derived(space: ActionSpace, before: Row, after: Row) -> dict[str, Any]:
    """Return a row with every derived feature as its formula says; own values where nothing it follows from changed."""
    row = dict(after)
    for feature in space.features:
        if feature.derived is None:
            continue
        formula = Expression(feature.derived)
        levels = formula.levels
        names = [*formula.names, *(name for name, _ in levels)]
        if all(same(space.feature(name), before[name], row[name]) for name in names):
            row[feature.name] = before[feature.name]
            continue
        values: dict[Any, Any] = {f.name: np.array([_number(f, row[f.name])]) for f in space.features}
        values |= {(name, level): np.array([float(row[name] == level)]) for name, level in levels}
        made = float(np.ravel(formula(values))[0])
        if feature.step is not None and np.isfinite(made):
            made = round(made / feature.step) * feature.step
        row[feature.name] = None if np.isnan(made) else made
    return row


def _number(feature: Feature, value: Any) -> float:
    if missing(value):
        return np.nan
    plain = feature.is_number or all(isinstance(level, int | float) for level in feature.levels)
    return float(value) if plain else rank(feature, value)


def at(space: ActionSpace, before: Row, after: Row, months: int) -> dict[str, Any]:
    """Return a row of what a person does with every clock where some months put it, and all that follows."""
    clocks = {f.name: then(f, before[f.name], months) for f in space.features if f.clock is not None}
    return brought(space, before, derived(space, before, {**after, **clocks} if space.timed else after))


# features ---------------------------------------------------------------------------------------------


def _of_feature(feature: Feature, space: ActionSpace, before: Row, own: Row, after: Row) -> Iterator[str]:
    name, old, new = feature.name, before[feature.name], own[feature.name]
    if feature.effect is not None and not missing(old):
        yield from _where_it_ends(feature, space, before, own, after)
    if feature.derived is not None:
        new = after[name]
        expected = derived(space, before, after)[name]
        gap = np.nan if missing(expected) or missing(new) else abs(expected - new)
        if not (gap <= 20 * tolerance(feature) or (missing(expected) and missing(new))):
            yield f"{name} is {new}; by its formula it is {expected}"
        return
    if same(feature, old, new) or feature.clock is not None:  # clocks are judged together, by the time
        return
    if missing(old) or missing(new):
        yield f"{name} appears or disappears"
        return
    if not feature.actionable:
        yield f"{name} cannot change"
    if new not in feature.levels if feature.levels else feature.kind == "integer" and new != round(new):
        yield f"{name} becomes {new!r}, which is no {'level' if feature.levels else 'whole number'}"
        return
    way = rank(feature, new) - rank(feature, old)
    if feature.direction == "up" and way < 0:
        yield f"{name} falls"
    if feature.direction == "down" and way > 0:
        yield f"{name} rises"
    if feature.max_change is not None and abs(way) > feature.max_change + 10 * tolerance(feature):
        yield f"{name} moves by {abs(way):g}, more than {feature.max_change:g}"
    if feature.is_number:
        yield from _of_number(feature, old, new)
    elif (old, new) in feature.forbidden:
        yield f"{name} may not go from {old} to {new}"


def _where_it_ends(feature: Feature, space: ActionSpace, before: Row, own: Row, after: Row) -> Iterator[str]:
    """Yield what is wrong with where others bring a feature."""
    old, new, slack = before[feature.name], after[feature.name], 20 * tolerance(feature)
    expected = own[feature.name] + _brought(feature, space, before, after)
    if missing(new) or not abs(expected - new) <= slack:
        yield f"{feature.name} is {new}; by what others bring it is {expected}"
        return
    low, high = feature.bounds or _around(feature, old)
    if not low - slack <= new <= high + slack and not same(feature, old, new):
        yield f"{feature.name} ends at {new}, outside {low} to {high}"


def _of_number(feature: Feature, old: float, new: float) -> Iterator[str]:
    low, high = feature.bounds or _around(feature, old)
    slack = 10 * tolerance(feature)
    if not low - slack <= new <= high + slack:
        yield f"{feature.name} is {new}, outside {low} to {high}"
    if feature.step is not None and abs(new / feature.step - round(new / feature.step)) > 1e-4:
        yield f"{feature.name} is {new}, no multiple of {feature.step:g}"


def _around(feature: Feature, old: float) -> tuple[float, float]:
    """Return the range of a number without bounds; somebody who stands outside it may stay there."""
    low, high = feature.range or (old, old)
    return min(low, old), max(high, old)


def _of_limits(space: ActionSpace, before: Row, after: Row, limits: Limits) -> list[str]:
    wrong = [
        f"{name} changes against the person's limit"
        for name in limits.fixed
        if not same(space.feature(name), before[name], after[name])
    ]
    for given, sign, word in ((limits.at_least, 1, "below"), (limits.at_most, -1, "above")):
        for name, bound in given.items():
            feature, value = space.feature(name), after[name]
            gap = 0.0 if missing(value) else sign * (rank(feature, value) - rank(feature, bound))
            if gap < -10 * tolerance(feature):
                wrong.append(f"{name} is {value}, {word} the person's limit of {bound}")
    for name, levels in limits.exclude.items():
        if after[name] in levels:
            wrong.append(f"{name} is {after[name]}, which the person excludes")
    return wrong


# time --------------------------------------------------------------------------------------------------


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
    dated = any(f.pace is not None and f.is_action for f in space.features)
    within = limits.within_months if limits else None
    last = space.horizon if within is None else min(space.horizon, within)
    own = done(space, before, after)
    for months in range(last + 1) if dated else [0]:
        if all(_in_time(f, before[f.name], own[f.name], months) for f in space.features):
            return months
    return None


def needed(space: ActionSpace, before: Row, after: Row) -> int:
    """Return the whole months that the actions between two rows of what a person does take, side by side."""
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


# rules -------------------------------------------------------------------------------------------------


def obeys(rule: str, space: ActionSpace, before: Row, after: Row) -> bool:
    """Return whether a change obeys a rule, a linear one or an implication; what is missing is held against nobody."""
    sentence = " ".join(rule.split())
    if match := re.fullmatch(r"if (.+?),? then (.+)", sentence, flags=re.IGNORECASE):
        when, then = match.groups()
        return not _true(when, space, before, after) or _true(then, space, before, after)
    if match := re.fullmatch(r"(.+?) / (.+?) rises by at most ([\d.]+) ?%", sentence, flags=re.IGNORECASE):
        top, bottom = (part.strip("` ") for part in match.groups()[:2])
        if any(missing(row[name]) for row in (before, after) for name in (top, bottom)):
            return True
        most = (1 + float(match[3]) / 100) * float(before[top]) / float(before[bottom])
        return bool(float(after[top]) / float(after[bottom]) <= most * (1 + 1e-6))
    left, sign, right = re.split(r"(<=|>=|==|=)", sentence)
    values = {f.name: np.nan if missing(after[f.name]) else rank(f, after[f.name]) for f in space.features}
    one, two = (float(Expression(side)(values)) for side in (left, right))
    slack = 1e-6 * (1 + abs(one) + abs(two))
    below, above = not one > two + slack, not one < two - slack  # NaN obeys
    return below if sign == "<=" else above if sign == ">=" else below and above


_CONDITION = re.compile(
    r"(?P<name>`[^`]+`|.+?) (?P<verb>changes|stays|(?:increases|decreases)(?: by at least)?"
    r"|is at least|is at most|is not|is|becomes)(?: (?P<value>.+))?",
    flags=re.IGNORECASE,
)


def _true(text: str, space: ActionSpace, before: Row, after: Row) -> bool:
    """Return whether a condition such as "income increases by at least 100" is true of a change."""
    match = _CONDITION.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"the checks cannot read the condition {text!r}")
    feature = space.feature(match["name"].strip("`'\" "))
    verb, given = match["verb"].lower(), (match["value"] or "").strip("'\" ")
    old, new = before[feature.name], after[feature.name]
    moved = not same(feature, old, new)
    if verb in ("changes", "stays"):
        return moved == (verb == "changes") if not (missing(old) or missing(new)) else verb == "stays"
    if missing(new) or (missing(old) and verb.split()[0] in ("increases", "decreases")):
        return verb == "is not"
    slack = tolerance(feature)
    if verb.startswith(("increases", "decreases")):
        way = (rank(feature, new) - rank(feature, old)) * (1 if verb.startswith("increases") else -1)
        return moved and way >= (float(given.replace(",", "")) if given else 0.0) - slack
    bound = float(given.replace(",", "")) if feature.is_number else rank(feature, _level(feature, given))
    gap = rank(feature, new) - bound
    return {
        "is": abs(gap) <= slack,
        "is not": abs(gap) > slack,
        "becomes": abs(gap) <= slack and moved,
        "is at least": gap >= -slack,
        "is at most": gap <= slack,
    }[verb]


def _level(feature: Feature, text: str) -> Any:
    return next(level for level in feature.levels if str(level) == text)

"""What may be declared of a feature: everything is checked once, when it is made, and each mistake is one sentence."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from pandas.api.types import pandas_dtype

from reap._errors import InputError, unknown
from reap.space.pace import read_pace
from reap.space.phrases import check_phrases
from reap.space.translations import check as check_translations

if TYPE_CHECKING:
    from reap.space.feature import Feature

KINDS = ("numeric", "integer", "ordinal", "categorical", "binary")
DIRECTIONS = ("any", "up", "down", "both")
CLOCKS = ("months", "years")
#: What is said of two levels.
_PAIRS = {"forbidden": "(from, to)", "includes": "(more, less)"}


def settle(feature: Feature) -> None:
    """Bring what was declared into one form, or refuse it in one sentence."""

    def put(name: str, value: Any) -> None:
        object.__setattr__(feature, name, value)

    if feature.kind not in KINDS:
        raise unknown("kind of feature", feature.kind, KINDS)
    if feature.direction not in DIRECTIONS:
        raise unknown(f"direction for {feature.name!r}", feature.direction, DIRECTIONS)
    if not isinstance(feature.name, str) or not feature.name:
        raise InputError(f"the name of a feature is {feature.name!r}; it must be text")
    for key in ("levels", "columns", *_PAIRS):
        if isinstance(getattr(feature, key), str) or not hasattr(getattr(feature, key), "__iter__"):
            raise InputError(f"{key} of {feature.name!r} is {getattr(feature, key)!r}; give a list")
    put("levels", tuple(plain(level) for level in feature.levels))
    put("columns", tuple(feature.columns))
    for key, pair in _PAIRS.items():
        given = getattr(feature, key)
        if any(isinstance(one, str) or np.size(np.asarray(one, dtype=object)) != 2 for one in given):
            raise InputError(f"{key} of {feature.name!r} is {list(given)!r}; give pairs {pair}")
        put(key, tuple((plain(a), plain(b)) for a, b in given))
    if feature.includes and feature.kind != "categorical":
        raise InputError(
            f"{feature.name!r} is {feature.kind}, and its values have an order; includes is for categories"
        )
    put("label", feature.__dict__["label"] or feature.name)
    paced = feature.pace is not None
    put("translations", check_translations(feature.name, feature.levels, feature.translations, paced))
    _check_words(feature)
    if feature.max_change is not None:
        if feature.kind in ("categorical", "binary") or feature.derived is not None:
            raise InputError(
                f"{feature.name!r} has no distance to limit; max_change is for numbers and ordered levels"
            )
        if not isinstance(feature.max_change, int | float | np.number) or not 0 < feature.max_change < np.inf:
            raise InputError(
                f"max_change of {feature.name!r} is {feature.max_change!r}; give a number above 0"
            )
        put("max_change", float(feature.max_change))
    if feature.is_number:
        put("range", _pair(feature.name, "range", feature.range))
        if feature.bounds is not None:
            put("bounds", _pair(feature.name, "bounds", feature.bounds))
        step = 1.0 if feature.kind == "integer" and feature.step is None else feature.step
        put("step", None if step is None else _step(feature.name, feature.kind, step))
        if feature.span is not None:
            put("span", _pair(feature.name, "span", feature.span))
        _check_number(feature)
    else:
        _check_levels(feature)
    _check_time(feature)
    if feature.pace is not None:
        put("pace", read_pace(feature.name, feature.pace, feature.is_number))
    if feature.clock is not None:
        put("actionable", False)  # nobody does it


def _check_words(feature: Feature) -> None:
    for flag in ("actionable", "missing"):
        if not isinstance(getattr(feature, flag), bool | np.bool_):
            raise InputError(
                f"{flag} of {feature.name!r} is {getattr(feature, flag)!r}; it must be true or false"
            )
    for word in ("label", "unit"):
        if not isinstance(feature.__dict__[word], str):
            raise InputError(f"{word} of {feature.name!r} is {feature.__dict__[word]!r}; it must be text")
    if not isinstance(feature.deed, str):
        raise InputError(f'deed of {feature.name!r} is {feature.deed!r}; give text, such as "pay on time"')
    if feature.derived is not None and not isinstance(feature.derived, str) and not callable(feature.derived):
        raise InputError(
            f"derived of {feature.name!r} is {feature.derived!r}; write a formula, such as 'debt / income'"
        )
    if not all(isinstance(column, str) for column in feature.columns):
        raise InputError(f"columns of {feature.name!r} is {list(feature.columns)!r}; give names of columns")
    _check_dtype(feature)
    check_phrases(feature.name, feature.phrases, feature.levels, feature.pace is not None)


def _check_dtype(feature: Feature) -> None:
    try:
        if feature.dtype is not None and not str(feature.dtype).startswith("category"):
            pandas_dtype(feature.dtype)
        known = feature.dtype is None or isinstance(feature.dtype, str)
    except TypeError:
        known = False
    if not known:
        raise InputError(
            f"dtype of {feature.name!r} is {feature.dtype!r}; give one that pandas knows, such as 'int64'"
        )


def _check_time(feature: Feature) -> None:
    if feature.when not in (None, "application"):
        raise unknown(f"value of when for {feature.name!r}", feature.when, ("application",))
    if feature.pace is not None and feature.when is not None:
        raise InputError(
            f"{feature.name!r} is chosen on the day of the application and has a pace; keep one of them"
        )
    if feature.clock is None:
        return
    if feature.clock not in CLOCKS:
        raise unknown(f"unit for the clock {feature.name!r}", feature.clock, CLOCKS)
    if not feature.is_number or feature.derived is not None:
        raise InputError(f"{feature.name!r} cannot be a clock; a clock is a number that goes by itself")
    if feature.pace is not None or feature.when is not None or feature.max_change is not None:
        raise InputError(
            f"{feature.name!r} is a clock and goes by itself; leave out pace, when and max_change, and set the horizon"
        )
    if feature.direction == "down":
        raise InputError(f"{feature.name!r} is a clock and goes up; leave out its direction")


def _check_number(feature: Feature) -> None:
    if feature.levels or feature.forbidden:
        raise InputError(
            f"{feature.name!r} is a number and has no levels; give bounds, or make it ordinal or categorical"
        )
    if feature.columns:
        raise InputError(f"{feature.name!r} is a number; only a categorical feature has several columns")
    if feature.span is not None and feature.span[0] == feature.span[1]:
        raise InputError(f"the span of {feature.name!r} is {feature.span!r}; give two different numbers")
    if feature.notice is not None:
        number = isinstance(feature.notice, int | float | np.number) and not isinstance(feature.notice, bool)
        if not number or not 0 < feature.notice < math.inf:
            raise InputError(f"notice of {feature.name!r} is {feature.notice!r}; give a number above 0")
        object.__setattr__(feature, "notice", float(feature.notice))
    if feature.derived is not None and feature.bounds is not None:
        raise InputError(
            f"{feature.name!r} follows from other features; give bounds to those, or write a rule with them"
        )


def _check_levels(feature: Feature) -> None:
    for level in feature.levels:
        if not isinstance(level, Hashable) or isinstance(level, Mapping | tuple):
            raise InputError(
                f"{level!r} cannot be a level of {feature.name!r}; give text, numbers, true or false"
            )
    if any(level is None or level != level for level in feature.levels):
        raise InputError(f"a missing value is no level of {feature.name!r}; say missing=True instead")
    if len(set(feature.levels)) != len(feature.levels) or not feature.levels:
        raise InputError(
            f"{feature.name!r} needs a list of different levels; given were {list(feature.levels)!r}"
        )
    if feature.kind == "binary" and len(feature.levels) != 2:
        raise InputError(
            f"{feature.name!r} is binary and needs two levels; given were {list(feature.levels)!r}"
        )
    if feature.kind == "categorical" and feature.direction in ("up", "down"):
        raise InputError(f"{feature.name!r} is categorical and has no direction; make it ordinal to give one")
    if any(
        value is not None
        for value in (feature.bounds, feature.range, feature.span, feature.step, feature.notice)
    ):
        raise InputError(
            f"{feature.name!r} has levels, not numbers; range, span, bounds, step and notice do not apply to it"
        )
    if feature.columns and (feature.kind != "categorical" or len(feature.columns) != len(feature.levels)):
        raise InputError(
            f"{feature.name!r} has {len(feature.columns)} columns and {len(feature.levels)} levels; a one-hot group has "
            "one column a level and is categorical"
        )
    if feature.derived is not None:
        raise InputError(f"{feature.name!r} is derived and must be a number, not {feature.kind}")
    for pair in (*feature.forbidden, *feature.includes):
        for level in pair:
            if level not in feature.levels:
                raise unknown(f"level of {feature.name!r}", level, feature.levels)


def plain(value: Any) -> Any:
    """Return a NumPy scalar as Python's own, anything else as it is."""
    return value.item() if isinstance(value, np.generic) else value


def _step(name: str, kind: str, given: Any) -> float:
    if isinstance(given, bool) or not isinstance(given, int | float | np.number) or not 0 < given < math.inf:
        raise InputError(f"the step of {name!r} is {given!r}; it must be a positive number")
    if kind == "integer" and float(given) != round(float(given)):
        raise InputError(f"the step of {name!r} is {given!r}; a whole number needs a whole step")
    return float(given)


def _pair(name: str, what: str, given: Sequence[float] | None) -> tuple[float, float]:
    """Return (low, high) as floats, or say what is wrong with them."""
    if given is None:
        raise InputError(
            f"{name!r} is a number and needs a {what} (low, high); use ActionSpace.from_frame to infer it"
        )
    try:
        low, high = (float(v) for v in given)
    except (TypeError, ValueError):
        raise InputError(f"the {what} of {name!r} is {given!r}; give two numbers (low, high)") from None
    if not (math.isfinite(high - low) and low <= high):
        raise InputError(f"the {what} of {name!r} is {given!r}; give two finite numbers, the lower one first")
    return low, high

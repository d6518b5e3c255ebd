"""A person's row as it comes from a form or from JSON, checked value by value so that each error names its field."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from reap._errors import InputError, unknown
from reap._typing import Array
from reap.space import ActionSpace, Feature
from reap.space.expressions import Expression

#: Beyond this no feature of a person lies, and sums of squares stay finite.
_LARGEST = 1e12


class FieldError(InputError):
    """Values that cannot be used, by field: what was given and what is allowed."""

    def __init__(self, fields: Mapping[str, str]) -> None:
        self.fields = dict(fields)
        super().__init__("; ".join(self.fields.values()))


def read(space: ActionSpace, given: Mapping[str, Any]) -> Array:
    """Return a subject as a vector (d,), from one value a feature.

    Examples
    --------
    >>> import pandas as pd
    >>> space = ActionSpace.from_frame(pd.DataFrame({"age": [20, 70], "job": ["a", "b"]}))
    >>> read(space, {"age": "45", "job": "b"})
    array([0.5, 1. ])
    >>> read(space, {"age": "old", "job": "c"})
    Traceback (most recent call last):
    reap.service.rows.FieldError: 'age' is “old”; give a whole number; there is no level of 'job' 'c'. There are: a, b
    """
    wrong: dict[str, str] = {}
    values: dict[str, Any] = {}
    for name in given:
        if name not in space.names:
            wrong[str(name)] = str(unknown("feature", name, space.names))
    for feature in space.features:
        if feature.derived is not None and given.get(feature.name) in (None, ""):
            continue
        try:
            values[feature.name] = value(feature, given.get(feature.name))
        except InputError as error:
            wrong[feature.name] = str(error)
    if wrong:
        raise FieldError(wrong)
    for feature in space.features:
        if feature.name not in values:
            values[feature.name] = _derived(feature, values)
    try:
        return space.vector(_columns(space, values))
    except InputError as error:
        named = next((name for name in space.names if repr(name) in str(error)), "subject")
        raise FieldError({named: str(error)}) from None


def value(feature: Feature, given: Any) -> Any:
    """Return one value in the feature's own type, from JSON or from the text of a form."""
    if given is None or given == "":
        if feature.missing:
            return None
        raise InputError(f"{feature.name!r} is missing; {allowed(feature)}")
    if feature.is_number:
        return _number(feature, given)
    for level in feature.levels:
        if given == level and isinstance(given, bool) == isinstance(level, bool):
            return level
    for level in feature.levels:  # forms send text
        if isinstance(given, str) and given.strip().casefold() == str(level).casefold():
            return level
    raise unknown(f"level of {feature.name!r}", given, feature.levels)


def allowed(feature: Feature) -> str:
    """Return what may be given for a feature, in a phrase."""
    if not feature.is_number:
        return f"give one of {', '.join(map(str, feature.levels))}"
    what = "a whole number" if feature.kind == "integer" else "a number"
    if feature.bounds is None:
        return f"give {what}" + (f" of {feature.unit}" if feature.unit else "")
    low, high = feature.bounds
    return f"give {what} from {feature.show(low, unit=False)} to {feature.show(high)}"


def bound(feature: Feature, given: Any) -> Any:
    """Return the least or greatest value that a person wishes for, in the feature's own type."""
    if feature.is_number:
        return _finite(feature, given)
    if feature.kind == "categorical":
        raise InputError(f"{feature.name!r} has no order; exclude levels instead of setting a least or most")
    return value(feature, given)


def _number(feature: Feature, given: Any) -> float | int:
    number = _finite(feature, given)
    if feature.bounds is not None and not feature.bounds[0] <= number <= feature.bounds[1]:
        raise InputError(f"{feature.name!r} is {feature.show(number, unit=False)}; {allowed(feature)}")
    if feature.kind == "integer":
        if not number.is_integer():
            raise InputError(f"{feature.name!r} is {number:g}; {allowed(feature)}")
        return int(number)
    return number


def _finite(feature: Feature, given: Any) -> float:
    try:
        if isinstance(given, bool) or not isinstance(given, int | float | str):
            raise ValueError
        number = float(given.replace(",", "").strip() if isinstance(given, str) else given)
        if not math.isfinite(number) or abs(number) > _LARGEST:
            raise ValueError
    except (ValueError, OverflowError):
        shown = given if isinstance(given, str) else repr(given)
        raise InputError(f"{feature.name!r} is “{shown[:40]}”; {allowed(feature)}") from None
    return number


def _derived(feature: Feature, values: Mapping[str, Any]) -> float:
    known = {name: np.array([v], dtype=float) for name, v in values.items() if isinstance(v, int | float)}
    formula: Any = Expression(feature.derived) if isinstance(feature.derived, str) else feature.derived
    try:
        return float(np.asarray(formula(known)).ravel()[0])
    except (KeyError, TypeError, ValueError, ZeroDivisionError):
        raise FieldError({feature.name: f"{feature.name!r} is missing; {allowed(feature)}"}) from None


def _columns(space: ActionSpace, values: Mapping[str, Any]) -> dict[str, Any]:
    row: dict[str, Any] = {}
    for feature in space.features:
        if feature.columns:
            for column, level in zip(feature.columns, feature.levels, strict=True):
                row[column] = float(values[feature.name] == level)
        else:
            row[feature.name] = values[feature.name]
    return row

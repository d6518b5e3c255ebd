"""A person's row as it comes from a form or from JSON, checked value by value so that each error names its field."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from reap import language
from reap._errors import InputError, unknown
from reap._typing import Array
from reap.language import _
from reap.space import ActionSpace, Feature
from reap.space.rules import Expression

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
    reap.service.rows.FieldError: age: “old” is not a number; give a whole number; there is no level of 'job' 'c'. There are: a, b
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
        return space.vector(space.encoding.row(values))
    except InputError as error:
        named = next((name for name in space.names if repr(name) in str(error)), "subject")
        raise FieldError({named: str(error)}) from None


def value(feature: Feature, given: Any) -> Any:
    """Return one value in the feature's own type, from JSON or from the text of a form."""
    if given is None or given == "":
        if feature.missing:
            return None
        raise InputError(
            _("{label} is missing; {allowed}").format(label=feature.label, allowed=allowed(feature))
        )
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
        return _("give one of {levels}").format(levels=", ".join(map(feature.show, feature.levels)))
    whole = feature.kind == "integer"
    if feature.bounds is None:
        return _("give a whole number") if whole else _("give a number")
    low, high = feature.bounds
    said = _("give a whole number from {low} to {high}") if whole else _("give a number from {low} to {high}")
    return said.format(low=feature.show(low, unit=False), high=feature.show(high))


def wish(space: ActionSpace, feature: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return a wish in the feature's own values, without what was left empty."""
    about = space.feature(feature)
    read: dict[str, Any] = {}
    if given.get("fixed"):
        read["fixed"] = True
    for name in ("at_least", "at_most"):
        if given.get(name) not in (None, ""):
            read[name] = _bound(about, given[name])
    least, most = read.get("at_least"), read.get("at_most")
    if about.is_number and least is not None and most is not None and least > most:
        said = _("{label}: the first number, {least}, is above the second, {most}")
        raise InputError(said.format(label=about.label, least=about.show(least), most=about.show(most)))
    if given.get("exclude"):
        read["exclude"] = [value(about, level) for level in given["exclude"]]
    level = given.get("difficulty")
    if level not in (None, ""):
        read["difficulty"] = int(level) if str(level).isdecimal() else level
    return read


def _bound(feature: Feature, given: Any) -> Any:
    """Return the least or greatest value that a person wishes for, in the feature's own type."""
    if feature.is_number:
        return _finite(feature, given)
    if feature.kind == "categorical":
        raise InputError(
            _("{label} has no order; exclude levels instead of setting a least or most").format(
                label=feature.label
            )
        )
    return value(feature, given)


def _number(feature: Feature, given: Any) -> float | int:
    number = _finite(feature, given)
    if feature.bounds is not None and not feature.bounds[0] <= number <= feature.bounds[1]:
        raise _refused(feature, feature.show(number, unit=False))
    if feature.kind == "integer":
        if not number.is_integer():
            raise _refused(feature, language.localized(f"{number:g}"))
        return int(number)
    return number


def _refused(feature: Feature, shown: str) -> InputError:
    said = _("{label} is {value}; {allowed}")
    return InputError(said.format(label=feature.label, value=shown, allowed=allowed(feature)))


def _finite(feature: Feature, given: Any) -> float:
    """Return a number from JSON, or from what somebody typed, read by their language."""
    if isinstance(given, str):
        try:
            number = language.read_number(given[:60])
        except InputError as error:
            said = "{label}: {error}; {allowed}"
            raise InputError(
                said.format(label=feature.label, error=error, allowed=allowed(feature))
            ) from None
    elif isinstance(given, bool) or not isinstance(given, int | float):
        raise _refused(feature, language.quoted(f"{given!r:.40}"))
    else:
        try:
            number = float(given)
        except OverflowError:
            number = math.inf
    if not math.isfinite(number) or abs(number) > _LARGEST:
        raise _refused(feature, language.quoted(f"{given!s:.40}"))
    return number


def _derived(feature: Feature, values: Mapping[str, Any]) -> float:
    known: dict[str, Any] = {
        name: np.array([v], dtype=float) if isinstance(v, int | float) else v for name, v in values.items()
    }
    try:
        return float(np.asarray(Expression(feature.derived or "")(known)).ravel()[0])
    except (KeyError, TypeError, ValueError, ZeroDivisionError):
        said = _("{label} is missing; {allowed}").format(label=feature.label, allowed=allowed(feature))
        raise FieldError({feature.name: said}) from None

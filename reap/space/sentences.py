"""Rules read from plain sentences: "if job changes then income is at least 900"."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np

from reap._errors import InputError, unknown
from reap.space.expressions import Expression
from reap.space.feature import Feature
from reap.space.rules import Condition, Implication, Linear, Rule


def parse(text: str, features: Sequence[Feature]) -> list[Rule]:
    """Return the rules a sentence stands for (an equation stands for two).

    Examples
    --------
    >>> ages = [Feature("age", "integer", range=(18, 80)), Feature("years", "integer", range=(0, 50))]
    >>> parse("years <= age - 16", ages)[0].describe()
    'always years <= age - 16'
    """
    index = {feature.name: i for i, feature in enumerate(features)}
    sentence = " ".join(text.split())
    if match := re.fullmatch(r"if (.+?),? then (.+)", sentence, flags=re.IGNORECASE):
        when, then = (_condition(part, features, index) for part in match.groups())
        return [Implication(sentence, when, then)]
    sides = re.split(r"(<=|>=|==|=)", sentence)
    if len(sides) != 3:
        raise InputError(
            f"the rule {text!r} cannot be read; write 'a + 2 * b <= 5' or 'if a increases then b increases by at least 2'"
        )
    left, sign, right = sides
    weights, constant = Expression(f"({left}) - ({right})").coefficients()
    for name in weights:
        _linear_feature(name, features, index)
    pairs = tuple((index[name], weight) for name, weight in weights.items() if weight)
    if not pairs:
        raise InputError(f"the rule {text!r} says nothing about a feature; name one, as in 'a + 2 * b <= 5'")
    flipped = tuple((i, -weight) for i, weight in pairs)
    at_most, at_least = Linear(sentence, pairs, -constant), Linear(sentence, flipped, constant)
    return [at_most] if sign == "<=" else [at_least] if sign == ">=" else [at_most, at_least]


def _linear_feature(name: str, features: Sequence[Feature], index: Mapping[str, int]) -> None:
    if name not in index:
        raise unknown("feature", name, index)
    feature = features[index[name]]
    if not (feature.is_number or feature.kind == "binary"):
        raise InputError(
            f"{name!r} is {feature.kind}; a linear rule may only use numbers and binary features (as 0 and 1)"
        )
    _check_set(feature)


def _check_set(feature: Feature) -> None:
    """Refuse a rule on what nobody sets."""
    if feature.derived is not None:
        raise InputError(f"{feature.name!r} is derived; write the rule with the features it is computed from")
    if feature.clock is not None:
        raise InputError(
            f"{feature.name!r} is a clock and goes by itself; say how long an action takes by its pace"
        )


_VERBS = (
    (r"(?P<verb>changes|stays)", None),
    (r"(?P<verb>increases|decreases)( by at least (?P<value>.+))?", "amount"),
    (r"(?P<verb>is at least|is at most) (?P<value>.+)", "code"),
    (r"(?P<verb>is not|becomes|is) (?P<value>.+)", "code"),
)


def _condition(text: str, features: Sequence[Feature], index: Mapping[str, int]) -> Condition:
    for pattern, wants in _VERBS:
        match = re.fullmatch(rf"(?P<name>`[^`]+`|.+?) {pattern}", text.strip(), flags=re.IGNORECASE)
        if match is None:
            continue
        name = match["name"].strip("`'\" ")
        if name not in index:
            raise unknown("feature", name, index)
        feature, verb = features[index[name]], match["verb"].lower()
        _check_set(feature)
        if verb in ("increases", "decreases", "is at least", "is at most") and feature.kind == "categorical":
            raise InputError(
                f"{name!r} is categorical and cannot be said to be more or less; use 'changes', 'is' or 'becomes'"
            )
        given = match.groupdict().get("value")
        value = None if wants is None else _value(given, feature, wants)
        return Condition(index[name], feature, verb, value)
    raise InputError(
        f"the condition {text!r} cannot be read; write 'a changes', 'a stays', 'a increases by at least 2', "
        "'a is x', 'a is not x', 'a becomes x', 'a is at least 3' or 'a is at most 3'"
    )


def _value(given: str | None, feature: Feature, wants: str) -> float:
    if wants == "amount" and given is None:
        return 0.0
    text = str(given).strip("'\" ")
    if wants == "code" and not feature.is_number:
        for i, level in enumerate(feature.levels):
            if str(level) == text:
                return float(i)
        raise unknown(f"level of {feature.name!r}", text, feature.levels)
    try:
        number = float(text.replace(",", ""))
    except ValueError:
        number = np.nan
    if not np.isfinite(number):
        raise InputError(f"{text!r} in a rule on {feature.name!r} must be a number")
    return number

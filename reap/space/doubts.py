"""What to ask back: a number that nobody in the table has is more often a slip than a person."""

from __future__ import annotations

from typing import Any

from reap.language import _
from reap.space.feature import Feature
from reap.space.rules import SAME


def doubt(feature: Feature, value: Any) -> str | None:
    """Return the question to ask back about one value in units; None where it is within what was seen.

    Examples
    --------
    >>> doubt(Feature("age", "integer", range=(19, 75), label="Age", unit="years"), 150)
    'Age is 150 years? Usually it runs from 19 to 75 years.'
    """
    if feature.range is None or value is None or feature.derived is not None:
        return None
    low, high = feature.range
    slack = SAME * feature.scale
    if low - slack <= value <= high + slack:
        return None
    said = _("{label} is {value}? Usually it runs from {low} to {high}.")
    return said.format(
        label=feature.label,
        value=feature.show(value),
        low=feature.show(low, unit=False),
        high=feature.show(high),
    )

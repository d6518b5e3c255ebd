"""Values of a feature, compared plainly: for the judge of legality, which shares nothing with the library's own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from reap.space import Feature

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

"""What makes two spaces the same: a hash of all that gives vectors and rules their meaning."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Any

from reap.space.feature import Feature

#: What of a feature gives vectors and rules their meaning; the rest is words.
_MEANING = (
    *("name", "kind", "range", "span", "levels", "actionable", "direction", "bounds", "max_change", "step"),
    *("pace", "clock", "when", "missing", "derived", "forbidden"),
)


def digest(features: Sequence[Feature], *settings: Any) -> str:
    """Return a hash of features and of the space's other settings; words and dtypes are no part of it.

    Examples
    --------
    >>> plain, said = Feature("age", range=(18, 80)), Feature("age", range=(18, 80), label="Your age")
    >>> digest([plain]) == digest([said]), digest([plain]) == digest([Feature("age", range=(18, 90))])
    (True, False)
    """
    facts = [{key: _said(getattr(feature, key)) for key in _MEANING} for feature in features]
    return hashlib.sha256(json.dumps([facts, *settings]).encode()).hexdigest()


def _said(value: Any) -> Any:
    """Return a fact for the digest; a function by its name, since its address means nothing elsewhere."""
    if not callable(value):
        return value
    value = getattr(value, "func", value)  # functools.partial
    name = getattr(value, "__qualname__", type(value).__qualname__)
    return f"{getattr(value, '__module__', '')}:{name}"

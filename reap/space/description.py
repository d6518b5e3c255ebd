"""A feature in plain words, for a lender who reads the space back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from reap.language import _

if TYPE_CHECKING:
    from reap.space.feature import Feature


def describe(feature: Feature) -> str:
    """Return what a feature is and may do, in plain words."""
    if feature.derived is not None:
        formula = feature.derived if isinstance(feature.derived, str) else "a function of other features"
        return f"follows from the others: {formula}"
    parts = [_values(feature)]
    if feature.clock is not None:
        parts.append("goes by itself")
    elif not feature.actionable:
        parts.append("cannot change")
    elif feature.direction in ("up", "down"):
        parts.append("may only rise" if feature.direction == "up" else "may only fall")
    if feature.actionable and feature.max_change is not None:
        far = (
            feature.show(feature.max_change)
            if feature.is_number
            else f"{feature.max_change:g} level{'s' if feature.max_change != 1 else ''}"
        )
        parts.append(f"by at most {far}")
    if feature.actionable and feature.forbidden:
        parts.append("not " + ", ".join(f"{yes_no(a)} → {yes_no(b)}" for a, b in feature.forbidden))
    if feature.actionable and feature.pace is not None:
        parts.append(feature.pace_text)
    if feature.actionable and feature.when is not None:
        parts.append("chosen on the day of the application")
    if feature.missing:
        parts.append("may be missing")
    return "; ".join(parts)


def _values(feature: Feature) -> str:
    if not feature.is_number:
        shown = ", ".join(yes_no(level) for level in feature.levels[:6])
        more = f" and {len(feature.levels) - 6} more" if len(feature.levels) > 6 else ""
        return f"{'in this order: ' if feature.kind == 'ordinal' else 'one of '}{shown}{more}"
    low, high = feature.bounds or feature.range or (0.0, 0.0)
    what = "whole number" if feature.kind == "integer" else "number"
    step = f", in steps of {feature.step:,.10g}" if feature.step and feature.step != 1 else ""
    return f"{what}, {feature.show(low, unit=False)} to {feature.show(high)}{step}"


def yes_no(level: Any) -> str:
    """Return a level as people say it: true and false are yes and no."""
    if isinstance(level, bool | np.bool_):
        return _("yes") if level else _("no")
    return str(level)

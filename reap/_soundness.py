"""Whether a plan from a file could have been made by an engine: checked once, where the file is read."""

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from reap._errors import InputError

if TYPE_CHECKING:
    from reap.plan import Plan

#: Encoded values beyond this are nobody's, and their products overflow.
LARGEST = 1e100
#: What a plan may say beside its rows: the least and the most of each number, where there is one.
_NUMBERS = {
    "bound": (0.0, math.inf),
    "neighbors": (1, math.inf),
    "durability": (0.0, 1.0),
    "refits": (0, math.inf),
    "price": (-1.0, math.inf),
}


def checked(plan: Plan) -> Plan:
    """Return a plan, or refuse one whose rows are illegal, whose numbers are none, or that says "ok" and is not accepted."""
    wrong = _wrong(plan)
    if wrong is not None:
        raise InputError(f"the plan is damaged: {wrong}")
    return plan


def _wrong(plan: Any) -> str | None:
    """Return what is wrong with a plan, in half a sentence; None where nothing is."""
    path = plan.path
    if (unread := unreadable(plan)) is not None:
        return unread
    if plan.status == "ok":
        if not (math.isfinite(plan.effort) and plan.effort >= 0):
            return f"its effort is {plan.effort!r}"
        if not plan.valid:
            return "it says that it is accepted, and its score says otherwise"
        if len(path) < 2:
            return "it has no step"
    elif len(path) != 1:
        return f"its status is {plan.status!r}, and yet it has steps"
    if not plan.space.allows(path[:1], path[-1:]).all():
        return "the action space does not allow what it advises"
    return None


def unreadable(plan: Any) -> str | None:
    """Return which part of a plan is not what it should be by itself: a shape, a number, a word; None where all are."""
    path, scores, scale = plan.path, plan.scores, plan.scale
    shaped = path.ndim == 2 and scores.ndim == 1 and len(path) > 0
    if not shaped or path.shape != (len(scores), plan.space.dimension):
        return f"its path has shape {path.shape}, its scores {scores.shape}"
    if (np.abs(path) > LARGEST).any():
        return "a value of its path is infinite, or too large to reckon with"
    if not np.isfinite(scores).all() or not (0 < scale.spread < math.inf):
        return "a score, or the unit of scores, is not a finite number"
    if not (all(map(math.isfinite, scale.extent)) and scale.extent[0] < scale.extent[1]):
        return f"its scores are said to run from {scale.extent[0]} to {scale.extent[1]}"
    if scale.output == "probability" and ((scores < 0) | (scores > 1)).any():
        return "a probability is outside 0 to 1"
    for name, (least, most) in _NUMBERS.items():
        value = getattr(plan, name)
        if value is not None and (not number(value) or not least <= value <= most):
            return f"its {name} is {value!r}"
    if not isinstance(plan.note, str) or not isinstance(plan.along, bool):
        return "its note is no text, or 'along' is neither true nor false"
    if plan.confidence is not None and not all(
        v is None or number(v) for v in vars(plan.confidence).values()
    ):
        return "its confidence is no number"
    for cliff in plan.cliffs:
        if not (number(cliff.score_below) and number(cliff.score_above)):
            return "a score at a cliff is no number"
        if not all(isinstance(said, str) for said in (cliff.feature, cliff.label, cliff.below, cliff.above)):
            return "a cliff is not said in words"
    return None


def number(value: Any) -> bool:
    """Whether a value of a file is a finite number."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return abs(value) <= sys.float_info.max  # of a whole number of 400 digits isfinite is an OverflowError

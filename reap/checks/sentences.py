"""Does a change obey a rule? The sentence is read again, slowly and plainly, as in ``legality``."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from reap.checks.values import Row, missing, rank, same, tolerance
from reap.space import ActionSpace, Feature
from reap.space.expressions import Expression


def obeys(rule: str, space: ActionSpace, before: Row, after: Row) -> bool:
    """Return whether a change obeys a rule, a linear one or an implication; what is missing is held against nobody."""
    sentence = " ".join(rule.split())
    if match := re.fullmatch(r"if (.+?),? then (.+)", sentence, flags=re.IGNORECASE):
        when, then = match.groups()
        return not _true(when, space, before, after) or _true(then, space, before, after)
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

"""A question at a glance: what each option asks, feature by feature, in verbs and on one scale."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Literal

from reap.elicitation import Question
from reap.elicitation.question import takes
from reap.language import _
from reap.service.schemas import Cell, Compared
from reap.space import Change, Feature
from reap.space.words import sentences


def compared(question: Question) -> list[Compared]:
    """Return the rows of a question: a feature that some option changes and not all alike, then the time where it differs.

    What one deed brings is one row.
    """
    space = question.options[0].space
    own = [{c.feature: c for c in changes} for changes in question.apart]
    now = space.values(question.options[0].path[0])
    alike: dict[str, list[Feature]] = {}
    for feature in space.features:
        if any(feature.name in changes for changes in own):
            alike.setdefault(feature.deed or f"\0{feature.name}", []).append(feature)
    rows = []
    for feature, *others in alike.values():
        asked = [changes.get(feature.name) for changes in own]
        here = now[feature.name]
        seen = [here, *(change.after for change in asked if change)]
        cells = [_cell(feature, here, change, seen) for change in asked]
        cells = [
            _slow(cell, change, slow)
            for cell, change, slow in zip(cells, asked, question.slowest, strict=True)
        ]
        if others:
            names = [feature.name, *(other.name for other in others)]
            together = [[changes[name] for name in names if name in changes] for changes in own]
            cells = [_deed(cell, done) for cell, done in zip(cells, together, strict=True)]
        rows.append(Compared(label=feature.label, now=feature.show(here), cells=cells))
    if question.times[0]:
        cells = [
            Cell(text=ready, value=time, changes=True, mark="other", bar=None)
            for ready, time in zip(question.ready, question.times, strict=True)
        ]
        rows.append(Compared(label=_("When"), now="", cells=cells))
    return rows


def _slow(cell: Cell, change: Change | None, slowest: Mapping[str, int]) -> Cell:
    """Return a cell that says how long its change takes, where that must be said."""
    if change is None or change.feature not in slowest:
        return cell
    return cell.model_copy(update={"text": takes([change], slowest[change.feature])})


def _deed(cell: Cell, done: Sequence[Change]) -> Cell:
    """Return what one deed brings in several features, which have no common scale; ``cell`` where it is not done."""
    if not done:
        return cell.model_copy(update={"bar": None})
    (said,) = sentences(done, lambda _: "one")
    return Cell(text=said, value=done[0].after_text, changes=True, mark="other", bar=None)


def _cell(feature: Feature, now: object, change: Change | None, seen: Sequence[object]) -> Cell:
    if change is None:
        stays = _("{label}: {value}, as now").format(label=feature.label, value=feature.show(now))
        place = position(feature, now, seen)
        bar = None if place is None else (place, place)
        return Cell(text=stays, value=feature.show(now), changes=False, mark="same", bar=bar)
    ends = position(feature, change.before, seen), position(feature, change.after, seen)
    bar = None if ends[0] is None or ends[1] is None else (ends[0], ends[1])
    mark: Literal["up", "down", "other"] = (
        "other" if bar is None or bar[0] == bar[1] else "up" if bar[1] > bar[0] else "down"
    )
    return Cell(text=change.text, value=change.after_text, changes=True, mark=mark, bar=bar)


def position(feature: Feature, value: object, seen: Sequence[object] = ()) -> float | None:
    """Return where a value lies on the feature's scale, 0 to 100; None for categories, which have no order.

    The scale is wide enough for all values ``seen`` beside it, so that somebody far out sees their bar move too.

    Examples
    --------
    >>> position(Feature("months", "integer", range=(0, 40)), 10), position(Feature("job", "categorical", levels=("a", "b")), "a")
    (25.0, None)
    >>> position(Feature("cards", "integer", range=(0, 10)), 15, (15, 20))
    75.0
    """
    if value is None or feature.kind in ("categorical", "binary"):
        return None
    if feature.kind == "ordinal":
        return 100.0 * feature.levels.index(value) / max(len(feature.levels) - 1, 1)
    low, high = feature.span or feature.range or (0.0, 1.0)
    known = [float(other) for other in seen if isinstance(other, int | float) and isfinite(other)]
    low, high = min([low, *known]), max([high, *known])
    if not isinstance(value, int | float) or high <= low:
        return None
    return min(max(100.0 * (float(value) - low) / (high - low), 0.0), 100.0)

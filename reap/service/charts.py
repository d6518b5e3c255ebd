"""Charts as inline SVG: colours come from the style sheet, so they follow light and dark, and print."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from math import isfinite

from markupsafe import Markup

from reap.language import _, ngettext
from reap.scores import Scale
from reap.service.plan_schemas import ChangeOut, Hard, PlanOut

#: What a letter takes, and the least room between two words, in per cent of a chart on a screen of 320 pixels.
LETTER, GAP = 4.0, 3.0


def _svg(height: int, label: str, body: str) -> Markup:
    # Places along the width are percentages, so that bars stretch and words keep their size on a narrow screen.
    # Everything inside is built here from numbers and escaped words.
    return Markup(
        f'<svg class="chart" width="100%" height="{height}" role="img" aria-label="{escape(label)}">{body}</svg>'
    )


def _anchor(x: float) -> str:
    """Return how words at a place are aligned so that they stay within the chart."""
    return "start" if x < 20 else "end" if x > 80 else "middle"


def _text(x: float, y: float, words: str, kind: str = "") -> str:
    return f'<text x="{x:.2f}%" y="{y:g}" class="{kind}" text-anchor="{_anchor(x)}">{escape(words)}</text>'


def _extent(x: float, words: str) -> tuple[float, float]:
    """Return from where to where words reach, in per cent of the width of a chart on a narrow phone."""
    wide = LETTER * len(words)
    left = x - wide * {"start": 0.0, "middle": 0.5, "end": 1.0}[_anchor(x)]
    return left, left + wide


def _collide(one: tuple[float, float], other: tuple[float, float]) -> bool:
    return max(one[0], other[0]) - min(one[1], other[1]) < GAP


def _bar(x: float, y: float, width: float, height: float, kind: str) -> str:
    return f'<rect x="{x:.2f}%" y="{y:g}" width="{max(width, 0):.2f}%" height="{height:g}" rx="4" class="{kind}"/>'


def _line(x: float, top: float, bottom: float, kind: str) -> str:
    return f'<line x1="{x:.2f}%" x2="{x:.2f}%" y1="{top:g}" y2="{bottom:g}" class="{kind}"/>'


def track(scores: Sequence[float], scale: Scale) -> Markup:
    """Return a scale with the scores that are enough, and the score now and after each step."""
    low, high = scale.ends
    x, y = [3 + 94 * scale.place(score) for score in scores], 44
    left, right = 3 + 94 * scale.place(low), 3 + 94 * scale.place(high)
    words = [_("now {score}").format(score=scale.number(scores[0]))]
    if len(x) > 1:
        words.append(_("then {score}").format(score=scale.number(scores[-1])))
    near = len(x) > 1 and _collide(_extent(x[0], words[0]), _extent(x[-1], words[1]))
    body = _bar(3, y - 6, 94, 12, "track") + _bar(left, y - 6, right - left, 12, "good-zone")
    body += _bar(min(x[0], x[-1]), y - 6, abs(x[-1] - x[0]), 12, "travel")
    marks = [place for place, end in ((left, low), (right, high)) if isfinite(end)]
    for mark in marks:
        body += _line(mark, y - 16, y + 16, "need")
    needed = _("needed: {score}").format(score=scale.needed)
    body += _text(sum(marks) / len(marks), y - 24, needed, "small")
    for i, place in enumerate(x):
        end = i == len(x) - 1
        kind = "stop last" if i and end else "stop"
        body += f'<circle cx="{place:.2f}%" cy="{y}" r="{9 if i == 0 or end else 5}" class="{kind}"/>'
    body += _text(x[0], y + 34, words[0], "strong")
    if len(x) > 1:
        body += _text(x[-1], y + (56 if near else 34), words[1], "strong")
    label = _("Score, {unit}: {words}; {needed}") if scale.shown_unit else _("Score: {words}; {needed}")
    label = label.format(unit=scale.shown_unit, words=", ".join(words), needed=needed)
    return _svg(108 if near else 86, label, body)


def hardness(given: Hard) -> Markup:
    """Return how hard one change is for the person: a bar of one to five parts, and a mark at their average."""
    kind = "hard" if given.level > 3 else "easy" if given.level < 3 else "middle"
    body = _bar(0, 3, 100, 10, "track") + _bar(0, 3, 20 * given.level, 10, kind)
    label = f"{given.label}: {given.words}"
    return Markup(
        f'<svg class="chart mini" width="80" height="16" role="img" aria-label="{escape(label)}">{body}</svg>'
    )


def timeline(changes: Sequence[ChangeOut], months: int) -> Markup:
    """Return when each action is done, as bars that begin today; one that waits for the day of the application ends there.

    Labels are words of the page, not of a picture: a long one breaks.
    """
    rows = []
    for change in changes:
        if change.when == _("when you apply"):
            bar = _bar(97, 1, 3, 8, "travel")
        else:
            end = months if change.month is None else change.month
            bar = _bar(0, 1, max(100 * end / max(months, 1), 3), 8, "travel")
        drawn = _svg(10, f"{change.label}: {change.when}", _bar(0, 1, 100, 8, "track") + bar)
        rows.append(f"<li>{escape(change.label)}{drawn}</li>")
    until = ngettext("in {n} month", "in {n} months", months).format(n=months)
    rows.append(f'<li class="ends"><span>{escape(_("today"))}</span><span>{escape(until)}</span></li>')
    return Markup(f'<ul class="timeline" aria-label="{escape(_("When:"))}">{"".join(rows)}</ul>')


def share(count: int, whole: int) -> Markup:
    """Return a part of a whole as a bar."""
    body = _bar(0, 1, 100, 10, "track") + _bar(0, 1, 100 * count / max(whole, 1), 10, "travel")
    return _svg(12, f"{count} / {whole}", body)


def scores_of(plan: PlanOut) -> list[float]:
    """Return the scores along a plan: now, after each action or stage, at the end."""
    if plan.stages:
        return [plan.score_now, *(stage.score for stage in plan.stages)]
    return [plan.score_now, *{c.step: c.score for c in plan.changes if c.score is not None}.values()]

"""Charts as inline SVG: colours come from the style sheet, so they follow light and dark, and print."""

from __future__ import annotations

from html import escape
from math import isfinite

from markupsafe import Markup

from reap.language import _, ngettext
from reap.scores import Scale
from reap.service.schemas import Advice


def _svg(height: int, label: str, body: str) -> Markup:
    # Places along the width are percentages, so that bars stretch and words keep their size on a narrow screen.
    # Everything inside is built here from numbers and escaped words.
    return Markup(
        f'<svg class="chart" width="100%" height="{height}" role="img" aria-label="{escape(label)}">{body}</svg>'
    )


def _text(x: float, y: float, words: str, kind: str = "") -> str:
    """Words at a place, aligned so that they stay within the chart."""
    anchor = "start" if x < 20 else "end" if x > 80 else "middle"
    return f'<text x="{x:.2f}%" y="{y:g}" class="{kind}" text-anchor="{anchor}">{escape(words)}</text>'


def _bar(x: float, y: float, width: float, height: float, kind: str) -> str:
    return f'<rect x="{x:.2f}%" y="{y:g}" width="{max(width, 0):.2f}%" height="{height:g}" rx="4" class="{kind}"/>'


def _line(x: tuple[float, float], y: tuple[float, float], kind: str) -> str:
    return f'<line x1="{x[0]:.2f}%" x2="{x[1]:.2f}%" y1="{y[0]:g}" y2="{y[1]:g}" class="{kind}"/>'


def _dot(x: float, y: float, kind: str) -> str:
    return f'<circle cx="{x:.2f}%" cy="{y:g}" r="7" class="stop {kind}"/>'


def track(score: float, scale: Scale) -> Markup:
    """Return the scale of scores, with those that are enough, and the score now."""
    low, high = scale.ends
    x, y = 3 + 94 * scale.place(score), 44
    left, right = 3 + 94 * scale.place(low), 3 + 94 * scale.place(high)
    body = _bar(3, y - 6, 94, 12, "track") + _bar(left, y - 6, right - left, 12, "good-zone")
    marks = [place for place, end in ((left, low), (right, high)) if isfinite(end)]
    for mark in marks:
        body += _line((mark, mark), (y - 16, y + 16), "need")
    now = _("now {score}").format(score=scale.number(score))
    needed = _("needed: {score}").format(score=scale.needed)
    body += _text(sum(marks) / len(marks), y - 24, needed, "small")
    body += _dot(x, y, "now") + _text(x, y + 34, now, "strong")
    label = _("Score, {unit}: {words}; {needed}") if scale.shown_unit else _("Score: {words}; {needed}")
    return _svg(86, label.format(unit=scale.shown_unit, words=now, needed=needed), body)


def rise(plan: Advice, scale: Scale) -> Markup:
    """Return the score over time: now, and after each action that raises it; empty where there are no dates.

    Nothing but height and place says more than the words beside each action; the label says the same aloud.
    """
    marks = [(0, plan.score_now, _("today"))]
    marks += [(a.month, a.score, a.when) for a in plan.changes if a.score is not None and a.month is not None]
    if not plan.months or len(marks) < 2:
        return Markup("")
    low, high = scale.ends
    ends = [end for end in (low, high) if isfinite(end)]
    places = [scale.place(score) for score in (*ends, *(score for _month, score, _when in marks))]
    least, most = min(places), max(places)
    top, bottom = 30, 96

    def height(score: float) -> float:
        return bottom - (bottom - top) * (scale.place(score) - least) / ((most - least) or 1.0)

    across = [6 + 86 * month / plan.months for month, _score, _when in marks]
    body = ""
    for end in ends:
        body += _line((2, 98), (height(end), height(end)), "need")
    needed = _("needed: {score}").format(score=scale.needed)
    for i, (_month, score, _when) in enumerate(marks):
        after = across[i + 1] if i + 1 < len(across) else 98.0
        body += _line((across[i], after), (height(score), height(score)), "level")
        if i:
            body += _line((across[i], across[i]), (height(marks[i - 1][1]), height(score)), "level")
    for i, (x, (_month, score, _when)) in enumerate(zip(across, marks, strict=True)):
        crowded = 0 < i < len(across) - 1 and min(x - across[i - 1], across[i + 1] - x) < 14
        body += _dot(x, height(score), "last" if scale.enough(score) else "")
        if not crowded:
            body += _text(x, height(score) - 13, scale.number(score), "strong")
    until = ngettext("in {n} month", "in {n} months", plan.months).format(n=plan.months)
    body += _text(2, 122, _("today"), "small") + _text(98, 122, until, "small")
    said = "; ".join(f"{when}: {scale.number(score)}" for _month, score, when in marks)
    label = _("The score over time. {scores}; {needed}").format(scores=said, needed=needed)
    return _svg(128, label, body)


def share(count: int, whole: int) -> Markup:
    """Return a part of a whole as a bar."""
    body = _bar(0, 1, 100, 10, "track") + _bar(0, 1, 100 * count / max(whole, 1), 10, "travel")
    return _svg(12, f"{count} / {whole}", body)

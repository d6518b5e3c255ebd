"""Charts as inline SVG: colours come from the style sheet, so they follow light and dark, and print."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from markupsafe import Markup

from reap.service.schemas import Effort, Hard, PlanOut

_WIDTH = 600


def _svg(height: float, label: str, body: str, width: int = _WIDTH) -> Markup:
    # Everything inside is built here from numbers and escaped words.
    return Markup(
        f'<svg class="chart" viewBox="0 0 {width} {height:g}" role="img" aria-label="{escape(label)}" '
        f'xmlns="http://www.w3.org/2000/svg">{body}</svg>'
    )


def _text(x: float, y: float, words: str, kind: str = "", anchor: str = "start") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" class="{kind}" text-anchor="{anchor}">{escape(words)}</text>'


def _bar(x: float, y: float, width: float, height: float, kind: str) -> str:
    return f'<rect x="{x:.1f}" y="{y:.1f}" width="{max(width, 0):.1f}" height="{height:g}" rx="4" class="{kind}"/>'


def points(score: float, threshold: float) -> str:
    """Return a score out of 100, with as many decimals as it takes to tell it from the score needed.

    Examples
    --------
    >>> points(0.113, 0.5), points(0.5002, 0.5)
    ('11', '50.02')
    """
    for decimals in range(4):
        shown, needed = round(100 * score, decimals), round(100 * threshold, decimals)
        if (shown > needed) == (score > threshold) and (shown != needed or score == threshold):
            return f"{shown:.{decimals}f}"
    return f"{100 * score:.4f}"


def track(scores: Sequence[float], threshold: float) -> Markup:
    """Return a scale from 0 to 100 with the score needed, and the score now and after each step."""
    left, right, y = 16, _WIDTH - 16, 46
    span = right - left
    x = [left + span * s for s in scores]
    needed = left + span * threshold
    body = _bar(left, y - 6, span, 12, "track") + _bar(needed, y - 6, right - needed, 12, "good-zone")
    if len(x) > 1:
        body += _bar(min(x[0], x[-1]), y - 6, abs(x[-1] - x[0]), 12, "travel")
    body += f'<line x1="{needed:.1f}" x2="{needed:.1f}" y1="{y - 16}" y2="{y + 16}" class="need"/>'
    body += _text(needed, y - 24, f"needed: more than {100 * threshold:g}", "small", _anchor(needed))
    for i, place in enumerate(x):
        end = i == len(x) - 1
        kind = "stop last" if i and end else "stop"
        body += f'<circle cx="{place:.1f}" cy="{y}" r="{9 if i == 0 or end else 5}" class="{kind}"/>'
    body += _text(x[0], y + 36, f"now {points(scores[0], threshold)}", "strong", _anchor(x[0]))
    if len(x) > 1 and abs(x[-1] - x[0]) > 120:
        body += _text(x[-1], y + 36, f"after {points(scores[-1], threshold)}", "strong", _anchor(x[-1]))
    elif len(x) > 1:
        body += _text(x[-1], y + 58, f"after {points(scores[-1], threshold)}", "strong", _anchor(x[-1]))
    words = [f"Score now {points(scores[0], threshold)} out of 100, needed is more than {100 * threshold:g}"]
    if len(x) > 1:
        words.append(f"after the plan {points(scores[-1], threshold)}")
    tall = 112 if len(x) > 1 and abs(x[-1] - x[0]) <= 120 else 92
    return _svg(tall, ", ".join(words), body)


def _anchor(x: float) -> str:
    return "start" if x < 90 else "end" if x > _WIDTH - 110 else "middle"


def hardness(levels: Sequence[Hard]) -> Markup:
    """Return how hard each change is for the person, as bars around their average."""
    row, top, left = 44, 8, 8
    span = _WIDTH - 2 * left
    most = max([2.0, *(d.level for d in levels)])
    mark = left + span / most
    body = ""
    for i, d in enumerate(levels):
        y = top + i * row
        kind = "hard" if d.level > 1.25 else "easy" if d.level < 0.8 else "middle"
        body += _text(left, y + 14, d.label) + _text(_WIDTH - left, y + 14, d.words, "small", "end")
        body += _bar(left, y + 22, span, 10, "track") + _bar(left, y + 22, span * d.level / most, 10, kind)
    height = top + row * len(levels)
    body += f'<line x1="{mark:.1f}" x2="{mark:.1f}" y1="{top + 18}" y2="{height - 8}" class="mean"/>'
    label = "How hard each change is for you: " + "; ".join(f"{d.label} {d.words}" for d in levels)
    return _svg(height, label, body)


def effort(given: Effort) -> Markup:
    """Return the effort of the plan beside that of the one-size-fits-all plan."""
    most = max(given.plan, given.everybody, 1e-12)
    width = 320
    body = ""
    bars = (("Your plan", given.plan, "travel"), ("One-size-fits-all plan", given.everybody, "middle"))
    for i, (name, cost, kind) in enumerate(bars):
        y = 18 + 50 * i
        body += _text(0, y, name) + _text(width, y, f"{cost / given.everybody:.0%}", "strong", "end")
        body += _bar(0, y + 8, width, 12, "track") + _bar(0, y + 8, width * cost / most, 12, kind)
    return _svg(96, f"Effort of your plan: {given.share:.0%} of the one-size-fits-all plan", body, width)


def days(counts: Sequence[tuple[str, int]]) -> Markup:
    """Return sessions a day as columns."""
    most = max([1, *(n for _, n in counts)])
    width = (_WIDTH - 16) / max(len(counts), 7)
    body = ""
    for i, (day, n) in enumerate(counts):
        tall = 110 * n / most
        body += _bar(8 + i * width + 3, 130 - tall, width - 6, tall, "travel")
        body += _text(8 + (i + 0.5) * width, 124 - tall, str(n), "small", "middle")
        if len(counts) <= 10 or i in (0, len(counts) - 1):
            body += _text(8 + (i + 0.5) * width, 150, day[5:], "small", "middle")
    label = "Sessions a day: " + "; ".join(f"{day} {n}" for day, n in counts)
    return _svg(160, label, body)


def scores_of(plan: PlanOut) -> list[float]:
    """Return the scores along a plan, from now on."""
    return [plan.score_now, *(step.score for step in plan.steps)]

"""Plans and decisions on paper: a list of parts, each ``(kind, text)``, and the PDF that it becomes."""

from __future__ import annotations

from functools import partial
from typing import Any

from starlette.responses import Response

from reap.language import _
from reap.service.plan_schemas import Chosen, PlanOut
from reap.service.schemas import State

Part = tuple[str, Any]
#: Characters that the fonts of every PDF reader lack.
_PLAIN = str.maketrans(
    {
        "“": '"',
        "”": '"',
        "„": '"',
        "’": "'",
        "‘": "'",
        "–": "-",
        "—": "-",
        "−": "-",
        "→": "->",
        "…": "...",
        "≤": "<=",
    }
    | {"\u202f": " ", "\u2009": " ", "•": "-", "€": "EUR"}
)
#: Millimetres on the left and right, and in front of what a list says.
_MARGIN, _INDENT = 20, 7


def plan(
    made: PlanOut,
    state: State,
    chosen: Chosen | None,
    scale: Any,
    shown: list[tuple[str, str]],
    ends: tuple[str, str, str, str],
) -> list[Part]:
    """Return a plan as it goes on one sheet, with all that the page on paper says.

    Parameters
    ----------
    made, state, chosen, scale
        The plan, the session, what was chosen of it, and the scale of scores.
    shown : list of (str, str)
        Where the person stands: labels and values.
    ends : tuple of str
        Who says it, the day, the link back, and until when it works.
    """
    name, today, link, until = ends
    parts: list[Part] = [("small", f"{name} · {today}"), ("heading", made.headline)]
    if made.status == "ok":
        said = _("Your score today is {now}, then {then}; needed is {needed}.")
        parts.append(
            (
                "text",
                said.format(now=scale.say(made.score_now), then=scale.say(made.score), needed=scale.needed),
            )
        )
        parts.append(("part", _("What to do")))
        done = [(c.text, " · ".join(filter(None, (c.when, c.brings)))) for c in made.changes]
        parts.append(("actions", done))
        if made.follows:
            parts.append(("text", f"{_('As a result:')} {'; '.join(made.follows)}."))
        sure = made.durability or _("Today’s model would accept it; that is not a promise.")
        fits = "" if made.confidence is None else made.confidence.text
        fits = f"{fits[:1].upper()}{fits[1:]}." if fits else ""
        said_too = (made.fragile, made.setback, *made.cliffs, sure, fits, made.money)
        parts += [("text", text) for text in said_too if text]
        if chosen is not None and chosen.honoured_until:
            said = _("It is honoured until {day} for this model ({model}).")
            parts.append(("text", said.format(day=chosen.honoured_until, model=chosen.model[:8])))
    parts.append(("part", _("Where you stand today")))
    parts.append(("small", "; ".join(f"{label}: {value}" for label, value in shown) + "."))
    if state.wishes:
        parts.append(("part", _("Your wishes")))
        parts.append(("list", [wish.text for wish in state.wishes]))
    parts.append(("small", _("Come back until {day}: {link}").format(day=until, link=link)))
    return parts


def file(parts: list[Part], name: str) -> Response:
    """Return parts as a PDF to keep."""
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(as_pdf(parts), media_type="application/pdf", headers=headers)


def as_pdf(parts: list[Part]) -> bytes:
    """Return parts as a PDF on A4 paper, in the fonts that every reader has; what those lack becomes a question mark."""
    from fpdf import FPDF

    paper = FPDF(format="A4")
    paper.set_auto_page_break(True, margin=18)
    paper.set_margins(_MARGIN, 18)
    paper.add_page()
    sizes = {"heading": (18, "B", 9), "part": (12, "B", 7), "small": (9, "", 4.5), "list": (10.5, "", 5.3)}
    for kind, text in parts:
        size, weight, line = sizes.get(kind, (10.5, "", 5.3))
        put = partial(_put, paper, size=size, line=line, weight=weight)
        if kind not in ("list", "actions"):
            put(text)
        for number, item in enumerate(text if kind in ("list", "actions") else (), 1):
            put(f"{number}.", stays=True)
            paper.set_left_margin(_MARGIN + _INDENT)  # the rest of an item stands under its first word
            paper.set_x(_MARGIN + _INDENT)
            if kind == "list":
                put(item)
            else:
                put(item[0], weight="B")
                put(item[1], size=9.5, line=5.8)
            paper.set_left_margin(_MARGIN)
            paper.set_x(_MARGIN)
        if kind == "heading":
            paper.set_draw_color(150)
            paper.line(_MARGIN, paper.get_y() + 1.5, paper.w - _MARGIN, paper.get_y() + 1.5)
            paper.ln(2)
        paper.ln(2)
    return bytes(paper.output())


def _put(paper: Any, said: str, *, size: float, line: float, weight: str, stays: bool = False) -> None:
    """Write a text, and go to the next line unless something stays beside it."""
    paper.set_font("helvetica", weight, size)
    if stays:
        paper.cell(_INDENT, line, plain(said))
    else:
        paper.multi_cell(0, line, plain(said), new_x="LMARGIN", new_y="NEXT", align="L")


def plain(text: str) -> str:
    """Return a text in the characters of the built-in fonts.

    Examples
    --------
    >>> plain("From “none” → 1,000 € for Łukasz")
    'From "none" -> 1,000 EUR for ?ukasz'
    """
    return text.translate(_PLAIN).encode("latin-1", "replace").decode("latin-1")

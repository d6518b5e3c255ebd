"""Plans and decisions on paper: a list of parts, each ``(kind, text)``, and the PDF that it becomes."""

from __future__ import annotations

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


def plan(made: PlanOut, state: State, chosen: Chosen | None, scale: Any, link: str, until: str) -> list[Part]:
    """Return a plan as it goes on one sheet."""
    parts: list[Part] = [("heading", made.headline)]
    if made.status == "ok":
        said = _("Your score today is {now}, then {then}; needed is {needed}.")
        parts.append(
            (
                "text",
                said.format(now=scale.say(made.score_now), then=scale.say(made.score), needed=scale.needed),
            )
        )
        parts.append(("part", _("What to do")))
        parts.append(("list", [" · ".join(filter(None, (c.text, c.when, c.brings))) for c in made.changes]))
        parts += [("text", text) for text in (made.setback, made.durability) if text]
        if chosen is not None and chosen.honoured_until:
            said = _("It is honoured until {day} for this model ({model}).")
            parts.append(("text", said.format(day=chosen.honoured_until, model=chosen.model[:8])))
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
    from fpdf.enums import XPos, YPos

    paper = FPDF(format="A4")
    paper.set_auto_page_break(True, margin=18)
    paper.set_margins(20, 18)
    paper.add_page()
    sizes = {"heading": (18, "B", 9), "part": (12, "B", 7), "small": (9, "", 4.5), "list": (10.5, "", 5.3)}
    for kind, text in parts:
        size, weight, line = sizes.get(kind, (10.5, "", 5.3))
        paper.set_font("helvetica", weight, size)
        items = [f"{i}. {item}" for i, item in enumerate(text, 1)] if kind == "list" else [text]
        for item in items:
            paper.multi_cell(0, line, plain(item), new_x=XPos.LMARGIN, new_y=YPos.NEXT, align="L")
        paper.ln(2)
    return bytes(paper.output())


def plain(text: str) -> str:
    """Return a text in the characters of the built-in fonts.

    Examples
    --------
    >>> plain("From “none” → 1,000 € for Łukasz")
    'From "none" -> 1,000 EUR for ?ukasz'
    """
    return text.translate(_PLAIN).encode("latin-1", "replace").decode("latin-1")

"""Plans and decisions on paper: a list of parts, each ``(kind, text)``, so that page, file and API say the same to the letter."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import partial
from typing import Any

from starlette.responses import Response

from reap import language
from reap.language import _
from reap.service import plans, views
from reap.service.desk import Desk, Live
from reap.service.render import as_sentence, download
from reap.service.settings import Brand

Part = tuple[str, Any]
#: Characters that the fonts of every PDF reader lack.
_PLAIN = str.maketrans(
    dict(zip("“”„’‘–—−•\u202f\u2009", '"""\'\'----  ', strict=True))
    | {"→": "->", "…": "...", "≤": "<=", "€": "EUR"}
)
#: Millimetres on the left and right, and in front of what a list says.
_MARGIN, _INDENT = 20, 7


def plan(desk: Desk, live: Live, ends: tuple[str, str, str]) -> list[Part]:
    """Return the plan as it goes on one sheet: the one chosen, or the one recommended.

    ``ends`` are who says it, the link back, and until when it works.
    """
    made, state = plans.taken(desk, live), views.state(desk, live)
    name, link, until = ends
    today = language.day(datetime.now(UTC).date())
    parts: list[Part] = [("small", f"{name} · {today}"), ("heading", made.headline)]
    if made.status == "ok":
        said = _("Your score today is {now}, then {then}; needed is {needed}.")
        parts.append(("text", made.stands))
        parts.append(("text", said.format(now=made.said_now, then=made.said, needed=made.needed)))
        parts.append(("part", _("What to do")))
        done = [(c.text, " · ".join(filter(None, (c.when, c.brings)))) for c in made.changes]
        parts.append(("actions", done))
        if made.follows:
            parts.append(("text", f"{_('As a result:')} {'; '.join(made.follows)}."))
        fit = as_sentence(made.fit) if made.fit else ""
        parts += [("text", text) for text in (*made.enough, *made.cautions, fit, made.money) if text]
    parts.append(("part", _("Where you stand today")))
    known = "; ".join(f"{label}: {value}" for label, value in views.shown(live.space, state.subject))
    parts.append(("small", f"{known}."))
    if state.wishes:
        parts.append(("part", _("Your wishes")))
        parts.append(("list", [wish.text for wish in state.wishes]))
    parts.append(("small", f"{_('Come back until {day}:').format(day=until)} {link}"))
    return parts


# the decision -------------------------------------------------------------------------------------------


def notice(desk: Desk, live: Live, brand: Brand) -> list[Part]:
    """Return the notice of this person's decision as it stands: who decided what, when, why, and what they may do about it.

    The form follows what 12 CFR 1002.9 asks of a notice of adverse action; see docs/compliance.md, which is not legal advice.
    """
    state, case = views.state(desk, live), live.case
    today = language.day(datetime.now(UTC).date())
    parts: list[Part] = []
    if state.accepted:
        parts.append(("heading", _("Decision: yes")))
        parts.append(("text", _("The computer would say yes to your application today.")))
    else:
        parts.append(("heading", _("Notice of a decision")))
    parts.append(("text", "\n".join(filter(None, (brand.creditor or brand.name, today)))))
    parts.append(("text", _("Subject: {title}").format(title=case.heading)))
    if not state.accepted:
        parts.append(
            ("text", _("After looking at your situation we cannot say yes to your application at present."))
        )
        said = _("Your score is {score}; needed is {needed}.")
        parts.append(("text", said.format(score=state.said, needed=state.needed)))
        reasons, of_traits = views.reasons(desk, live)
        parts.append(("part", _("Principal reasons, the most important first")))
        if reasons:
            parts.append(("list", [reason.text for reason in reasons]))
        else:
            parts.append(("text", _("We cannot say here which reasons counted most; please ask us.")))
        if of_traits:
            parts.append(("text", of_traits))
    parts.append(("part", _("What this rests on")))
    known = "; ".join(f"{label}: {value}" for label, value in views.shown(live.space, state.subject))
    parts.append(("small", f"{known}."))
    parts.append(("part", _("Your rights")))
    rights = [
        _("You may ask us to correct what is wrong above; the decision is then made again."),
        _(
            "You may ask a person to look at the decision, and say what you think of it, on the page you got this from."
        ),
        _("You may ask for the reasons in more detail, and for a copy of what we keep about you."),
        _(
            "A creditor may not refuse because of race, colour, religion, national origin, sex, marital status or age."
        ),
    ]
    parts.append(("list", rights))
    if brand.regulator:
        parts.append(
            ("text", _("The authority that oversees us: {authority}").format(authority=brand.regulator))
        )
    if brand.support:
        parts.append(("text", _("Whom to ask: {contact}").format(contact=brand.support)))
    made = _("Decided by the model {model} on the data {data}.")
    parts.append(("small", made.format(model=case.model[:12], data=case.data[:12])))
    return parts


# as a file --------------------------------------------------------------------------------------------


def file(parts: list[Part], name: str) -> Response:
    """Return parts as a PDF to keep."""
    return download(as_pdf(parts), "application/pdf", name)


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

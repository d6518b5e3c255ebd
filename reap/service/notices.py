"""The decision in writing: who decided what, when, for which reasons, and what the person may do about it.

A notice is a list of parts, each ``(kind, text)``, so that the page and the PDF say the same to the letter. The form follows
what 12 CFR 1002.9 asks of a notice of adverse action; see docs/compliance.md, which is not legal advice.
"""

from __future__ import annotations

from datetime import UTC, datetime

from pydantic import BaseModel

from reap import language
from reap.language import _
from reap.service import views
from reap.service.brand import Brand
from reap.service.desk import Desk
from reap.service.live import Live
from reap.service.papers import Part


class NoticePart(BaseModel):
    """One part of a notice: ``heading``, ``part`` (a heading within), ``text``, ``small`` or ``list``, with its lines."""

    kind: str
    lines: list[str]


class Notice(BaseModel):
    """The decision in writing, and the language it is in."""

    language: str
    parts: list[NoticePart]


def part(one: Part) -> NoticePart:
    """Return a part as the API gives it."""
    kind, said = one
    return NoticePart(kind=kind, lines=list(said) if kind == "list" else str(said).split("\n"))


def notice(desk: Desk, live: Live, brand: Brand) -> list[Part]:
    """Return the notice of this person's decision as it stands."""
    state, case = views.state(desk, live), desk.case
    today = language.day(datetime.now(UTC).date())
    parts: list[Part] = []
    if state.accepted:
        parts.append(("heading", _("Decision: yes")))
        parts.append(("text", _("By today’s model your application would be accepted.")))
    else:
        parts.append(("heading", _("Notice of a decision")))
    parts.append(("text", "\n".join(filter(None, (brand.creditor or brand.name, today)))))
    parts.append(("text", _("Subject: {title}").format(title=case.heading)))
    if not state.accepted:
        parts.append(
            ("text", _("After looking at your situation we cannot say yes to your application at present."))
        )
        parts.append(
            (
                "text",
                _("Your score is {score}; needed is {needed}.").format(
                    score=case.scale.say(state.score), needed=case.scale.needed
                ),
            )
        )
        reasons = views.reasons(desk, live)
        parts.append(("part", _("Principal reasons, the most important first")))
        if reasons:
            parts.append(("list", [reason.text for reason in reasons]))
            # What counted is a reason, lawful or not: left out, the notice would be false. But it must not go by unsaid.
            if traits := [reason.label for reason in reasons if reason.doubtful]:
                said = _(
                    "The law may forbid that this counts: {traits}. Ask us to have a person look at the decision."
                )
                parts.append(("text", said.format(traits=language.listed(traits))))
        else:
            parts.append(("text", _("The reasons cannot be stated by comparison; please ask us.")))
    parts.append(("part", _("What this rests on")))
    shown = [f"{f.label}: {f.show(state.subject[f.name])}" for f in desk.space.features]
    parts.append(("small", "; ".join(shown) + "."))
    parts.append(("part", _("Your rights")))
    parts.append(
        (
            "list",
            [
                _("You may ask us to correct what is wrong above; the decision is then made again."),
                _(
                    "You may ask a person to look at the decision, and say what you think of it, on the page you got this from."
                ),
                _("You may ask for the reasons in more detail, and for a copy of what we keep about you."),
                _(
                    "A creditor may not refuse because of race, colour, religion, national origin, sex, marital status or age."
                ),
            ],
        )
    )
    if brand.regulator:
        parts.append(
            ("text", _("The authority that oversees us: {authority}").format(authority=brand.regulator))
        )
    if brand.support:
        parts.append(("text", _("Whom to ask: {contact}").format(contact=brand.support)))
    parts.append(
        (
            "small",
            _("Decided by the model {model} on the data {data}.").format(
                model=case.model[:12], data=case.data[:12]
            ),
        )
    )
    return parts

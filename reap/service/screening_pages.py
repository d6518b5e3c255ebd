"""What could you change? One page before the first question, so that no question is about what is out of reach."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from reap._errors import InputError
from reap.elicitation.learned import WORDS
from reap.language import _
from reap.service import acts, views
from reap.service.access import D
from reap.service.desk import Desk
from reap.service.refusals import StaleError
from reap.service.render import Form, go, key_of, number, page, text, texts

router = APIRouter(include_in_schema=False)


@router.get("/s/{token}/changes")
def screening_page(request: Request, desk: D, token: str) -> Response:
    """What the person could realistically change, and how hard each would be."""
    return _screening(request, desk, token)


def _screening(
    request: Request, desk: Desk, token: str, status: int = 200, error: str = "", ticked: Any = None
) -> Response:
    with desk.open(token) as live:
        state = views.state(desk, live)
    said = state.screening
    features = [desk.space.feature(named.feature) for named in said.offered]
    return page(
        request,
        "screening.html",
        status,
        state=state,
        token=token,
        features=features,
        ticked=ticked or {name: said.difficulty.get(name) for name in said.changeable or ()},
        levels={level: _(words) for level, words in WORDS.items()},
        months=desk.space.horizon if desk.space.timed else 12,
        error=error,
        active="changes",
    )


@router.post("/s/{token}/changes")
def screen(request: Request, desk: D, token: str, form: Form) -> Response:
    """Note what could change; skipped, nothing is ruled out."""
    skipped = text(form, "skip") == "1"
    named = texts(form, "changeable")
    levels = {name: number(form, f"hard.{name}") for name in named if text(form, f"hard.{name}")}
    if not skipped and not named:
        error = _("Tick at least one thing that you could change, or skip this page.")
        return _screening(request, desk, token, 422, error)
    try:
        with desk.open(token, key=key_of(form)) as live:
            acts.screen(
                desk,
                live,
                None if skipped else named,
                None if skipped else levels,
                revision=number(form, "revision"),
                key=key_of(form),
            )
            on = live.session.ask() is not None
    except StaleError:
        return go(f"/s/{token}/changes", "stale")
    except InputError as error_:
        return _screening(request, desk, token, 422, str(error_), {n: levels.get(n) for n in named})
    return go(f"/s/{token}/questions" if on else f"/s/{token}/plan")

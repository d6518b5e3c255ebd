"""What a lender owes a person who was refused: the decision in writing, a human look, a second look later."""

from __future__ import annotations

from datetime import UTC, datetime

from fastapi import APIRouter, Request
from starlette.responses import Response

from reap import language
from reap._errors import InputError
from reap.service import choices, notices, papers, reviews, views
from reap.service.access import D
from reap.service.desk import Desk
from reap.service.refusals import StaleError
from reap.service.render import Form, go, key_of, page, text, texts

router = APIRouter(include_in_schema=False)


@router.get("/s/{token}/notice")
def notice_page(request: Request, desk: D, token: str) -> Response:
    """The decision and its reasons in writing."""
    with desk.open(token) as live:
        state = views.state(desk, live)
        made = notices.notice(desk, live, request.app.state.settings.brand)
    return page(request, "notice.html", token=token, state=state, notice=made, active="situation")


@router.get("/s/{token}/notice.pdf")
def notice_pdf(request: Request, desk: D, token: str) -> Response:
    """The same as a file."""
    with desk.open(token) as live:
        made = notices.notice(desk, live, request.app.state.settings.brand)
    return papers.file(made, "decision.pdf")


@router.get("/s/{token}/review")
def review_page(request: Request, desk: D, token: str) -> Response:
    """Ask a person to look at it."""
    return _review(request, desk, token)


def _review(
    request: Request, desk: Desk, token: str, status: int = 200, error: str = "", typed: str = ""
) -> Response:
    with desk.open(token) as live:
        known = reviews.review(live)
    return page(
        request,
        "review.html",
        status,
        token=token,
        waiting=known.waiting,
        since=known.since,
        answered=known.answers,
        longest=reviews.LONGEST,
        error=error,
        typed=typed,
        active="situation",
    )


@router.post("/s/{token}/review")
def review(request: Request, desk: D, token: str, form: Form) -> Response:
    """Store the request."""
    words = text(form, "words")
    try:
        with desk.open(token, key=key_of(form)) as live:
            reviews.ask(desk, live, words, key=key_of(form))
    except StaleError:  # sent again from a page of the past, with other words
        return go(f"/s/{token}/review", "stale")
    except InputError as error:
        return _review(request, desk, token, 422, str(error), words)
    return go(f"/s/{token}/review", "asked")


@router.get("/s/{token}/done")
def done_page(request: Request, desk: D, token: str) -> Response:
    """I have done this: what of the chosen plan is done."""
    return _done(request, desk, token)


def _done(request: Request, desk: Desk, token: str, status: int = 200, error: str = "") -> Response:
    with desk.open(token) as live:
        state, entry = views.state(desk, live), choices.last(live)
        asked = [] if entry is None else choices.asked(choices.plan_of(desk, entry))
    return page(
        request,
        "done.html",
        status,
        token=token,
        state=state,
        asked=asked,
        error=error,
        today=language.day(datetime.now(UTC).date()),
        active="plan",
    )


@router.post("/s/{token}/done")
def done(request: Request, desk: D, token: str, form: Form) -> Response:
    """Note what was done; the person stands where the plan led, and is scored again."""
    try:
        with desk.open(token, key=key_of(form)) as live:
            choices.report(desk, live, texts(form, "done"), key=key_of(form))
    except StaleError:
        return go(f"/s/{token}/done", "stale")
    except InputError as error:
        return _done(request, desk, token, 422, str(error))
    return go(f"/s/{token}", "reported")

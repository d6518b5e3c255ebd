"""The part of the API for what a lender owes: reasons, the decision in writing, a human look, a choice that is honoured."""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.responses import Response

from reap import language
from reap.service import choices, notices, papers, requests, reviews, schemas, views
from reap.service.access import D
from reap.service.api import OF_SESSION, sent
from reap.service.plan_schemas import Chosen

router = APIRouter(prefix="/api/v1")


@router.get("/sessions/{token}/reasons", responses=OF_SESSION)
def reasons(desk: D, token: str) -> list[schemas.Reason]:
    """The principal reasons of a refusal, most important first; none for somebody who is accepted."""
    with desk.open(token) as live:
        return views.reasons(desk, live)


@router.get("/sessions/{token}/notice", response_model=notices.Notice, responses=OF_SESSION)
def notice(request: Request, desk: D, token: str) -> Response:
    """The decision in writing, part by part, in the language asked for."""
    with desk.open(token) as live:
        parts = notices.notice(desk, live, request.app.state.settings.brand)
    return sent(notices.Notice(language=language.current(), parts=[notices.part(one) for one in parts]))


@router.get("/sessions/{token}/notice.pdf", responses=OF_SESSION, response_class=Response)
def notice_pdf(request: Request, desk: D, token: str) -> Response:
    """The decision in writing, on paper."""
    with desk.open(token) as live:
        parts = notices.notice(desk, live, request.app.state.settings.brand)
    return papers.file(parts, "decision.pdf")


@router.get("/sessions/{token}/choice", responses=OF_SESSION)
def chosen(desk: D, token: str) -> Chosen | None:
    """The plan that the person chose last, and until when it is honoured; null where none was chosen."""
    with desk.open(token) as live:
        return choices.chosen(desk, live)


@router.post("/sessions/{token}/choice", response_model=Chosen, responses=OF_SESSION)
def choose(desk: D, token: str, body: requests.Choice) -> Response:
    """Choose one of the plans on offer; where the operator promises it, it is honoured until a day."""
    with desk.open(token, key=body.key) as live:
        choices.choose(desk, live, body.plan, body.key)
        made = choices.chosen(desk, live)
        assert made is not None
        return sent(made)


@router.post("/sessions/{token}/done", response_model=schemas.State, responses=OF_SESSION)
def done(desk: D, token: str, body: requests.Done) -> Response:
    """Report what is done of the chosen plan; the person stands there now and is scored again."""
    with desk.open(token, key=body.key) as live:
        choices.report(desk, live, body.done, body.key)
        return sent(views.state(desk, live))


@router.get("/sessions/{token}/review", response_model=reviews.Review, responses=OF_SESSION)
def reviewed(desk: D, token: str) -> Response:
    """What the person asked a human to look at, and what was answered."""
    with desk.open(token) as live:
        return sent(reviews.review(live))


@router.post("/sessions/{token}/review", status_code=204, responses=OF_SESSION)
def review(desk: D, token: str, body: requests.Review) -> Response:
    """Ask a person to look at the decision."""
    with desk.open(token, key=body.key) as live:
        reviews.ask(desk, live, body.words, body.key)
    return Response(status_code=204)

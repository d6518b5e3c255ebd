"""The questions: options side by side, answers, undo, revision."""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.responses import Response

from reap._errors import InputError
from reap.service import acts, views
from reap.service.access import D
from reap.service.desk import Desk
from reap.service.refusals import StaleError
from reap.service.render import Form, go, key_of, number, page, text, texts

router = APIRouter(include_in_schema=False)


@router.get("/s/{token}/questions")
def question_page(request: Request, desk: D, token: str) -> Response:
    """The question to answer now; with none left, on to the plan."""
    return _question(request, desk, token)


def _question(request: Request, desk: Desk, token: str, status: int = 200, error: str = "") -> Response:
    with desk.open(token) as live:
        state = views.state(desk, live)
    changing = "change" in request.query_params
    return page(
        request,
        "question.html",
        status,
        state=state,
        token=token,
        error=error,
        changing=changing,
        active="questions",
    )


@router.post("/s/{token}/answer")
def answer(request: Request, desk: D, token: str, form: Form) -> Response:
    """Store the answer; sent twice, from two tabs or from a page of the past, it counts once or not at all."""
    here = f"/s/{token}/questions"
    given = text(form, "choice")
    try:
        with desk.open(token, key=key_of(form)) as live:
            acts.answer(
                desk,
                live,
                question=text(form, "question"),
                revision=number(form, "revision"),
                choice=int(given) if given in ("0", "1", "2", "3") else given,
                impossible=texts(form, "impossible"),
                key=key_of(form),
            )
            finished = live.session.ask() is None
    except StaleError:
        return go(here, "moved")
    except InputError as error:
        return _question(request, desk, token, 422, str(error))
    return go(f"/s/{token}/plan" if finished else here)


@router.post("/s/{token}/undo")
def undo(request: Request, desk: D, token: str, form: Form) -> Response:
    """Take back the last answer or wish."""
    here = f"/s/{token}/questions"
    try:
        with desk.open(token, key=key_of(form), undoing=True) as live:
            acts.undo(desk, live, revision=number(form, "revision"), key=key_of(form))
    except StaleError:
        return go(here, "stale")
    except InputError as error:
        return _question(request, desk, token, 422, str(error))
    return go(here, "undone")


@router.post("/s/{token}/revise")
def revise(request: Request, desk: D, token: str, form: Form) -> Response:
    """Change an earlier answer."""
    here = f"/s/{token}/questions"
    given = text(form, "choice")
    try:
        with desk.open(token, key=key_of(form)) as live:
            acts.revise(
                desk,
                live,
                position=number(form, "position"),
                revision=number(form, "revision"),
                choice=int(given) if given in ("0", "1", "2", "3") else given,
                key=key_of(form),
            )
    except StaleError:
        return go(here, "stale")
    except InputError as error:
        return _question(request, desk, token, 422, str(error))
    return go(here, "revised")

"""The pages around a session: start, situation, files, deletion."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request
from starlette.exceptions import HTTPException
from starlette.responses import Response

from reap import language
from reap._typing import Array
from reap.language import _
from reap.service import acts, api, choices, notes, reviews, rows, views
from reap.service.access import D, count_start, in_line
from reap.service.desk import Desk
from reap.service.duty_pages import router as duty_router
from reap.service.operator_pages import router as operator_router
from reap.service.plan_pages import router as plan_router
from reap.service.question_pages import router as question_router
from reap.service.refusals import StaleError
from reap.service.render import Form, error_page, go, key_of, number, page, text
from reap.service.screening_pages import router as screening_router
from reap.service.what_if_pages import router as what_if_router
from reap.service.wish_pages import router as wish_router
from reap.space import Feature

__all__ = ["error_page", "router"]
router = APIRouter(include_in_schema=False)


def _fields(desk: Desk) -> list[Feature]:
    return [f for f in desk.space.features if f.derived is None]


def _form_values(desk: Desk, form: Form) -> dict[str, str]:
    return {f.name: text(form, f"f.{f.name}") for f in _fields(desk)}


@router.get("/")
def start_page(request: Request, desk: D, example: Annotated[int | None, Query()] = None) -> Response:
    """Your situation: a form built from the action space, empty or filled with an example applicant."""
    values: dict[str, Any] = {}
    examples = desk.case.examples
    if example is not None and 0 <= example < len(examples):
        values = desk.space.values(desk.space.vector(examples.iloc[[example]]))
    return _situation(request, desk, values, example=example)


def _situation(
    request: Request,
    desk: Desk,
    values: dict[str, Any],
    *,
    status: int = 200,
    wrong: dict[str, str] | None = None,
    example: int | None = None,
    token: str | None = None,
    revision: int = 0,
    doubts: Sequence[str] = (),
    given: frozenset[str] = frozenset(),
) -> Response:
    fields = [f for f in _fields(desk) if f.name not in given]
    free, fixed = [f for f in fields if f.is_action], [f for f in fields if not f.is_action]
    return page(
        request,
        "situation.html",
        status,
        fields=fields,
        groups=[(_("What may change"), free), (_("About you"), fixed)]
        if free and fixed
        else [(_("About you"), fields)],
        given=[(f.label, f.show(values[f.name])) for f in desk.space.features if f.name in given],
        doubts=doubts,
        values=values,
        wrong=wrong or {},
        examples=min(len(desk.case.examples), 6),
        example=example,
        token=token,
        about=desk.space.meaning.said("about"),
        revision=revision,
        open_start=request.app.state.settings.open_start,
        active="situation",
    )


@router.post("/start", dependencies=[Depends(in_line)])
def start(request: Request, desk: D, form: Form) -> Response:
    """Start a session from the form."""
    if not request.app.state.settings.open_start:
        raise HTTPException(
            403, _("Sessions are started by your adviser. Please use the link you were sent.")
        )
    count_start(request)
    values = _form_values(desk, form)
    try:
        z = rows.read(desk.space, values)
    except rows.FieldError as error:
        return _situation(request, desk, values, status=422, wrong=error.fields)
    if (doubts := _doubts(desk, z)) and text(form, "sure") != "1":
        return _situation(request, desk, values, status=422, doubts=doubts)
    return go(f"/s/{desk.start(z)}")


def _doubts(desk: Desk, z: Array) -> list[str]:
    """Return what to ask back: values that nobody in the table has."""
    return desk.space.doubts(desk.space.decode(z[None]))


@router.get("/s/{token}")
def overview(request: Request, desk: D, token: str) -> Response:
    """The decision, the score, and what comes next."""
    with desk.open(token) as live:
        notes.returned(desk, live)
        state = views.state(desk, live)
        found = [] if state.accepted else views.reasons(desk, live)
        picked, said = choices.chosen(desk, live), reviews.answers(live)
    shown = [(f.label, f.show(state.subject[f.name])) for f in desk.space.features]
    return page(
        request,
        "overview.html",
        state=state,
        token=token,
        shown=shown,
        reasons=found,
        traits=[reason.label for reason in found if reason.doubtful],
        chosen=picked,
        answered=said,
        active="situation",
    )


@router.get("/s/{token}/situation")
def changed_page(request: Request, desk: D, token: str) -> Response:
    """My situation has changed: the same form, filled with what we know."""
    with desk.open(token) as live:
        state, given = views.state(desk, live), live.given
    return _situation(request, desk, state.subject, token=token, revision=state.revision, given=given)


@router.post("/s/{token}/situation")
def changed(request: Request, desk: D, token: str, form: Form) -> Response:
    """Go on from where the person is now; what the operator vouches for stays as it is, whatever a form says."""
    with desk.open(token, key=key_of(form)) as live:
        known = desk.space.values(live.session.here)
        values = {**_form_values(desk, form), **{name: known[name] for name in live.given}}
        again: Any = {"token": token, "revision": live.revision, "given": live.given}
        try:
            z = rows.read(desk.space, values)
            if (doubts := _doubts(desk, z)) and text(form, "sure") != "1":
                return _situation(request, desk, values, status=422, doubts=doubts, **again)
            acts.replan(desk, live, z, revision=number(form, "revision"), key=key_of(form))
        except rows.FieldError as error:
            return _situation(request, desk, values, status=422, wrong=error.fields, **again)
        except StaleError:
            return go(f"/s/{token}/situation", "stale")
    return go(f"/s/{token}", "welcome")


@router.get("/s/{token}/session.json")
def json_file(request: Request, desk: D, token: str) -> Response:
    """Everything that is stored, to keep."""
    return api.export(request, desk, token)


@router.get("/s/{token}/answers.csv")
def csv_file(desk: D, token: str) -> Response:
    """The answers as a table."""
    return api.export_csv(desk, token)


@router.get("/s/{token}/delete")
def delete_page(request: Request, desk: D, token: str) -> Response:
    """Ask before everything is deleted; where the law demands that it is kept, say until when."""
    kept = desk.row(token)
    held = desk.held_until(kept)
    return page(
        request,
        "delete.html",
        token=token,
        started=language.day(date.fromisoformat(kept.created[:10])),
        held=None if held is None else language.day(held),
        active="",
    )


@router.post("/s/{token}/delete")
def delete(request: Request, desk: D, token: str, form: Form) -> Response:
    """Delete everything."""
    desk.delete(token)
    return page(request, "deleted.html", active="")


@router.get("/brand.css")
def brand_styles(request: Request) -> Response:
    """The operator's colours."""
    return Response(request.app.state.settings.brand.styles, media_type="text/css")


@router.get("/brand/logo")
def brand_logo(request: Request) -> Response:
    """The operator's logo."""
    content, kind = request.app.state.settings.brand.read_logo()
    return Response(content, media_type=kind, headers={"Content-Security-Policy": "sandbox"})


for part in (
    wish_router,
    screening_router,
    question_router,
    plan_router,
    what_if_router,
    duty_router,
    operator_router,
):
    router.include_router(part)

"""The JSON API, version 1: sessions."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request
from pydantic import BaseModel
from starlette.responses import Response

from reap.language import _
from reap.service import acts, exports, plan_views, requests, rows, schemas, views, wishes
from reap.service.access import D, given_key, in_line, knows_key, may_start
from reap.service.desk import Desk
from reap.service.live import Live
from reap.service.log import Entry
from reap.service.plan_schemas import PlanOut

FAULTS: dict[int | str, dict[str, Any]] = {
    code: {"model": schemas.Fault, "description": text}
    for code, text in {
        400: "The body cannot be read.",
        413: "The body is too large.",
        422: "Bad input: the field and what is allowed.",
        429: "Too many requests.",
        503: "Not now: the database cannot be reached, or it took too long; `stored` says what became of the request.",
    }.items()
}
OF_SESSION: dict[int | str, dict[str, Any]] = {
    **FAULTS,
    404: {
        "model": schemas.Fault,
        "description": "No such session: unknown, expired, deleted or somebody else's.",
    },
    409: {"model": schemas.Fault, "description": "The session has moved on; its state is in the answer."},
}
router = APIRouter(prefix="/api/v1")


RevisionQuery = Annotated[
    int | None, Query(ge=0, le=10**6, description="Refuse where the session has moved on.")
]
KeyQuery = Annotated[str | None, Query(pattern=requests.KEY)]


@router.get("/schema", responses=FAULTS)
def schema(desk: D) -> schemas.Schema:
    """The features of a row, what each may be, and which model decides."""
    return views.schema(desk.case)


@router.post(
    "/sessions",
    response_model=schemas.Started,
    status_code=201,
    responses=FAULTS,
    dependencies=[Depends(may_start), Depends(in_line)],
)
def start(request: Request, desk: D, body: requests.Start) -> Response:
    """Start a session with the subject's row; send the person the link."""
    z = rows.read(desk.space, body.subject)
    token = desk.start(
        z,
        questions=body.questions,
        options=body.options,
        seed=body.seed,
        given=body.given,
    )
    base = request.app.state.settings.public_url.rstrip("/") or str(request.base_url).rstrip("/")
    with desk.open(token) as live:
        made = schemas.Started(token=token, link=f"{base}/s/{token}", state=views.state(desk, live))
        return sent(made, 201)


@router.get("/sessions/{token}", response_model=schemas.State, responses=OF_SESSION)
def state(desk: D, token: str) -> Response:
    """The session as it stands, with the question to answer."""
    with desk.open(token) as live:
        return sent(views.state(desk, live))


@router.post("/sessions/{token}/answers", response_model=schemas.Stored, responses=OF_SESSION)
def answer(desk: D, token: str, body: requests.Answer) -> Response:
    """Answer the question. The same key again gives the same stored answer; a stale revision gives 409."""
    with desk.open(token, key=body.key) as live:
        entry = acts.answer(desk, live, **body.model_dump())
        return sent(_stored(desk, live, entry))


@router.delete("/sessions/{token}/answers/last", response_model=schemas.State, responses=OF_SESSION)
def undo(desk: D, token: str, revision: RevisionQuery = None, key: KeyQuery = None) -> Response:
    """Take back the last answer or wish; the state before it is restored exactly."""
    with desk.open(token, key=key, undoing=True) as live:
        acts.undo(desk, live, revision=revision, key=key)
        return sent(views.state(desk, live))


@router.put("/sessions/{token}/answers/{position}", response_model=schemas.State, responses=OF_SESSION)
def revise(desk: D, token: str, position: int, body: requests.Revised) -> Response:
    """Give another answer to an earlier question, by its position from 0; later answers stay."""
    with desk.open(token, key=body.key) as live:
        acts.revise(desk, live, position=position, **body.model_dump())
        return sent(views.state(desk, live))


@router.post("/sessions/{token}/screening", response_model=schemas.State, responses=OF_SESSION)
def screen(desk: D, token: str, body: requests.Screening) -> Response:
    """Say before the first question what could change at all; what is not named stays as it is."""
    with desk.open(token, key=body.key) as live:
        acts.screen(desk, live, **body.model_dump())
        return sent(views.state(desk, live))


@router.post("/sessions/{token}/constraints", response_model=schemas.State, responses=OF_SESSION)
def constrain(desk: D, token: str, body: requests.Constraint) -> Response:
    """Wish something about one feature: keep it, bound it, exclude levels, say how hard changing it is."""
    with desk.open(token, key=body.key) as live:
        wish = wishes.read(desk.space, body.feature, body.model_dump())
        acts.constrain(desk, live, body.feature, wish, revision=body.revision, key=body.key)
        return sent(views.state(desk, live))


@router.delete(
    "/sessions/{token}/constraints/{feature:path}", response_model=schemas.State, responses=OF_SESSION
)
def release(
    desk: D, token: str, feature: str, revision: RevisionQuery = None, key: KeyQuery = None
) -> Response:
    """Take back every limit on one feature."""
    with desk.open(token, key=key) as live:
        acts.release(desk, live, feature, revision=revision, key=key)
        return sent(views.state(desk, live))


@router.post("/sessions/{token}/situation", response_model=schemas.State, responses=OF_SESSION)
def replan(request: Request, desk: D, token: str, body: requests.Situation) -> Response:
    """Say where the person is now; the session goes on from there with all that was learnt.

    What was `given` at the start changes only with the admin key.
    """
    z = rows.read(desk.space, body.subject)
    with desk.open(token, key=body.key) as live:
        before, after = desk.space.values(live.session.here), desk.space.values(z)
        moved = [name for name in sorted(live.given) if before[name] != after[name]]
        if moved and not (given_key(request) and knows_key(request, given_key(request))):
            said = _("{label} comes from our own records; ask a person to look at it if it is wrong")
            raise rows.FieldError({name: said.format(label=desk.space.feature(name).label) for name in moved})
        acts.replan(desk, live, z, revision=body.revision, key=body.key)
        return sent(views.state(desk, live))


@router.post("/sessions/{token}/score", response_model=schemas.Score, responses=OF_SESSION)
def score(desk: D, token: str, body: requests.WhatIf) -> Response:
    """What if: the model's score of a row, rounded to whole points. Only the number of trials is stored."""
    z = rows.read(desk.space, body.subject)
    with desk.open(token) as live:
        return sent(views.trial(desk, live, z))


@router.get("/sessions/{token}/plan", response_model=PlanOut, responses=OF_SESSION)
def plan(desk: D, token: str) -> Response:
    """The plan that suits the person best, as far as is known now; at any time."""
    with desk.open(token) as live:
        return sent(plan_views.plan(desk, live))


@router.get("/sessions/{token}/export", responses=OF_SESSION, response_class=Response)
def export(request: Request, desk: D, token: str) -> Response:
    """All that was said and shown, as JSON, scores in whole points.

    With the admin key: the log to the byte, which `reap.service.exports.load` brings back to the same plan.
    """
    kept, entries = desk.log(token)
    exact = bool(given_key(request)) and knows_key(request, given_key(request))
    made = exports.as_json(kept, entries) if exact else exports.as_copy(kept, entries)
    return download(made, "application/json", "reap-session.json")


@router.get("/sessions/{token}/export.csv", responses=OF_SESSION, response_class=Response)
def export_csv(desk: D, token: str) -> Response:
    """The answers as CSV, one row each."""
    _, entries = desk.log(token)
    return download(exports.as_csv(entries), "text/csv; charset=utf-8", "reap-answers.csv")


@router.delete("/sessions/{token}", status_code=204, responses=OF_SESSION)
def delete(desk: D, token: str) -> Response:
    """Delete everything that is stored about the person."""
    desk.delete(token)
    return Response(status_code=204)


def _stored(desk: Desk, live: Live, entry: Entry) -> schemas.Stored:
    said = entry.payload
    return schemas.Stored(
        revision=entry.revision,
        question=said.get("question", ""),
        choice=said.get("choice", ""),
        impossible=said.get("impossible", []),
        at=entry.created,
        state=views.state(desk, live),
    )


def sent(made: BaseModel, status: int = 200) -> Response:
    """Return a model as the answer; left to the framework, it is checked again first, in one more thread."""
    return Response(made.model_dump_json(), status, media_type="application/json")


def download(text: str, kind: str, name: str) -> Response:
    """Return a file to keep."""
    return Response(text, media_type=kind, headers={"Content-Disposition": f'attachment; filename="{name}"'})

"""Where a person stands: the start, the decision with its reasons, a new situation, their files, deletion."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request
from starlette.exceptions import HTTPException
from starlette.responses import Response

from reap import language
from reap._typing import Array
from reap.elicitation import Event
from reap.language import _
from reap.service import acts, exports, plans, reviews, rows, schemas, views
from reap.service.desk import Desk, Live
from reap.service.guards import D, count_start, in_line, knows_key, may_start
from reap.service.render import Form, download, go, key_of, link, number, page, sent, text
from reap.service.schemas import FAULTS, OF_SESSION
from reap.space import ActionSpace
from reap.space.table import doubtful
from reap.space.words import lowered

api = APIRouter(prefix="/api/v1")
pages = APIRouter(include_in_schema=False)
#: Somebody who was away for so long comes back.
AWAY = timedelta(minutes=30)
#: Fields on one page of the start; a form that is longer comes in parts.
_TOGETHER = 6


def moved(desk: Desk, live: Live, z: Array, by_lender: bool) -> None:
    """Refuse a new situation (d,) that changes what the operator vouches for, unless the operator says it."""
    before, after = live.space.values(live.session.here), live.space.values(z)
    wrong = [name for name in sorted(live.given) if before[name] != after[name]]
    if wrong and not by_lender:
        said = _("{label} comes from our own records; ask a person to look at it if it is wrong")
        raise rows.FieldError({name: said.format(label=live.space.feature(name).label) for name in wrong})


# the API ------------------------------------------------------------------------------------------------


@api.get("/schema", responses=FAULTS)
def schema(desk: D) -> schemas.Schema:
    """The features of a row, what each may be, and which model decides."""
    return views.schema(desk.case)


@api.post(
    "/sessions",
    response_model=schemas.Started,
    status_code=201,
    responses=FAULTS,
    dependencies=[Depends(may_start), Depends(in_line)],
)
def start(request: Request, desk: D, body: schemas.Start) -> Response:
    """Start a session with the subject's row; send the person the link."""
    token = desk.start(rows.read(desk.space, body.subject), **body.model_dump(exclude={"subject"}))
    with desk.open(token) as live:
        return sent(
            schemas.Started(token=token, link=link(request, token), state=views.state(desk, live)), 201
        )


@api.get("/sessions/{token}", response_model=schemas.State, responses=OF_SESSION)
def state(desk: D, token: str) -> Response:
    """The session as it stands, with the question to answer."""
    with desk.open(token) as live:
        return sent(views.state(desk, live))


@api.post("/sessions/{token}/situation", response_model=schemas.State, responses=OF_SESSION)
def replan(request: Request, desk: D, token: str, body: schemas.Situation) -> Response:
    """Say where the person is now; the session goes on from there with all that was learnt.

    What was `given` at the start changes only with the admin key.
    """
    with desk.open(token) as live:
        z = rows.read(live.space, body.subject)
        moved(desk, live, z, by_lender=knows_key(request))
        acts.replan(desk, live, z, revision=body.revision, key=body.key)
        return sent(views.state(desk, live))


@api.get("/sessions/{token}/reasons", responses=OF_SESSION)
def reasons(desk: D, token: str) -> list[schemas.RefusalReason]:
    """The principal reasons of a refusal, most important first; none for somebody who is accepted."""
    with desk.open(token) as live:
        return views.reasons(desk, live)[0]


@api.get("/sessions/{token}/export", responses=OF_SESSION, response_class=Response)
def export(request: Request, desk: D, token: str) -> Response:
    """All that was said and shown, as JSON, scores in whole points.

    With the admin key: the log to the byte, which `reap.service.exports.load` brings back to the same plan.
    """
    kept, entries = desk.log(token)
    made = (exports.as_json if knows_key(request) else exports.as_copy)(kept, entries)
    return download(made, "application/json", "reap-session.json")


@api.get("/sessions/{token}/export.csv", responses=OF_SESSION, response_class=Response)
def export_csv(desk: D, token: str) -> Response:
    """The answers as CSV, one row each."""
    made = exports.as_csv(desk.log(token)[1])
    return download(made, "text/csv; charset=utf-8", "reap-answers.csv")


pages.add_api_route("/s/{token}/session.json", export)
pages.add_api_route("/s/{token}/answers.csv", export_csv)


@api.delete("/sessions/{token}", status_code=204, responses=OF_SESSION)
def delete(desk: D, token: str) -> Response:
    """Delete everything that is stored about the person."""
    desk.delete(token)
    return Response(status_code=204)


# the pages ----------------------------------------------------------------------------------------------


@pages.get("/")
def start_page(request: Request, desk: D, example: Annotated[int | None, Query()] = None) -> Response:
    """What this is, and a form built from the action space, empty or filled with an example applicant."""
    values, examples = dict[str, Any](), desk.case.examples
    if example is not None and 0 <= example < len(examples):
        values = desk.space.values(desk.space.vector(examples.iloc[[example]]))
    return _form(request, desk, values, example=example)


def _form(
    request: Request,
    desk: Desk,
    values: dict[str, Any],
    *,
    status: int = 200,
    wrong: dict[str, str] | None = None,
    doubts: Sequence[str] = (),
    example: int | None = None,
    token: str | None = None,
    live: Live | None = None,
) -> Response:
    given = frozenset[str]() if live is None else live.given
    space = desk.space if live is None else live.space
    fields = [f for f in space.features if f.derived is None and f.name not in given]
    free, fixed = [f for f in fields if f.is_action], [f for f in fields if not f.is_action]
    groups = (
        [(_("What may change"), free), (_("About you"), fixed)]
        if free and fixed
        else [(_("About you"), fields)]
    )
    parts = [
        (heading, group[i : i + _TOGETHER])
        for heading, group in groups
        for i in range(0, len(group), _TOGETHER)
    ]
    return page(
        request,
        "situation.html",
        status,
        parts=parts,
        given=[(f.label, f.show(values[f.name])) for f in space.features if f.name in given],
        doubts=doubts,
        values=values,
        wrong=wrong or {},
        examples=_examples(desk),
        example=example,
        token=token,
        about=space.meaning.said("about"),
        questions=desk.settings.questions,
        revision=0 if live is None else live.revision,
        settings=desk.settings,
        active="situation",
    )


def _examples(desk: Desk) -> list[str]:
    """Return what tells the first examples apart: what they ask for, else what they could change."""
    some = desk.case.examples.iloc[:6]
    traits = doubtful(desk.space.features)
    kinds = [f for f in desk.space.features if f not in traits and some[f.name].nunique() > 1]
    told = sorted(kinds, key=lambda f: (f.when != "application", not f.is_action, not f.is_number))[:2]
    rows = [desk.space.values(z) for z in desk.space.encode(some)] if len(some) else []
    return [", ".join(f"{lowered(f.label)} {f.show(row[f.name])}" for f in told) for row in rows]


def _read(
    space: ActionSpace, form: Form, known: dict[str, Any]
) -> tuple[dict[str, Any], Array | None, dict[str, Any]]:
    """Return what a form holds, the row (d,) where it can be used as it is, and what else to say beside the form."""
    own = [f.name for f in space.features if f.derived is None]
    values = {**{name: text(form, f"f.{name}") for name in own}, **known}
    try:
        z = rows.read(space, values)
    except rows.FieldError as error:
        return values, None, {"wrong": error.fields}
    doubts = space.doubts(space.decode(z[None]))  # values that nobody in the table has
    return (values, None, {"doubts": doubts}) if doubts and text(form, "sure") != "1" else (values, z, {})


@pages.post("/start", dependencies=[Depends(in_line)])
def started(request: Request, desk: D, form: Form) -> Response:
    """Start a session from the form."""
    if not desk.settings.open_start:
        raise HTTPException(
            403, _("Sessions are started by your adviser. Please use the link you were sent.")
        )
    count_start(request)
    values, z, wrong = _read(desk.space, form, {})
    return _form(request, desk, values, status=422, **wrong) if z is None else go(f"/s/{desk.start(z)}")


@pages.get("/s/{token}")
def overview(request: Request, desk: D, token: str) -> Response:
    """The decision, the score, and what comes next."""
    with desk.open(token) as live:
        if datetime.now(UTC) - live.entries[-1].time > AWAY:
            desk.append(live, Event("returned", {}))
        state = views.state(desk, live)
        found, of_traits = views.reasons(desk, live)
        picked, said = plans.chosen(desk, live), reviews.answers(live)
    return page(
        request,
        "overview.html",
        state=state,
        token=token,
        shown=views.shown(live.space, state.subject),
        reasons=found,
        scale=live.case.scale,
        of_traits=of_traits,
        chosen=picked,
        answered=said,
        active="situation",
    )


@pages.get("/s/{token}/situation")
def changed_page(request: Request, desk: D, token: str) -> Response:
    """My situation has changed: the same form, filled with what we know."""
    with desk.open(token) as live:
        return _form(request, desk, live.space.values(live.session.here), token=token, live=live)


@pages.post("/s/{token}/situation")
def changed(request: Request, desk: D, token: str, form: Form) -> Response:
    """Go on from where the person is now; what the operator vouches for stays as it is, whatever a form says."""
    with desk.open(token) as live:
        known = live.space.values(live.session.here)
        values, z, wrong = _read(live.space, form, {name: known[name] for name in live.given})
        if z is None:
            return _form(request, desk, values, status=422, token=token, live=live, **wrong)
        acts.replan(desk, live, z, revision=number(form, "revision"), key=key_of(form))
    return go(f"/s/{token}", "welcome")


@pages.get("/s/{token}/delete")
def delete_page(request: Request, desk: D, token: str) -> Response:
    """Ask before everything is deleted; where the law demands that it is kept, say until when."""
    kept = desk.row(token)
    held, begun = desk.held_until(kept), date.fromisoformat(kept.created[:10])
    until = None if held is None else language.day(held)
    return page(request, "delete.html", token=token, started=language.day(begun), held=until, active="")


@pages.post("/s/{token}/delete")
def deleted(request: Request, desk: D, token: str, form: Form) -> Response:
    """Delete everything."""
    desk.delete(token)
    return page(request, "deleted.html", active="")


@pages.get("/brand.css")
def brand_styles(request: Request) -> Response:
    """The operator's colours."""
    return Response(request.app.state.settings.brand.styles, media_type="text/css")


@pages.get("/brand/logo")
def brand_logo(request: Request) -> Response:
    """The operator's logo."""
    content, kind = request.app.state.settings.brand.read_logo()
    return Response(content, media_type=kind, headers={"Content-Security-Policy": "sandbox"})

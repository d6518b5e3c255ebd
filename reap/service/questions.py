"""What a person says: what could change at all, which of two is easier, what they cannot do; each undone and revised at will."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from reap._errors import InputError
from reap.elicitation.learned import WORDS
from reap.language import _
from reap.service import acts, rows, schemas, views
from reap.service.desk import Desk, Live, MissingError
from reap.service.guards import D
from reap.service.render import Form, go, key_of, number, page, sent, text, texts
from reap.service.schemas import OF_SESSION

api = APIRouter(prefix="/api/v1/sessions/{token}")
pages = APIRouter(prefix="/s/{token}", include_in_schema=False)

Revision = Annotated[int | None, Query(ge=0, le=10**6, description="Refuse where the session has moved on.")]
Key = Annotated[str | None, Query(pattern=schemas.KEY)]


# the API ------------------------------------------------------------------------------------------------


@api.post("/answers", response_model=schemas.Stored, responses=OF_SESSION)
def answer(desk: D, token: str, body: schemas.AnswerRequest) -> Response:
    """Answer the question. The same key again gives the same stored answer; a stale revision gives 409."""
    with desk.open(token) as live:
        entry = acts.answer(desk, live, **body.model_dump())
        said = {"question": "", "choice": "", "impossible": [], **entry.payload}
        return sent(
            schemas.Stored(
                revision=entry.revision,
                **{name: said[name] for name in ("question", "choice", "impossible")},
                at=entry.created,
                state=views.state(desk, live),
            )
        )


@api.delete("/answers/last", response_model=schemas.State, responses=OF_SESSION)
def undo(desk: D, token: str, revision: Revision = None, key: Key = None) -> Response:
    """Take back the last answer or wish; the state before it is restored exactly."""
    with desk.open(token, undoing=True) as live:
        acts.undo(desk, live, revision=revision, key=key)
        return sent(views.state(desk, live))


@api.put("/answers/{position}", response_model=schemas.State, responses=OF_SESSION)
def revise(desk: D, token: str, position: int, body: schemas.Revised) -> Response:
    """Give another answer to an earlier question, by its position from 0; later answers stay."""
    with desk.open(token) as live:
        acts.revise(desk, live, position=position, **body.model_dump())
        return sent(views.state(desk, live))


@api.post("/screening", response_model=schemas.State, responses=OF_SESSION)
def screen(desk: D, token: str, body: schemas.ScreeningRequest) -> Response:
    """Say before the first question what could change at all; what is not named stays as it is."""
    with desk.open(token) as live:
        acts.screen(desk, live, **body.model_dump())
        return sent(views.state(desk, live))


@api.post("/constraints", response_model=schemas.State, responses=OF_SESSION)
def constrain(desk: D, token: str, body: schemas.Constraint) -> Response:
    """Wish something about one feature: keep it, bound it, exclude levels, say how hard changing it is."""
    with desk.open(token) as live:
        wish = rows.wish(live.space, body.feature, body.model_dump())
        acts.constrain(desk, live, body.feature, wish, revision=body.revision, key=body.key)
        return sent(views.state(desk, live))


@api.delete("/constraints/{feature:path}", response_model=schemas.State, responses=OF_SESSION)
def release(desk: D, token: str, feature: str, revision: Revision = None, key: Key = None) -> Response:
    """Take back every limit on one feature."""
    with desk.open(token) as live:
        acts.release(desk, live, feature, revision=revision, key=key)
        return sent(views.state(desk, live))


# what could change --------------------------------------------------------------------------------------


@pages.get("/changes")
def screening_page(request: Request, desk: D, token: str) -> Response:
    """What the person could realistically change, and how hard each would be."""
    return _screening(request, desk, token)


def _screening(
    request: Request, desk: Desk, token: str, status: int = 200, error: str = "", ticked: Any = None
) -> Response:
    with desk.open(token) as live:
        state = views.state(desk, live)
    said = state.screening
    return page(
        request,
        "screening.html",
        status,
        state=state,
        token=token,
        features=[live.space.feature(named.feature) for named in said.offered],
        ticked=ticked or {name: said.difficulty.get(name) for name in said.changeable or ()},
        levels={level: _(words) for level, words in WORDS.items()},
        months=live.space.horizon if live.space.timed else 12,
        error=error,
        active="changes",
    )


@pages.post("/changes")
def screened(request: Request, desk: D, token: str, form: Form) -> Response:
    """Note what could change; skipped, nothing is ruled out."""
    skipped, named = text(form, "skip") == "1", texts(form, "changeable")
    levels = {name: number(form, f"hard.{name}") for name in named if text(form, f"hard.{name}")}
    if not skipped and not named:
        error = _("Tick at least one thing that you could change, or skip this page.")
        return _screening(request, desk, token, 422, error)
    said = (None, None) if skipped else (named, levels)
    try:
        with desk.open(token) as live:
            acts.screen(desk, live, *said, revision=number(form, "revision"), key=key_of(form))
            where = _next(token, live)
    except InputError as refused:
        return _screening(request, desk, token, 422, str(refused), {name: levels.get(name) for name in named})
    return go(where)


# questions ----------------------------------------------------------------------------------------------


def _next(token: str, live: Live) -> str:
    """Return where a person goes on: to the next question, each at its own address, or to the plan."""
    asking = live.session.ask() is not None
    return f"/s/{token}/questions/{len(live.session.history) + 1}" if asking else f"/s/{token}/plan"


@pages.get("/questions")
def question_now(request: Request, desk: D, token: str) -> Response:
    """The question to answer now; with none left, why that is."""
    return _question(request, desk, token)


@pages.get("/questions/{place}")
def question_page(request: Request, desk: D, token: str, place: int) -> Response:
    """A question at its own address: the one to answer now, or an earlier one with what was answered."""
    return _question(request, desk, token, place=place)


def _question(
    request: Request, desk: Desk, token: str, status: int = 200, error: str = "", place: int | None = None
) -> Response:
    with desk.open(token) as live:
        state, history = views.state(desk, live), live.session.history
        past = place is not None and place <= len(history)
        if place is not None and not 0 < place <= len(history) + (state.question is not None):
            raise MissingError
        asked = views.asked(history[place - 1].question) if past and place else state.question
    return page(
        request,
        "question.html",
        status,
        state=state,
        token=token,
        q=asked,
        past=state.answers[place - 1] if past and place else None,
        said=state.answers[-1].dropped if state.answers and not past else "",
        error=error,
        changing="change" in request.query_params,
        active="questions",
    )


def _choice(form: Form) -> int | str:
    given = text(form, "choice")
    return int(given) if given in ("0", "1", "2", "3") else given


@pages.post("/answer")
def answered(request: Request, desk: D, token: str, form: Form) -> Response:
    """Store the answer; sent twice, from two tabs or from a page of the past, it counts once or not at all."""
    try:
        with desk.open(token) as live:
            acts.answer(
                desk,
                live,
                question=text(form, "question"),
                revision=number(form, "revision"),
                choice=_choice(form),
                impossible=texts(form, "impossible"),
                key=key_of(form),
            )
            where, dropped = _next(token, live), live.session.history[-1].dropped
    except InputError as error:
        return _question(request, desk, token, 422, str(error))
    return go(f"/s/{token}/questions" if dropped and where.endswith("/plan") else where)


@pages.post("/undo")
def undone(request: Request, desk: D, token: str, form: Form) -> Response:
    """Take back the last answer or wish."""
    try:
        with desk.open(token, undoing=True) as live:
            acts.undo(desk, live, revision=number(form, "revision"), key=key_of(form))
    except InputError as error:
        return _question(request, desk, token, 422, str(error))
    return go(f"/s/{token}/questions", "undone")


@pages.post("/revise")
def revised(request: Request, desk: D, token: str, form: Form) -> Response:
    """Change an earlier answer."""
    try:
        with desk.open(token) as live:
            place, revision = number(form, "position"), number(form, "revision")
            acts.revise(desk, live, position=place, revision=revision, choice=_choice(form), key=key_of(form))
    except InputError as error:
        return _question(request, desk, token, 422, str(error))
    return go(f"/s/{token}/questions", "revised")


# wishes -------------------------------------------------------------------------------------------------


@pages.get("/wishes")
def wishes_page(request: Request, desk: D, token: str) -> Response:
    """What the person can and cannot do, feature by feature."""
    return _wishes(request, desk, token)


def _wishes(
    request: Request,
    desk: Desk,
    token: str,
    status: int = 200,
    *,
    error: str = "",
    wrong: str = "",
    typed: dict[str, Any] | None = None,
) -> Response:
    with desk.open(token) as live:
        state, session = views.state(desk, live), live.session
        z, limits, difficulties = session.here, session.limits, dict(session.difficulties)
    changeable = [f for f in live.space.features if f.is_action]
    reachable = {f.name: live.space.legal.reachable(f.name, z) for f in changeable if not f.is_number}
    return page(
        request,
        "wishes.html",
        status,
        token=token,
        state=state,
        features=[f for f in changeable if f.is_number or len(reachable[f.name]) > 1],
        reachable=reachable,
        limits=limits,
        difficulties=difficulties,
        levels={level: _(words) for level, words in WORDS.items()},
        error=error,
        wrong=wrong,
        typed=typed or {},
        opened=request.query_params.get("feature", ""),
        active="changes",
    )


@pages.post("/wishes")
def wished(request: Request, desk: D, token: str, form: Form) -> Response:
    """Note the wishes for one feature; those that are emptied are taken back."""
    feature = text(form, "feature")
    said: dict[str, Any] = {name: text(form, name) for name in ("fixed", "at_least", "at_most", "difficulty")}
    said["exclude"] = texts(form, "exclude")
    try:
        with desk.open(token) as live:
            read = rows.wish(live.space, feature, said)
            acts.constrain(
                desk, live, feature, read, whole=True, revision=number(form, "revision"), key=key_of(form)
            )
    except InputError as error:
        return _wishes(request, desk, token, 422, error=str(error), wrong=feature, typed=said)
    limits = set(read) - {"difficulty"}
    return go(f"/s/{token}/wishes", "wished" if limits else "noted" if read else "lifted")


@pages.post("/release")
def released(request: Request, desk: D, token: str, form: Form) -> Response:
    """Lift a limit."""
    with desk.open(token) as live:
        feature, revision = text(form, "feature"), number(form, "revision")
        acts.release(desk, live, feature, revision=revision, key=key_of(form))
    return go(f"/s/{token}/{'plan' if text(form, 'back') == 'plan' else 'wishes'}", "lifted")

"""The plan and what can be done with it: choose, refuse, compare, print, report what is done; and the decision in writing."""

from __future__ import annotations

from datetime import date

from fastapi import APIRouter, Request
from starlette.responses import Response

from reap import language
from reap._errors import InputError
from reap.elicitation import Event
from reap.service import acts, papers, plans, reviews, schemas, views
from reap.service.desk import Desk, Live
from reap.service.guards import D
from reap.service.render import Form, go, key_of, link, number, page, sent, text, texts
from reap.service.schemas import OF_SESSION

api = APIRouter(prefix="/api/v1/sessions/{token}")
pages = APIRouter(prefix="/s/{token}", include_in_schema=False)


# the API ------------------------------------------------------------------------------------------------


@api.get("/plan", response_model=schemas.Advice, responses=OF_SESSION)
def plan(desk: D, token: str) -> Response:
    """The plan that suits the person best, as far as is known now; at any time."""
    with desk.open(token) as live:
        return sent(plans.advice(desk, live))


@api.get("/choice", responses=OF_SESSION)
def chosen(desk: D, token: str) -> schemas.Chosen | None:
    """The plan that the person chose last, and until when it is honoured; null where none was chosen."""
    with desk.open(token) as live:
        return plans.chosen(desk, live)


@api.post("/choice", response_model=schemas.Chosen, responses=OF_SESSION)
def choose(desk: D, token: str, body: schemas.ChoiceRequest) -> Response:
    """Choose one of the plans on offer; where the operator promises it, it is honoured until a day."""
    with desk.open(token) as live:
        plans.choose(desk, live, body.plan, body.key)
        made = plans.chosen(desk, live)
        assert made is not None
        return sent(made)


@api.post("/done", response_model=schemas.State, responses=OF_SESSION)
def done(desk: D, token: str, body: schemas.Done) -> Response:
    """Report what is done of the chosen plan; the person stands there now and is scored again."""
    with desk.open(token) as live:
        plans.report(desk, live, body.done, body.key)
        return sent(views.state(desk, live))


@api.get("/notice", response_model=schemas.Notice, responses=OF_SESSION)
def notice(request: Request, desk: D, token: str) -> Response:
    """The decision in writing, part by part, in the language asked for."""
    with desk.open(token) as live:
        parts = papers.notice(desk, live, desk.settings.brand)
    said = [{"kind": kind, "lines": list(s) if kind == "list" else str(s).split("\n")} for kind, s in parts]
    return sent(schemas.Notice(language=language.current(), parts=said))


@api.get("/notice.pdf", responses=OF_SESSION, response_class=Response)
def notice_pdf(request: Request, desk: D, token: str) -> Response:
    """The decision in writing, on paper."""
    with desk.open(token) as live:
        return papers.file(papers.notice(desk, live, desk.settings.brand), "decision.pdf")


pages.add_api_route("/notice.pdf", notice_pdf)


@api.get("/review", response_model=reviews.Review, responses=OF_SESSION)
def reviewed(desk: D, token: str) -> Response:
    """What the person asked a human to look at, and what was answered."""
    with desk.open(token) as live:
        return sent(reviews.review(live))


@api.post("/review", status_code=204, responses=OF_SESSION)
def review(desk: D, token: str, body: schemas.ReviewRequest) -> Response:
    """Ask a person to look at the decision."""
    with desk.open(token) as live:
        reviews.ask(desk, live, body.words, body.key)
    return Response(status_code=204)


# the plan -----------------------------------------------------------------------------------------------


@pages.get("/plan")
def plan_page(request: Request, desk: D, token: str) -> Response:
    """The plan, its actions, others to choose from, what we learnt."""
    with desk.open(token) as live:
        made, state, picked = plans.advice(desk, live), views.state(desk, live), plans.chosen(desk, live)
    return page(
        request,
        "plan.html",
        plan=made,
        state=state,
        token=token,
        link=link(request, token),
        chosen=picked,
        scale=live.case.scale,
        until=_until(live),
        active="plan",
    )


@pages.post("/choose")
def chose(request: Request, desk: D, token: str, form: Form) -> Response:
    """Choose one of the plans on offer."""
    with desk.open(token) as live:
        plans.choose(desk, live, text(form, "plan"), key=key_of(form))
    return go(f"/s/{token}/plan", "chosen")


@pages.post("/refuse")
def refused(request: Request, desk: D, token: str, form: Form) -> Response:
    """None of these: the plans on offer are set aside, and the questions go on."""
    key = key_of(form)
    with desk.open(token) as live:
        offered = plans.offered(desk, live)
        acts.refuse(desk, live, offered, revision=number(form, "revision"), key=key)
        asking = live.session.ask() is not None
    return go(f"/s/{token}/{'questions' if asking else 'plan'}", "refused")


def _until(live: Live) -> str:
    """Return until when the link works."""
    return language.day(date.fromisoformat(live.kept.expires[:10]))


@pages.get("/compare")
def compare(request: Request, desk: D, token: str) -> Response:
    """The plans on offer side by side."""
    with desk.open(token) as live:
        state, made = views.state(desk, live), plans.advice(desk, live)
    columns = [made, *made.others] if made.status == "ok" else made.others
    table = []
    for feature in live.space.features:
        now = feature.show(state.subject[feature.name])
        cells = [feature.show(column.target[feature.name]) for column in columns]
        if any(cell != now for cell in cells):
            table.append((feature.label, now, cells))
    return page(
        request, "compare.html", token=token, state=state, columns=columns, table=table, active="plan"
    )


# on paper -----------------------------------------------------------------------------------------------


@pages.get("/print")
def print_page(request: Request, desk: D, token: str) -> Response:
    """The plan on paper: the one chosen, or the one recommended."""
    return _on_paper(request, "print", "plan.pdf", token, _plan_parts(request, desk, token))


@pages.get("/plan.pdf")
def plan_pdf(request: Request, desk: D, token: str) -> Response:
    """The same as a file."""
    return papers.file(_plan_parts(request, desk, token), "plan.pdf")


@pages.get("/notice")
def notice_page(request: Request, desk: D, token: str) -> Response:
    """The decision and its reasons in writing."""
    with desk.open(token) as live:
        parts = papers.notice(desk, live, desk.settings.brand)
    return _on_paper(request, "notice", "notice.pdf", token, parts)


def _plan_parts(request: Request, desk: Desk, token: str) -> list[papers.Part]:
    """Return the plan as parts; that somebody took it with them is noted once for each plan."""
    with desk.open(token) as live:
        parts = papers.plan(
            desk, live, (desk.settings.brand.name or desk.case.heading, link(request, token), _until(live))
        )
        told = [e.type for e in reversed(live.entries) if e.type in ("printed", "recommended", "chosen")]
        if told[0] != "printed":
            desk.append(live, Event("printed", {}))
    return parts


def _on_paper(request: Request, kind: str, file: str, token: str, parts: list[papers.Part]) -> Response:
    active = "plan" if kind == "print" else "situation"
    return page(request, "paper.html", token=token, kind=kind, file=file, parts=parts, active=active)


# what is done, and a human look -------------------------------------------------------------------------


@pages.get("/done")
def done_page(request: Request, desk: D, token: str) -> Response:
    """I have done this: what of the chosen plan is done."""
    return _done(request, desk, token)


def _done(request: Request, desk: Desk, token: str, status: int = 200, error: str = "") -> Response:
    with desk.open(token) as live:
        state, entry = views.state(desk, live), plans.last(live)
    asked = [] if entry is None else plans.to_do(plans.plan_of(live, entry))
    return page(
        request, "done.html", status, token=token, state=state, asked=asked, error=error, active="plan"
    )


@pages.post("/done")
def reported(request: Request, desk: D, token: str, form: Form) -> Response:
    """Note what was done; the person stands where the plan led, and is scored again."""
    try:
        with desk.open(token) as live:
            plans.report(desk, live, texts(form, "done"), key=key_of(form))
    except InputError as error:
        return _done(request, desk, token, 422, str(error))
    return go(f"/s/{token}", "reported")


@pages.get("/review")
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
        known=known,
        longest=reviews.LONGEST,
        error=error,
        typed=typed,
        active="situation",
    )


@pages.post("/review")
def asked(request: Request, desk: D, token: str, form: Form) -> Response:
    """Store the request."""
    words = text(form, "words")
    try:
        with desk.open(token) as live:
            reviews.ask(desk, live, words, key=key_of(form))
    except InputError as error:
        return _review(request, desk, token, 422, str(error), words)
    return go(f"/s/{token}/review", "asked")

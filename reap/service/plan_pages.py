"""The plan and what can be done with it: choose, keep and compare, print."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from reap import language
from reap.language import _, ngettext
from reap.plan import Plan
from reap.service import acts, choices, notes, offers, papers, plan_views, schemas, views
from reap.service.access import D
from reap.service.desk import Desk
from reap.service.live import Live
from reap.service.refusals import StaleError
from reap.service.render import Form, go, key_of, number, page, text

router = APIRouter(include_in_schema=False)


def _link(request: Request, token: str) -> str:
    base = request.app.state.settings.public_url.rstrip("/") or str(request.base_url).rstrip("/")
    return f"{base}/s/{token}"


@router.get("/s/{token}/plan")
def plan_page(request: Request, desk: D, token: str) -> Response:
    """The plan, its changes, two others to choose from, what we learnt."""
    with desk.open(token) as live:
        plan, state = plan_views.plan(desk, live), views.state(desk, live)
        marks, chosen = len(notes.kept(live)), choices.chosen(desk, live)
    return page(
        request,
        "plan.html",
        plan=plan,
        state=state,
        token=token,
        link=_link(request, token),
        marks=marks,
        chosen=chosen,
        commitment=desk.settings.commitment_days,
        until=_until(state),
        active="plan",
    )


@router.post("/s/{token}/choose")
def choose(request: Request, desk: D, token: str, form: Form) -> Response:
    """Choose one of the plans on offer."""
    try:
        with desk.open(token, key=key_of(form)) as live:
            choices.choose(desk, live, text(form, "plan"), key=key_of(form))
    except StaleError:
        return go(f"/s/{token}/plan", "stale")
    return go(f"/s/{token}/plan", "chosen")


@router.post("/s/{token}/refuse")
def refuse(request: Request, desk: D, token: str, form: Form) -> Response:
    """None of these: the plans on offer are set aside, and the questions go on."""
    try:
        with desk.open(token, key=key_of(form)) as live:
            offered = offers.offered(desk, live)
            acts.refuse(desk, live, offered, revision=number(form, "revision"), key=key_of(form))
            asking = live.session.ask() is not None
    except StaleError:
        return go(f"/s/{token}/plan", "stale")
    return go(f"/s/{token}/questions" if asking else f"/s/{token}/plan", "refused")


def _until(state: schemas.State) -> str:
    return language.day(date.fromisoformat(state.expires[:10]))


@router.get("/s/{token}/print")
def print_page(request: Request, desk: D, token: str) -> Response:
    """The plan on paper: the one chosen, or the one recommended."""
    with desk.open(token) as live:
        plan, state = plan_views.taken(desk, live), views.state(desk, live)
        chosen = choices.chosen(desk, live)
        notes.printed(desk, live)
    return page(
        request,
        "print.html",
        plan=plan,
        state=state,
        token=token,
        link=_link(request, token),
        chosen=chosen,
        shown=[(f.label, f.show(state.subject[f.name])) for f in desk.space.features],
        until=_until(state),
        today=language.day(datetime.now(UTC).date()),
        active="plan",
    )


@router.get("/s/{token}/plan.pdf")
def plan_pdf(request: Request, desk: D, token: str) -> Response:
    """The same as a file."""
    with desk.open(token) as live:
        plan, state = plan_views.taken(desk, live), views.state(desk, live)
        chosen = choices.chosen(desk, live)
        notes.printed(desk, live)
    name, today = (
        request.app.state.settings.brand.name or desk.case.heading,
        language.day(datetime.now(UTC).date()),
    )
    shown = [(f.label, f.show(state.subject[f.name])) for f in desk.space.features]
    ends = name, today, _link(request, token), _until(state)
    content = papers.plan(plan, state, chosen, desk.case.scale, shown, ends)
    return papers.file(content, "plan.pdf")


# keep and compare --------------------------------------------------------------------------------------


@router.post("/s/{token}/bookmark")
def bookmark(request: Request, desk: D, token: str, form: Form) -> Response:
    """Keep this plan."""
    with desk.open(token, key=key_of(form)) as live:
        notes.keep(desk, live, key=key_of(form))
    return go(f"/s/{token}/compare", "kept")


@router.post("/s/{token}/unmark")
def unmark(request: Request, desk: D, token: str, form: Form) -> Response:
    """Forget a kept plan; one that is gone already is no error."""
    with desk.open(token) as live:
        notes.forget(desk, live, number(form, "kept"))
    return go(f"/s/{token}/compare")


@router.get("/s/{token}/compare")
def compare(request: Request, desk: D, token: str) -> Response:
    """Plans side by side: kept ones, today's, and the one-size-fits-all plan."""
    with desk.open(token) as live:
        state = views.state(desk, live)
        columns = _columns(desk, live)
    table = []
    for feature in desk.space.features:
        cells = [feature.show(column["target"][feature.name]) for column in columns]
        now = feature.show(state.subject[feature.name])
        if any(cell != now for cell in cells):
            table.append((feature.label, now, cells))
    return page(
        request, "compare.html", token=token, state=state, columns=columns, table=table, active="plan"
    )


def _columns(desk: Desk, live: Live) -> list[dict[str, Any]]:
    shown: list[tuple[str, Plan, int | None]] = [
        (
            ngettext("Kept after {n} answer", "Kept after {n} answers", entry.payload["answered"]).format(
                n=entry.payload["answered"]
            ),
            Plan.from_dict(entry.payload["plan"], desk.space),
            entry.revision,
        )
        for entry in notes.kept(live)
    ]
    shown += [
        (_("Your plan now"), desk.plan(live), None),
        (_("One size fits all"), offers.everybody(desk, live), None),
    ]
    shown = [item for item in shown if item[1].status == "ok"]
    efforts = [live.session.effort(plan) for _, plan, _ in shown]
    most = max(efforts, default=1.0) or 1.0
    return [
        {
            "name": name,
            "kept": kept,
            "target": desk.space.values(plan.path[-1]),
            "changes": len(plan.changes),
            "score": plan.score,
            "effort": effort / most,
        }
        for (name, plan, kept), effort in zip(shown, efforts, strict=True)
    ]

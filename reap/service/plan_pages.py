"""The plan and what can be done with it: what-if, keep and compare, print; and the operator's page."""

from __future__ import annotations

import base64
import binascii
from typing import Any

from fastapi import APIRouter, Request
from starlette.exceptions import HTTPException
from starlette.responses import Response

from reap._errors import InputError
from reap.plan import Plan
from reap.service import bookmarks, plan_views, rows, schemas, statistics, views
from reap.service.api import D, knows_key
from reap.service.desk import Desk, TrialsError
from reap.service.faults import NO_TRIALS
from reap.service.live import Live
from reap.service.render import Form, go, key_of, number, page
from reap.space import Feature
from reap.words import counted

router = APIRouter(include_in_schema=False)


def _link(request: Request, token: str) -> str:
    base = request.app.state.settings.public_url.rstrip("/") or str(request.base_url).rstrip("/")
    return f"{base}/s/{token}"


@router.get("/s/{token}/plan")
def plan_page(request: Request, desk: D, token: str) -> Response:
    """The plan, its changes, how sure we are, what we learnt."""
    with desk.open(token) as live:
        plan, state = plan_views.plan(desk, live), views.state(desk, live)
        marks = len(bookmarks.kept(live))
    link = _link(request, token)
    return page(
        request, "plan.html", plan=plan, state=state, token=token, link=link, marks=marks, active="plan"
    )


@router.get("/s/{token}/print")
def print_page(request: Request, desk: D, token: str) -> Response:
    """The plan on paper."""
    with desk.open(token) as live:
        plan, state = plan_views.plan(desk, live), views.state(desk, live)
    shown = [(f.label, f.show(state.subject[f.name])) for f in desk.space.features]
    link = _link(request, token)
    return page(
        request, "print.html", plan=plan, state=state, token=token, link=link, shown=shown, active="plan"
    )


# what if -----------------------------------------------------------------------------------------------


@router.get("/s/{token}/what-if")
def what_if(request: Request, desk: D, token: str) -> Response:
    """Try values and see the score; nothing is stored."""
    with desk.open(token) as live:
        made, session = desk.plan(live), live.session
        here, space = session.here, session.space.tighten(session.limits)
        state = views.state(desk, live)
    tried: dict[str, Any] = desk.space.values(made.path[-1])
    wrong: dict[str, str] = {}
    free = [f for f in desk.space.features if f.is_action and state.subject[f.name] is not None]
    for feature in free:
        given = request.query_params.get(f"f.{feature.name}")
        try:
            tried[feature.name] = tried[feature.name] if given is None else rows.value(feature, given)
        except InputError as error:
            wrong[feature.name] = str(error)
    result = None
    if not wrong:
        z = rows.read(desk.space, {f.name: tried[f.name] for f in desk.space.features if f.derived is None})
        try:
            with desk.open(token) as live:
                tries = any(name.startswith("f.") for name in request.query_params)
                result = (views.trial if tries else views.hypothetical)(desk, live, z)
        except TrialsError:
            wrong["trials"] = NO_TRIALS.rstrip(".")
    sliders = [s for s in (_slider(f, tried, state.subject, space, here) for f in free) if s]
    moved = [s["feature"].name for s in sliders]
    rest = {k: v for k, v in state.subject.items() if k not in moved}
    return page(
        request,
        "whatif.html",
        token=token,
        state=state,
        sliders=sliders,
        rest=rest,
        result=result,
        wrong=wrong,
        active="plan",
    )


def _slider(
    feature: Feature, tried: dict[str, Any], subject: schemas.Row, space: Any, here: Any
) -> dict[str, Any] | None:
    """Return a control for one feature that the person can move, within what they can reach."""
    if not feature.is_number:
        levels = space.reachable(feature.name, here)
        return (
            {"feature": feature, "levels": levels, "value": tried[feature.name]} if len(levels) > 1 else None
        )
    low, high = (space.values(end)[feature.name] for end in space.box(here))
    if not low < high:
        return None
    whole = feature.kind == "integer"
    return {
        "feature": feature,
        "levels": None,
        "low": low,
        "high": high,
        "step": 1 if whole else "any",
        "value": min(max(tried[feature.name], low), high),
        "now": subject[feature.name],
    }


# keep and compare --------------------------------------------------------------------------------------


@router.post("/s/{token}/bookmark")
def bookmark(request: Request, desk: D, token: str, form: Form) -> Response:
    """Keep this plan."""
    with desk.open(token) as live:
        bookmarks.keep(desk, live, key=key_of(form))
    return go(f"/s/{token}/compare", "kept")


@router.post("/s/{token}/unmark")
def unmark(request: Request, desk: D, token: str, form: Form) -> Response:
    """Forget a kept plan; one that is gone already is no error."""
    with desk.open(token) as live:
        bookmarks.forget(desk, live, number(form, "kept"))
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
            f"Kept after {counted(entry.payload['answered'], 'answer')}",
            Plan.from_dict(entry.payload["plan"], desk.space),
            entry.revision,
        )
        for entry in bookmarks.kept(live)
    ]
    shown += [
        ("Your plan now", desk.plan(live), None),
        ("One size fits all", plan_views.everybody(desk, live), None),
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


# operator ----------------------------------------------------------------------------------------------


@router.get("/operator")
def operator(request: Request, desk: D) -> Response:
    """Sessions a day, questions to finish, latency, model and data in use; needs the admin key as password."""
    kind, _, value = request.headers.get("authorization", "").partition(" ")
    password = ""
    if kind.lower() == "basic":
        try:
            password = base64.b64decode(value, validate=True).decode().partition(":")[2]
        except (binascii.Error, UnicodeDecodeError):
            password = ""
    if not knows_key(request, password):
        raise HTTPException(
            401,
            "The operator's page needs the admin key as password.",
            {"WWW-Authenticate": 'Basic realm="operator"'},
        )
    return page(request, "operator.html", summary=statistics.summary(desk), active="")

"""What if: try values within reach and see the score. Only the number of trials is stored."""

from __future__ import annotations

import math
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from reap._errors import InputError
from reap._typing import Array
from reap.language import _
from reap.service import rows, schemas, views
from reap.service.desk import Desk, Live, TrialsError
from reap.service.guards import D
from reap.service.render import page, sent
from reap.space import ActionSpace, Feature

router = APIRouter()


def trial(desk: Desk, live: Live, z: Array) -> schemas.Score:
    """Return the score of a row that the person tries; one trial less is left, unless it could not be computed."""
    made = views.hypothetical(desk, live, z)
    if not desk.store.tried(live.kept, desk.settings.trials):
        raise TrialsError
    return made


@router.post("/api/v1/sessions/{token}/score", response_model=schemas.Score, responses=schemas.OF_SESSION)
def score(desk: D, token: str, body: schemas.WhatIf) -> Response:
    """What if: the model's score of a row, rounded to whole points. Only the number of trials is stored."""
    with desk.open(token) as live:
        return sent(trial(desk, live, rows.read(live.space, body.subject)))


@router.get("/s/{token}/what-if", include_in_schema=False)
def what_if(request: Request, desk: D, token: str) -> Response:
    """Try values and see the score; nothing is stored."""
    with desk.open(token) as live:
        made, session, state = desk.plan(live), live.session, views.state(desk, live)
        here, space = session.here, session.space.tighten(session.limits)
    tried: dict[str, Any] = live.space.values(made.done[-1])
    wrong: dict[str, str] = {}
    free = [f for f in live.space.features if f.is_action and state.subject[f.name] is not None]
    for feature in free:
        given = request.query_params.get(f"f.{feature.name}")
        try:
            tried[feature.name] = tried[feature.name] if given is None else _value(feature, given)
        except InputError as error:
            wrong[feature.name] = str(error)
    controls = [c for c in (_control(f, tried[f.name], state.subject, space, here) for f in free) if c]
    tried.update({c["feature"].name: c["value"] for c in controls if c["why"]})
    own, result = [f.name for f in live.space.features if f.derived is None], None
    if not wrong:
        z = rows.read(live.space, {name: tried[name] for name in own})
        z = space.legal.brought(z[None], here)[0]
        asked = any(name.startswith("f.") for name in request.query_params)
        try:
            with desk.open(token) as live:
                result = (trial if asked else views.hypothetical)(desk, live, z)
        except TrialsError as error:
            wrong["trials"] = str(error).rstrip(".")
    moved = [c["feature"].name for c in controls]
    return page(
        request,
        "whatif.html",
        token=token,
        state=state,
        sliders=controls,
        rest={name: state.subject[name] for name in own if name not in moved},
        result=result,
        wrong=wrong,
        active="plan",
    )


def _value(feature: Feature, given: str) -> Any:
    """Return a value that a control sent: a slider writes numbers as programs do, whatever the language."""
    try:
        return rows.value(feature, float(given) if feature.is_number else given)
    except ValueError:
        raise InputError(rows.allowed(feature)) from None


def _control(
    feature: Feature, value: Any, subject: schemas.Row, space: ActionSpace, here: Array
) -> dict[str, Any] | None:
    """Return a control for one feature that the person can move, on its grid and within what they can reach."""
    if not feature.is_number:
        levels = space.legal.reachable(feature.name, here)
        if len(levels) < 2:
            return None
        away = value not in levels
        return {
            "feature": feature,
            "levels": levels,
            "value": subject[feature.name] if away else value,
            "why": _("You cannot get there from where you are.") if away else "",
            "out": [feature.show(level) for level in feature.levels if level not in levels],
        }
    low, high = (space.values(end)[feature.name] for end in space.legal.box(here))
    step = feature.step
    if step is not None:  # the multiples of the step that lie within
        low, high = math.ceil(low / step - 1e-9) * step, math.floor(high / step + 1e-9) * step
    if not low < high:
        return None
    kept, why = min(max(value, low), high), ""
    if abs(kept - value) > (step or 0):
        why = _("From where you are it goes from {low} to {high}.").format(
            low=feature.show(low, unit=False), high=feature.show(high)
        )
    if step is not None:
        kept = low + round((kept - low) / step) * step
    whole = round if feature.kind == "integer" else float
    return {
        "feature": feature,
        "levels": None,
        "low": whole(low),
        "high": whole(high),
        "step": "any" if step is None else whole(step),
        "value": whole(kept),
        "now": subject[feature.name],
        "why": why,
    }

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
from reap.service.access import D
from reap.service.faults import NO_TRIALS
from reap.service.refusals import TrialsError
from reap.service.render import page
from reap.space import ActionSpace, Feature

router = APIRouter(include_in_schema=False)


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
            tried[feature.name] = tried[feature.name] if given is None else _value(feature, given)
        except InputError as error:
            wrong[feature.name] = str(error)
    controls = [c for c in (_control(f, tried, state.subject, space, here) for f in free) if c]
    tried.update({c["feature"].name: c["value"] for c in controls if c["why"]})
    result = None
    if not wrong:
        z = rows.read(desk.space, {f.name: tried[f.name] for f in desk.space.features if f.derived is None})
        try:
            with desk.open(token) as live:
                tries = any(name.startswith("f.") for name in request.query_params)
                result = (views.trial if tries else views.hypothetical)(desk, live, z)
        except TrialsError:
            wrong["trials"] = _(NO_TRIALS).rstrip(".")
    moved = [c["feature"].name for c in controls]
    rest = {
        k: v for k, v in state.subject.items() if k not in moved and desk.space.feature(k).derived is None
    }
    return page(
        request,
        "whatif.html",
        token=token,
        state=state,
        sliders=controls,
        rest=rest,
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
    feature: Feature, tried: dict[str, Any], subject: schemas.Row, space: ActionSpace, here: Array
) -> dict[str, Any] | None:
    """Return a control for one feature that the person can move, on its grid and within what they can reach."""
    value = tried[feature.name]
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
    if step is not None:
        low, high = _up(low, step), _down(high, step)
    if not low < high:
        return None
    kept = min(max(value, low), high)
    why = ""
    if abs(kept - value) > (step or 0):
        why = _("From where you are it goes from {low} to {high}.").format(
            low=feature.show(low, unit=False), high=feature.show(high)
        )
    if step is not None:
        kept = low + round((kept - low) / step) * step
    whole = feature.kind == "integer"
    return {
        "feature": feature,
        "levels": None,
        "low": round(low) if whole else low,
        "high": round(high) if whole else high,
        "step": "any" if step is None else round(step) if whole else step,
        "value": round(kept) if whole else kept,
        "now": subject[feature.name],
        "why": why,
    }


def _up(value: float, step: float) -> float:
    """Return the least multiple of a step that is not below a value."""
    return math.ceil(value / step - 1e-9) * step


def _down(value: float, step: float) -> float:
    """Return the greatest multiple of a step that is not above a value."""
    return math.floor(value / step + 1e-9) * step

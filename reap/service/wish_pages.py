"""What a person can and cannot do, feature by feature: wishes are noted, and limits lifted again."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from reap._errors import InputError
from reap.elicitation.learned import WORDS
from reap.language import _
from reap.service import acts, views, wishes
from reap.service.access import D
from reap.service.desk import Desk
from reap.service.refusals import StaleError
from reap.service.render import Form, go, key_of, number, page, text, texts

router = APIRouter(include_in_schema=False)


@router.get("/s/{token}/wishes")
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
        state = views.state(desk, live)
        session = live.session
        z, limits, difficulties = session.here, session.limits, dict(session.difficulties)
    changeable = [f for f in desk.space.features if f.derived is None and f.actionable]
    reachable = {f.name: desk.space.legal.reachable(f.name, z) for f in changeable if not f.is_number}
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


@router.post("/s/{token}/wishes")
def wish(request: Request, desk: D, token: str, form: Form) -> Response:
    """Note the wishes for one feature; those that are emptied are taken back."""
    feature = text(form, "feature")
    said: dict[str, Any] = {name: text(form, name) for name in ("fixed", "at_least", "at_most", "difficulty")}
    said["exclude"] = texts(form, "exclude")
    try:
        with desk.open(token, key=key_of(form)) as live:
            read = wishes.read(desk.space, feature, said)
            acts.wish(desk, live, feature, read, revision=number(form, "revision"), key=key_of(form))
    except StaleError:
        return go(f"/s/{token}/wishes", "stale")
    except InputError as error:
        return _wishes(request, desk, token, 422, error=str(error), wrong=feature, typed=said)
    limits = set(read) - {"difficulty"}
    return go(f"/s/{token}/wishes", "wished" if limits else "noted" if read else "lifted")


@router.post("/s/{token}/release")
def release(request: Request, desk: D, token: str, form: Form) -> Response:
    """Lift a limit."""
    back = f"/s/{token}/plan" if text(form, "back") == "plan" else f"/s/{token}/wishes"
    with desk.open(token, key=key_of(form)) as live:
        try:
            key = key_of(form)
            acts.release(desk, live, text(form, "feature"), revision=number(form, "revision"), key=key)
        except StaleError:
            return go(back, "stale")
    return go(back, "lifted")

"""The part of the API that operators and their machines use: figures, requests for a human look, health."""

from __future__ import annotations

from typing import Annotated, Any

import anyio
from fastapi import APIRouter, Depends, Query, Request
from fastapi import Path as FromPath
from pydantic import BaseModel
from starlette.responses import PlainTextResponse, Response

from reap._clock import LateError
from reap.service import funnel, requests, reviews, schemas
from reap.service.access import D, admin
from reap.service.schemas import FAULTS

_ADMIN: dict[int | str, dict[str, Any]] = {
    **FAULTS,
    401: {"model": schemas.Fault, "description": "The admin key is missing or wrong."},
    404: {"model": schemas.Fault, "description": "No such session or request."},
}
router = APIRouter(prefix="/api/v1")
operate = APIRouter()


class Health(BaseModel):
    """Whether the service runs."""

    status: str


@router.get(
    "/admin/summary",
    responses=_ADMIN,
    dependencies=[Depends(admin)],
)
def summary(desk: D) -> funnel.Summary:
    """For the operator: sessions a day, questions to finish, latency, model and data in use."""
    return funnel.summary(desk)


@router.get("/admin/reviews", responses=_ADMIN, dependencies=[Depends(admin)])
def requested(desk: D) -> list[reviews.Request]:
    """For the operator: who asked for a human look, those that wait first."""
    return reviews.queue(desk.store)


@router.post(
    "/admin/reviews/{session}/{revision}", status_code=204, responses=_ADMIN, dependencies=[Depends(admin)]
)
def reply(
    desk: D,
    session: Annotated[str, FromPath(max_length=40)],
    revision: Annotated[int, FromPath(ge=0, le=10**6)],
    body: requests.Reply,
) -> Response:
    """Answer such a request; the person reads it on their page."""
    reviews.answer(desk.store, session, revision, body.decision, body.words)
    return Response(status_code=204)


@router.get("/admin/funnel", responses=_ADMIN, dependencies=[Depends(admin)])
def how_far(desk: D, days: Annotated[int, Query(ge=1, le=3650)] = 30) -> funnel.Funnel:
    """For the operator: how far people come, where they stop, who got no plan, by date."""
    return funnel.read(desk.store, days)


@operate.get("/healthz")
async def healthy() -> Health:
    """Whether the process runs."""
    return Health(status="ok")


@operate.get(
    "/readyz", responses={503: {"model": schemas.Fault, "description": "The database cannot be written."}}
)
async def ready(request: Request, desk: D) -> Health:
    """Whether the service can work: something can be stored, and nothing computes without an end."""
    # In threads of its own: those of the sessions may all be waiting for a computation.
    await anyio.to_thread.run_sync(desk.store.ping, limiter=request.app.state.lookouts)
    if request.app.state.patience.stuck:
        raise LateError
    return Health(status="ok")


@operate.get("/metrics", response_class=PlainTextResponse)
def metrics(request: Request) -> Response:
    """Figures for Prometheus."""
    counted = request.app.state.metrics
    return Response(counted.text(), media_type=counted.content_type)

"""What operators and their machines see: figures counted from the log, the queue of reviews, files, health.

No figure has a name or a value of a person in it.
"""

from __future__ import annotations

import csv
import io
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Annotated

import anyio
import numpy as np
from fastapi import APIRouter, Depends, Query, Request
from fastapi import Path as FromPath
from fastapi.security import HTTPBasic, HTTPBasicCredentials
from prometheus_client import CONTENT_TYPE_LATEST
from pydantic import BaseModel
from starlette.exceptions import HTTPException
from starlette.responses import PlainTextResponse, RedirectResponse, Response, StreamingResponse

from reap import __version__, language
from reap._clock import LateError
from reap._errors import InputError
from reap.elicitation import in_force
from reap.language import N_, _
from reap.learning import gain
from reap.scores import Scale
from reap.service import exports, reviews, schemas
from reap.service.desk import Desk
from reap.service.guards import D, admin, knows_key
from reap.service.log import Entry
from reap.service.promises import Promise
from reap.service.render import Form, download, number, page, text
from reap.service.store import Kept

_BASIC = HTTPBasic(realm="operator", auto_error=False)


async def _admit(request: Request, given: Annotated[HTTPBasicCredentials | None, Depends(_BASIC)]) -> None:
    """Let only the operator in: the admin key as password."""
    if not knows_key(request, given.password if given else ""):
        said = "The operator's page needs the admin key as password."
        raise HTTPException(401, said, {"WWW-Authenticate": 'Basic realm="operator"'})


health = APIRouter()
api = APIRouter(
    prefix="/api/v1/admin",
    dependencies=[Depends(admin)],
    responses={
        **schemas.FAULTS,
        401: {"model": schemas.Fault, "description": "The admin key is missing or wrong."},
        404: {"model": schemas.Fault, "description": "No such session or request."},
    },
)
pages = APIRouter(prefix="/operator", include_in_schema=False, dependencies=[Depends(_admit)])
Days = Annotated[int, Query(ge=1, le=3650)]
#: The stages in order; each counts the sessions that got at least so far.
STAGES = ("opened", "screened", "answered", "planned", "chosen", "printed", "came back", "reported")
#: Their names, and why there is no plan, for people.
WORDS = {
    "opened": N_("opened"),
    "screened": N_("said what could change"),
    "answered": N_("answered a question"),
    "planned": N_("saw a plan"),
    "chosen": N_("chose a plan"),
    "printed": N_("printed or saved it"),
    "came back": N_("came back"),
    "reported": N_("reported that it is done"),
}
STATUSES = {
    "none_found": N_("none was found"),
    "unreachable": N_("out of reach"),
    "infeasible": N_("ruled out by wishes"),
    "time_limit": N_("not found in time"),
}
_EVENTS = {
    "started": "opened",
    "screened": "screened",
    "answered": "answered",
    "recommended": "planned",
    "chosen": "chosen",
    "printed": "printed",
    "returned": "came back",
    "reported": "reported",
}


class Day(BaseModel):
    """One day's sessions, by the day on which they began."""

    day: str
    counts: dict[str, int]
    without: int
    median_ms: float | None
    p95_ms: float | None


class Summary(BaseModel):
    """How far people came in a number of days, how long a question took, and what is in use.

    ``stopped`` counts, by the number of answers given, the sessions that were left with a question open. ``without`` counts those
    whose last plan was none, by its status. ``doubtful``: columns that are scored though the law may protect them.
    ``promised``: the models by which people are promised to be judged, and until when at the latest.
    """

    sessions: int
    counts: dict[str, int]
    stopped: dict[int, int]
    reached: dict[int, int]
    without: dict[str, int]
    by_day: list[Day]
    latency_ms: dict[str, float]
    model: str
    data: str
    version: str
    title: str
    doubtful: list[str]
    promised: list[Promise]


def summary(desk: Desk, days: int) -> Summary:
    """Return the figures of the sessions that began in the last days."""
    logs = desk.store.logs(_since(days))
    stopped, reached = Counter[int](), Counter[int]()
    by_day: dict[str, list[list[Entry]]] = defaultdict(list)
    for log in logs:
        by_day[log[0].created[:10]].append(log)
        line = in_force(log)
        given = sum(entry.type == "answered" for entry in line)
        reached.update(range(given + 1))
        shown = [entry for entry in line if entry.type in ("asked", "recommended", "chosen")]
        if shown and shown[-1].type == "asked" and shown[-1].payload.get("question") is not None:
            stopped[given] += 1
    return Summary(
        sessions=len(logs),
        counts=_counts(logs),
        stopped=dict(sorted(stopped.items())),
        reached=dict(sorted(reached.items())),
        without=_without(logs),
        by_day=[_day(day, of_day) for day, of_day in sorted(by_day.items())],
        latency_ms=_latency(logs),
        model=desk.case.model,
        data=desk.case.data,
        version=__version__,
        title=desk.case.heading,
        doubtful=[
            _("{label}: moves the score by {points} on average").format(
                label=desk.space.feature(name).label, points=_points(desk.case.scale, moved)
            )
            for name, moved in desk.case.traits.items()
        ],
        promised=desk.promises.all(),
    )


def _points(scale: Scale, moved: float) -> str:
    """Return a difference of scores in words."""
    unit = scale.unit if scale.output == "score" else _("points of 100")
    return f"{language.number(moved * (1 if scale.output == 'score' else 100), 1)} {unit}".strip()


def _since(days: int) -> str:
    return (datetime.now(UTC) - timedelta(days=days)).isoformat(timespec="microseconds")


def _counts(logs: Sequence[Sequence[Entry]]) -> dict[str, int]:
    """Return how many sessions got at least to each stage."""
    counts = Counter(
        stage for log in logs for stage in {_EVENTS[entry.type] for entry in log if entry.type in _EVENTS}
    )
    return {stage: counts[stage] for stage in STAGES}


def _without(logs: Sequence[Sequence[Entry]]) -> dict[str, int]:
    """Return how many sessions have none as their last plan, by its status."""
    statuses = Counter[str]()
    for log in logs:
        plans = [entry.payload["plan"]["status"] for entry in in_force(log) if entry.type == "recommended"]
        statuses.update(status for status in plans[-1:] if status not in ("ok", "already_accepted"))
    return dict(statuses)


def _latency(logs: Sequence[Sequence[Entry]]) -> dict[str, float]:
    """Return the milliseconds in which half, 95 and 99 of 100 questions were chosen; nothing where none was."""
    took = [e.milliseconds for log in logs for e in log if e.type == "asked" and e.milliseconds is not None]
    return {f"p{q}": round(float(np.percentile(took, q)), 1) for q in (50, 95, 99)} if took else {}


def _day(day: str, logs: Sequence[Sequence[Entry]]) -> Day:
    took = _latency(logs)
    return Day(
        day=day,
        counts=_counts(logs),
        without=sum(_without(logs).values()),
        median_ms=took.get("p50"),
        p95_ms=took.get("p95"),
    )


def anonymity(desk: Desk) -> int | None:
    """Return among how many people each recommended row must lie, where the engine is asked for that; None where it is not."""
    k = getattr(desk.case.engine, "anonymity", None)
    return int(k) if k else None


# the API ------------------------------------------------------------------------------------------------


class Health(BaseModel):
    """Whether the service runs."""

    status: str


@api.get("/summary")
def figures(desk: D, days: Days = 30) -> Summary:
    """For the operator: how far people come, where they stop, who got no plan, by date; latency, model and data in use."""
    return summary(desk, days)


@api.get("/reviews")
def requested(desk: D) -> list[reviews.Request]:
    """For the operator: who asked for a human look, those that wait first."""
    return reviews.queue(desk.store)


@api.post("/reviews/{session}/{revision}", status_code=204)
def reply(
    desk: D,
    session: Annotated[str, FromPath(max_length=40)],
    revision: Annotated[int, FromPath(ge=0, le=10**6)],
    body: schemas.Reply,
) -> Response:
    """Answer such a request; the person reads it on their page."""
    reviews.answer(desk.store, session, revision, body.decision, body.words)
    return Response(status_code=204)


@health.get("/healthz")
async def healthy() -> Health:
    """Whether the process runs."""
    return Health(status="ok")


@health.get(
    "/readyz", responses={503: {"model": schemas.Fault, "description": "The database cannot be written."}}
)
async def ready(request: Request, desk: D) -> Health:
    """Whether the service can work: something can be stored, and nothing computes without an end."""
    # In threads of its own: those of the sessions may all be waiting for a computation.
    await anyio.to_thread.run_sync(desk.store.ping, limiter=request.app.state.lookouts)
    if request.app.state.stuck:
        raise LateError
    return Health(status="ok")


@health.get("/metrics", response_class=PlainTextResponse)
def metrics(request: Request) -> Response:
    """Figures for Prometheus."""
    return Response(request.app.state.metrics.text(), media_type=CONTENT_TYPE_LATEST)


# the pages ----------------------------------------------------------------------------------------------


@pages.get("")
def operator(request: Request, desk: D, days: Days = 30) -> Response:
    """Funnel, drop-off, who got no plan, latency, what is in use; needs the admin key as password."""
    return _operator(request, desk, days)


def _operator(request: Request, desk: Desk, days: int, status: int = 200, error: str = "") -> Response:
    return page(
        request,
        "operator.html",
        status,
        summary=summary(desk, days),
        stage_words=WORDS,
        status_words=STATUSES,
        days=days,
        queue=reviews.queue(desk.store),
        decisions=reviews.DECISIONS,
        settings=request.app.state.settings,
        anonymity=anonymity(desk),
        prior="" if desk.prior is None else gain(desk.prior),
        error=error,
        active="",
    )


@pages.post("/answer")
def answer(request: Request, desk: D, form: Form) -> Response:
    """Answer a request for a human look; the person reads it on their page."""
    try:
        said = (text(form, name) for name in ("decision", "words"))
        reviews.answer(desk.store, text(form, "session"), number(form, "asked"), *said)
    except InputError as error:
        return _operator(request, desk, 30, 422, str(error))
    return RedirectResponse("/operator#queue", 303)


@pages.get("/funnel.csv")
def funnel_file(request: Request, desk: D, days: Days = 30) -> Response:
    """The funnel by day as a table."""
    rows = summary(desk, days).by_day
    made = io.StringIO()
    writer = csv.writer(made)
    writer.writerow(("day", *STAGES, "without a plan", "median ms", "p95 ms"))
    for row in rows:
        writer.writerow((row.day, *(row.counts[s] for s in STAGES), row.without, row.median_ms, row.p95_ms))
    return download(made.getvalue(), "text/csv; charset=utf-8", "reap-funnel.csv")


@pages.get("/sessions.jsonl")
def logs(request: Request, desk: D, days: Days = 30) -> Response:
    """Every session begun in these days, its log to the byte, one a line; ``reap.service.exports.load`` replays a line."""
    lines = (exports.as_json(kept, entries) + "\n" for kept, entries in _logs(desk, days))
    headers = {"Content-Disposition": 'attachment; filename="reap-sessions.jsonl"'}
    return StreamingResponse(lines, media_type="application/x-ndjson", headers=headers)


@pages.get("/answers.csv")
def answers(request: Request, desk: D, days: Days = 30) -> Response:
    """Every answer of the sessions begun in these days, a row each."""
    said = exports.as_csv(entry for _, entries in _logs(desk, days) for entry in entries)
    return download(said, "text/csv; charset=utf-8", "reap-answers.csv")


def _logs(desk: Desk, days: int) -> Iterator[tuple[Kept, list[Entry]]]:
    """Yield the sessions begun in these days with their events; one that was deleted meanwhile is left out."""
    since = _since(days)
    for kept in desk.store.sessions():
        if kept.created >= since and (entries := desk.store.events(kept.id)):
            yield kept, entries

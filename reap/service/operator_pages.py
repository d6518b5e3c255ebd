"""The operator's pages: figures, the queue of requests for a human look, exports, and the reference of the API."""

from __future__ import annotations

import base64
import binascii
import csv
import io
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from starlette.exceptions import HTTPException
from starlette.responses import RedirectResponse, Response, StreamingResponse

from reap._errors import InputError
from reap.learning import gain
from reap.service import exports, funnel, reviews
from reap.service.access import D, knows_key
from reap.service.desk import Desk
from reap.service.log import Entry
from reap.service.render import Form, download, key_of, number, page, text
from reap.service.tables import Kept

router = APIRouter(include_in_schema=False)


def _admit(request: Request) -> None:
    """Let only the operator in: the admin key as password."""
    kind, _mark, value = request.headers.get("authorization", "").partition(" ")
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


@router.get("/operator")
def operator(request: Request, desk: D, days: Annotated[int, Query(ge=1, le=3650)] = 30) -> Response:
    """Funnel, drop-off, who got no plan, latency, what is in use; needs the admin key as password."""
    _admit(request)
    return _operator(request, desk, days)


def _operator(request: Request, desk: Desk, days: int, status: int = 200, error: str = "") -> Response:
    return page(
        request,
        "operator.html",
        status,
        summary=funnel.summary(desk),
        funnel=funnel.read(desk.store, days),
        stage_words=funnel.WORDS,
        status_words=funnel.STATUSES,
        days=days,
        queue=reviews.queue(desk.store),
        decisions=reviews.DECISIONS,
        settings=request.app.state.settings,
        anonymity=funnel.anonymity(desk),
        prior="" if desk.priors.current is None else gain(desk.priors.current),
        error=error,
        active="",
    )


@router.post("/operator/answer")
def answer(request: Request, desk: D, form: Form) -> Response:
    """Answer a request for a human look; the person reads it on their page."""
    _admit(request)
    try:
        reviews.answer(
            desk.store,
            text(form, "session"),
            number(form, "asked"),
            text(form, "decision"),
            text(form, "words"),
            key_of(form),
        )
    except InputError as error:
        return _operator(request, desk, 30, 422, str(error))
    return RedirectResponse("/operator#queue", 303)


@router.get("/operator/funnel.csv")
def funnel_file(request: Request, desk: D, days: Annotated[int, Query(ge=1, le=3650)] = 30) -> Response:
    """The funnel by day as a table."""
    _admit(request)
    rows = funnel.read(desk.store, days).by_day
    made = io.StringIO()
    writer = csv.writer(made)
    writer.writerow(("day", *funnel.STAGES, "without a plan", "median ms", "p95 ms"))
    for row in rows:
        writer.writerow(
            (row.day, *(row.counts[s] for s in funnel.STAGES), row.without, row.median_ms, row.p95_ms)
        )
    return download(made.getvalue(), "text/csv; charset=utf-8", "reap-funnel.csv")


@router.get("/operator/sessions.jsonl")
def logs(request: Request, desk: D, days: Annotated[int, Query(ge=1, le=3650)] = 30) -> Response:
    """Every session begun in these days, its log to the byte, one a line; ``reap.service.exports.load`` replays a line."""
    _admit(request)
    lines = (exports.as_json(kept, entries) + "\n" for kept, entries in _logs(desk, days))
    headers = {"Content-Disposition": 'attachment; filename="reap-sessions.jsonl"'}
    return StreamingResponse(lines, media_type="application/x-ndjson", headers=headers)


@router.get("/operator/answers.csv")
def answers(request: Request, desk: D, days: Annotated[int, Query(ge=1, le=3650)] = 30) -> Response:
    """Every answer of the sessions begun in these days, a row each."""
    _admit(request)
    said = exports.as_csv(entry for _, entries in _logs(desk, days) for entry in entries)
    return download(said, "text/csv; charset=utf-8", "reap-answers.csv")


def _logs(desk: Desk, days: int) -> Iterator[tuple[Kept, list[Entry]]]:
    """Yield the sessions begun in these days with their events; one that was deleted meanwhile is left out."""
    since = (datetime.now(UTC) - timedelta(days=days)).isoformat(timespec="microseconds")
    for kept in desk.store.sessions():
        if kept.created >= since and (entries := desk.store.events(kept.id)):
            yield kept, entries


@router.get("/api")
def reference(request: Request) -> Response:
    """The API's reference, rendered from its own description; nothing comes from elsewhere."""
    described = request.app.openapi()
    return page(request, "reference.html", routes=_routes(described), api=described["info"], active="")


def _routes(described: dict[str, Any]) -> list[dict[str, Any]]:
    """Return every route of the description: method, path, words, parameters, fields of its body, answers."""
    shapes = described.get("components", {}).get("schemas", {})
    routes = []
    for path, methods in described["paths"].items():
        for method, about in methods.items():
            body = (
                about.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
            )
            shape = shapes.get(str(body.get("$ref", "")).rsplit("/", 1)[-1], {})
            needed = shape.get("required", [])
            words = about.get("description") or about.get("summary", "")
            routes.append(
                {
                    "method": method.upper(),
                    "path": path,
                    "words": words,
                    "short": words.split("\n\n", 1)[0],
                    "parameters": [
                        (p["name"], p.get("description", ""), p.get("required", False))
                        for p in about.get("parameters", [])
                    ],
                    "fields": [
                        (name, _kind(field), field.get("description", ""), name in needed)
                        for name, field in shape.get("properties", {}).items()
                    ],
                    "answers": [
                        (code, reply.get("description", ""))
                        for code, reply in about.get("responses", {}).items()
                    ],
                }
            )
    return routes


def _kind(field: dict[str, Any]) -> str:
    """Return the type of a field in a word."""
    if "anyOf" in field:
        return " or ".join(dict.fromkeys(_kind(part) for part in field["anyOf"]))
    if "$ref" in field:
        return str(field["$ref"]).rsplit("/", 1)[-1]
    return str(field.get("type", "value"))

"""Errors as answers: one sentence, the right status, JSON for programs and a page for people. Never a stack trace."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response

from reap import language
from reap._clock import LateError
from reap._errors import InputError
from reap.language import N_, _
from reap.service import views
from reap.service.desk import RefusedError, ReplacedError, StaleError, UncomputedError
from reap.service.render import error_page, moved_on
from reap.service.store import UnavailableError

_logger = logging.getLogger("reap.service")
UNAVAILABLE = N_(
    "The service cannot store anything at the moment. Nothing was lost; please try again in a minute."
)
BROKEN = N_("Something went wrong on our side. Nothing that was stored is lost; please try again.")
LATE = N_("This took longer than {seconds} seconds, so it was given up. Please try again in a while.")
UNKNOWN = N_(
    "We cannot say yet whether what you sent is stored: load the page again in a minute to see it. "
    "Sent once more, it counts once."
)
_HTTP = {404: N_("There is nothing at this address."), 405: N_("This address does not take that method.")}


class SafeJSON(JSONResponse):
    """JSON in ASCII, so that no strange character in a request can break the answer to it."""

    def render(self, content: Any) -> bytes:
        """Return the body."""
        return json.dumps(content, ensure_ascii=True, separators=(",", ":")).encode("ascii")


def answer(
    request: Request,
    status: int,
    sentence: str,
    *,
    fields: Mapping[str, str] | None = None,
    state: BaseModel | None = None,
    headers: Mapping[str, str] | None = None,
    stored: bool | None = False,
) -> Response:
    """Return an error the way the client understands it, in its language: JSON for programs, a page for people."""
    sentence = _(sentence)
    if not request.url.path.startswith(("/api/", "/healthz", "/readyz", "/metrics")):
        over = sentence == _(ReplacedError.said)
        return error_page(request, status, sentence, headers=dict(headers or {}), over=over)
    body = {
        "error": sentence[:1].upper() + sentence[1:] + ("" if sentence.endswith((".", "?", "!")) else "."),
        "fields": [{"field": name, "message": message} for name, message in (fields or {}).items()],
        "state": None if state is None else state.model_dump(mode="json"),
        "stored": stored,
    }
    return SafeJSON(body, status, headers=dict(headers or {}))


def failure(request: Request, status: int, sentence: str, wait: int = 0) -> Response:
    """Return the answer to a request that failed on our side; ``wait`` is after how many seconds to try again.

    A commit whose reply was lost may have succeeded, and one may still be under way: of what was sent nothing is claimed. The
    same request with the same key counts once.
    """
    headers = {"Retry-After": str(wait)} if wait else {}
    reading = request.method in ("GET", "HEAD")
    if not reading and "token" in request.path_params:
        sentence = f"{_(sentence)} {_(UNKNOWN)}"
    return answer(request, status, sentence, headers=headers, stored=False if reading else None)


def late(request: Request, limit: float) -> Response:
    """Return the answer to a request for which not everything could be computed in time."""
    seconds = language.number(limit, 0 if float(limit).is_integer() else 1)
    return failure(request, 503, _(LATE).format(seconds=seconds), wait=30)


def install(app: FastAPI) -> None:
    """Give every error that is foreseen its answer; `guards.Guard` answers the others."""

    @app.exception_handler(RefusedError)
    def _refused(request: Request, error: RefusedError) -> Response:
        if isinstance(error, UncomputedError):
            cause = error.__cause__ or error
            _logger.error("not computed", exc_info=(type(cause), cause, cause.__traceback__))
        if not isinstance(error, StaleError):
            return answer(request, error.status, str(error))
        if not request.url.path.startswith("/api/"):
            return moved_on(request)
        desk = request.app.state.desk
        with desk.open(request.path_params["token"]) as live:
            return answer(request, error.status, str(error), state=views.state(desk, live))

    @app.exception_handler(LateError)
    def _late(request: Request, error: Exception) -> Response:
        _logger.error("not computed in time", exc_info=(type(error), error, error.__traceback__))
        return late(request, request.app.state.settings.time_limit)

    @app.exception_handler(UnavailableError)
    def _unavailable(request: Request, error: Exception) -> Response:
        _logger.error("database unavailable", extra={"facts": {"cause": str(error)}})
        request.app.state.metrics.faults.inc()
        return failure(request, 503, UNAVAILABLE, wait=10)

    @app.exception_handler(InputError)
    def _input(request: Request, error: InputError) -> Response:
        return answer(request, 422, str(error), fields=getattr(error, "fields", None))

    @app.exception_handler(RequestValidationError)
    def _invalid(request: Request, error: RequestValidationError) -> Response:
        fields = {".".join(map(str, e["loc"])): str(e["msg"]) for e in error.errors()}
        name, message = next(iter(fields.items()), ("request", "it cannot be read"))
        return answer(request, 422, f"{name}: {message}", fields=fields)

    @app.exception_handler(HTTPException)
    def _http(request: Request, error: HTTPException) -> Response:
        sentence = _HTTP.get(error.status_code, str(error.detail))
        return answer(request, error.status_code, sentence, headers=error.headers)

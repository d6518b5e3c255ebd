"""Errors as answers: one sentence, the right status, JSON for programs and a page for people. Never a stack trace."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response

from reap import language
from reap._clock import LateError
from reap._errors import InputError
from reap.language import N_, _
from reap.service import views
from reap.service.desk import (
    HeldError,
    MissingError,
    ReplacedError,
    ReusedError,
    StaleError,
    TrialsError,
    UncomputedError,
)
from reap.service.render import error_page, moved_on
from reap.service.rows import FieldError
from reap.service.store import UnavailableError

_logger = logging.getLogger("reap.service")
NOT_FOUND = N_(
    "There is no such session. The link may be incomplete, its time may be over, or it was deleted."
)
STALE = N_("The session has moved on since this page was shown; here is where it stands now.")
REUSED = N_(
    "The key of this request belongs to an earlier one that said something else, so nothing was stored; take a new key."
)
NO_TRIALS = N_("This session has no trials left; your plan and its scores are not touched by that.")
REPLACED = N_(
    "The model that decides has been replaced since this session was started. You can still download or delete it; "
    "start again to get a plan for the new model."
)
UNAVAILABLE = N_(
    "The service cannot store anything at the moment. Nothing was lost; please try again in a minute."
)
BROKEN = N_("Something went wrong on our side. Nothing that was stored is lost; please try again.")
LATE = N_("This took longer than {seconds} seconds, so it was given up. Please try again in a while.")
UNKNOWN = N_(
    "We cannot say yet whether what you sent is stored: load the page again in a minute to see it. "
    "Sent once more, it counts once."
)
UNCOMPUTED = N_(
    "We could not work out what follows from this, so it was not stored. Everything before it is as it was; "
    "check what you entered, or say something else."
)


class SafeJSON(JSONResponse):
    """JSON in ASCII, so that no strange character in a request can break the answer to it."""

    def render(self, content: Any) -> bytes:
        """Return the body."""
        return json.dumps(content, ensure_ascii=True, separators=(",", ":")).encode("ascii")


def fault(
    status: int,
    sentence: str,
    fields: Mapping[str, str] | None = None,
    state: Any = None,
    headers: Mapping[str, str] | None = None,
    stored: bool | None = False,
) -> Response:
    """Return an error of the API."""
    text = sentence[:1].upper() + sentence[1:] + ("" if sentence.endswith((".", "?", "!")) else ".")
    listed = [{"field": name, "message": message} for name, message in (fields or {}).items()]
    body = {
        "error": text,
        "fields": listed,
        "state": None if state is None else state.model_dump(mode="json"),
        "stored": stored,
    }
    return SafeJSON(body, status, headers=dict(headers or {}))


def answer(request: Request, status: int, sentence: str, **more: Any) -> Response:
    """Return an error the way the client understands it, in its language: JSON for programs, a page for people."""
    sentence = _(sentence)
    if request.url.path.startswith(("/api/", "/healthz", "/readyz", "/metrics")):
        return fault(status, sentence, **more)
    return error_page(request, status, sentence, headers=more.get("headers"), over=sentence == _(REPLACED))


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

    @app.exception_handler(MissingError)
    def _missing(request: Request, error: Exception) -> Response:
        return answer(request, 404, NOT_FOUND)

    @app.exception_handler(ReplacedError)
    def _replaced(request: Request, error: Exception) -> Response:
        return answer(request, 409, REPLACED)

    @app.exception_handler(StaleError)
    def _stale(request: Request, error: Exception) -> Response:
        if not request.url.path.startswith("/api/"):
            return moved_on(request)
        desk = request.app.state.desk
        with desk.open(request.path_params["token"]) as live:
            sentence = REUSED if isinstance(error, ReusedError) else STALE
            return answer(request, 409, sentence, state=views.state(desk, live))

    @app.exception_handler(HeldError)
    def _held(request: Request, error: Exception) -> Response:
        until = language.day(error.until) if isinstance(error, HeldError) else ""
        return answer(
            request,
            409,
            _("The law obliges us to keep this until {day}; nothing was deleted.").format(day=until),
        )

    @app.exception_handler(TrialsError)
    def _tried(request: Request, error: Exception) -> Response:
        return answer(request, 429, NO_TRIALS)

    @app.exception_handler(UncomputedError)
    def _uncomputed(request: Request, error: Exception) -> Response:
        cause = error.__cause__ or error
        _logger.error("not computed", exc_info=(type(cause), cause, cause.__traceback__))
        return answer(request, 500, UNCOMPUTED)

    @app.exception_handler(LateError)
    def _late(request: Request, error: Exception) -> Response:
        _logger.error("not computed in time", exc_info=(type(error), error, error.__traceback__))
        return late(request, request.app.state.settings.time_limit)

    @app.exception_handler(UnavailableError)
    def _unavailable(request: Request, error: Exception) -> Response:
        _logger.error("database unavailable", extra={"facts": {"cause": str(error)}})
        request.app.state.metrics.unavailable()
        return failure(request, 503, UNAVAILABLE, wait=10)

    @app.exception_handler(InputError)
    def _input(request: Request, error: InputError) -> Response:
        fields = error.fields if isinstance(error, FieldError) else {}
        return answer(request, 422, str(error), fields=fields)

    @app.exception_handler(RequestValidationError)
    def _invalid(request: Request, error: RequestValidationError) -> Response:
        fields = {".".join(map(str, e["loc"])): str(e["msg"]) for e in error.errors()}
        name, message = next(iter(fields.items()), ("request", "it cannot be read"))
        return answer(request, 422, f"{name}: {message}", fields=fields)

    @app.exception_handler(HTTPException)
    def _http(request: Request, error: HTTPException) -> Response:
        headers = dict(error.headers or {})
        sentence = {
            404: N_("There is nothing at this address."),
            405: N_("This address does not take that method."),
        }
        return answer(
            request, error.status_code, sentence.get(error.status_code, str(error.detail)), headers=headers
        )

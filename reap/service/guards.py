"""What stands before every request: size and rate limits, security headers, one log line without personal data."""

from __future__ import annotations

import asyncio
import json
import logging
import secrets
import time
from collections.abc import MutableMapping
from traceback import extract_tb
from typing import Any

from cachetools import LRUCache
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from reap._clock import LateError
from reap.language import N_, _, number
from reap.service import connections
from reap.service.faults import BROKEN, answer, failure, late
from reap.service.metrics import Metrics
from reap.service.patience import Patience
from reap.service.settings import Settings

_logger = logging.getLogger("reap.service")
_METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
_OPEN = ("/healthz", "/readyz", "/metrics", "/static/")
HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}


class Buckets:
    """A token bucket for each client: ``rate`` requests a second in the long run, ``burst`` at once.

    Examples
    --------
    >>> buckets = Buckets(rate=1, burst=2)
    >>> [buckets.take("a", now) for now in (0.0, 0.0, 0.0, 1.0)]
    [True, True, False, True]
    """

    def __init__(self, rate: float, burst: int, clients: int = 10_000) -> None:
        self.rate, self.burst = rate, burst
        self._known: MutableMapping[str, tuple[float, float]] = LRUCache(clients)

    def left(self, client: str, now: float) -> float:
        """Return how many requests a client may make now."""
        left, last = self._known.get(client, (float(self.burst), now))
        return min(self.burst, left + (now - last) * self.rate)

    def take(self, client: str, now: float) -> bool:
        """Return whether a client may make one more request, and count it."""
        left = self.left(client, now)
        allowed = left >= 1
        self._known[client] = (left - 1 if allowed else left, now)
        return allowed


class TooLargeError(Exception):
    """A body beyond the limit."""


class Guard:
    """ASGI middleware around the whole application."""

    def __init__(self, app: ASGIApp, settings: Settings, metrics: Metrics, patience: Patience) -> None:
        self.app, self.settings, self.metrics, self.patience = app, settings, metrics, patience
        self._buckets = Buckets(settings.rate, settings.burst)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Guard one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        begin = time.perf_counter()
        seen: dict[str, Any] = {}
        request = secrets.token_hex(6)

        async def sealed(message: Message) -> None:
            if message["type"] == "http.response.start":
                seen["status"] = message["status"]
                message["headers"] = [*message.get("headers", []), *self._headers(scope["path"], request)]
            await send(message)

        try:
            await self._admit(scope, receive, sealed)
        except Exception as error:
            # The person gets a sentence; the cause is for the operator's log alone.
            _logger.exception("unexpected error", extra={"facts": {"request": request}})
            if "status" not in seen:
                asked = Request(scope)
                slow = isinstance(error, LateError)  # while another error was answered
                made = late(asked, self.settings.time_limit) if slow else failure(asked, 500, BROKEN)
                await made(scope, receive, sealed)
        finally:
            self._record(scope, seen.get("status", 500), time.perf_counter() - begin, request)

    async def _admit(self, scope: Scope, receive: Receive, send: Send) -> None:
        client = (scope.get("client") or ("unknown",))[0]
        limited = self.settings.rate > 0 and not scope["path"].startswith(_OPEN)
        if limited and not self._buckets.take(client, time.monotonic()):
            wait = {"Retry-After": "1"}
            busy = answer(Request(scope), 429, N_("Too many requests at once; wait a moment."), headers=wait)
            await busy(scope, receive, send)
            return
        try:
            async with asyncio.timeout(connections.PATIENCE):
                body = await _body(scope, receive, self.settings.body_limit)
        except TimeoutError:
            closing = {"Connection": "close"}
            slow = answer(Request(scope), 408, N_("The request did not arrive in time."), headers=closing)
            await slow(scope, receive, send)
            return
        except TooLargeError:
            large = answer(
                Request(scope),
                413,
                _("The request is too large; at most {most} bytes are taken.").format(
                    most=number(self.settings.body_limit)
                ),
            )
            await large(scope, receive, send)
            return
        await self.patience.answer(self.app, scope, _replayed(body, receive), send)

    def _headers(self, path: str, request: str) -> list[tuple[bytes, bytes]]:
        kept = "public, max-age=3600" if path.startswith("/static/") else "no-store"
        given = {**HEADERS, "cache-control": kept, "x-request-id": request}
        if sites := self.settings.frame_ancestors:
            given["content-security-policy"] = given["content-security-policy"].replace(
                "frame-ancestors 'none'", f"frame-ancestors 'self' {' '.join(sites)}"
            )
            del given["x-frame-options"]  # it knows one site at most; browsers go by the policy
        if self.settings.secure_cookies:
            given["strict-transport-security"] = "max-age=31536000"
        return [(name.encode(), value.encode()) for name, value in given.items()]

    def _record(self, scope: Scope, status: int, seconds: float, request: str) -> None:
        # The route's pattern, never the path: a path holds a person's token.
        route = getattr(scope.get("route"), "path", None) or (
            "/static" if scope["path"].startswith("/static/") else "unknown"
        )
        method = scope["method"] if scope["method"] in _METHODS else "other"  # a stranger may invent any word
        self.metrics.requested(route, method, status, seconds)
        _logger.info(
            "request",
            extra={
                "facts": {
                    "request": request,
                    "method": method,
                    "route": route,
                    "status": status,
                    "ms": round(1000 * seconds, 1),
                }
            },
        )


async def _body(scope: Scope, receive: Receive, limit: int) -> bytes:
    headers = dict(scope["headers"])
    declared = headers.get(b"content-length", b"0")
    if declared.isdigit() and int(declared) > limit:
        raise TooLargeError
    parts, size, more = [], 0, True
    while more:
        message = await receive()
        if message["type"] != "http.request":
            break
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if size > limit:
            raise TooLargeError
        more = message.get("more_body", False)
    return b"".join(parts)


def _replayed(body: bytes, receive: Receive) -> Receive:
    given = False

    async def again() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again


class Lines(logging.Formatter):
    """One JSON object a line: time, level, what happened, facts. No addresses, tokens or values of persons."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        facts = getattr(record, "facts", {})
        line = {
            "at": self.formatTime(record),
            "level": record.levelname.lower(),
            "event": record.getMessage(),
            **facts,
        }
        if record.exc_info and record.exc_info[0] is not None:
            line["error"] = record.exc_info[0].__name__
            # never the message, which may quote a person's values
            places = extract_tb(record.exc_info[2])[-8:]
            line["where"] = [f"{f.filename.rsplit('/', 1)[-1]}:{f.lineno} {f.name}" for f in places]
        return json.dumps(line)

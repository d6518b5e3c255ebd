"""What stands before every request: who may ask, how often, how much and how long; security headers; a line of log."""

from __future__ import annotations

import asyncio
import json
import logging
import math
import multiprocessing
import os
import secrets
import sys
import time
from collections.abc import AsyncIterator
from traceback import extract_tb
from typing import Annotated, Any

import anyio
from fastapi import Depends, Request
from limits import RateLimitItem, RateLimitItemPerHour, RateLimitItemPerMinute, RateLimitItemPerSecond
from limits.storage import MemoryStorage
from limits.strategies import SlidingWindowCounterRateLimiter
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from reap import _clock
from reap._clock import LateError
from reap.language import N_, _, number
from reap.service.desk import Desk
from reap.service.faults import BROKEN, answer, failure, late
from reap.service.metrics import Metrics
from reap.service.settings import Settings
from reap.service.store import same

#: Seconds in which a request's head must be here, and as many again for its body.
ARRIVAL = 15.0
#: Files that a worker keeps for its database, its modules and its log.
_RESERVED = 128
#: Seconds beyond the time limit for a computation that looks at the clock to end, before the person is answered without it.
MARGIN = 0.5
#: What a worker ends with in which a computation does not end; the supervisor replaces it.
STUCK = 70
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


# who may do what ----------------------------------------------------------------------------------------


class Rates:
    """How often one client may do what, counted in this worker: requests, starts of a session, wrong admin keys."""

    def __init__(self, settings: Settings) -> None:
        self._counter = SlidingWindowCounterRateLimiter(MemoryStorage())
        window = math.ceil(settings.burst / settings.rate) if settings.rate else 0
        self.requests = RateLimitItemPerSecond(settings.burst, window) if settings.rate else None
        self.starts = RateLimitItemPerHour(settings.starts) if settings.starts else None
        self.guesses = RateLimitItemPerMinute(5, 5)

    def left(self, what: RateLimitItem | None, client: str) -> bool:
        """Return whether a client may do it once more."""
        return what is None or self._counter.test(what, client)

    def take(self, what: RateLimitItem | None, client: str) -> bool:
        """Return whether a client may do it once more, and count it."""
        return what is None or self._counter.hit(what, client)


async def desk_of(request: Request) -> Desk:
    """Return the desk of the application; without a thread of its own, which a plain function would get."""
    desk: Desk = request.app.state.desk
    return desk


D = Annotated[Desk, Depends(desk_of)]


def client_of(request: Request) -> str:
    """Return the address that limits count by."""
    return request.client.host if request.client else "unknown"


def knows_key(request: Request, password: str | None = None) -> bool:
    """Return whether a client gave the admin key, as a password or in either header; after a few wrong guesses it has to wait."""
    rates: Rates = request.app.state.rates
    client, given = client_of(request), password
    if given is None:
        kind, _mark, value = request.headers.get("authorization", "").partition(" ")
        given = value if kind.lower() == "bearer" else request.headers.get("x-admin-key", "")
    if given and not rates.left(rates.guesses, client):
        raise HTTPException(429, N_("Too many wrong admin keys; wait a minute."), {"Retry-After": "60"})
    known = same(given, request.app.state.settings.admin_key)
    if given and not known:
        rates.take(rates.guesses, client)
    return known


async def admin(request: Request) -> None:
    """Refuse a request without the admin key."""
    if not knows_key(request):
        raise HTTPException(401, N_("This needs the admin key in the header X-Admin-Key."))


async def may_start(request: Request) -> None:
    """Refuse a start from outside where the operator keeps it closed, or where one client starts too many."""
    if not request.app.state.settings.open_start:
        await admin(request)
    elif not knows_key(request):
        count_start(request)


def count_start(request: Request) -> None:
    """Count a start for its client; refuse one too many."""
    rates: Rates = request.app.state.rates
    if not rates.take(rates.starts, client_of(request)):
        raise HTTPException(
            429, N_("Too many sessions were started from here; wait an hour."), {"Retry-After": "600"}
        )


async def in_line(request: Request) -> AsyncIterator[None]:
    """Let one newcomer compute at a time; the others wait without a thread, which whoever is in a session needs."""
    async with request.app.state.newcomers:
        yield


# every connection ---------------------------------------------------------------------------------------


def most_connections() -> int:
    """Return how many connections a worker may hold: what is left of the files that a process may open."""
    if sys.platform == "win32":
        return 512
    import resource

    return max(resource.getrlimit(resource.RLIMIT_NOFILE)[0] - _RESERVED, 16)


class Connection(H11Protocol):
    """HTTP of uvicorn, with a deadline for the head of every request.

    A request that is being answered has no deadline here, and an answered client that keeps its connection has uvicorn's own.
    """

    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Greet a client, or hang up where there are too many."""
        super().connection_made(transport)
        if len(self.connections) > most_connections():
            transport.close()
        else:
            self._deadline = self.loop.call_later(ARRIVAL, transport.close)

    def data_received(self, data: bytes) -> None:
        """Read on; the deadline runs while a head has begun and is not whole."""
        super().data_received(data)
        if self.cycle is not None and not self.cycle.response_complete:
            self._relax()
        elif self._deadline is None:
            self._deadline = self.loop.call_later(ARRIVAL, self.transport.close)

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the client."""
        self._relax()
        super().connection_lost(exc)

    def _relax(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None


# every request ------------------------------------------------------------------------------------------


class TooLargeError(Exception):
    """A body beyond the limit."""


class Guard:
    """ASGI middleware around the whole application."""

    def __init__(
        self,
        app: ASGIApp,
        settings: Settings,
        metrics: Metrics,
        rates: Rates,
        stuck: set[asyncio.Task[None]],
    ) -> None:
        self.app, self.settings, self.metrics, self.rates = app, settings, metrics, rates
        self.stuck = stuck  # what goes on computing though nobody waits for it any more

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Guard one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        begin = time.perf_counter()
        seen: dict[str, Any] = {}
        name = secrets.token_hex(6)

        async def sealed(message: Message) -> None:
            if message["type"] == "http.response.start":
                seen["status"] = message["status"]
                message["headers"] = [*message.get("headers", []), *self._headers(scope["path"], name)]
            await send(message)

        try:
            refused = await self._admit(scope, receive, sealed)
            if refused is not None:
                await refused(scope, receive, sealed)
        except Exception as error:
            # The person gets a sentence; the cause is for the operator's log alone.
            _logger.exception("unexpected error", extra={"facts": {"request": name}})
            if "status" not in seen:
                asked = Request(scope)
                slow = isinstance(error, LateError)  # while another error was answered
                made = late(asked, self.settings.time_limit) if slow else failure(asked, 500, BROKEN)
                await made(scope, receive, sealed)
        finally:
            self._record(scope, seen.get("status", 500), time.perf_counter() - begin, name)

    async def _admit(self, scope: Scope, receive: Receive, send: Send) -> ASGIApp | None:
        """Let the application answer, or return why it does not."""
        request, most = Request(scope), self.settings.body_limit
        limited = not scope["path"].startswith(_OPEN)
        if limited and not self.rates.take(self.rates.requests, client_of(request)):
            busy = N_("Too many requests at once; wait a moment.")
            return answer(request, 429, busy, headers={"Retry-After": "1"})
        try:
            async with asyncio.timeout(ARRIVAL):
                body = await _body(scope, receive, most)
        except TimeoutError:
            slow = N_("The request did not arrive in time.")
            return answer(request, 408, slow, headers={"Connection": "close"})
        except TooLargeError:
            large = _("The request is too large; at most {most} bytes are taken.")
            return answer(request, 413, large.format(most=number(most)))
        return await self._in_time(scope, _replayed(body, receive), send)

    async def _in_time(self, scope: Scope, receive: Receive, send: Send) -> ASGIApp | None:
        """Let the application answer, or return that it could not in time.

        What we compute looks at the clock and ends by itself (``reap._clock``). A model of somebody else's need not: what goes
        on computing is left alone for as long again, and a worker in which it still does not end is replaced.
        """
        begun = over = False
        waiting, limit = anyio.CancelScope(), self.settings.time_limit

        async def gate(message: Message) -> None:
            nonlocal begun
            if not over:
                begun = True
                await send(message)

        async def run() -> None:
            with waiting, _clock.until(time.monotonic() + limit):
                await self.app(scope, receive, gate)

        task = asyncio.ensure_future(run())
        try:
            await asyncio.wait({task}, timeout=limit + MARGIN)
        except asyncio.CancelledError:
            task.cancel()
            raise
        if task.done() or begun:
            await task
            return None
        over = True
        waiting.cancel()  # whoever waits for a thread leaves; whoever has one is waited for
        self.stuck.add(task)
        task.add_done_callback(self._ended)
        asyncio.get_running_loop().call_later(limit, self._look, task)
        return late(Request(scope), limit)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self.stuck.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            _logger.error("a request ended too late", exc_info=(type(error), error, error.__traceback__))

    def _look(self, task: asyncio.Task[None]) -> None:
        if task in self.stuck:
            _logger.error("a computation does not end")
            if multiprocessing.parent_process() is not None:  # the supervisor starts another
                os._exit(STUCK)

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
        self.metrics.requests.labels(route, method, str(status)).observe(seconds)
        facts = {"request": request, "method": method, "route": route, "status": status}
        _logger.info("request", extra={"facts": {**facts, "ms": round(1000 * seconds, 1)}})


async def _body(scope: Scope, receive: Receive, limit: int) -> bytes:
    declared = dict(scope["headers"]).get(b"content-length", b"0")
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
        line = {
            "at": self.formatTime(record),
            "level": record.levelname.lower(),
            "event": record.getMessage(),
            **getattr(record, "facts", {}),
        }
        if record.exc_info and record.exc_info[0] is not None:
            line["error"] = record.exc_info[0].__name__
            # never the message, which may quote a person's values
            places = extract_tb(record.exc_info[2])[-8:]
            line["where"] = [f"{f.filename.rsplit('/', 1)[-1]}:{f.lineno} {f.name}" for f in places]
        return json.dumps(line)

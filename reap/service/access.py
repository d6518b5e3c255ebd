"""Who may do what: the admin key, and how often one client may start or guess."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from typing import Annotated

from fastapi import Depends, Request
from starlette.exceptions import HTTPException

from reap.language import N_
from reap.service.desk import Desk
from reap.service.tokens import same


async def desk_of(request: Request) -> Desk:
    """Return the desk of the application; without a thread of its own, which a plain function would get."""
    desk: Desk = request.app.state.desk
    return desk


async def admin(request: Request) -> None:
    """Refuse a request without the admin key."""
    if not knows_key(request, given_key(request)):
        raise HTTPException(401, N_("This needs the admin key in the header X-Admin-Key."))


def knows_key(request: Request, given: str) -> bool:
    """Return whether a client gave the admin key; one that guessed wrong a few times has to wait before the next guess."""
    state, client, now = request.app.state, client_of(request), time.monotonic()
    if given and state.guesses.left(client, now) < 1:
        raise HTTPException(429, N_("Too many wrong admin keys; wait a minute."), {"Retry-After": "60"})
    known = same(given, state.settings.admin_key)
    if given and not known:
        state.guesses.take(client, now)
    return known


def client_of(request: Request) -> str:
    """Return the address that limits count by."""
    return request.client.host if request.client else "unknown"


def given_key(request: Request) -> str:
    """Return the admin key that a request brings, in either header; empty where there is none."""
    kind, _, value = request.headers.get("authorization", "").partition(" ")
    return value if kind.lower() == "bearer" else request.headers.get("x-admin-key", "")


async def may_start(request: Request) -> None:
    """Refuse a start from outside where the operator keeps it closed, or where one client starts too many."""
    if not request.app.state.settings.open_start:
        await admin(request)
    elif not given_key(request) or not knows_key(request, given_key(request)):
        count_start(request)


async def in_line(request: Request) -> AsyncIterator[None]:
    """Let newcomers wait without a thread, all but the few that are next: whoever is in a session needs one now."""
    async with request.app.state.newcomers:
        yield


def count_start(request: Request) -> None:
    """Count a start for its client; refuse one too many."""
    state = request.app.state
    if state.settings.starts and not state.starts.take(client_of(request), time.monotonic()):
        raise HTTPException(
            429, N_("Too many sessions were started from here; wait an hour."), {"Retry-After": "600"}
        )


D = Annotated[Desk, Depends(desk_of)]

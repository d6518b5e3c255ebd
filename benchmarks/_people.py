"""Simulated people for the load test: one connection each, plain asyncio, since the load shares the cores it measures."""

from __future__ import annotations

import asyncio
import itertools
import json
import secrets
import time
from dataclasses import dataclass, field
from typing import Any, Self
from urllib.parse import urlsplit

import numpy as np

#: Seconds after which somebody gives up waiting; counted as an error.
PATIENCE = 60.0


@dataclass
class Tally:
    """What the people saw."""

    firsts: list[float] = field(default_factory=list)  # seconds to the first question of a session
    nexts: list[float] = field(default_factory=list)  # seconds from an answer to the next question
    errors: list[str] = field(default_factory=list)
    #: Key of every answer sent -> whether they were told that it is stored; None: the service did not say, or they gave up.
    told: dict[str, bool | None] = field(default_factory=dict)


class RefusedError(ValueError):
    """An answer that is not 2xx; ``stored`` is what it says of what was sent."""

    def __init__(self, status: int, body: bytes) -> None:
        super().__init__(f"status {status}: {body[:200].decode(errors='replace')}")
        self.stored: bool | None = json.loads(body)["stored"]


class Browser:
    """One connection that is kept open, and opened again where the server has closed it meanwhile."""

    def __init__(self, url: str) -> None:
        address = urlsplit(url)
        self._host, self._port = address.hostname or "127.0.0.1", address.port or 80
        self._reader: asyncio.StreamReader | None = None
        self._writer: asyncio.StreamWriter | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._writer is not None:
            self._writer.close()

    async def post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """Send JSON and return the JSON that comes back; an answer that is not 2xx is a ``RefusedError``."""
        data = json.dumps(body).encode()
        head = f"POST {path} HTTP/1.1\r\nHost: {self._host}\r\nContent-Type: application/json\r\n"
        request = f"{head}Content-Length: {len(data)}\r\n\r\n".encode() + data
        used = self._writer is not None
        try:
            return await asyncio.wait_for(self._exchange(request), PATIENCE)
        except (ConnectionError, asyncio.IncompleteReadError):
            if not used:
                raise
            self._writer = None  # closed while the person was thinking; the key makes sending again harmless
            return await asyncio.wait_for(self._exchange(request), PATIENCE)

    async def _exchange(self, request: bytes) -> dict[str, Any]:
        if self._reader is None or self._writer is None:
            self._reader, self._writer = await asyncio.open_connection(self._host, self._port)
        self._writer.write(request)
        head = (await self._reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
        fields = dict(line.partition(":")[::2] for line in head.split("\r\n")[1:])
        body = await self._reader.readexactly(int(fields.get("content-length", "0")))
        status = int(head.split(" ", 2)[1])
        if not 200 <= status < 300:
            raise RefusedError(status, body)
        answer: dict[str, Any] = json.loads(body)
        return answer


async def session(
    browser: Browser, row: dict[str, Any], tally: Tally, rng: np.random.Generator, think: float, until: float
) -> None:
    """Start a session and answer until nothing is left to ask, thinking before every answer."""
    begin = time.perf_counter()
    started = await browser.post("/api/v1/sessions", {"subject": row})
    tally.firsts.append(time.perf_counter() - begin)
    path, state = f"/api/v1/sessions/{started['token']}/answers", started["state"]
    while state["question"] and time.perf_counter() < until:
        if think:
            await asyncio.sleep(rng.gamma(2, think / 2))  # hardly anybody answers at once
        said = {"question": state["question"]["id"], "revision": state["revision"]}
        key, begin = secrets.token_hex(8), time.perf_counter()
        tally.told[key] = None
        try:
            answer = await browser.post(path, {**said, "choice": int(rng.integers(2)), "key": key})
        except RefusedError as error:
            tally.told[key] = error.stored
            raise
        tally.told[key] = True
        tally.nexts.append(time.perf_counter() - begin)
        state = answer["state"]


async def person(
    url: str,
    rows: list[dict[str, Any]],
    number: int,
    people: int,
    tally: Tally,
    think: float,
    until: float,
    again: bool,
) -> None:
    """Come some time within the first ``think`` seconds and hold a session; ``again``: one after the other.

    Everybody comes with a row of their own, as long as there are enough of them.
    """
    rng = np.random.default_rng(number)
    await asyncio.sleep(rng.uniform(0, think))
    try:
        async with Browser(url) as browser:
            for row in itertools.count(number, people):
                await session(browser, rows[row % len(rows)], tally, rng, think, until)
                if not again or time.perf_counter() >= until:
                    return
    except (OSError, EOFError, ValueError, KeyError) as error:
        tally.errors.append(f"{type(error).__name__}: {error}")


async def crowd(
    url: str, rows: list[dict[str, Any]], people: int, think: float, limit: float, *, again: bool = False
) -> tuple[Tally, float]:
    """Let people come, think and answer for at most ``limit`` seconds; return what they saw and how long it took."""
    tally, begin = Tally(), time.perf_counter()
    until = begin + limit
    await asyncio.gather(*(person(url, rows, i, people, tally, think, until, again) for i in range(people)))
    return tally, time.perf_counter() - begin

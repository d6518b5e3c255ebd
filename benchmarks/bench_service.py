"""The service under load: people who think, and then as many answers a second as it can give.

``reap serve`` runs in processes of its own with a worker a core, on SQLite and on PostgreSQL, over loopback; the people
are simulated in this process. Every answer is counted in the database afterwards.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import resource
import secrets
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import numpy as np

from benchmarks._harness import Row
from reap.models.files import save_model
from reap.service.store import Store
from tests.service.postgresql import Cluster, NotInstalledError
from tests.service.serving import start, stop

PEOPLE, ANSWERS, THINK = 200, 10, 10.0
WORKERS = 2


@dataclass
class Tally:
    """What the simulated people saw."""

    seconds: list[float] = field(default_factory=list)
    errors: int = 0
    answers: int = 0


def prepare(folder: Path) -> list[dict[str, object]]:
    """Train the example's network, save it, and return rejected applicants as JSON rows."""
    from reap._commands import _setup

    setup = _setup.prepare("german", None, None, None, "graph", 0)
    save_model(setup.engine.model, folder / "model.skops")
    space = setup.engine.space
    return [space.values(space.vector(setup.rejected.iloc[[i]])) for i in range(len(setup.rejected))]


@contextlib.contextmanager
def served(folder: Path, database: str) -> Iterator[str]:
    """Run ``reap serve`` with a worker a core."""
    quiet = {"REAP_RATE": "0", "REAP_QUESTIONS": str(ANSWERS)}
    process, url = start(folder, "--database", database, workers=WORKERS, **quiet)
    try:
        yield url
    finally:
        stop(process)


async def person(
    url: str, row: dict[str, object], tally: Tally, rng: np.random.Generator, think: float, until: float
) -> None:
    """Come, start a session, and answer until nothing is left to ask, thinking before every answer."""
    await asyncio.sleep(rng.uniform(0, think))
    try:
        # Each person has a browser of their own, with a connection of its own.
        async with httpx.AsyncClient(base_url=url, timeout=60, verify=False) as client:
            started = (await client.post("/api/v1/sessions", json={"subject": row})).json()
            token, state = started["token"], started["state"]
            while state["question"] and time.perf_counter() < until:
                await asyncio.sleep(rng.exponential(think))
                body = {"question": state["question"]["id"], "revision": state["revision"]}
                said = {**body, "choice": int(rng.integers(2)), "key": secrets.token_hex(8)}
                begin = time.perf_counter()
                answer = await client.post(f"/api/v1/sessions/{token}/answers", json=said)
                tally.seconds.append(time.perf_counter() - begin)
                state = answer.raise_for_status().json()["state"]
                tally.answers += 1
    except (httpx.HTTPError, KeyError, ValueError):
        tally.errors += 1


async def crowd(
    url: str, rows: list[dict[str, object]], people: int, think: float, limit: float
) -> tuple[Tally, float]:
    """Let people come, think and answer; return what they saw and how long it took."""
    tally, begin = Tally(), time.perf_counter()
    await asyncio.gather(
        *(
            person(url, rows[i % len(rows)], tally, np.random.default_rng(i), think, begin + limit)
            for i in range(people)
        )
    )
    return tally, time.perf_counter() - begin


def counted(database: str) -> int:
    """Answers in the database, every chain checked."""
    store = Store(database)
    faults = list(store.faults())
    if faults:
        raise RuntimeError(f"broken chains: {faults}")
    found = sum(e.type == "answered" for kept in store.sessions() for e in store.events(kept.id))
    store.engine.dispose()
    return found


def measure(kind: str, database: str, folder: Path, rows: list[dict[str, object]], quick: bool) -> list[Row]:
    people, limit = (20, 30.0) if quick else (PEOPLE, 400.0)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    with served(folder, database) as url:
        calm, spent = asyncio.run(crowd(url, rows, people, 2.0 if quick else THINK, limit))
        stored = counted(database)
        full, busy = asyncio.run(crowd(url, rows, 8, 0.0, 5.0 if quick else 20.0))
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = (after.ru_utime + after.ru_stime) - (used.ru_utime + used.ru_stime)
    p95 = float(np.percentile(calm.seconds, 95)) * 1e3
    note = f"{calm.answers} answers of {people} people in {spent:.0f} s; median {np.median(calm.seconds) * 1e3:.0f} ms"
    return [
        Row.limit(f"service, {kind}: next question, p95", p95, "ms", at_most=300, note=note),
        Row.limit(f"service, {kind}: errors", calm.errors + full.errors, "", at_most=0),
        Row.limit(f"service, {kind}: answers miscounted", abs(stored - calm.answers), "", at_most=0),
        Row(
            f"service, {kind}: processor time an answer",
            1e3 * processor / max(calm.answers + full.answers, 1),
            "ms",
            note="of the whole server, its start and the sessions' starts included",
        ),
        Row(
            f"service, {kind}: answers a second at saturation",
            full.answers / busy,
            "/s",
            note=f"{WORKERS} workers and the load on {os.cpu_count()} cores; load average {os.getloadavg()[0]:.1f}",
        ),
    ]


def run(quick: bool) -> list[Row]:
    with tempfile.TemporaryDirectory(prefix="reap-bench-") as name:
        folder = Path(name)
        rows = prepare(folder)
        found = measure("SQLite", f"sqlite:///{folder}/reap.db", folder, rows, quick)
        try:
            server = Cluster.start_new()
        except NotInstalledError:
            return found
        try:
            found += measure("PostgreSQL", server.new(), folder, rows, quick)
        finally:
            server.remove()
    return found

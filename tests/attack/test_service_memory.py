"""Memory: a service that thousands start sessions at holds as many as it is told to, and no more."""

from __future__ import annotations

import os
import re
from pathlib import Path

import httpx
import pytest

from reap.models.files import save_model
from tests.service.serving import start, stop

TIMES = int(os.environ.get("REAP_ATTACK", "1"))
#: Sessions that the service may keep; started before the first look, so that every cache is full; and after it.
KEPT, FIRST, THEN = 4, 30, 12
#: Different people: what the engine knows of the last 128 of them is kept too, and is no session.
PEOPLE = 5
#: Megabytes that the process may grow by after the first look. A session in memory takes 5, so 12 of them would take 60.
GROWN = 25


def resident(process) -> float:
    """Megabytes of memory that the process holds."""
    status = Path(f"/proc/{process.pid}/status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+) kB", status)[1]) / 1024


@pytest.mark.long
def test_memory_is_bounded_however_many_start(german_model, german, german_rejected, tmp_path):
    """The process stays as it is over ``REAP_ATTACK`` times twelve starts, once it is warm."""
    save_model(german_model, tmp_path / "model.skops")
    rows = [german.space.values(german.space.vector(german_rejected.iloc[[i]])) for i in range(PEOPLE)]
    kept = {"REAP_LIVE_SESSIONS": str(KEPT), "REAP_STARTS": "0", "REAP_RATE": "0", "MALLOC_ARENA_MAX": "2"}
    process, url = start(tmp_path, **kept)

    def grow(client, count):
        for k in range(count):
            body = {"subject": rows[k % len(rows)], "seed": k}
            assert client.post("/api/v1/sessions", json=body).status_code == 201
        return resident(process)

    try:
        with httpx.Client(base_url=url, timeout=120) as client:
            before = grow(client, FIRST)
            rise = grow(client, THEN * TIMES) - before
        print(f"{THEN * TIMES} starts with live_sessions = {KEPT}: {rise:.0f} MB more")
        assert rise < GROWN
    finally:
        stop(process)

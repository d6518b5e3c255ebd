"""A full disk, a lost database: a clean 503, no half state, and it works again after."""

from __future__ import annotations

import contextlib
import itertools
import re
import sqlite3

import sqlalchemy as sa

from reap.service.store import EVENTS

from .conftest import cluster


def assert_nothing_is_lost(service, row, token, state, fail, heal):
    """Break the database in the middle of a session, then mend it: an answer is stored with the next question or not at all."""
    stored_in = service.events()[0].session
    log = [(e.revision, e.type, e.hash) for e in service.events() if e.session == stored_in]
    assert service.client.get("/readyz").status_code == 200
    fail()
    assert service.client.get("/readyz").status_code == 503
    refused = service.answer(token, state, "left", key="during")
    assert refused.status_code == 503
    assert refused.headers["retry-after"]
    assert service.client.post("/api/v1/sessions", json={"subject": row}).status_code == 503
    assert service.client.get("/healthz").status_code == 200
    page = service.client.get(f"/s/{token}/plan")
    assert page.status_code == 503
    assert "cannot store anything" in page.text
    heal()
    assert service.client.get("/readyz").status_code == 200
    assert [(e.revision, e.type, e.hash) for e in service.events()] == log
    assert refused.json()["stored"] is None  # the reply to a commit may have been lost
    assert "Sent once more, it counts once" in refused.json()["error"]
    stored = service.answer(token, state, "left", key="during")
    assert stored.status_code == 200
    mine = [e.type for e in service.events() if e.session == stored_in]
    assert mine == ["started", "asked", "answered", "asked"]
    assert list(service.store.faults()) == []
    faults = re.search(r"reap_database_faults_total (\d)", service.client.get("/metrics").text)
    assert int(faults[1]) >= 3


def test_a_full_disk(service, row):
    started = service.start(row)
    full = False

    @sa.event.listens_for(service.store.engine, "checkout")
    def _fill(connection, *_):
        # SQLite itself refuses to grow the file, with the error of a full disk.
        connection.execute(f"PRAGMA max_page_count = {1 if full else 1 << 30}")

    kept, _ = service.store.create("f" * 64, days=1, model="m", data="d", version="1", said=[("started", {})])
    places = itertools.count(1)

    def grow(size):
        with service.store.engine.begin() as connection:
            text = {"session": kept.id, "revision": next(places), "type": "filler", "text": "x" * size}
            connection.execute(EVENTS.insert().values(**text, created="", previous="", hash=""))

    def fail():
        nonlocal full
        full = True
        for size in (2000, 200, 20):  # pages have room inside: it is taken, too
            with contextlib.suppress(sa.exc.OperationalError):
                while True:
                    grow(size)

    def heal():
        nonlocal full
        full = False
        service.store.delete(kept.id)

    assert_nothing_is_lost(service, row, started["token"], started["state"], fail, heal)


def test_a_lost_postgresql(serve, row):
    with cluster() as own:
        service = serve(own.new())
        started = service.start(row)
        assert_nothing_is_lost(service, row, started["token"], started["state"], own.stop, own.start)
        service.store.engine.dispose()


def test_a_database_that_somebody_else_holds(service, row, tmp_path):
    started = service.start(row)
    with sqlite3.connect(tmp_path / "reap.db", isolation_level=None) as other:
        state = (started["token"], started["state"])
        assert_nothing_is_lost(
            service, row, *state, lambda: other.execute("BEGIN IMMEDIATE"), lambda: other.execute("ROLLBACK")
        )
    other.close()

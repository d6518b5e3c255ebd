"""What a request asks of the database: every round trip is processor time on both sides, and somebody waits for it."""

from __future__ import annotations

import time

import pytest
import sqlalchemy as sa

from reap.service import acts, tables
from reap.service.desk import Desk
from reap.service.settings import Settings
from reap.service.store import Store


@pytest.fixture
def desk(case, database):
    store = Store(database)
    store.prepare()
    yield Desk(case, store, Settings(questions=4))
    store.engine.dispose()


@pytest.fixture
def seen(desk):
    """The first words of the statements, and the commits, as they happen; what only SQLite is told is left out."""
    said = []

    @sa.event.listens_for(desk.store.engine, "before_cursor_execute")
    def _said(_connection, _cursor, statement, *_):
        words = statement.split()
        if words[0] not in ("PRAGMA", "BEGIN"):
            said.append(words[0])

    @sa.event.listens_for(desk.store.engine, "commit")
    def _done(_connection):
        said.append("COMMIT")

    return said


def test_an_answer_and_the_next_question_are_one_look_and_one_commit(desk, seen, row):
    token = desk.start(desk.space.vector(row))
    seen.clear()
    with desk.open(token) as live:
        question = live.session.ask()
        acts.answer(desk, live, question=question.id, revision=live.revision, choice=0, key="k")
    assert seen == ["SELECT", "UPDATE", "INSERT", "COMMIT"]
    assert [entry.type for entry in desk.log(token)[1]] == ["started", "asked", "answered", "asked"]
    assert [entry.key for entry in desk.log(token)[1]] == [None, None, "k", None]


def test_an_undo_shows_what_is_in_the_log_already(desk, seen, row):
    token = desk.start(desk.space.vector(row))
    with desk.open(token) as live:
        question = live.session.ask()
        acts.answer(desk, live, question=question.id, revision=live.revision, choice=0)
        seen.clear()
        acts.undo(desk, live)
    assert seen == ["UPDATE", "INSERT", "COMMIT"]
    assert [entry.type for entry in desk.log(token)[1]][-1] == "undone"


def test_a_connection_is_looked_at_only_after_it_was_idle(postgres, monkeypatch):
    store = Store(postgres.new())
    store.prepare()
    looks = []
    ping = store.engine.dialect.do_ping
    monkeypatch.setattr(store.engine.dialect, "do_ping", lambda given: (looks.append(1), ping(given))[1])
    for _ in range(3):
        store.find("a" * 64)
    assert looks == []
    monkeypatch.setattr(tables, "IDLE", 0.01)
    time.sleep(0.05)
    store.find("a" * 64)
    assert looks == [1]
    store.engine.dispose()


def test_a_connection_that_was_cut_while_idle_is_made_anew(postgres, monkeypatch):
    store = Store(postgres.new())
    store.prepare()
    store.find("a" * 64)
    with store.reading() as connection:
        mine = connection.exec_driver_sql("SELECT pg_backend_pid()").scalar_one()
    other = sa.create_engine(store.engine.url)
    with other.begin() as connection:
        connection.exec_driver_sql(f"SELECT pg_terminate_backend({mine})")
    other.dispose()
    monkeypatch.setattr(tables, "IDLE", 0.0)
    assert store.find("a" * 64) is None  # an answer, and no fault
    store.engine.dispose()

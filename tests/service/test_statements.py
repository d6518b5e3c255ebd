"""What a request asks of the database: every round trip is processor time on both sides, and somebody waits for it."""

from __future__ import annotations

import sqlalchemy as sa

from reap.service import acts
from reap.service.desk import Desk
from reap.service.settings import Settings
from reap.service.store import Store


def test_an_answer_and_the_next_question_are_one_look_and_one_commit(case, database, row):
    store = Store(database)
    store.prepare()
    desk, seen = Desk(case, store, Settings(questions=4)), []

    @sa.event.listens_for(store.engine, "before_cursor_execute")
    def _said(_connection, _cursor, statement, *_):
        words = statement.split()
        if words[0] not in ("PRAGMA", "BEGIN"):
            seen.append(words[0])

    @sa.event.listens_for(store.engine, "commit")
    def _done(_connection):
        seen.append("COMMIT")

    token = desk.start(desk.space.vector(row))
    seen.clear()
    with desk.open(token) as live:
        question = live.session.ask()
        acts.answer(desk, live, question=question.id, revision=live.revision, choice=0, key="k")
    assert seen == ["SELECT", "UPDATE", "INSERT", "COMMIT"]
    assert [(e.type, e.key) for e in desk.log(token)[1]][1:] == [
        ("asked", None),
        ("answered", "k"),
        ("asked", None),
    ]
    seen.clear()
    with desk.open(token) as live:  # an undo shows what is in the log already
        acts.undo(desk, live)
    assert seen == ["SELECT", "UPDATE", "INSERT", "COMMIT"]
    assert desk.log(token)[1][-1].type == "undone"
    store.engine.dispose()


def test_a_connection_that_was_cut_while_idle_is_made_anew(postgres):
    store = Store(postgres.new())
    store.prepare()
    store.find("a" * 64)
    with store.reading() as connection:
        mine = connection.exec_driver_sql("SELECT pg_backend_pid()").scalar_one()
    other = sa.create_engine(store.engine.url)
    with other.begin() as connection:
        connection.exec_driver_sql(f"SELECT pg_terminate_backend({mine})")
    other.dispose()
    assert store.find("a" * 64) is None  # an answer, and no fault
    store.engine.dispose()

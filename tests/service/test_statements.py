"""What a request costs: one commit, each thing computed once; somebody waits for every round trip."""

from __future__ import annotations

import re

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


def computed(service):
    """How often each computation was done so far."""
    text = service.client.get("/metrics").text
    found = re.findall(r'reap_solve_seconds_count\{what="(\w+)"\} (\d+)', text)
    return {what: int(count) for what, count in found}


def test_an_answer_is_learnt_from_once_and_the_next_question_chosen_once(service, row):
    started = service.start(row)
    token, state = started["token"], started["state"]
    before = computed(service)
    for _ in range(2):
        state = service.answer(token, state, "left").json()["state"]
        assert service.state(token) == state
    after = computed(service)
    assert {what: after[what] - before.get(what, 0) for what in after} == {"ask": 2, "answered": 2}


def test_a_plan_is_explained_once_in_each_state(service, row):
    started = service.start(row)
    token = started["token"]
    path = f"/api/v1/sessions/{token}/plan"
    first = service.client.get(path).json()
    assert service.client.get(path).json() == first
    assert service.client.get(f"/s/{token}/plan").status_code == 200
    assert computed(service)["explain"] == 1
    service.answer(token, started["state"], "left")
    second = service.client.get(path).json()
    assert second["revision"] > first["revision"]
    assert computed(service)["explain"] == 2
    service.client.delete(f"/api/v1/sessions/{token}/answers/last")
    third = service.client.get(path).json()
    assert third["changes"] == first["changes"]
    assert third["difficulties"] == first["difficulties"]

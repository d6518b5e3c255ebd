"""Two workers at one session: what one stores first is what both show, at every place where they can meet."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from reap.elicitation import in_force
from reap.service import acts
from reap.service.desk import Desk, ReusedError, StaleError
from reap.service.settings import Settings
from reap.service.store import Store


@pytest.fixture
def desks(case, tmp_path):
    stores = [Store(f"sqlite:///{tmp_path}/reap.db") for _ in range(2)]
    stores[0].prepare()
    yield [Desk(case, store, Settings(questions=4)) for store in stores]
    for store in stores:
        store.engine.dispose()


@pytest.fixture
def token(desks, case, row):
    return desks[0].start(case.engine.space.vector(row))


def overtake(monkeypatch, desk, kind, act):
    """Let something happen just before a desk stores its first event of a type."""
    append, waiting = desk.store.append, [act]

    def late(kept, place, head, said, *more):
        if waiting and kind in dict(said):
            waiting.pop()()
        return append(kept, place, head, said, *more)

    monkeypatch.setattr(desk.store, "append", late)


def look(desk, token):
    with desk.open(token) as live:
        return live.session.ask()


def answer(desk, token, choice, key):
    with desk.open(token) as live:
        question = live.session.ask()
        return acts.answer(desk, live, question=question.id, revision=live.revision, choice=choice, key=key)


def told(desk, token):
    return [entry.type for entry in desk.log(token)[1]]


def same_as_log(desk, token):
    """The session in memory has the events that are stored, and no others."""
    with desk.open(token) as live:
        kept = [entry.event for entry in in_force(desk.log(token)[1])]
        assert live.session.events[1:] == kept[1:]
        assert live.session.events[0].payload["z"] == kept[0].payload["z"]


def test_a_question_that_another_worker_stored_first_is_shown_by_both(monkeypatch, desks, token):
    here, there = desks
    overtake(monkeypatch, here, "asked", lambda: look(there, token))
    answer(here, token, 0, "k")
    assert told(here, token) == ["started", "asked", "answered", "asked"]
    assert look(here, token).id == look(there, token).id
    same_as_log(here, token)


def test_a_plan_that_another_worker_stored_first_is_shown_by_both(monkeypatch, desks, token):
    here, there = desks

    def plan(desk):
        with desk.open(token) as live:
            return desk.plan(live).to_json()

    overtake(monkeypatch, here, "recommended", lambda: plan(there))
    assert plan(here) == plan(there)
    assert told(here, token) == ["started", "asked", "recommended"]
    same_as_log(here, token)


def test_the_person_answers_elsewhere_while_a_plan_is_computed(monkeypatch, desks, token):
    here, there = desks
    overtake(monkeypatch, here, "recommended", lambda: answer(there, token, 1, "k"))
    with here.open(token) as live:
        plan = here.plan(live)
        assert live.session.revision == 1
        assert live.session.recommend().to_json() == plan.to_json()
    assert told(here, token) == ["started", "asked", "answered", "asked", "recommended"]
    same_as_log(here, token)


def test_the_slower_of_two_answers_is_told_that_the_session_has_moved_on(monkeypatch, desks, token):
    here, there = desks
    overtake(monkeypatch, here, "answered", lambda: answer(there, token, 1, "there"))
    with pytest.raises(StaleError):
        answer(here, token, 0, "here")
    assert told(here, token) == ["started", "asked", "answered", "asked"]
    same_as_log(here, token)


def test_the_same_request_at_two_workers_counts_once(monkeypatch, desks, token):
    here, there = desks
    overtake(monkeypatch, here, "answered", lambda: answer(there, token, 1, "same"))
    entry = answer(here, token, 1, "same")
    assert entry.payload["choice"] == 1
    assert told(here, token) == ["started", "asked", "answered", "asked"]
    same_as_log(here, token)


def test_two_requests_with_one_key_at_two_workers_are_told_apart(monkeypatch, desks, token):
    here, there = desks
    overtake(monkeypatch, here, "answered", lambda: answer(there, token, 1, "same"))
    with pytest.raises(ReusedError):
        answer(here, token, 0, "same")
    assert told(here, token) == ["started", "asked", "answered", "asked"]
    same_as_log(here, token)


def test_a_limit_lifted_twice_with_one_key_is_lifted_once(desks, token):
    desk = desks[0]
    with desk.open(token) as live:
        acts.constrain(desk, live, "amount", {"fixed": True})
        first = acts.release(desk, live, "amount", key="lift")
        assert acts.release(desk, live, "amount", key="lift") == first
    assert told(desk, token).count("released") == 1


def test_who_is_in_a_session_is_answered_while_a_newcomer_computes(case, row, desks, token, monkeypatch):
    desk, begun, done = desks[0], threading.Event(), threading.Event()
    search = type(case.engine._search)
    find = search.find

    def slowly(self, subject, deadline):
        begun.set()
        assert done.wait(60)
        return find(self, subject, deadline)

    monkeypatch.setattr(search, "find", slowly)
    other = case.engine.space.vector(row)
    other[case.engine.space.slices["amount"]] *= 0.9
    with ThreadPoolExecutor(1) as pool:
        newcomer = pool.submit(desk.start, case.engine.space.encoding.snap(other)[0])
        try:
            assert begun.wait(60)
            answer(desk, token, "skip", "one")
            assert told(desk, token)[-2:] == ["answered", "asked"]
        finally:
            done.set()
        assert newcomer.result(60) != token

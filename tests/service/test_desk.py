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


def plan(desk, token):
    with desk.open(token) as live:
        return desk.plan(live).to_json()


def refused(error, desk, token, key):
    with pytest.raises(error):
        answer(desk, token, 0, key)


ANSWERED = ["started", "asked", "answered", "asked"]


@pytest.mark.parametrize(
    ("kind", "there", "here", "log"),
    [
        ("asked", look, lambda desk, token: answer(desk, token, 0, "k"), ANSWERED),
        ("recommended", plan, plan, ["started", "asked", "recommended"]),
        ("recommended", lambda desk, token: answer(desk, token, 1, "k"), plan, [*ANSWERED, "recommended"]),
        *[
            ("answered", lambda desk, token: answer(desk, token, 1, "same"), act, ANSWERED)
            for act in (
                lambda desk, token: answer(desk, token, 1, "same"),
                lambda desk, token: refused(StaleError, desk, token, "other"),
                lambda desk, token: refused(ReusedError, desk, token, "same"),
            )
        ],
    ],
    ids=["question", "plan", "answer before a plan", "same request", "slower answer", "same key"],
)
def test_what_another_worker_stored_first_is_what_both_show(
    monkeypatch, desks, token, kind, there, here, log
):
    one, other = desks
    overtake(monkeypatch, one, kind, lambda: there(other, token))
    here(one, token)
    assert told(one, token) == log
    assert look(one, token) == look(other, token) or look(one, token).id == look(other, token).id
    assert plan(one, token) == plan(other, token)
    for desk in desks:  # the session in memory has the events that are stored, and no others
        with desk.open(token) as live:
            kept = [entry.event for entry in in_force(desk.log(token)[1])]
            assert live.session.events[1:] == kept[1:]
            assert live.session.events[0].payload["z"] == kept[0].payload["z"]


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

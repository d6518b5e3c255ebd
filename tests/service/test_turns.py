"""Who computes next: first come, first served, whichever computation of a request it is; newcomers beside the others."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from reap.service import acts
from reap.service.desk import Desk
from reap.service.server import MOST_WORKERS, usual_workers
from reap.service.settings import Settings
from reap.service.store import Store
from reap.service.turns import Turns


def wait_until(true):
    for _ in range(2000):
        if true():
            return
        time.sleep(0.005)
    raise AssertionError("it never happened")


def test_the_request_that_came_first_goes_first():
    turns, order = Turns(1), []

    def compute(came):
        with turns.turn(came):
            order.append(came)

    with ThreadPoolExecutor(4) as pool, turns.turn(0.0):
        for place, came in enumerate((3.0, 1.0, 2.0, 1.5)):
            pool.submit(compute, came)
            wait_until(lambda place=place: len(turns._waiting) == place + 1)
    assert order == [1.0, 1.5, 2.0, 3.0]


@pytest.mark.parametrize("places", [1, 3])
def test_never_more_compute_than_there_are_places_and_a_failure_gives_its_place_back(places):
    turns, lock, now, most = Turns(places), threading.Lock(), 0, 0

    def compute(i):
        nonlocal now, most
        with turns.turn(float(i)):
            with lock:
                now += 1
                most = max(most, now)
            time.sleep(0.001)
            with lock:
                now -= 1
            if i % 3 == 0:
                raise ValueError(i)

    with ThreadPoolExecutor(12) as pool:
        done = [pool.submit(compute, i) for i in range(60)]
    assert sum(isinstance(d.exception(), ValueError) for d in done) == 20
    assert most == places
    assert turns._free == places
    assert turns._waiting == []


def test_workers_are_one_a_core_within_reason_and_one_for_a_database_in_memory():
    assert 1 <= usual_workers(Settings()) <= MOST_WORKERS
    assert usual_workers(Settings(database_url="sqlite://")) == 1


def test_who_is_in_a_session_is_answered_while_a_newcomer_computes(case, row, tmp_path, monkeypatch):
    store = Store(f"sqlite:///{tmp_path}/reap.db")
    store.prepare()
    desk, z = Desk(case, store, Settings(questions=4)), case.engine.space.vector(row)
    token, begun, done = desk.start(z), threading.Event(), threading.Event()
    find = type(case.engine._search).find

    def slowly(search, subject, deadline):
        begun.set()
        assert done.wait(60)
        return find(search, subject, deadline)

    monkeypatch.setattr(type(case.engine._search), "find", slowly)
    other = z.copy()
    other[case.engine.space.slices["amount"]] *= 0.9
    with ThreadPoolExecutor(1) as pool:
        newcomer = pool.submit(desk.start, case.engine.space.encoding.snap(other)[0])
        try:
            assert begun.wait(60)
            with desk.open(token) as live:
                question = live.session.ask()
                acts.answer(
                    desk, live, question=question.id, revision=live.revision, choice="skip", key="one"
                )
                assert live.session.ask() != question
        finally:
            done.set()
        assert newcomer.result(60) != token
    store.engine.dispose()

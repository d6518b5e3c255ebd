"""Work is done ahead when nobody else computes, and at once where its person is back."""

from __future__ import annotations

import threading
import time

import pytest

from reap import _clock
from reap.service.ahead import Ahead
from reap.service.live import Live
from reap.service.turns import Turns


@pytest.fixture
def desk():
    turns, newcomers = Turns(1), Turns(1)
    return turns, newcomers, Ahead(turns, newcomers, longest=20.0)


class Work:
    """Something that takes a few looks at the clock."""

    def __init__(self):
        self.begun, self.done = threading.Event(), threading.Event()

    def __call__(self):
        self.begun.set()
        for _ in range(3):
            _clock.check()
        self.done.set()


def test_it_waits_while_somebody_in_a_session_computes(desk):
    turns, _, ahead = desk
    work = Work()
    with turns.turn(came=time.monotonic()):
        ahead.add(Live(None), work)
        assert not work.begun.wait(0.3)
    assert work.done.wait(5)


def test_it_stops_giving_way_when_its_person_is_back(desk):
    turns, _, ahead = desk
    live, begun, go, done = Live(None), threading.Event(), threading.Event(), threading.Event()

    def work():
        begun.set()
        go.wait(5)
        _clock.check()  # here it would wait for the one who computes
        done.set()

    ahead.add(live, work)
    assert begun.wait(5)
    with turns.turn(came=time.monotonic()):
        go.set()
        assert not done.wait(0.3)
        live.came = time.monotonic()
        assert done.wait(5)


def test_what_was_not_begun_is_left_to_the_person_who_is_back(desk):
    turns, _, ahead = desk
    live, dropped, other = Live(None), Work(), Work()
    with turns.turn(came=time.monotonic()):
        ahead.add(live, dropped)
        time.sleep(0.1)
        live.came = time.monotonic()
        time.sleep(0.2)
    ahead.add(Live(None), other)
    assert other.done.wait(5)
    assert not dropped.begun.is_set()


def test_the_request_that_started_a_session_is_not_its_person_coming_back(desk):
    _, _, ahead = desk
    live, work, came = Live(None), Work(), time.monotonic()
    live.came = came  # the start shows the state of the session that it has made
    ahead.add(live, work, came)
    assert work.done.wait(5)


def test_a_failure_ends_nothing(desk):
    _, _, ahead = desk

    def fails():
        raise ZeroDivisionError

    work = Work()
    ahead.add(Live(None), fails)
    ahead.add(Live(None), work)
    assert work.done.wait(5)


def test_a_start_is_followed_by_work_ahead(service, case, german, german_rejected, monkeypatch):
    """The real desk: after the work the first answer meets an engine that knows."""
    asked, done = [], threading.Event()
    plans = type(case.engine).plans

    def spied(self, x, matrices, limits=None):
        found = plans(self, x, matrices, limits)
        if len(matrices) == 25:
            asked.append(len(matrices))
            done.set()
        return found

    monkeypatch.setattr(type(case.engine), "plans", spied)
    kinds = []
    for i in range(20):
        row = german.space.values(german.space.vector(german_rejected.iloc[[i]]))
        begun = service.start(row, warm_up=True)
        kinds.append((begun["state"]["question"] or {}).get("kind"))
        if kinds[-1] == "warm-up":
            break
    assert done.wait(30), kinds
    assert asked[0] == 25

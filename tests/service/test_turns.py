"""Who computes next: first come, first served, whichever computation of a request it is."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from reap.service.server import MOST_WORKERS, usual_workers
from reap.service.settings import Settings
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


def test_newcomers_wait_for_those_who_are_in_a_session():
    turns, order = Turns(1), []

    def compute(came, newcomer):
        with turns.turn(came, newcomer=newcomer):
            order.append(came)

    with ThreadPoolExecutor(4) as pool, turns.turn(0.0):
        for place, who in enumerate(((1.0, True), (4.0, False), (2.0, True), (3.0, False))):
            pool.submit(compute, *who)
            wait_until(lambda place=place: len(turns._waiting) == place + 1)
    assert order == [3.0, 4.0, 1.0, 2.0]


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

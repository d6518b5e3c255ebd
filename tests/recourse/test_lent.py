"""What is known of a person is shared by all who ask about them, each with a time of their own.

Who gives way while others wait for what they hold does not give way: somebody would wait for somebody who waits for them.
"""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest

import reap
from reap import _clock
from reap.recourse import making
from reap.recourse.search import Reachable
from reap.service.turns import Turns


@pytest.fixture
def engine(german, german_model):
    return reap.Recourse(german_model, german.space).fit(german.X)


def test_a_newcomer_does_not_hold_up_a_session_with_the_same_person(engine, german_rejected):
    """The newcomer pauses in the middle of a search for a person; the one who computes needs the same person's targets."""
    x, alike = german_rejected.iloc[[0]], np.eye(engine.space.dimension)[None]
    engine.plans(x, alike)
    turns, paused, found = Turns(1), threading.Event(), threading.Event()
    way = turns.way(longest=60.0)

    def pause(wanted):
        paused.set()
        way(wanted)

    def newcomer():
        with _clock.giving_way(pause):
            engine.plans(x, 2 * alike)

    with turns.turn(came=0.0):
        thread = threading.Thread(target=newcomer, daemon=True)
        thread.start()
        assert paused.wait(10)
        other = threading.Thread(target=lambda: (engine.plans(x, 3 * alike), found.set()), daemon=True)
        begin = time.monotonic()
        other.start()
        assert found.wait(20), f"waited {time.monotonic() - begin:.0f} s"
    thread.join(10)
    assert not thread.is_alive()


def test_it_still_gives_way_where_nobody_waits_for_it(engine, german_rejected):
    x, alike = german_rejected.iloc[[0]], np.eye(engine.space.dimension)[None]
    engine.plans(x, alike)
    turns, done = Turns(1), threading.Event()

    def newcomer():
        with _clock.giving_way(turns.way(longest=60.0)):
            engine.plans(x, 2 * alike)
        done.set()

    with turns.turn(came=0.0):
        threading.Thread(target=newcomer, daemon=True).start()
        assert not done.wait(0.5)
    assert done.wait(20)


@pytest.mark.parametrize("passed", [True, False], ids=["over", "longer"])
def test_the_time_of_a_search_ends_or_grows_while_its_plans_are_judged(
    engine, german_rejected, monkeypatch, passed
):
    """The clock was looked at twice, and what was kept before it struck was looked for after: an error instead of plans.

    The time ends between the two, or somebody who has more of it asks about the same person.
    """
    x, alike = german_rejected.iloc[[0]], np.eye(engine.space.dimension)[None]
    wanted = engine.plans(x, alike)
    engine._forget()
    least, route = Reachable.least, making.routes
    now, then = (np.inf, -np.inf) if passed else (-np.inf, np.inf)

    def searched(self, A):
        found = least(self, A)
        self.problem.deadline = now
        return found

    def judged(problem, rows):
        problem.deadline = then
        return route(problem, rows)

    monkeypatch.setattr(Reachable, "least", searched)
    monkeypatch.setattr(making, "routes", judged)
    (made,) = engine.plans(x, alike)
    np.testing.assert_array_equal(made.path, wanted[0].path)
    assert ("time limit" in made.note) is not passed

"""What is known of a person is shared by all who ask about them, each with a time of their own."""

from __future__ import annotations

import numpy as np
import pytest

import reap
from reap.recourse import making
from reap.recourse.search import Reachable


@pytest.fixture
def engine(german, german_model):
    return reap.Recourse(german_model, german.space).fit(german.X)


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

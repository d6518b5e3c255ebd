"""Pretexts: nobody is told to do something so that time passes, nor to do something else on top of it."""

from __future__ import annotations

import numpy as np
import pytest

from reap.recourse.targets.enumeration import everything
from tests.recourse.targets.test_months import people_of


def accepts(rows):
    """From the fifth month on, unless debts fall before the income rises; with a job at once."""
    blocked = (rows["income"] < 25) & (rows["debt"] <= 45)
    return (rows["since"] >= 12) & ~blocked | (rows["job"] == "full")


@pytest.fixture(scope="module")
def world():
    return people_of(accepts)


def row(world, **values):
    space, problem = world
    return problem.follow(space.vector(space.values(problem.z0) | values)[None])


def test_what_only_passes_the_time_is_refused(world):
    _, problem = world
    more = row(world, income=25)
    assert problem.score(more)[0] >= problem.goal
    assert problem.judge(more)[0] == -np.inf  # five months of waiting do the same


def test_an_action_that_stands_in_the_way_does_not_make_it_advice(world):
    """Without the income it would be refused, but only because of the debts, without which waiting is enough."""
    _, problem = world
    both = row(world, income=25, debt=45)
    assert problem.score(both)[0] >= problem.goal
    assert problem.judge(both)[0] == -np.inf


def test_what_helps_by_itself_stays(world):
    _, problem = world
    assert problem.judge(row(world, job="full"))[0] >= problem.goal


def test_an_answer_is_the_same_when_it_is_asked_again(world):
    _, problem = world
    rows = everything(problem, 2)
    first = problem.judge(rows)
    assert np.array_equal(problem.judge(rows), first)
    assert np.isinf(first).any()
    assert (first >= problem.goal).any()

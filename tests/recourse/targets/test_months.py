"""Stretches: rows that are accepted after some number of months, and not sooner or later."""

from __future__ import annotations

import numpy as np
import pytest

import reap
from reap.recourse.targets.enumeration import everything
from reap.recourse.targets.months import stretches
from reap.recourse.targets.pool import build
from reap.recourse.targets.problem import Problem
from reap.recourse.targets.reduction import reduced


def people_of(accepts):
    """Somebody who can pay back and earn more, beside a clock; ``accepts`` is a function of a frame."""
    features = [
        reap.Feature("debt", "integer", range=(0, 60), pace="2 EUR a month", direction="down"),
        reap.Feature("income", "integer", range=(0, 60), pace="1 EUR a month", direction="up"),
        reap.Feature("job", "categorical", levels=("none", "full"), pace="3 months a level"),
        reap.Feature("since", "integer", range=(0, 99), clock="months"),
    ]
    space = reap.ActionSpace(features, horizon=24)
    person = space.vector({"debt": 50, "income": 20, "job": "none", "since": 7})
    model = reap.models.wrap(lambda rows: np.where(accepts(rows), 0.9, 0.1), space)
    return space, Problem(space, model, person, 3)


def test_a_stretch_of_one_month_is_found():
    """Two changes that are accepted in their fifth month only; no other row is."""
    space, problem = people_of(
        lambda r: (r["since"] == 12) & (r["debt"] <= 41) & (r["income"] >= 24) & (r["job"] == "none")
    )
    rows = stretches(problem)
    assert len(rows) > 0
    assert (problem.judge(rows) >= problem.goal).all()
    ends = {tuple(space.values(row)[name] for name in ("debt", "income", "since")) for row in rows}
    assert (41, 24, 12) in ends


def test_the_pool_has_it_and_the_plan_is_the_least_there_is():
    space, problem = people_of(lambda r: (r["since"] == 9) & (r["debt"] <= 47) & (r["income"] >= 21))
    pool = build(problem, np.empty((0, space.dimension)), np.random.default_rng(0), whole=0)
    every = everything(problem, 3)
    least = np.square(problem.moves(every[problem.judge(every) >= problem.goal])).sum(axis=1).min()
    eye = np.repeat(np.eye(space.dimension)[None], len(pool), axis=0)
    found = reduced(problem, eye, pool.rows)[0]
    assert np.square(problem.moves(found)).sum(axis=1).min() == pytest.approx(least)


def test_nothing_is_looked_at_where_nothing_takes_time_or_the_person_waits():
    features = [reap.Feature("x", range=(0, 1)), reap.Feature("y", range=(0, 1))]
    space = reap.ActionSpace(features)
    model = reap.models.wrap(lambda rows: rows["x"], space)
    assert len(stretches(Problem(space, model, space.vector({"x": 0.1, "y": 0.2}), 3))) == 0
    space, timed = people_of(lambda r: r["debt"] < 40)
    waiting = Problem(space, timed.classifier, timed.z0, 3, waits=True)
    assert len(stretches(timed)) > 0
    assert len(stretches(waiting)) == 0


def test_a_person_for_whom_nothing_is_accepted_has_no_stretch():
    _, problem = people_of(lambda r: r["debt"] < 0)
    assert len(stretches(problem)) == 0

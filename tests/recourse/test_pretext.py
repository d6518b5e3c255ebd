"""Pretexts: nobody is told to do something so that time passes, nor to do something else on top of it."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import reap
from reap.checks.judge import Judge
from reap.checks.legality import at
from reap.checks.worlds import random_matrices
from reap.recourse.problem import Problem


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


def accepts(rows):
    """From the fifth month on, unless debts fall before the income rises; with a job at once."""
    blocked = (rows["income"] < 25) & (rows["debt"] <= 45)
    return (rows["since"] >= 12) & ~blocked | (rows["job"] == "full")


@pytest.fixture(scope="module")
def world():
    return people_of(accepts)


def judged(world, **values):
    """The log-odds of a row, and what the problem says of it."""
    space, problem = world
    row = space.vector(space.values(problem.z0) | values)
    places = [
        int(np.abs(one.values(np.arange(one.length)) - row[one.columns]).max(axis=1).argmin())
        for one in problem.ladders
    ]
    return problem.logits(np.array([places]))[0], problem.judge(np.array([places]))[0], problem.goal


def test_what_only_passes_the_time_is_refused(world):
    score, said, goal = judged(world, income=25)
    assert score >= goal
    assert said == -np.inf  # five months of waiting do the same


def test_an_action_that_stands_in_the_way_does_not_make_it_advice(world):
    """Without the income it would be refused, but only because of the debts, without which waiting is enough."""
    score, said, goal = judged(world, income=25, debt=45)
    assert score >= goal
    assert said == -np.inf


def test_what_helps_by_itself_stays(world):
    _, said, goal = judged(world, job="full")
    assert said >= goal


def test_a_stretch_of_one_month_is_found():
    """Two changes that are accepted in their second month only; no other row is."""
    space, problem = people_of(lambda r: (r["since"] == 9) & (r["debt"] <= 47) & (r["income"] >= 21))
    engine = reap.Recourse(
        lambda r: np.where((r["since"] == 9) & (r["debt"] <= 47) & (r["income"] >= 21), 0.9, 0.1), space
    )
    own = pd.DataFrame([space.values(problem.z0)])
    plan = engine.fit(own).plans(own, np.eye(space.dimension))[0]
    assert (plan.target["debt"], plan.target["income"], plan.months) == (47, 21, 2)


def plans_of(accepts, count=6):
    space, problem = people_of(accepts)
    engine = reap.Recourse(lambda rows: np.where(accepts(rows), 0.9, 0.1), space, random_state=0)
    own = space.values(problem.z0)
    engine.fit(
        pd.DataFrame([own | {"debt": debt, "job": job} for debt in (0, 50) for job in ("none", "full")])
    )
    x = pd.DataFrame([own])
    return engine, x, engine.plans(x, random_matrices(space.dimension, count, seed=3))


def test_no_plan_takes_as_long_as_mere_waiting():
    """Who waits five to seven months is accepted; paying back takes ten, so it is not advised, though waiting that long fails."""
    engine, x, plans = plans_of(lambda r: r["since"].between(12, 14) | (r["debt"] <= 30))
    assert {(plan.months, len(plan.changes)) for plan in plans} == {(5, 0)}
    assert "wait 5 months" in str(plans[0])
    line = reap.checks.engine(engine, x, raises=False).line("irreducible")
    assert line.cases
    assert not line.broken


def test_what_is_ready_sooner_than_mere_waiting_stays():
    _, _, plans = plans_of(lambda r: r["since"].between(12, 14) | (r["debt"] <= 30) | (r["job"] == "full"))
    assert {(plan.months, *(c.feature for c in plan.changes)) for plan in plans} == {(3, "job")}


def test_the_checks_see_a_plan_that_waiting_would_spare():
    def score(rows):
        return np.where(rows["since"].between(12, 14) | (rows["debt"] <= 30), 0.9, 0.1)

    space, problem = people_of(lambda rows: score(rows) > 0.5)
    own = space.values(problem.z0)
    judge = Judge(space, score, pd.DataFrame([own]))
    late = at(space, own, own | {"debt": 30}, 10)
    tried = dict(judge.less(own, late))
    assert judge.accepts([late])[0]
    assert judge.accepts([tried["by whoever does nothing for 5 months"]])[0]
    assert not judge.accepts([tried["by whoever does nothing for 4 months"]])[0]


def test_what_a_limit_asks_for_is_no_pretext_and_is_not_left_out_again_and_again():
    """Debts must fall to 40, which takes longer than the job; nothing is left to do without."""
    space, problem = people_of(lambda r: (r["debt"] <= 40) & (r["job"] == "full"))
    engine = reap.Recourse(
        lambda r: np.where((r["debt"] <= 40) & (r["job"] == "full"), 0.9, 0.1), space, random_state=0
    )
    own = pd.DataFrame([space.values(problem.z0)])
    engine.fit(own)
    plan = engine.plans(own, np.eye(space.dimension), space.limits(at_most={"debt": 40}))[0]
    assert {change.feature for change in plan.changes} == {"debt", "job"}
    assert plan.months == 5

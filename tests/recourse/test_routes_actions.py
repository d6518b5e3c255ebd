"""Routes: one action a step, legal at every step, tied actions together, a score that falls is said."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd

import reap
from reap.checks.worlds import four_things_world
from reap.recourse.making import routes
from reap.recourse.problem import Problem

OWN = pd.Series({"a": 2, "b": 2, "c": 2})


def world(rules=()):
    X = pd.DataFrame(list(itertools.product(range(6), repeat=3)), columns=["a", "b", "c"])
    return X, reap.ActionSpace.from_frame(X, rules=rules)


def route(model, target, rules=()):
    """The rows of the route to a target, in units."""
    X, space = world(rules)
    problem = Problem(space, reap.models.wrap(model, space), space.vector(OWN))
    end = space.encode(pd.DataFrame([target], columns=list(X.columns)))
    (path,) = routes(problem, end)
    return [tuple(space.values(z).values()) for z in path]


def rises(rows):
    return 1 / (1 + np.exp(5 - 3 * rows["b"] / 5 - rows["a"] / 5 - rows["c"] / 50))


def test_what_raises_the_score_most_for_its_effort_comes_first():
    assert route(rises, (3, 3, 3)) == [(2, 2, 2), (2, 3, 2), (3, 3, 2), (3, 3, 3)]


def test_what_a_rule_requires_comes_first():
    tied = ["if b increases then a increases by at least 1"]
    assert route(rises, (3, 3, 2), tied) == [(2, 2, 2), (3, 2, 2), (3, 3, 2)]


def test_two_actions_that_wait_for_the_same_one_are_steps_of_their_own():
    tied = ["if b increases then a increases by at least 1", "if c increases then a increases by at least 1"]
    assert route(rises, (3, 3, 3), tied) == [(2, 2, 2), (3, 2, 2), (3, 3, 2), (3, 3, 3)]


def test_actions_that_no_order_makes_legal_go_together():
    assert route(rises, (1, 3, 3), ["a + b = 4"]) == [(2, 2, 2), (2, 2, 3), (1, 3, 3)]


def test_every_route_to_a_legal_target_is_legal_at_every_step():
    rules = ["a + b <= 8", "if c changes then a changes"]
    X, space = world(rules)
    targets = X[space.allows(OWN, X)].iloc[::5]
    assert len(targets) >= 20
    for target in targets.itertuples(index=False, name=None):
        path = route(rises, target, rules)
        assert (path[0], path[-1]) == ((2, 2, 2), target)
        assert space.allows(OWN, pd.DataFrame(path, columns=["a", "b", "c"])).all()


def test_a_score_that_falls_on_the_way_is_said():
    def model(rows):  # two things together help, each alone hurts
        a, b = rows["a"] >= 4, rows["b"] >= 4
        return np.select([a & b, a | b], [0.9, 0.1], 0.3)

    X, space = world()
    plan = reap.Recourse(model, space).fit(X).plans(OWN, np.eye(3))[0]
    assert plan.scores.round(1).tolist() == [0.3, 0.1, 0.9]
    assert plan.setback is not None
    assert "the score goes from 30 to 90 out of 100" in str(plan)
    assert "After step 1 the score is lower than before it (10 out of 100)" in str(plan)


def test_one_action_is_one_step():
    made = four_things_world()
    plan = (
        reap.Recourse(made.model, made.space)
        .fit(made.X)
        .plans(made.X.iloc[[0]], np.eye(made.space.dimension))[0]
    )
    assert [len(step.changes) for step in plan.steps] == [1, 1, 1, 1]
    assert plan.moves.shape == (1, made.space.dimension)

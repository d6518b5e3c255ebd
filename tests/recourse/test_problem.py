"""Where one subject can go: places that are the space's own values, what is legal there, parts of a row."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import reap
from reap.checks.worlds import random_world
from reap.effort import Efforts
from reap.recourse.problem import Problem
from reap.recourse.reduce import reduced
from reap.space.legal import shown_step

SEEDS = range(30)


def problem_of(seed, rich=False):
    world = random_world(seed, rows=60, rich=rich)
    z0 = world.space.vector(world.rejected.iloc[[0]])
    return world, Problem(world.space, reap.models.wrap(world.model, world.space), z0)


def scattered(problem, seed, count=50):
    """Random places on every ladder."""
    rng = np.random.default_rng(seed)
    return (rng.random((count, len(problem.own))) * problem.length).astype(np.intp)


@pytest.mark.parametrize("seed", SEEDS)
def test_nothing_changes_where_places_are_ones_own_and_values_rise_with_places(seed):
    _, problem = problem_of(seed)
    assert np.array_equal(problem.rows(problem.own[None])[0], problem.z0, equal_nan=True)
    for ladder in problem.ladders:
        if ladder.ordered:
            values = ladder.values(np.arange(ladder.length))[:, 0]
            assert (np.diff(values) > 0).all()
            assert np.array_equal(ladder.below(values + 1e-12), np.arange(ladder.length))


def test_a_value_that_stays_comes_back_to_the_bit_and_a_change_of_nothing_is_none():
    """25.77 in single precision is 25.770000457763672: to come to 25.77 would be no change that anybody sees."""
    own = np.float32(25.77)
    X = pd.DataFrame({"rate": np.array([5.0, own, 40.0], dtype=np.float32), "term": [1, 2, 3]})
    space = reap.ActionSpace.from_frame(X, features={"rate": {"step": 0.01}})
    problem = Problem(space, reap.models.wrap(lambda rows: rows["term"] / 4, space), space.encode(X)[1])
    rate = problem.ladders[0]
    assert rate.values(np.array([rate.own]))[0, 0] == problem.z0[0]
    gaps = np.abs(np.delete(rate.values(np.arange(rate.length)), rate.own) - problem.z0[0])
    assert gaps.min() * space.encoding.scale[0] > 0.005
    plan = reap.Recourse(lambda rows: rows["term"] / 4, space).fit(X).plans(X.iloc[[1]], np.eye(2))[0]
    assert plan.path[-1][0] == problem.z0[0]
    assert space.decode(plan.path[-1:], like=X)["rate"].iloc[0] == own


@pytest.mark.parametrize("seed", [1, 2, 3, 6, 9])
def test_reduced_places_stay_accepted_and_ask_for_no_more(seed):
    _, problem = problem_of(seed, rich=True)
    places = scattered(problem, seed, 400)
    places = places[problem.judge(places) >= problem.goal][:20]
    assert len(places) > 0
    eye = Efforts.of(np.eye(len(problem.moving))[None])
    less = reduced(problem, eye, np.zeros(len(places), dtype=np.intp), places)
    assert (problem.judge(less) >= problem.goal).all()
    # nothing that was left alone is touched, and no number goes past where it went
    assert not ((less != problem.own) & (places == problem.own)).any()
    ways = np.abs(less - problem.own)[:, problem.ordered]
    assert (ways <= np.abs(places - problem.own)[:, problem.ordered]).all()
    for row in less:  # and nothing more can be taken back
        for f in np.flatnonzero(row != problem.own):
            back = np.stack([row, row])
            back[0, f], back[1, f] = problem.own[f], row[f] + np.sign(problem.own[f] - row[f])
            assert (problem.judge(back[: 1 + problem.ordered[f]]) < problem.goal).all()


def test_numbers_without_a_step_are_shown_exactly():
    for low, high in [(0, 1), (0, 0.02), (-5, 20), (0, 123456), (1000.0, 1000.5)]:
        feature = reap.Feature("a", range=(low, high))
        step = shown_step(feature)
        assert step <= (high - low) / 100
        value = round(high * 0.3 / step) * step
        if high < 1000:
            assert np.isclose(float(feature.show(value).replace(",", "")), value, rtol=0, atol=step * 1e-6)

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
def test_rows_of_places_are_what_the_space_shows(seed):
    """Values are bit for bit the space's own."""
    world, problem = problem_of(seed)
    rows = problem.rows(scattered(problem, seed))
    legal = world.space.allows(problem.z0, rows)
    again = world.space.project(rows[legal], problem.z0, exact=False)
    assert np.array_equal(again, rows[legal], equal_nan=True)


@pytest.mark.parametrize("seed", SEEDS)
def test_what_is_legal_is_what_the_space_allows(seed):
    """Clocks and ranges hold by construction, so only rules, derived features and counts are looked at."""
    world, problem = problem_of(seed, rich=True)
    places = scattered(problem, seed)
    rows = problem.rows(places)
    fine = problem._possible(rows)
    if problem.most is not None:
        fine &= problem.counts(places) <= problem.most
    assert np.array_equal(fine, world.space.allows(problem.z0, rows))


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


def timed_problem(**limits):
    """Somebody whose savings take time, with two clocks and a ratio that follows."""
    features = [
        reap.Feature("debt", range=(0, 9000), step=100, pace="300 EUR a month", direction="down"),
        reap.Feature("income", range=(1000, 6000), step=50, pace="100 EUR a month"),
        reap.Feature("ratio", range=(0, 9), derived="debt / income"),
        reap.Feature("job", "categorical", levels=("none", "part", "full"), pace="4 months a level"),
        reap.Feature("age", "integer", range=(18, 80), clock="years"),
        reap.Feature("since", "integer", range=(0, 99), clock="months"),
    ]
    space = reap.ActionSpace(features, horizon=24)
    space = space.tighten(space.limits(**limits))
    person = {"debt": 5000.0, "income": 2000.0, "ratio": 2.5, "job": "part", "age": 30, "since": 7}

    def model(rows):
        return 1 / (1 + np.exp(rows["ratio"] - 0.02 * rows["since"]))

    return space, Problem(space, reap.models.wrap(model, space), space.vector(person))


@pytest.mark.parametrize(
    "limits", [{}, {"within_months": 7}, {"at_most": {"since": 12}}, {"at_least": {"since": 10}}]
)
def test_rows_that_do_not_wait_are_what_the_projection_says(limits):
    """The quick way to set clocks and the general one agree, also where limits leave less time or ask for some."""
    space, problem = timed_problem(**limits)
    rows = problem.rows(scattered(problem, 0, 300))
    assert np.array_equal(problem._possible(rows), space.allows(problem.z0, rows))
    still = rows.copy()
    clocks = [space.slices[name].start for name in ("age", "since")]
    still[:, clocks] = problem.z0[clocks]
    assert np.allclose(space.legal.follow(still, problem.z0), rows)
    assert len(np.unique(rows[:, clocks[1]])) > 3


@pytest.mark.parametrize("seed", [0, 3, 8])
def test_changed_features_and_parts_of_rows(seed):
    world, problem = problem_of(seed)
    rows = problem.rows(scattered(problem, seed))
    own = problem.changed(rows)
    said = world.space.encoding.changed(problem.z0, rows)
    free = [f.derived is None for f in world.space.features]
    assert np.array_equal(own[:, free], said[:, free])
    nothing = problem.partly(rows, np.zeros_like(own), problem.z0)
    assert np.array_equal(nothing, np.repeat(problem.z0[None], len(rows), axis=0), equal_nan=True)
    assert np.array_equal(problem.partly(rows, own, problem.z0), rows, equal_nan=True)


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

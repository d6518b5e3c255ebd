"""Where one subject can go: grids that are the space's own, changes, parts of a row."""

from __future__ import annotations

import numpy as np
import pytest

import reap
from reap.checks.worlds import random_world
from reap.recourse.targets.problem import Problem
from reap.recourse.targets.reduction import reduced
from reap.recourse.targets.slopes import slopes
from reap.space.grid import shown_step

SEEDS = range(30)


def problem_of(seed, rich=False):
    world = random_world(seed, rows=60, rich=rich)
    z0 = world.space.vector(world.rejected.iloc[[0]])
    return world, Problem(world.space, reap.models.wrap(world.model, world.space), z0)


def scattered(problem, seed, count=50):
    """Random values for everything that may move."""
    rng = np.random.default_rng(seed)
    Z = np.repeat(problem.base[None], count, axis=0)
    n = problem.numbers
    Z[:, n.columns] = rng.random((count, len(n.columns))) * 1.4 - 0.2
    for choice in problem.choices:
        Z[:, choice.columns] = choice.options[rng.integers(len(choice.options), size=count)]
    return problem.tidy(Z)


@pytest.mark.parametrize("seed", SEEDS)
def test_rows_on_the_grids_are_what_the_space_shows(seed):
    """Grid points are bit for bit the space's own."""
    world, problem = problem_of(seed)
    rows = scattered(problem, seed)
    legal = world.space.allows(problem.z0, rows)
    again = world.space.project(rows[legal], problem.z0, exact=False)
    assert np.array_equal(again, rows[legal], equal_nan=True)


def test_rows_on_the_grids_are_legal_unless_features_are_tied():
    free = 0
    for seed in SEEDS:
        world, problem = problem_of(seed)
        if problem.tied or world.space.max_changes is not None:
            continue
        free += 1
        assert world.space.allows(problem.z0, scattered(problem, seed)).all()
    assert free >= 10


@pytest.mark.parametrize("seed", SEEDS)
def test_what_is_legal_on_the_grids_is_what_the_space_allows(seed):
    """Clocks and ranges hold by construction, so only rules, derived features and counts are looked at."""
    world, problem = problem_of(seed, rich=True)
    rows = scattered(problem, seed)
    assert np.array_equal(problem.legal(rows), world.space.allows(problem.z0, rows))


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
    rows = scattered(problem, 0, 300)
    assert np.array_equal(problem.legal(rows), space.allows(problem.z0, rows))
    still = rows.copy()
    clocks = [space.slices[name].start for name in ("age", "since")]
    still[:, clocks] = problem.z0[clocks]
    assert np.allclose(space.follow(still, problem.z0), rows)
    assert len(np.unique(rows[:, clocks[1]])) > 3


def test_slopes_of_what_follows_are_those_of_small_steps():
    space, problem = timed_problem()
    rows = scattered(problem, 1, 20)
    every = slopes(problem, rows)
    two = np.tile([1, 0], (len(rows), 1))
    assert np.allclose(slopes(problem, rows, two), every[:, [1, 0]])
    ratio = space.columns.index("ratio")
    slope = slopes(problem, problem.base[None])[0, 0, list(problem.derived).index(ratio)]
    scales = dict(zip(space.names, space.scales, strict=True))
    assert slope == pytest.approx(scales["debt"] / 2000 / scales["ratio"], rel=1e-6)


@pytest.mark.parametrize("places", [1, 3, 8])
def test_some_values_of_a_number_have_both_ends_and_the_start(places):
    _, problem = timed_problem()
    n = problem.numbers
    for j in range(len(n.columns)):
        some, every = n.some_values(j, places), n.values(j)
        assert np.isin(np.round(some, 9), np.round(every, 9)).all()
        assert len(some) <= min(2 * places + 1, len(every))
        assert some.min() == pytest.approx(every.min())
        assert some.max() == pytest.approx(every.max())
        assert np.abs(some - n.start[j]).min() < 1e-9


@pytest.mark.parametrize("seed", [0, 3, 8])
def test_changed_features_and_parts_of_rows(seed):
    world, problem = problem_of(seed)
    rows = scattered(problem, seed)
    own = problem.changed(rows)
    said = world.space.changed(problem.z0, rows)
    free = [f.derived is None for f in world.space.features]
    assert np.array_equal(own[:, free], said[:, free])
    nothing = problem.partly(rows, np.zeros_like(own), problem.z0)
    assert np.array_equal(nothing, np.repeat(problem.z0[None], len(rows), axis=0), equal_nan=True)
    assert np.array_equal(problem.partly(rows, own, problem.z0), rows, equal_nan=True)


@pytest.mark.parametrize("seed", [1, 2, 3, 6, 9])
def test_reduced_rows_stay_accepted_and_ask_for_no_more(seed):
    _, problem = problem_of(seed, rich=True)
    rows = scattered(problem, seed, 400)
    rows = rows[problem.judge(rows) >= problem.goal][:20]
    assert len(rows) > 0
    less, scores = reduced(problem, np.repeat(np.eye(rows.shape[1])[None], len(rows), axis=0), rows)
    assert (scores >= problem.goal).all()
    assert np.allclose(scores, problem.judge(less))
    # nothing that was left alone is touched, and no number goes past where it went
    assert not (problem.changed(less) & ~problem.changed(rows)).any()
    columns = problem.numbers.columns
    ends = np.abs(rows - problem.base)[:, columns]
    assert (np.abs(less - problem.base)[:, columns] <= ends + 1e-9).all()


def test_numbers_without_a_step_are_shown_exactly():
    for low, high in [(0, 1), (0, 0.02), (-5, 20), (0, 123456), (1000.0, 1000.5)]:
        feature = reap.Feature("a", range=(low, high))
        step = shown_step(feature)
        assert step <= (high - low) / 100
        value = round(high * 0.3 / step) * step
        if high < 1000:
            assert np.isclose(float(feature.show(value).replace(",", "")), value, rtol=0, atol=step * 1e-6)

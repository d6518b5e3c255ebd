"""Where one subject can go: grids that are the space's own, changes, parts of a row."""

from __future__ import annotations

import numpy as np
import pytest

import reap
from reap.checks.worlds import random_world
from reap.recourse.targets.problem import Problem
from reap.recourse.targets.reduction import reduced
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

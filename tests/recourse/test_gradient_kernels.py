"""The kernels under the gradient engine, each against an independent way to compute the same."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

import reap
from reap._arrays import row_keys, unique_rows
from reap.effort import of_changes, of_each
from reap.recourse.robust.worst_case import WorstCase
from reap.recourse.targets.boundary.numbers import halfspace_in_box
from reap.recourse.targets.problem import Problem, shown_step
from tests.spaces import random_matrices, random_world


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 9), st.floats(0, 1))
def test_quadratic_in_box_and_halfspace_equals_a_general_solver(seed, m, share):
    rng = np.random.default_rng(seed)
    G = rng.normal(size=(m, m))
    H = G @ G.T / m + 0.05 * np.eye(m)
    c, n = rng.normal(size=m) * 0.5 + 0.5, rng.normal(size=m)
    low = rng.uniform(0, 0.4, m)
    high = low + rng.uniform(0.05, 0.6, m)
    t = share * (n * np.where(n > 0, high, low)).sum() + (1 - share) * (n * np.where(n > 0, low, high)).sum()
    (u,), (reached,) = halfspace_in_box(*(np.array([a]) for a in (H, c, n, t, low, high)))
    assert reached
    assert (u >= low - 1e-9).all()
    assert (u <= high + 1e-9).all()
    assert n @ u >= t - 1e-8
    reference = minimize(
        lambda v: (v - c) @ H @ (v - c),
        np.where(n > 0, high, low),
        jac=lambda v: 2 * H @ (v - c),
        bounds=list(zip(low, high, strict=True)),
        constraints={"type": "ineq", "fun": lambda v: n @ v - t, "jac": lambda v: n},
        method="SLSQP",
        options={"ftol": 1e-13, "maxiter": 300},
    )
    assert (u - c) @ H @ (u - c) <= reference.fun + 1e-6


def test_a_halfspace_out_of_reach_gives_the_nearest_corner():
    u, reached = halfspace_in_box(
        np.eye(2)[None],
        np.zeros((1, 2)),
        np.array([[1.0, -1.0]]),
        np.array([5.0]),
        np.zeros((1, 2)),
        np.ones((1, 2)),
    )
    assert not reached[0]
    assert u.tolist() == [[1.0, 0.0]]


def test_active_sets_that_cycle_are_solved_all_the_same():
    # many columns and ill-conditioned forms: some batches need the fallback
    rng = np.random.default_rng(0)
    S, m = 200, 13
    G = rng.normal(size=(S, m, m))
    H = G @ G.transpose(0, 2, 1) / m + 1e-6 * np.eye(m)
    c, n = rng.normal(size=(S, m)) * 0.3 + 0.5, rng.normal(size=(S, m))
    low, high = np.zeros((S, m)), np.ones((S, m))
    t = 0.6 * (n * (n > 0)).sum(axis=1)
    u, reached = halfspace_in_box(H, c, n, t, low, high)
    assert reached.all()
    # optimality: no feasible direction towards random feasible points lowers the form
    slope = 2 * (H @ (u - c)[:, :, None])[:, :, 0]
    corner = (n > 0).astype(float)
    for _ in range(50):
        share = rng.random((S, 1))
        other = share * corner + (1 - share) * rng.random((S, m))
        fits = (n * other).sum(axis=1) >= t
        assert ((slope * (other - u)).sum(axis=1)[fits] >= -1e-5).all()


def test_efforts():
    A, V = random_matrices(5, 3), np.random.default_rng(0).normal(size=(7, 5))
    plain = np.array([[v @ a @ v for v in V] for a in A])
    assert np.allclose(of_changes(A, V), plain)
    assert np.allclose(of_each(A, np.stack([V] * 3)), plain)


def test_keys_tell_rows_apart():
    rows = np.random.default_rng(0).integers(0, 3, size=(500, 4)) / 3
    assert len(unique_rows(rows)) == len(np.unique(rows, axis=0))
    assert row_keys(rows[:1] + 1e-13)[0] == row_keys(rows[:1])[0]
    assert (np.diff(unique_rows(rows)) > 0).all()


@pytest.mark.parametrize("seed", range(30))
def test_rows_on_the_grids_are_what_the_space_shows(seed):
    """Grid points are bit for bit the space's own, and legal unless features are tied together."""
    world = random_world(seed, rows=60)
    if len(world.rejected) == 0:
        pytest.skip("nobody is rejected in this world")
    z0 = world.space.vector(world.rejected.iloc[[0]])
    problem = Problem(world.space, reap.models.wrap(world.model, world.space), z0)
    rng = np.random.default_rng(seed)
    Z = np.repeat(problem.base[None], 50, axis=0)
    n = problem.numbers
    Z[:, n.columns] = rng.random((50, len(n.columns))) * 1.4 - 0.2
    for choice in problem.choices:
        Z[:, choice.columns] = choice.options[rng.integers(len(choice.options), size=50)]
    rows = problem.tidy(Z)
    legal = world.space.allows(z0, rows)
    if not problem.tied:
        assert legal.all()
    again = world.space.project(rows[legal], z0, exact=False)
    assert np.array_equal(again, rows[legal], equal_nan=True)


def test_numbers_without_a_step_are_shown_exactly():
    for low, high in [(0, 1), (0, 0.02), (-5, 20), (0, 123456), (1000.0, 1000.5)]:
        feature = reap.Feature("a", range=(low, high))
        step = shown_step(feature)
        assert step <= (high - low) / 100
        value = round(high * 0.3 / step) * step
        if high < 1000:
            assert np.isclose(float(feature.show(value).replace(",", "")), value, rtol=0, atol=step * 1e-6)


def test_the_cheapest_worst_case_is_found_with_few_questions(monkeypatch):
    rng = np.random.default_rng(0)
    known = reap.ConfidenceSet(4)
    A = random_matrices(4, 1)[0]
    for _ in range(6):
        a, b = rng.normal(size=(2, 4))
        known.add(*((a, b) if a @ A @ a < b @ A @ b else (b, a)))
    moves = rng.normal(size=(120, 4))
    exact = np.array([known.worst_case_plan(move).cost for move in moves])
    asked = []
    original = reap.ConfidenceSet.worst_case_plan
    monkeypatch.setattr(
        reap.ConfidenceSet, "worst_case_plan", lambda self, m: asked.append(1) or original(self, m)
    )
    place, cost = WorstCase(known).cheapest(moves, most=120)
    assert np.isclose(cost, exact.min(), rtol=1e-6)
    assert np.isclose(exact[place], cost, rtol=1e-6)
    assert len(asked) < 40

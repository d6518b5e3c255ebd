"""The kernels under the boundary search, each against an independent way to compute the same."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from reap import effort
from reap._arrays import row_keys, unique_rows
from reap.checks.worlds import random_matrices
from reap.effort import of_changes, of_each
from reap.recourse.targets.boundary.numbers import halfspace_in_box


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


def test_efforts_of_many_changes_are_made_in_blocks_and_are_those_of_each_change(monkeypatch):
    A, V = random_matrices(5, 3), np.random.default_rng(0).normal(size=(100, 5))
    whole = of_changes(A, V)
    monkeypatch.setattr(effort, "_BLOCK", 24 * 5 * 3)  # four blocks of 24 changes, and one of 4
    np.testing.assert_allclose(of_changes(A, V), whole, rtol=1e-12)
    np.testing.assert_allclose(of_changes(A, V[:1])[:, 0], whole[:, 0], rtol=1e-12)
    assert of_changes(A, V[:0]).shape == (3, 0)


def test_keys_tell_rows_apart():
    rows = np.random.default_rng(0).integers(0, 3, size=(500, 4)) / 3
    assert len(unique_rows(rows)) == len(np.unique(rows, axis=0))
    assert row_keys(rows[:1] + 1e-13)[0] == row_keys(rows[:1])[0]
    assert (np.diff(unique_rows(rows)) > 0).all()

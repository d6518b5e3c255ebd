from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reap._errors import InputError
from reap.questions import Exhaustive, SimilarCost
from tests.questions.helpers import brute_force, distance, one_hot, plans, spd

seeds = st.integers(0, 2**32 - 1)
gaps = st.sampled_from([0.0, 0.01, 0.3])


def kinds_of_data(kind, n, rng):
    if kind == "normal":
        return rng.normal(size=(n, 4))
    if kind == "near rows":
        return rng.normal(size=4) + 1e-6 * rng.normal(size=(n, 4))
    if kind == "outliers":
        return rng.normal(size=(n, 4)) * np.exp(3 * rng.normal(size=(n, 1)))
    if kind == "duplicates":
        rows = rng.normal(size=(max(2, n // 4), 4))
        return rows[rng.integers(0, len(rows), n)] * rng.choice([-1.0, 1.0], size=(n, 1))
    if kind == "grid":
        return rng.integers(-2, 3, size=(n, 3)).astype(float)
    if kind == "one-hot":
        return one_hot(n, rng)
    return plans(n, 3, rng)


ALL = ["normal", "near rows", "outliers", "duplicates", "grid", "one-hot", "plans"]


@pytest.mark.parametrize("kind", ALL)
@given(seed=seeds, n=st.integers(2, 40) | st.integers(300, 600), gap=gaps, flat=st.booleans())
@settings(max_examples=40, deadline=None)
def test_equals_brute_force(kind, seed, n, gap, flat):
    rng = np.random.default_rng(seed)
    moves = kinds_of_data(kind, n, rng)
    d = np.shape(moves[0])[-1]
    A = np.eye(d) / 2 if flat else spd(d, rng)
    choice = Exhaustive(min_gap=gap).choose(moves, A, random_state=seed)
    best = brute_force(A, moves, gap)
    if choice is None:
        assert best == np.inf
        return
    # Rounding of the definition itself, which subtracts near-equal matrices.
    tolerance = 1e-9 if kind == "near rows" else 1e-12
    assert choice.score == pytest.approx(best, rel=1e-6, abs=tolerance)
    i, j = choice.options
    assert distance(A, moves[i], moves[j]) == pytest.approx(choice.score, rel=1e-6, abs=tolerance)


@given(seed=seeds, gap=gaps)
@settings(max_examples=15, deadline=None)
def test_goes_through_all_pairs_in_order_of_distance(seed, gap):
    rng = np.random.default_rng(seed)
    grid = np.array(list(itertools.product(range(3), repeat=2)), dtype=float)  # many ties, no twins
    moves, A, asked, last = rng.permutation(grid), spd(2, rng), [], 0.0
    while choice := Exhaustive(min_gap=gap).choose(moves, A, asked, random_state=seed):
        assert choice.score == pytest.approx(brute_force(A, moves, gap, asked), abs=1e-12)
        assert choice.score >= last - 1e-12
        last = choice.score
        asked.append(choice.options[::-1])
    assert len(set(asked)) == len(asked)
    assert brute_force(A, moves, gap, asked) == np.inf


def test_examines_few_pairs():
    rng = np.random.default_rng(0)
    moves, A = rng.normal(size=(3_000, 10)), spd(10, rng)
    choice = Exhaustive().choose(moves, A)
    assert choice.examined < len(moves)
    assert choice.score <= SimilarCost().choose(moves, A).score


@pytest.mark.parametrize("kind", ["grid", "duplicates", "one-hot"])
def test_ties_and_twins_do_not_cost_all_pairs(kind):
    moves = kinds_of_data(kind, 3_000, np.random.default_rng(1))
    choice = Exhaustive().choose(moves, np.eye(moves.shape[1]) / 2)
    assert choice.examined < 10 * len(moves)


def test_near_rows_keep_their_digits():
    """Rows 1e-7 apart: the textbook norm would be all rounding."""
    a, b = np.array([1.0, 2.0]), np.array([1.0, 2.0]) + 1e-7 * np.array([2.0, -1.0])
    A = np.diag([0.5, 0.25])
    exact = abs((a + b) @ A @ (a - b)) / np.sqrt(
        ((a + b) @ (a + b) * ((a - b) @ (a - b)) + ((a + b) @ (a - b)) ** 2) / 2
    )
    assert Exhaustive().choose(np.array([a, b]), A).score == pytest.approx(exact, rel=1e-12)


def test_one_step_plans_are_rows():
    rng = np.random.default_rng(3)
    rows, A = rng.normal(size=(30, 3)), spd(3, rng)
    as_rows = Exhaustive().choose(rows, A)
    assert Exhaustive().choose([row[None] for row in rows], A) == as_rows
    padded = [np.vstack([row, np.zeros(3)]) for row in rows]
    as_plans = Exhaustive().choose(padded, A)
    assert as_plans.options == as_rows.options
    assert as_plans.score == pytest.approx(as_rows.score, rel=1e-6)


def test_refuses_a_negative_gap():
    with pytest.raises(InputError, match="min_gap is -1"):
        Exhaustive(min_gap=-1)

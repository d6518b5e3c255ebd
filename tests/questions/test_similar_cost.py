from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reap.questions import SimilarCost
from tests.questions.helpers import distance, plans, spd


def windows(moves, A, k, min_gap=0.0):
    """The paper's steps 1 to 3, by hand: average distance of every window of k neighbours."""
    efforts = np.array([(np.atleast_2d(v) @ A * np.atleast_2d(v)).sum() for v in moves])
    order = np.argsort(efforts)
    found = {}
    for start in range(len(moves) - k + 1):
        window = order[start : start + k]
        if (np.diff(efforts[window]) >= min_gap).all():
            pairs = itertools.pairwise(window)
            found[tuple(sorted(window.tolist()))] = np.mean(
                [distance(A, moves[i], moves[j]) for i, j in pairs]
            )
    return found


@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(4, 30),
    k=st.integers(2, 4),
    gap=st.sampled_from([0.0, 0.02]),
    steps=st.booleans(),
)
@settings(max_examples=60, deadline=None)
def test_is_the_papers_heuristic(seed, n, k, gap, steps):
    rng = np.random.default_rng(seed)
    moves, A = plans(n, 3, rng) if steps else rng.normal(size=(n, 3)), spd(3, rng)
    scores = windows(moves, A, k, gap)
    choice = SimilarCost(options=k, min_gap=gap).choose(moves, A)
    if scores:
        assert choice.options in scores
        assert choice.score == pytest.approx(min(scores.values()), abs=1e-12)
    elif choice is not None:
        efforts = sorted(
            (np.atleast_2d(moves[i]) @ A * np.atleast_2d(moves[i])).sum() for i in choice.options
        )
        assert min(np.diff(efforts)) >= gap - 1e-12


def test_where_all_neighbours_are_near_ties_the_nearest_pair_above_the_gap_is_taken():
    efforts = np.array([1.0, 1.02, 1.04, 1.06, 1.08])
    moves = np.sqrt(efforts)[:, None] * np.eye(5)
    choice = SimilarCost(min_gap=0.05).choose(moves, np.eye(5))
    i, j = choice.options
    assert efforts[j] - efforts[i] == pytest.approx(0.06)
    assert SimilarCost(min_gap=0.05, options=3).choose(moves, np.eye(5)).options in [(0, 3), (1, 4)]
    assert SimilarCost(min_gap=0.1).choose(moves, np.eye(5)) is None


def test_twins_do_not_fill_a_window():
    moves = np.array([[1.0, 0.0]] * 5 + [[0.0, 1.1], [1.2, 0.0]])
    assert len(SimilarCost(options=4).choose(moves, np.eye(2)).options) == 3

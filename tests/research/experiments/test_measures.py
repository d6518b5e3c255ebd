"""Measures against their definitions, by hand and by brute force."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reap
from reap.research.experiments.measures import (
    excess,
    jaccard,
    mean_rank,
    same_oracle,
    smaller,
    whole,
)


def test_excess_is_a_ratio_of_sums_with_an_interval_around_it():
    rng = np.random.default_rng(0)
    oracle = rng.exponential(size=400)
    runs = pd.DataFrame({"subject": np.repeat(np.arange(40), 10), "effort": oracle * 1.1, "oracle": oracle})
    found = excess(runs)
    assert found["excess"] == pytest.approx(0.1)
    assert found["low"] == pytest.approx(0.1)
    assert (found["runs"], found["subjects"]) == (400, 40)
    runs.loc[runs["subject"] < 5, "effort"] *= 3
    wide = excess(runs)
    assert wide["low"] < wide["excess"] < wide["high"]
    assert wide["median"] == pytest.approx(0.1)


def test_the_interval_covers_the_truth_about_as_often_as_it_says():
    rng = np.random.default_rng(0)
    inside = 0
    for _ in range(60):
        oracle = rng.exponential(size=50)
        runs = pd.DataFrame(
            {"subject": np.arange(50), "effort": oracle * rng.uniform(1, 1.4, 50), "oracle": oracle}
        )
        found = excess(runs)
        inside += found["low"] <= 0.2 <= found["high"]
    assert inside >= 50  # of 60; a 95 % interval of 50 subjects covers a little less than it says


def test_one_subject_has_no_interval():
    found = excess(pd.DataFrame({"subject": [0, 0], "effort": [1.0, 2.0], "oracle": [1.0, 1.0]}))
    assert found["low"] == found["excess"] == found["high"] == pytest.approx(0.5)


def test_runs_without_a_plan_do_not_count():
    runs = pd.DataFrame({"subject": [0, 1], "effort": [2.0, np.nan], "oracle": [1.0, np.inf]})
    assert excess(runs)["runs"] == 1
    assert np.isnan(excess(runs.iloc[1:])["excess"])


def test_the_oracle_is_shared_by_cells_of_one_person_only():
    runs = pd.DataFrame(
        {
            "dataset": "german",
            "who": "Gaussian",
            "subject": [0, 0, 0, 1],
            "person": [0, 0, 1, 0],
            "effort": [3.0, 2.0, 9.0, np.nan],
            "oracle": [2.5, 2.5, 8.0, 4.0],
        }
    )
    assert same_oracle(runs)["oracle"].tolist() == [2.0, 2.0, 8.0, 4.0]


@given(st.integers(0, 10_000), st.integers(5, 40))
def test_mean_rank_is_what_the_paper_defines(seed, n):
    rng = np.random.default_rng(seed)
    moves, G, H = rng.normal(size=(n, 3)), rng.normal(size=(3, 3)), rng.normal(size=(3, 3))
    truth, estimate = G @ G.T, H @ H.T
    true = [float(v @ truth @ v) for v in moves]
    rank = {i: 1 + sum(c < true[i] for c in true) for i in range(n)}
    best = sorted(range(n), key=lambda i: moves[i] @ estimate @ moves[i])[:5]
    wanted = (sum(rank[i] for i in best) - 15) / ((2 * n - 5 + 1) * 5 / 2)
    assert mean_rank(moves, truth, estimate) == pytest.approx(wanted)
    assert mean_rank(moves, truth, 7 * truth) == 0
    assert 0 <= mean_rank(moves, truth, estimate) < 1


def test_the_whole_change_does_not_depend_on_steps():
    space = reap.ActionSpace.from_frame(pd.DataFrame({"a": [0.0, 1.0]}))
    path = np.linspace(0, 1, 5)[:, None]
    plan = reap.Plan(space, path, np.linspace(0, 1, 5), along=True)
    assert len(plan.moves) == 4
    assert whole(plan).tolist() == [1.0]
    assert whole(reap.Plan.none(space, path[0], 0.2, "none_found")).tolist() == [0.0]


def test_jaccard_compares_edges():
    X = pd.DataFrame({"a": [0.0, 1.0]})
    space = reap.ActionSpace.from_frame(X)

    def plan(*values):
        path = np.array(values, dtype=float)[:, None]
        return reap.Plan(space, path, np.linspace(0, 1, len(path)))

    assert jaccard(plan(0, 0.5, 1), plan(0, 0.5, 1)) == 0
    assert jaccard(plan(0, 0.5, 1), plan(0, 0.5, 0.8)) == pytest.approx(2 / 3)
    assert jaccard(plan(0, 0.5, 1), plan(0, 1)) == 1


def test_wilcoxon_is_one_sided_and_survives_ties():
    rng = np.random.default_rng(1)
    theirs = rng.random(30)
    assert smaller(theirs * 0.9, theirs) < 1e-6
    assert smaller(theirs * 1.1, theirs) > 0.99
    assert smaller(theirs, theirs) == 1.0

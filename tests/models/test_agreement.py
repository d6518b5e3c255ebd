"""The bound for retrainings to come, against truths that are known because they are simulated."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit
from scipy.stats import norm

from reap.models.agreement import Rule, needed, sampled, tolerance


@settings(deadline=None, max_examples=12)
@given(share=st.sampled_from([0.6, 0.8, 0.9, 0.95]), count=st.integers(8, 60), seed=st.integers(0, 99))
def test_the_bound_is_below_the_share_s_quantile_as_often_as_said(share, count, seed):
    sample = np.random.default_rng(seed).normal(3, 2, size=(20_000, count))
    low = sample.mean(axis=1) - tolerance(share, count) * sample.std(axis=1, ddof=1)
    said = np.mean(low <= 3 - 2 * norm.ppf(share))  # then at least the share of all to come is above
    assert said == pytest.approx(share, abs=4 * np.sqrt(share * (1 - share) / 20_000))


@settings(deadline=None, max_examples=30)
@given(share=st.floats(0.5, 0.99), count=st.integers(8, 200))
def test_more_retrainings_ask_for_less_and_a_higher_share_for_more(share, count):
    assert tolerance(share, count) >= tolerance(share, count + 50) - 1e-9
    assert tolerance(share, count) <= tolerance(min(share + 0.005, 0.995), count)
    assert tolerance(share, count) >= norm.ppf(share) - 1e-6


def test_with_few_or_for_less_than_half_only_the_count_is_asked_for():
    assert not sampled(0.9, 7)
    assert not sampled(0.4, 20)
    assert not sampled(1.0, 20)
    assert Rule.of(0.4, 20, 0.0, 0.0).factor is None
    assert Rule.of(0.4, 20, 0.0, 0.0).count == needed(0.4, 20) == 8


def test_rows_that_a_search_picks_hold_as_well():
    """Linear models with normal weights: the easiest row of ≤ 3 changes that meets the rule, and the truth about it."""
    rng = np.random.default_rng(0)
    d, m, share = 6, 20, 0.95
    rows = rng.uniform(0.05, 2.5, size=(6_000, d))
    rows[rng.random((6_000, d)).argsort(axis=1) < d - rng.integers(1, 4, size=(6_000, 1))] = 0.0
    order = np.argsort((rows**2).sum(axis=1))
    rows = np.column_stack([rows[order], np.ones(6_000)])
    held = []
    for _ in range(60):
        mean = np.append(rng.uniform(0.3, 1.2, d), -1.0)
        root = 0.4 * (rng.normal(size=(d + 1, d + 1)) / np.sqrt(d + 1) + 0.5 * np.eye(d + 1))
        retrainings = mean + rng.normal(size=(m, d + 1)) @ root.T
        logits = np.vstack([rows @ mean, retrainings @ rows.T])
        fine = Rule.of(share, m, 0.0, 0.0).candidates(logits).min(axis=0) > 0
        if fine.any():
            row = rows[fine.argmax()]
            held.append(norm.cdf(row @ mean / np.linalg.norm(root.T @ row)))
    assert len(held) >= 50
    assert np.mean(held) >= share


def test_a_member_that_is_very_sure_counts_as_sure_and_no_more():
    logits = np.array([[2.0, 2.0]] + [[3.0, 3.0]] * 19 + [[3.0, 700.0]])
    mean, deviation, u = Rule.of(0.9, 20, 0.0, 0.0).spread(logits)
    assert u.max() <= 1
    assert mean[1] > mean[0]
    assert deviation[1] < 0.1
    assert u[0, 0] == pytest.approx(expit(0.75))

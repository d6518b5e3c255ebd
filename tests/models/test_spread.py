"""The usual spread of retrainings, against worlds whose deviations are known because they are simulated."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import logit
from scipy.stats import norm
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import reap
from reap.models import wrap
from reap.models.agreement import Rule, Spread, agreed, tolerance
from reap.models.durable import differing, durable, retrained

M, SHARE = 20, 0.95


def world(rng, rows, weight, slope=-15.0):
    """Return true means (n,), true deviations (n,) and values u (M, n) of retrainings."""
    mean = rng.uniform(0.2, 0.8, rows)
    usual = 0.06**2 * np.exp(slope * (mean - 0.5) ** 2)
    true = np.sqrt(usual * weight / rng.chisquare(weight, rows))
    return mean, true, rng.normal(mean, true, (M, rows))


def test_what_is_usual_is_found_again():
    found = Spread.of(world(np.random.default_rng(0), 40_000, weight=12.0)[2])
    assert np.exp(found.level / 2) == pytest.approx(0.06, rel=0.02)
    assert found.slope == pytest.approx(-15, rel=0.05)
    assert found.weight == pytest.approx(12, rel=0.15)


def test_rows_that_are_all_alike_count_for_ten_times_a_row_s_own():
    rng = np.random.default_rng(1)
    assert Spread.of(rng.normal(0.5, 0.05, (M, 2_000))).weight == 10 * (M - 1)


def test_too_few_rows_that_differ_tell_nothing():
    rng = np.random.default_rng(2)
    assert Spread.of(rng.normal(0.5, 0.05, (M, 29))) is None
    assert Spread.of(np.full((M, 500), 0.7)) is None


def test_a_deviation_that_was_picked_for_being_small_is_not_believed():
    """The bound is as sure as it says whatever s was seen; without the usual spread it is wrong most of the time."""
    rng = np.random.default_rng(3)
    mean, true, u = world(rng, 200_000, weight=30.0)
    usual, seen = Spread.of(u), u.std(axis=0, ddof=1)
    expected = np.sqrt(np.exp(usual.level + usual.slope * (mean - 0.5) ** 2))
    lucky = seen < np.quantile(seen / expected, 0.05) * expected

    def kept(deviation, more):
        low = u.mean(axis=0) - tolerance(SHARE, M, more) * deviation
        return np.mean((low <= mean - norm.ppf(SHARE) * true)[lucky])

    assert kept(usual.drawn(u.mean(axis=0), seen, M), usual.weight) == pytest.approx(SHARE, abs=0.015)
    assert kept(seen, 0.0) < 0.7


def test_fewer_wavering_rows_pass_and_more_that_hold():
    """What a search among thousands of rows needs: the rule tells rows of a true share of .9 from rows of .995."""
    rng = np.random.default_rng(4)
    usual = Spread.of(world(rng, 1_000, weight=40.0, slope=0.0)[2])
    passed = {}
    for true_share in (0.9, 0.995):
        true = world(rng, 100_000, weight=40.0, slope=0.0)[1]
        mean = 0.5 + norm.ppf(true_share) * true
        logits = 4 * logit(np.clip(np.vstack([mean, rng.normal(mean, true, (M, len(mean)))]), 1e-6, 1 - 1e-6))
        for known in (None, usual):
            rule = Rule.of(SHARE, M, 0.0, 0.0, known)
            passed[true_share, known] = np.mean(rule.candidates(logits).min(axis=0) > 0)
    assert passed[0.9, usual] < 0.5 * passed[0.9, None]
    assert passed[0.995, usual] > 1.2 * passed[0.995, None]


@pytest.fixture(scope="module")
def boosted(table):
    X, y, space = table
    model = HistGradientBoostingClassifier(max_iter=10, min_samples_leaf=5)
    today = wrap(make_pipeline(space.encoder(), model).fit(X, y), space)
    return today, retrained(today, X, y, 9)


def test_trees_are_asked_for_it_and_smooth_models_are_not(table, boosted, vectors):
    X, y, space = table
    today, others = boosted
    usual = differing(today, others, X)
    assert usual.weight > 0
    assert differing(today, others[:7], X) is None
    u = agreed(np.stack([one.logit(vectors) for one in others]), 0.0)
    deviation = usual.drawn(u.mean(axis=0), u.std(axis=0, ddof=1), 9)
    enough = u.mean(axis=0) - tolerance(0.7, 9, usual.weight) * deviation > 0.5
    enough &= today.accepts(vectors) & ((u > 0.5).sum(axis=0) >= 7)
    careful = durable(today, others, share=0.7, usual=usual)
    assert np.array_equal(careful.accepts(vectors), enough)
    assert not np.array_equal(careful.logit(vectors), durable(today, others, share=0.7).logit(vectors))
    line = wrap(make_pipeline(space.encoder(), LogisticRegression()).fit(X, y), space)
    again = retrained(line, X, y, 9)
    assert differing(line, again, X) is None
    same = durable(line, again, share=0.7, usual=usual)
    assert np.array_equal(same.logit(vectors), durable(line, again, share=0.7).logit(vectors))


def test_engines_ask_for_it_and_keep_what_reap_checks(table, boosted):
    X, y, space = table
    engine = reap.Recourse(boosted[0].model, space, durability=reap.Durability(0.7, refits=9)).fit(X, y)
    assert engine.acceptance_.usual.weight == pytest.approx(differing(*boosted, X).weight)
    report = reap.checks.engine(engine, X, people=2, matrices=1, for_people=False)
    assert report.ok

"""A row is accepted where the model and enough of its retrainings accept it; the bound, against truths that are simulated."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit
from scipy.stats import norm
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import reap
from reap.models import durable as module
from reap.models import on_vectors, wrap
from reap.models.durable import (
    Rule,
    Spread,
    accepting,
    agreed,
    differing,
    durable,
    enough,
    needed,
    retrained,
    tolerance,
    trainable,
)
from tests.models.test_gradients import slopes

M, SHARE = 20, 0.95


@pytest.fixture(scope="module")
def logistic(table):
    X, y, space = table
    return wrap(make_pipeline(space.encoder(), LogisticRegression()).fit(X, y), space)


@pytest.fixture(scope="module")
def refits(table, logistic):
    X, y, _ = table
    return retrained(logistic, X, y, 9)


# the rule ------------------------------------------------------------------------------------------------


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
        fine = Rule.of(share, m, 0.0, 0.0).least(logits) > 0
        if fine.any():
            row = rows[fine.argmax()]
            held.append(norm.cdf(row @ mean / np.linalg.norm(root.T @ row)))
    assert len(held) >= 50
    assert np.mean(held) >= share


@given(share=st.floats(0, 1), count=st.integers(0, 60))
def test_enough_is_what_exchangeability_asks_for(share, count):
    k, of = needed(share, count), count if count >= 8 else count + 1
    assert 0 <= k <= count
    assert k == count or k / of >= share - 1e-9
    assert k == 0 or (k - 1) / of < share


@settings(deadline=None, max_examples=40)
@given(share=st.floats(0, 1), seed=st.integers(0, 999))
def test_accepted_is_what_the_model_and_enough_others_accept(logistic, refits, share, seed):
    Z = np.random.default_rng(seed).random((50, logistic.space.dimension))
    for others in (refits, refits[:5]):
        count = needed(share, len(others))
        fine = logistic.accepts(Z) & (accepting(others, Z) >= count)
        if (
            len(others) >= 8 and 0.5 <= share < 1
        ):  # a sample; of few, or for less than a half, only the count is asked for
            u = expit(np.array([one.logit(Z) for one in others]) / 4)
            fine &= u.mean(axis=0) - tolerance(share, len(others)) * u.std(axis=0, ddof=1) > 0.5
        assert np.array_equal(durable(logistic, others, share=share).accepts(Z), fine)


def test_a_member_that_is_very_sure_counts_as_sure_and_no_more():
    assert agreed(np.array([3.0, 700.0]), 0.0) == pytest.approx([expit(0.75), 1.0])
    assert 0 < Rule.of(0.9, 20, 0.0, 0.0).least(np.array([[2.0]] + [[3.0]] * 19 + [[700.0]])) <= 2


@pytest.mark.parametrize("wrong", [{"share": 1.2}, {"share": "high"}, {"margin": 0.5}, {"margin": -0.1}])
def test_wrong_settings_are_refused(logistic, wrong):
    with pytest.raises(reap.InputError, match=r"durability is|margin is"):
        durable(logistic, [], **wrong)


# the usual spread ----------------------------------------------------------------------------------------


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
    rng = np.random.default_rng(1)  # rows that are all alike count for ten times a row's own
    assert Spread.of(rng.normal(0.5, 0.05, (M, 2_000))).weight == 10 * (M - 1)
    assert Spread.of(rng.normal(0.5, 0.05, (M, 29))) is None  # too few rows that differ
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


def test_trees_are_asked_for_it_and_smooth_models_are_not(table, vectors, logistic, refits):
    X, y, space = table
    model = HistGradientBoostingClassifier(max_iter=10, min_samples_leaf=5)
    today = wrap(make_pipeline(space.encoder(), model).fit(X, y), space)
    others = retrained(today, X, y, 9)
    usual = differing(today, others, X)
    assert usual.weight > 0
    assert differing(today, others[:7], X) is None
    u = agreed(np.stack([one.logit(vectors) for one in others]), 0.0)
    deviation = usual.drawn(u.mean(axis=0), u.std(axis=0, ddof=1), 9)
    fine = u.mean(axis=0) - tolerance(0.7, 9, usual.weight) * deviation > 0.5
    fine &= today.accepts(vectors) & ((u > 0.5).sum(axis=0) >= 7)
    careful = durable(today, others, share=0.7, usual=usual)
    assert np.array_equal(careful.accepts(vectors), fine)
    assert not np.array_equal(careful.logit(vectors), durable(today, others, share=0.7).logit(vectors))
    assert differing(logistic, refits, X) is None
    same = durable(logistic, refits, share=0.7, usual=usual)
    assert np.array_equal(same.logit(vectors), durable(logistic, refits, share=0.7).logit(vectors))
    engine = reap.Recourse(today.model, space, durability=reap.Durability(0.7, refits=9)).fit(X, y)
    assert engine.acceptance_.usual.weight == pytest.approx(usual.weight)
    assert reap.checks.engine(engine, X, people=2, matrices=1, for_people=False).ok


# a model among models ------------------------------------------------------------------------------------


def test_the_gradient_is_that_of_the_score(logistic, refits, vectors):
    both = durable(logistic, refits, share=0.6)
    assert both.has_gradient
    np.testing.assert_allclose(both.gradient(vectors), slopes(both, vectors), atol=1e-4)


def test_members_without_a_gradient_are_scored_alike(table, logistic, refits, vectors):
    X, y, space = table
    forest = RandomForestClassifier(10, random_state=0).fit(space.encode(X), y)
    mixed = durable(logistic, [*refits, wrap(on_vectors(forest), space)], share=1.0)
    assert not mixed.has_gradient
    lowest = np.min([one.probability(vectors) for one in (logistic, *refits)], axis=0)
    lowest = np.minimum(lowest, forest.predict_proba(vectors)[:, 1])
    assert np.allclose(mixed.probability(vectors), lowest, atol=1e-12)


@pytest.mark.parametrize("smooth", [True, False])
def test_a_margin_is_kept_above_the_threshold(table, smooth, logistic, vectors):
    X, y, space = table
    if not smooth:
        logistic = wrap(on_vectors(RandomForestClassifier(20, random_state=0).fit(space.encode(X), y)), space)
    careful = durable(logistic, [], margin=0.1)
    p = logistic.probability(vectors)
    clear = np.abs(p - 0.6) > 1e-9
    assert np.array_equal(careful.accepts(vectors)[clear], (p > 0.6)[clear])


# retrainings ---------------------------------------------------------------------------------------------


def test_retrainings_differ_and_repeat(table, logistic, refits, vectors):
    X, y, space = table
    again = retrained(logistic, X, y, 9)
    scores = np.stack([one.probability(vectors) for one in refits])
    assert np.array_equal(scores, [one.probability(vectors) for one in again])
    assert (np.ptp(scores, axis=0) > 0).all()
    model = make_pipeline(space.encoder(), MLPClassifier((4,), max_iter=30, random_state=0))
    with pytest.warns(match="Maximum iterations"):
        model.fit(X, y)
    made = retrained(wrap(model, space), X, y, 3)  # says nothing of convergence: today's model did
    assert len({one.model[-1].random_state for one in made}) == 3  # a seed of its own for each


def test_a_linear_model_is_retrained_more_often(logistic, table):
    X, y, space = table
    assert [enough(logistic, rows) for rows in (2_000, 5_000, 100_000)] == [100, 40, 20]
    tree = wrap(on_vectors(DecisionTreeClassifier().fit(space.encode(X), y)), space)
    assert enough(tree, 2_000) == 20


@pytest.mark.parametrize("kind", ["frame", "pipeline on arrays", "vectors", "named vectors", "search"])
def test_the_estimator_gets_rows_as_it_was_trained(table, kind):
    X, y, _ = table
    X = X.drop(columns="housing")
    space = reap.ActionSpace.from_frame(X)
    Z = space.encode(X)
    named = pd.DataFrame(Z, columns=list(space.columns))
    model = {
        "frame": lambda: DecisionTreeClassifier(max_depth=3).fit(X, y),
        "pipeline on arrays": lambda: on_vectors(
            make_pipeline(StandardScaler(), LogisticRegression()).fit(Z, y)
        ),
        "vectors": lambda: on_vectors(LogisticRegression().fit(Z, y)),
        "named vectors": lambda: on_vectors(LogisticRegression().fit(named, y)),
        "search": lambda: GridSearchCV(DecisionTreeClassifier(), {"max_depth": [2, 3]}, cv=2).fit(X, y),
    }[kind]()
    like = wrap(model, space)
    agree = [np.mean(one.accepts(Z) == like.accepts(Z)) for one in retrained(like, X, y, 3)]
    assert min(agree) > 0.8


def test_what_cannot_be_retrained_is_told_what_to_do(table, logistic, monkeypatch):
    X, y, space = table
    function = wrap(lambda frame: np.full(len(frame), 0.4), space)
    assert trainable(logistic.model)
    assert not trainable(function.model)
    with pytest.raises(reap.InputError, match=r"models=.*margin="):
        retrained(function, X, y)

    class Once(LogisticRegression):
        def fit(self, X, y):
            if not hasattr(y, "name"):
                raise RuntimeError("trained once")
            return super().fit(X, y)

    with pytest.raises(reap.InputError, match=r"trained once.*models=.*margin="):
        retrained(wrap(on_vectors(Once().fit(space.encode(X), y)), space), X, y)
    with pytest.raises(reap.InputError, match=r"labels \['no', 'yes'\].*classes \[0, 1\]"):
        retrained(logistic, X, np.where(y, "yes", "no"))
    with pytest.raises(reap.InputError, match=r"one label for each of the 240 rows"):
        retrained(logistic, X, y[:5])
    monkeypatch.setattr(module, "_DRAWS", 0)
    with pytest.raises(reap.InputError, match=r"too few.*models="):
        retrained(logistic, X, y)

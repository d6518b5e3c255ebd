"""A row is accepted where the model and enough of its retrainings accept it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

import reap
from reap.models import durable as module
from reap.models import on_vectors, wrap
from reap.models.agreement import needed, tolerance
from reap.models.durable import accepting, durable, retrained


@pytest.fixture(scope="module")
def logistic(table):
    X, y, space = table
    return wrap(make_pipeline(space.encoder(), LogisticRegression()).fit(X, y), space)


@pytest.fixture(scope="module")
def refits(table, logistic):
    X, y, _ = table
    return retrained(logistic, X, y, 9)


@settings(deadline=None, max_examples=40)
@given(share=st.floats(0, 1), seed=st.integers(0, 999))
def test_accepted_is_what_the_model_and_enough_others_accept(logistic, refits, share, seed):
    Z = np.random.default_rng(seed).random((50, logistic.space.dimension))
    for others in (refits, refits[:5]):
        count = needed(share, len(others))
        enough = logistic.accepts(Z) & (accepting(others, Z) >= count)
        if len(others) >= 8 and 0.5 <= share < 1:  # a sample
            u = expit(np.array([one.logit(Z) for one in others]) / 4)
            enough &= u.mean(axis=0) - tolerance(share, len(others)) * u.std(axis=0, ddof=1) > 0.5
        assert np.array_equal(durable(logistic, others, share=share).accepts(Z), enough)


@given(share=st.floats(0, 1), count=st.integers(0, 60))
def test_enough_is_what_exchangeability_asks_for(share, count):
    k, of = needed(share, count), count if count >= 8 else count + 1
    assert 0 <= k <= count
    assert k == count or k / of >= share - 1e-9
    assert k == 0 or (k - 1) / of < share


def test_the_gradient_is_that_of_the_score(logistic, refits, vectors):
    both = durable(logistic, refits, share=0.6)
    assert both.has_gradient
    eps = 1e-6
    for j in range(vectors.shape[1]):
        step = np.zeros(vectors.shape[1])
        step[j] = eps
        slope = (both.logit(vectors + step) - both.logit(vectors - step)) / (2 * eps)
        assert np.allclose(slope, both.gradient(vectors)[:, j], atol=1e-4)


def test_members_without_a_gradient_are_scored_alike(table, logistic, refits, vectors):
    X, y, space = table
    forest = RandomForestClassifier(10, random_state=0).fit(space.encode(X), y)
    mixed = durable(logistic, [*refits, wrap(on_vectors(forest), space)], share=1.0)
    assert not mixed.has_gradient
    lowest = np.min([one.probability(vectors) for one in (logistic, *refits)], axis=0)
    assert np.allclose(
        mixed.probability(vectors), np.minimum(lowest, forest.predict_proba(vectors)[:, 1]), atol=1e-12
    )


@pytest.mark.parametrize("smooth", [True, False])
def test_a_margin_is_kept_above_the_threshold(table, smooth, logistic, vectors):
    X, y, space = table
    if not smooth:
        logistic = wrap(on_vectors(RandomForestClassifier(20, random_state=0).fit(space.encode(X), y)), space)
    careful = durable(logistic, [], margin=0.1)
    p = logistic.probability(vectors)
    clear = np.abs(p - 0.6) > 1e-9
    assert np.array_equal(careful.accepts(vectors)[clear], (p > 0.6)[clear])


def test_retrainings_differ_and_repeat(table, logistic, refits, vectors):
    X, y, _ = table
    again = retrained(logistic, X, y, 9)
    scores = np.stack([one.probability(vectors) for one in refits])
    assert np.array_equal(scores, [one.probability(vectors) for one in again])
    assert (np.ptp(scores, axis=0) > 0).all()


def test_every_retraining_has_its_own_seed(table):
    X, y, space = table
    network = MLPClassifier((4,), max_iter=30, random_state=0)
    model = make_pipeline(space.encoder(), network)
    with pytest.warns(match="Maximum iterations"):
        model.fit(X, y)
    made = retrained(wrap(model, space), X, y, 3)  # says nothing of convergence: today's model did
    assert len({one.model[-1].random_state for one in made}) == 3


@pytest.mark.parametrize("kind", ["frame", "pipeline on arrays", "vectors", "named vectors", "search"])
def test_the_estimator_gets_rows_as_it_was_trained(table, kind, vectors):
    import pandas as pd
    from sklearn.model_selection import GridSearchCV
    from sklearn.preprocessing import StandardScaler

    X, y, space = table
    X = X.drop(columns="housing")
    space = reap.ActionSpace.from_frame(X)
    Z = space.encode(X)
    model = {
        "frame": lambda: DecisionTreeClassifier(max_depth=3).fit(X, y),
        "pipeline on arrays": lambda: on_vectors(
            make_pipeline(StandardScaler(), LogisticRegression()).fit(Z, y)
        ),
        "vectors": lambda: on_vectors(LogisticRegression().fit(Z, y)),
        "named vectors": lambda: on_vectors(
            LogisticRegression().fit(pd.DataFrame(Z, columns=list(space.columns)), y)
        ),
        "search": lambda: GridSearchCV(DecisionTreeClassifier(), {"max_depth": [2, 3]}, cv=2).fit(X, y),
    }[kind]()
    like = wrap(model, space)
    agree = [np.mean(one.accepts(Z) == like.accepts(Z)) for one in retrained(like, X, y, 3)]
    assert min(agree) > 0.8


def test_what_cannot_be_retrained_is_told_what_to_do(table, logistic, monkeypatch):
    X, y, space = table
    function = wrap(lambda frame: np.full(len(frame), 0.4), space)
    with pytest.raises(reap.InputError, match=r"models=.*margin="):
        retrained(function, X, y)

    class Once(LogisticRegression):
        def fit(self, X, y):
            if not hasattr(y, "name"):
                raise RuntimeError("trained once")
            return super().fit(X, y)

    with pytest.raises(reap.InputError, match=r"trained once.*models=.*margin="):
        retrained(wrap(on_vectors(Once().fit(space.encode(X), y)), space), X, y)
    monkeypatch.setattr(module, "_DRAWS", 0)
    with pytest.raises(reap.InputError, match=r"too few.*models="):
        retrained(logistic, X, y)


def test_labels_must_be_the_model_s(table, logistic):
    X, y, _ = table
    with pytest.raises(reap.InputError, match=r"labels \['no', 'yes'\].*classes \[0, 1\]"):
        retrained(logistic, X, np.where(y, "yes", "no"))
    with pytest.raises(reap.InputError, match=r"one label for each of the 240 rows"):
        retrained(logistic, X, y[:5])


@pytest.mark.parametrize("wrong", [{"share": 1.2}, {"share": "high"}, {"margin": 0.5}, {"margin": -0.1}])
def test_wrong_settings_are_refused(logistic, wrong):
    with pytest.raises(reap.InputError, match=r"durability is|margin is"):
        durable(logistic, [], **wrong)

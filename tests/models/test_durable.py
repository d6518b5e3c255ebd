"""A row is accepted where the model and enough of its retrainings accept it."""

from __future__ import annotations

import warnings
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

import reap
from reap.models import Classifier, on_vectors, wrap
from reap.models import durable as module
from reap.models.agreement import needed, tolerance
from reap.models.durable import accepting, durable, retrained
from reap.models.gradients import Network
from reap.models.trees import read
from reap.scores import Scale


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


@pytest.fixture(scope="module", params=["linear", "network", "trees", "asked one by one"])
def members(request, table):
    X, y, space = table
    if request.param == "trees":
        model = HistGradientBoostingClassifier(max_iter=8, random_state=0)
    elif request.param == "network":
        model = MLPClassifier((6,), max_iter=15, random_state=0)
    else:
        model = LogisticRegression()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        today = wrap(make_pipeline(space.encoder(), model).fit(X, y), space)
    found = [today, *retrained(today, X, y, 12)]
    if request.param == "trees":
        found = [read(one, space, X).classifier for one in found]
    if request.param == "asked one by one":
        found = [wrap(on_vectors(one.probability), space) for one in found]
    return found


@settings(deadline=None, max_examples=30)
@given(share=st.floats(0, 1), seed=st.integers(0, 999), count=st.integers(0, 200), least=st.floats(-1, 1))
def test_what_reaches_the_least_has_its_logit_and_the_rest_has_less(members, share, seed, count, least):
    both = durable(members[0], members[1:], share=share)
    Z = np.random.default_rng(seed).random((count, both.space.dimension))
    exact, found = both.logit(Z), both.from_least(Z, least)
    near = 1e-9  # products of other sizes are rounded in another way
    sure = np.abs(exact - least) > near
    assert np.allclose(found[sure & (exact >= least)], exact[sure & (exact >= least)], atol=near)
    assert (found[sure & (exact < least)] < least).all()


def test_a_model_of_one_member_says_all_it_knows(members):
    Z = np.random.default_rng(0).random((5, members[0].space.dimension))
    assert np.array_equal(members[0].from_least(Z, 100.0), members[0].logit(Z))


def test_the_last_members_are_asked_about_few_rows(table):
    X, y, space = table
    today = wrap(make_pipeline(space.encoder(), LogisticRegression()).fit(X, y), space)
    asked = np.zeros(21, dtype=int)

    def counting(i):
        def probability(Z):
            asked[i] += len(Z)
            return today.probability(Z)

        return wrap(on_vectors(probability), space)

    both = durable(counting(0), [counting(i) for i in range(1, 21)], share=0.9)
    Z = np.random.default_rng(1).random((300, space.dimension))
    asked[:] = 0
    accepted = both.from_least(Z, both.boundary) >= both.boundary
    assert asked[0] == 300
    assert (asked[1:] == today.accepts(Z).sum()).all()
    assert 0 < accepted.sum() <= asked[-1] < 300


@pytest.mark.parametrize("rows", [0, 1, 7, 600])  # 600: more than one block
@pytest.mark.parametrize("activation", ["relu", "tanh", "logistic", "identity"])
@pytest.mark.parametrize("hidden", [(), (5,), (3, 6, 2)])
@pytest.mark.parametrize("output", ["probability", "score"])
def test_networks_of_one_shape_say_together_what_each_says_alone(table, hidden, activation, rows, output):
    rng, space = np.random.default_rng(0), table[2]
    sizes, scale = (
        [space.dimension, *hidden, 1],
        Scale(0.5, output, spread=1.0 if output == "probability" else 3.0),
    )
    networks = [
        Network(
            [rng.normal(size=pair) for pair in pairwise(sizes)],
            [rng.normal(size=n) for n in sizes[1:]],
            activation,
            i % 2,
        )
        for i in range(5)
    ]
    members = [Classifier(one, space, 1, 0.5, one, scale) for one in networks]
    both, Z = durable(members[0], members[1:], share=0.6).kernel, rng.normal(size=(rows, space.dimension))
    assert both._stack is not None
    alone = np.array([one.logit(Z) for one in members])
    assert np.allclose(both.logits(Z), alone, rtol=1e-12, atol=1e-12)
    assert np.allclose(both.logits(Z, 1, 4), alone[1:4], rtol=1e-12, atol=1e-12)

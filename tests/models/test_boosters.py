"""Models people have, with the real libraries: what they were trained on is what they get."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import HistGradientBoostingClassifier, VotingClassifier
from sklearn.linear_model import LogisticRegression

import reap
from reap.models.trees import read
from tests.models.ensembles import make, people, piped


def assert_same(model, X, space, atol=1e-12):
    """Whether the wrapped model gives every row of the table the model's own probability."""
    classifier = reap.models.wrap(model, space)
    theirs = model.predict_proba(X)[:, 1]
    np.testing.assert_allclose(classifier.probability(space.encode(X)), theirs, rtol=0, atol=atol)
    return classifier


@pytest.mark.extras
@pytest.mark.parametrize("name", ["lightgbm", "xgboost"])
@pytest.mark.parametrize("order", [["own", "rent", "free"], ["free", "own", "rent"]])
def test_native_categories_keep_their_codes_whatever_their_order(name, order):
    X, y = people()
    X["housing"] = X["housing"].cat.set_categories(order)
    X["grade"] = X["grade"].cat.as_unordered()
    space = reap.ActionSpace.from_frame(X)
    assert_same(make(name, native=True).fit(X, y), X, space, atol=1e-6)
    shuffled = X.assign(housing=X["housing"].cat.set_categories(["rent", "free", "own"]))
    assert_same(make(name, native=True).fit(X, y), X, reap.ActionSpace.from_frame(shuffled), atol=1e-6)


@pytest.mark.extras
@pytest.mark.parametrize("name", ["lightgbm", "xgboost"])
def test_nullable_dtypes(name):
    X, y = people()
    X = X[["age", "income", "cards", "owner"]].astype(
        {"age": "Int64", "income": "Float64", "cards": "Int8", "owner": "boolean"}
    )
    X.loc[::9, "cards"] = pd.NA
    space = reap.ActionSpace.from_frame(X, missing=["cards"])
    classifier = assert_same(make(name).fit(X, y), X, space, atol=1e-6)
    assert read(classifier, space, X) is not None


@pytest.mark.extras
@pytest.mark.parametrize("name", ["lightgbm", "xgboost"])
def test_models_trained_on_arrays_in_units(name):
    X, y = people()
    X = X[["age", "income", "cards", "housing"]].assign(housing=X["housing"].cat.codes.astype(int))
    space = reap.ActionSpace.from_frame(X, features={"housing": {"kind": "categorical"}})
    model = make(name).fit(X.to_numpy(dtype=float), y)
    classifier = reap.models.wrap(model, space)
    theirs = model.predict_proba(X.to_numpy(dtype=float))[:, 1]
    np.testing.assert_allclose(classifier.probability(space.encode(X)), theirs, rtol=0, atol=1e-6)
    assert read(classifier, space, X) is not None


@pytest.mark.extras
@pytest.mark.parametrize("name", ["lightgbm", "xgboost"])
def test_calibrated_boosters_are_read_and_votes_with_other_models_asked(name):
    X, y = people()
    space = reap.ActionSpace.from_frame(X)
    calibrated = CalibratedClassifierCV(piped(make(name), X), cv=2).fit(X, y)
    voting = VotingClassifier(
        [("a", piped(make(name), X)), ("b", piped(LogisticRegression(max_iter=2000), X))], voting="soft"
    ).fit(X, y)
    for model, known in ((calibrated, True), (voting, False)):
        classifier = assert_same(model, X, space, atol=1e-6)
        assert not classifier.has_gradient
        assert (read(classifier, space, X) is not None) == known


@pytest.mark.extras
def test_pipelines_of_imblearn():
    from imblearn.over_sampling import RandomOverSampler
    from imblearn.pipeline import make_pipeline

    X, y = people()
    space = reap.ActionSpace.from_frame(X)
    trees, linear = piped(make("histogram"), X), piped(LogisticRegression(max_iter=2000), X)
    sampled = [
        make_pipeline(p[0], RandomOverSampler(random_state=0), p[-1]).fit(X, y) for p in (trees, linear)
    ]
    assert read(assert_same(sampled[0], X, space), space, X) is not None
    assert assert_same(sampled[1], X, space).has_gradient


def test_categories_without_order_and_text_are_read_by_histogram_boosting():
    X, y = people()
    X["grade"] = X["grade"].astype(str).astype("category")
    space = reap.ActionSpace.from_frame(X)
    model = HistGradientBoostingClassifier(max_iter=20, categorical_features="from_dtype").fit(X, y)
    assert read(assert_same(model, X, space), space, X) is not None


@pytest.mark.extras
@pytest.mark.parametrize("name", ["lightgbm", "xgboost"])
def test_plans_of_the_default_engine(name):
    X, y = people()
    space = reap.ActionSpace.from_frame(X)
    model = piped(make(name), X).fit(X, y)
    engine = reap.Recourse(model, space).fit(X)
    person = X[model.predict_proba(X)[:, 1] <= 0.5].iloc[0]
    plan = engine.plans(person, np.eye(space.dimension))[0]
    assert plan.valid
    assert len(plan.changes) <= 3

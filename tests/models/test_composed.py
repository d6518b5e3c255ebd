"""Gradients of linear models and networks behind preprocessing of raw frames, against the pipelines themselves."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import RandomForestClassifier, VotingClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    QuantileTransformer,
    StandardScaler,
)

import reap
from reap.models.estimator import rows_at_random
from tests.models.ensembles import people

WORDS, NUMBERS = ["housing", "grade"], ["age", "income", "cards"]


def network():
    return MLPClassifier((8,), activation="tanh", max_iter=2000, random_state=0)


def linear():
    return LogisticRegression(max_iter=2000)


def usual(*, onehot=True, drop=None):
    words = (
        OneHotEncoder(drop=drop)
        if onehot
        else OrdinalEncoder(categories=[["free", "own", "rent"], list("abcd")])
    )
    return make_column_transformer((words, WORDS), (StandardScaler(), NUMBERS), remainder="passthrough")


MODELS = {
    "logistic": lambda: make_pipeline(usual(), linear()),
    "first level dropped": lambda: make_pipeline(usual(drop="first"), linear()),
    "ordinal codes": lambda: make_pipeline(usual(onehot=False), network()),
    "network": lambda: make_pipeline(usual(), network()),
    "discriminant": lambda: make_pipeline(usual(drop="first"), LinearDiscriminantAnalysis()),
    "scaled twice": lambda: make_pipeline(usual(), MinMaxScaler(), network()),
    "voting": lambda: make_pipeline(
        usual(), VotingClassifier([("a", linear()), ("b", network())], voting="soft", weights=[1, 3])
    ),
    "voting of pipelines": lambda: VotingClassifier(
        [("a", make_pipeline(usual(), linear())), ("b", make_pipeline(usual(drop="first"), network()))],
        voting="soft",
    ),
    "calibrated": lambda: make_pipeline(usual(), CalibratedClassifierCV(linear(), cv=3)),
    "calibrated pipeline": lambda: CalibratedClassifierCV(make_pipeline(usual(), linear()), cv=3),
}


@pytest.fixture(scope="module")
def table():
    X, y = people()
    return X, y, reap.ActionSpace.from_frame(X)


@pytest.mark.parametrize("target", [0, 1])
@pytest.mark.parametrize("name", MODELS)
def test_probabilities_and_gradients_are_those_of_the_pipeline(name, target, table):
    X, y, space = table
    model = MODELS[name]().fit(X, y)
    classifier = reap.models.wrap(model, space, target=target)
    assert classifier.has_gradient
    Z = space.encode(X)
    np.testing.assert_allclose(
        classifier.probability(Z), model.predict_proba(X)[:, target], rtol=0, atol=1e-9
    )
    slope = classifier.gradient(Z)
    for column in NUMBERS:
        low, high = space.feature(column).range
        step = 1e-4 * (high - low)
        ends = [model.predict_proba(X.assign(**{column: X[column] + d}))[:, target] for d in (step, -step)]
        up, down = (np.log(p / (1 - p)) for p in ends)
        numeric = (up - down) / 2e-4
        np.testing.assert_allclose(slope[:, space.slices[column].start], numeric, rtol=2e-3, atol=1e-4)


def test_categories_have_slopes_that_say_what_switching_does(table):
    X, y, space = table
    model = make_pipeline(usual(), linear()).fit(X, y)
    classifier = reap.models.wrap(model, space)
    Z = space.encode(X)
    block = space.slices["housing"]
    own = Z[:, block].argmax(axis=1)
    slope = classifier.gradient(Z)[:, block]
    for level in range(3):
        moved = Z.copy()
        moved[:, block] = np.eye(3)[level]
        rise = classifier.logit(moved) - classifier.logit(Z)
        np.testing.assert_allclose(slope[:, level] - slope[np.arange(len(Z)), own], rise, atol=1e-9)


def test_ordered_levels_that_are_one_hot_are_interpolated(table):
    X, y, space = table
    classifier = reap.models.wrap(make_pipeline(usual(), linear()).fit(X, y), space)
    j = space.slices["grade"].start
    low = space.encode(X.iloc[:5])
    low[:, j], high, middle = 1 / 3, low.copy(), low.copy()
    high[:, j], middle[:, j] = 2 / 3, 0.5
    rise = classifier.logit(high) - classifier.logit(low)
    np.testing.assert_allclose(classifier.gradient(middle)[:, j] / 3, rise, atol=1e-9)


def test_imputed_values_stand_for_missing_ones():
    X, y = people()
    X["income"] = X["income"].where(np.arange(len(X)) % 9 > 0)
    X["housing"] = X["housing"].astype(object).where(np.arange(len(X)) % 11 > 0, None)
    space = reap.ActionSpace.from_frame(X, missing=["income", "housing"])
    pre = make_column_transformer(
        (make_pipeline(SimpleImputer(strategy="median"), StandardScaler()), NUMBERS),
        (
            make_pipeline(
                SimpleImputer(strategy="constant", fill_value="none", missing_values=None), OneHotEncoder()
            ),
            ["housing"],
        ),
    )
    model = make_pipeline(pre, linear()).fit(X, y)
    classifier = reap.models.wrap(model, space)
    assert classifier.has_gradient
    np.testing.assert_allclose(
        classifier.probability(space.encode(X)), model.predict_proba(X)[:, 1], rtol=0, atol=1e-9
    )
    assert (classifier.gradient(space.encode(X))[X["income"].isna(), space.slices["income"].start] == 0).all()


@pytest.mark.parametrize(
    "model",
    [
        make_pipeline(
            make_column_transformer((QuantileTransformer(n_quantiles=20), ["income"])), LogisticRegression()
        ),
        make_pipeline(make_column_transformer((MinMaxScaler(clip=True), ["income"])), LogisticRegression()),
        make_pipeline(usual(), RandomForestClassifier(5)),
        make_pipeline(usual(), CalibratedClassifierCV(LogisticRegression(), method="isotonic", cv=2)),
        make_pipeline(
            usual(), VotingClassifier([("a", linear()), ("b", network())], voting="soft")
        ).set_params(votingclassifier__b=RandomForestClassifier(5)),
    ],
    ids=["quantiles", "clipped", "forest", "isotonic", "voting with a forest"],
)
def test_what_is_not_smooth_or_not_affine_has_no_gradient(model, table):
    X, y, space = table
    classifier = reap.models.wrap(model.fit(X, y), space)
    assert not classifier.has_gradient
    assert "without a gradient" in classifier.describe()
    with pytest.raises(reap.InputError, match="has no gradient"):
        classifier.gradient(space.encode(X))


def test_the_description_says_which_way_was_taken(table):
    X, y, space = table
    assert "smooth" in reap.models.wrap(make_pipeline(usual(), linear()).fit(X, y), space).describe()


def test_rows_at_random_are_rows(table):
    _, _, space = table
    Z = rows_at_random(space, np.random.default_rng(0), 64)
    pd.testing.assert_frame_equal(space.decode(space.encode(space.decode(Z))), space.decode(Z))

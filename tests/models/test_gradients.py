"""Gradients are the slopes of the logit, whatever the model and whatever stands before it; the pipelines themselves say so."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import logit
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import RandomForestClassifier, VotingClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV, SGDClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
)

import reap
from reap.models import wrap
from tests.models.ensembles import people


def mlp(activation="relu", hidden=(8, 6)):
    # a loose tolerance: the gradient of a half-trained net is as good a test as that of a trained one
    return MLPClassifier(hidden, activation=activation, max_iter=500, tol=0.05, random_state=0)


#: What new releases of scikit-learn want to be told, and old ones do not know.
QUIET = (
    {"l1_ratios": (0,), "use_legacy_attributes": False}
    if "use_legacy_attributes" in LogisticRegressionCV().get_params()
    else {}
)
MODELS = {
    "logistic": LogisticRegression(),
    "logistic, many classes": LogisticRegression(),
    "cross-validated": LogisticRegressionCV(Cs=2, cv=2, scoring="neg_log_loss", **QUIET),
    "sgd": SGDClassifier(loss="log_loss", random_state=0),
    "discriminant": LinearDiscriminantAnalysis(),
    "relu": mlp("relu"),
    "tanh": mlp("tanh"),
    "sigmoid": mlp("logistic"),
    "identity": mlp("identity"),
    "relu, many classes": mlp("relu"),
}


def slopes(classifier, Z, h=1e-6):
    """Central differences of the logit, (n, d)."""
    d = Z.shape[1]
    up, down = (np.repeat(Z[:, None], d, axis=1) + sign * h * np.eye(d) for sign in (1, -1))
    difference = classifier.logit(up.reshape(-1, d)) - classifier.logit(down.reshape(-1, d))
    return difference.reshape(len(Z), d) / (2 * h)


def labels(name, table):
    X, y, _ = table
    return y + (X["age"] > 60) if "many classes" in name else y


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("target", [0, 1])
def test_gradient_equals_finite_differences_and_probability_the_models_own(name, target, table, vectors):
    X, _, space = table
    model = make_pipeline(space.encoder(), clone(MODELS[name])).fit(X, labels(name, table))
    classifier = wrap(model, space, target=target)
    assert classifier.has_gradient
    np.testing.assert_allclose(
        classifier.gradient(vectors), slopes(classifier, vectors), atol=2e-5, rtol=1e-5
    )
    own = model[1:].predict_proba(vectors)[:, list(model.classes_).index(target)]
    np.testing.assert_allclose(classifier.probability(vectors), own, rtol=0, atol=1e-12)
    np.testing.assert_allclose(classifier.logit(vectors), logit(own), atol=1e-8)


@pytest.mark.parametrize(
    "scalers",
    [
        (StandardScaler(),),
        (MinMaxScaler((-1, 2)), StandardScaler(with_mean=False)),
        ("passthrough", RobustScaler(), MaxAbsScaler()),
        (make_pipeline(StandardScaler(), MinMaxScaler()),),
    ],
)
@pytest.mark.parametrize("frames", [False, True])
def test_scalers_between_encoder_and_model_are_part_of_the_gradient(scalers, frames, table, vectors):
    X, y, space = table
    pipeline = make_pipeline(space.encoder(), *scalers, mlp())
    if frames:
        pipeline.set_output(transform="pandas")
    model = pipeline.fit(X, y)
    classifier = wrap(model, space)
    assert classifier.has_gradient
    np.testing.assert_allclose(
        classifier.gradient(vectors), slopes(classifier, vectors), atol=2e-5, rtol=1e-5
    )
    np.testing.assert_allclose(
        classifier.probability(space.encode(X)), model.predict_proba(X)[:, 1], rtol=0, atol=1e-12
    )


class Hesitant(LogisticRegression):
    """A model with probabilities of its own."""

    def predict_proba(self, X):
        return 0.5 + 0.5 * (super().predict_proba(X) - 0.5)


@pytest.mark.parametrize(
    "steps",
    [
        (MinMaxScaler(clip=True), LogisticRegression()),
        (Hesitant(),),
        (SGDClassifier(loss="log_loss", random_state=0),),  # one class against the rest
    ],
    ids=["clipped", "own probabilities", "many classes"],
)
def test_what_is_not_what_it_seems_has_no_gradient_but_right_probabilities(steps, table):
    X, _, space = table
    y = labels("many classes", table) if len(steps) == 1 else table[1]
    model = make_pipeline(space.encoder(), *steps).fit(X, y)
    classifier = wrap(model, space)
    assert not classifier.has_gradient
    np.testing.assert_array_equal(classifier.probability(space.encode(X)), model.predict_proba(X)[:, 1])


# behind preprocessing of raw frames ------------------------------------------------------------------------

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


PIPELINES = {
    "logistic": lambda: make_pipeline(usual(), linear()),
    "first level dropped": lambda: make_pipeline(usual(drop="first"), linear()),
    "ordinal codes": lambda: make_pipeline(usual(onehot=False), network()),
    "network": lambda: make_pipeline(usual(), network()),
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
def raw():
    X, y = people()
    return X, y, reap.ActionSpace.from_frame(X)


@pytest.mark.parametrize("target", [0, 1])
@pytest.mark.parametrize("name", PIPELINES)
def test_probabilities_and_gradients_are_those_of_the_pipeline(name, target, raw):
    X, y, space = raw
    model = PIPELINES[name]().fit(X, y)
    classifier = wrap(model, space, target=target)
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


def test_slopes_of_levels_say_what_switching_does(raw):
    X, y, space = raw
    classifier = wrap(make_pipeline(usual(), linear()).fit(X, y), space)
    Z = space.encode(X)
    block, own = space.slices["housing"], Z[:, space.slices["housing"]].argmax(axis=1)
    slope = classifier.gradient(Z)[:, block]
    for level in range(3):
        moved = Z.copy()
        moved[:, block] = np.eye(3)[level]
        rise = classifier.logit(moved) - classifier.logit(Z)
        np.testing.assert_allclose(slope[:, level] - slope[np.arange(len(Z)), own], rise, atol=1e-9)
    j = space.slices["grade"].start  # ordered levels that are one-hot are interpolated
    low, high, middle = (np.where(np.arange(space.dimension) == j, at, Z[:5]) for at in (1 / 3, 2 / 3, 1 / 2))
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
    classifier = wrap(model, space)
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
def test_what_is_not_smooth_or_not_affine_has_no_gradient(model, raw):
    X, y, space = raw
    classifier = wrap(model.fit(X, y), space)
    assert not classifier.has_gradient
    with pytest.raises(reap.InputError, match=r"has no gradient; .* which needs none"):
        classifier.gradient(space.encode(X))


def test_whole_numbers_are_whole_whatever_they_are_scaled_by():
    german = reap.datasets.load("german")
    words = make_column_selector(dtype_exclude="number")
    steps = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), words), remainder=StandardScaler()
    )
    model = make_pipeline(steps, linear()).fit(german.X, german.y)
    assert wrap(model, german.space).has_gradient

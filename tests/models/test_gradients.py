"""Gradients are the slopes of the logit, whatever the model and whatever stands before it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import logit
from sklearn.base import clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV, SGDClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler

import reap
from reap.models import wrap


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
    "discriminant, eigen": LinearDiscriminantAnalysis(solver="lsqr", shrinkage=0.1),
    "relu": mlp("relu"),
    "tanh": mlp("tanh"),
    "sigmoid": mlp("logistic"),
    "identity": mlp("identity"),
    "relu, many classes": mlp("relu"),
    "no hidden layer but one": mlp("relu", (3,)),
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


def test_nested_pipelines_are_looked_through(table):
    X, y, space = table
    model = make_pipeline(space.encoder(), make_pipeline(StandardScaler(), LogisticRegression())).fit(X, y)
    assert wrap(model, space).has_gradient


def test_a_clipping_scaler_has_no_gradient_but_right_probabilities(table):
    X, y, space = table
    model = make_pipeline(space.encoder(), MinMaxScaler(clip=True), LogisticRegression()).fit(X, y)
    classifier = wrap(model, space)
    assert not classifier.has_gradient
    np.testing.assert_array_equal(classifier.probability(space.encode(X)), model.predict_proba(X)[:, 1])


def test_a_model_with_probabilities_of_its_own_is_believed(table):
    class Hesitant(LogisticRegression):
        def predict_proba(self, X):
            return 0.5 + 0.5 * (super().predict_proba(X) - 0.5)

    X, y, space = table
    model = make_pipeline(space.encoder(), Hesitant()).fit(X, y)
    classifier = wrap(model, space)
    assert not classifier.has_gradient
    np.testing.assert_array_equal(classifier.probability(space.encode(X)), model.predict_proba(X)[:, 1])


def test_one_against_rest_probabilities_have_no_gradient_here(table):
    X, _, space = table
    model = make_pipeline(space.encoder(), SGDClassifier(loss="log_loss", random_state=0))
    model.fit(X, labels("many classes", table))
    classifier = wrap(model, space, target=2)
    assert not classifier.has_gradient
    np.testing.assert_array_equal(classifier.probability(space.encode(X)), model.predict_proba(X)[:, 2])


def test_no_gradient_recommends_the_engine_that_needs_none(table, vectors):
    space = table[2]
    with pytest.raises(reap.InputError, match="which needs none"):
        wrap(lambda X: np.full(len(X), 0.5), space).gradient(vectors)

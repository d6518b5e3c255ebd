"""Whatever the user trained goes in as it is, and answers as it did before."""

from __future__ import annotations

import pickle
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, PolynomialFeatures, StandardScaler
from sklearn.svm import SVC

import reap
from reap.models import on_vectors, wrap


def columns(numbers, words):
    return make_column_transformer((StandardScaler(), numbers), (OneHotEncoder(), words))


def forest():
    return RandomForestClassifier(10, random_state=0)


RAW = {
    "forest": make_pipeline(columns(["age", "income"], ["housing", "owner"]), forest()),
    "boosting": make_pipeline(
        columns(["income"], ["housing"]), HistGradientBoostingClassifier(max_iter=5, random_state=0)
    ),
    "logistic": make_pipeline(columns(["age", "income"], ["housing"]), LogisticRegression()),
    "calibrated": CalibratedClassifierCV(
        make_pipeline(columns(["age", "income"], ["housing"]), RidgeClassifier()), cv=2
    ),
    "search": GridSearchCV(
        make_pipeline(columns(["age"], ["housing"]), LogisticRegression()),
        {"logisticregression__C": [1.0, 2.0]},
        cv=2,
    ),
}


@pytest.mark.parametrize("name", RAW)
def test_models_on_raw_frames(name, table):
    X, y, space = table
    model = RAW[name].fit(X, y)
    classifier = wrap(model, space)
    ours, theirs = classifier.probability(space.encode(X)), model.predict_proba(X)[:, 1]
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(classifier.accepts(space.encode(X)), theirs > 0.5)
    assert classifier.has_gradient == (name in ("logistic", "search"))


def test_a_raw_model_gets_exactly_what_it_was_trained_on(table):
    X, y, space = table
    some = LogisticRegression(max_iter=1000).fit(X[["income", "age"]], y)
    theirs = some.predict_proba(X[["income", "age"]])[:, 1]
    np.testing.assert_allclose(wrap(some, space).probability(space.encode(X)), theirs, rtol=0, atol=1e-12)
    X = X.astype({"housing": "category"})
    space = reap.ActionSpace.from_frame(X)
    model = HistGradientBoostingClassifier(max_iter=5, categorical_features="from_dtype").fit(X, y)
    ours = wrap(model, space).probability(space.encode(X))
    np.testing.assert_array_equal(ours, model.predict_proba(X)[:, 1])


@pytest.mark.parametrize("frames", [False, True])
@pytest.mark.parametrize("between", [(), (PolynomialFeatures(2),)])
def test_pipelines_that_start_with_the_encoder_work_on_vectors(frames, between, table, vectors):
    X, y, space = table
    pipeline = make_pipeline(space.encoder(), *between, forest())
    if frames:
        pipeline.set_output(transform="pandas")
    model = pipeline.fit(X, y)
    classifier = wrap(model, space)
    np.testing.assert_array_equal(classifier.probability(space.encode(X)), model.predict_proba(X)[:, 1])
    given = pd.DataFrame(vectors, columns=space.columns) if frames else vectors
    np.testing.assert_array_equal(classifier.probability(vectors), model[1:].predict_proba(given)[:, 1])


def test_only_the_encoder_of_this_space_is_passed_over_limits_aside(table):
    X, y, space = table
    other = reap.ActionSpace.from_frame(pd.concat([X, X.assign(income=9000.0)]))
    model = make_pipeline(other.encoder(), LogisticRegression()).fit(X, y)
    theirs = model.predict_proba(X)[:, 1]
    np.testing.assert_allclose(wrap(model, space).probability(space.encode(X)), theirs, rtol=1e-9)
    tight = other.tighten(other.limits(fixed=["age"]))
    np.testing.assert_allclose(wrap(model, tight).probability(other.encode(X)), theirs, rtol=1e-9)


def test_predict_is_matched_at_a_half_for_both_classes(table):
    X, y, space = table
    words = np.where(y == 1, "good", "bad")
    model = make_pipeline(space.encoder(), MLPClassifier((5,), max_iter=500, tol=0.1, random_state=0)).fit(
        X, words
    )
    for target in ("good", "bad"):
        accepted = wrap(model, space, target=target).accepts(space.encode(X))
        np.testing.assert_array_equal(accepted, model.predict(X) == target)
    strict = wrap(model, space, target="good", threshold=0.9)
    assert strict.boundary == pytest.approx(np.log(9))
    np.testing.assert_array_equal(
        strict.accepts(space.encode(X)), strict.logit(space.encode(X)) > strict.boundary
    )


def test_arrays_without_names(table):
    X, y, space = table
    Z = space.encode(X)
    encoded = LogisticRegression().fit(Z, y)  # d differs from the number of features: no doubt what it takes
    assert wrap(encoded, space).has_gradient
    named = LogisticRegression().fit(pd.DataFrame(Z, columns=space.columns), y)
    np.testing.assert_allclose(wrap(named, space).probability(Z), encoded.predict_proba(Z)[:, 1], atol=1e-12)
    numbers = X[["age", "income"]]
    small = reap.ActionSpace.from_frame(numbers)
    bare = LogisticRegression().fit(small.encode(numbers), y)
    with pytest.raises(reap.InputError, match="on_vectors"):
        wrap(bare, small)
    np.testing.assert_allclose(
        wrap(on_vectors(bare), small).probability(small.encode(numbers)),
        bare.predict_proba(small.encode(numbers))[:, 1],
    )


def test_a_space_of_encoded_arrays(table):
    X, y, space = table
    Z = space.encode(X)
    encoded = reap.ActionSpace.from_frame(Z, groups={"housing": ["x2", "x3", "x4"]})
    model = LogisticRegression().fit(Z, y)
    np.testing.assert_allclose(wrap(model, encoded).probability(Z), model.predict_proba(Z)[:, 1], atol=1e-12)
    assert wrap(model, encoded).has_gradient
    reversed_columns = pd.DataFrame(Z, columns=encoded.columns).iloc[:, ::-1]
    turned = LogisticRegression().fit(reversed_columns, y)
    np.testing.assert_allclose(
        wrap(turned, encoded).probability(Z), turned.predict_proba(reversed_columns)[:, 1], atol=1e-12
    )
    function = wrap(lambda Z: np.clip(Z[:, 1], 0, 1), encoded)  # a span leaves some rows outside 0 to 1
    np.testing.assert_array_equal(function.probability(Z), np.clip(Z[:, 1], 0, 1))


def test_functions(table):
    X, _, space = table
    Z = space.encode(X)

    def share(frame):
        return (frame["age"] / 100).to_numpy()

    np.testing.assert_allclose(wrap(share, space).probability(Z), X["age"] / 100)
    np.testing.assert_allclose(wrap(share, space, target=0).probability(Z), 1 - X["age"] / 100)
    both = wrap(lambda f: np.column_stack([1 - f["age"] / 100, f["age"] / 100]), space)
    np.testing.assert_allclose(both.probability(Z), X["age"] / 100)
    sure = wrap(on_vectors(lambda Z: np.ones(len(Z))), space)
    assert np.isfinite(sure.logit(Z)).all()
    assert (sure.logit(Z) > 36).all()


def test_missing_values_reach_a_model_that_takes_them(table):
    X, y, _ = table
    X = X[["age", "income"]].copy()
    X.loc[::3, "income"] = np.nan
    space = reap.ActionSpace.from_frame(X, missing=["income"])
    boosting = HistGradientBoostingClassifier(max_iter=5).fit(X, y)
    np.testing.assert_array_equal(
        wrap(boosting, space).probability(space.encode(X)), boosting.predict_proba(X)[:, 1]
    )
    full = X.fillna(X.mean())
    logistic = make_pipeline(space.encoder(), LogisticRegression()).fit(full, y)
    with pytest.raises(reap.InputError, match="missing values"):
        wrap(logistic, space).probability(space.encode(X))


def test_one_row_counts_as_a_batch_of_one_and_files_hold_the_same(table):
    X, y, space = table
    classifier = wrap(make_pipeline(space.encoder(), LogisticRegression()).fit(X, y), space)
    z = space.vector(X.iloc[0])
    again = pickle.loads(pickle.dumps(classifier))
    np.testing.assert_array_equal(again.gradient(z), classifier.gradient(z))
    np.testing.assert_array_equal(wrap(classifier, space).probability(z), classifier.probability(z))
    assert classifier.probability(z).shape == (1,)
    assert classifier.gradient(z).shape == (1, space.dimension)
    with pytest.raises(reap.InputError, match="6 encoded columns"):
        classifier.probability(z[:3])


class Strange:
    """Not a classifier."""


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda X, y: LogisticRegression(), "not fitted"),
        (lambda X, y: make_pipeline(columns(["age"], ["housing"]), LogisticRegression()), "not fitted"),
        (lambda X, y: LogisticRegression, "fitted object"),
        (lambda X, y: SVC().fit(X[["age"]], y), "CalibratedClassifierCV"),
        (lambda X, y: LogisticRegression().fit(X[["age"]].rename(columns={"age": "Alter"}), y), "'Alter'"),
        (lambda X, y: LogisticRegression().fit(np.ones((len(y), 2)), y), "2 columns"),
        (lambda X, y: LogisticRegression().fit(X[["age"]], np.where(y, "good", "bad")), "'bad', 'good'"),
        (
            lambda X, y: HistGradientBoostingClassifier(max_iter=1).fit(X[["age"]], np.ones(len(y))),
            "one class",
        ),
        (lambda X, y: Strange(), "Strange"),
        (lambda X, y: lambda X: np.zeros((len(X), 2, 2)), "shape"),
        (lambda X, y: lambda X: np.zeros(3), "shape"),
        (lambda X, y: lambda X: np.full(len(X), 1.5), "between 0 and 1"),
        (lambda X, y: lambda X: np.full(len(X), np.nan), "NaN"),
    ],
)
def test_bad_models_get_one_clear_sentence(make, said, table):
    X, y, space = table
    with pytest.raises(reap.InputError, match=said):
        wrap(make(X, y), space).probability(space.encode(X))


def test_bad_settings(table):
    X, y, space = table
    model = LogisticRegression().fit(X[["age"]], y)
    with pytest.raises(reap.InputError, match=r"threshold is 1\.5"):
        wrap(model, space, threshold=1.5)
    with pytest.raises(reap.InputError, match="no class 7"):
        wrap(lambda X: np.ones(len(X)), space, target=7).probability(space.encode(X))
    with pytest.raises(reap.InputError, match="function or a fitted classifier"):
        on_vectors(3)


def test_wrapping_does_not_import_torch():
    import subprocess

    code = "import reap, sys; reap.models.wrap; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0

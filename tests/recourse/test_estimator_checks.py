"""scikit-learn's own checks of an estimator, and those that need rows, on frames.

scikit-learn's checks feed arrays of random numbers. An engine takes frames with the columns of its space and refuses
arrays with a sentence. So the checks that need rows are held here with the same meaning, on frames.
"""

from __future__ import annotations

import pickle

import joblib
import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.utils.validation import check_is_fitted

import reap

data = reap.datasets.load("german")
X, y = data.X.head(120), data.y.head(120)
model = make_pipeline(data.space.encoder(), LogisticRegression(max_iter=1000)).fit(X, y)
rejected = X[model.predict(X) == 0]
ENGINES = [
    reap.Recourse(model, data.space),
    reap.PoolRecourse(X, model, data.space),
    reap.GraphRecourse(model, data.space),
]

if tuple(map(int, sklearn.__version__.split(".")[:2])) >= (1, 6):
    from sklearn.utils.estimator_checks import parametrize_with_checks

    #: Each feeds arrays of random numbers, which an engine refuses; why that is right, or the test below that holds the same
    #: on frames.
    WHY = {
        "check_array_api_input": "rows have names and units, which no array of another library has",
        "check_complex_data": "arrays are refused before anybody looks for complex numbers in them",
        "check_dict_unchanged": "on frames: test_asking_changes_no_attribute_s_name",
        "check_dont_overwrite_parameters": "on frames: test_fit_changes_no_parameter",
        "check_dtype_object": "objects are levels here: a frame of them is read by the space",
        "check_estimator_sparse_array": "a space has no sparse columns; the array is refused",
        "check_estimator_sparse_matrix": "a space has no sparse columns; the matrix is refused",
        "check_estimators_dtypes": "dtypes are those of the space: checks.cases.awkward_dtypes",
        "check_estimators_empty_data_messages": "no rows at all are refused by the space, in its own sentence",
        "check_estimators_fit_returns_self": "on frames: test_fit_takes_y_and_returns_self",
        "check_estimators_overwrite_params": "on frames: test_fit_changes_no_parameter",
        "check_estimators_pickle": "on frames: test_pickles_of_both_kinds",
        "check_f_contiguous_array_estimator": "how an array lies in memory is of no matter to a frame",
        "check_fit2d_1feature": "an array is refused before its columns are counted",
        "check_fit2d_1sample": "an array is refused before its rows are counted",
        "check_fit2d_predict1d": "a person is a Series with names, never a bare row of numbers",
        "check_fit_check_is_fitted": "on frames: test_unfitted",
        "check_fit_idempotent": "on frames: test_fitting_twice_is_fitting_once",
        "check_fit_score_takes_y": "on frames: test_fit_takes_y_and_returns_self",
        "check_methods_sample_order_invariance": "on frames: test_rows_are_planned_for_one_by_one",
        "check_methods_subset_invariance": "on frames: test_rows_are_planned_for_one_by_one",
        "check_n_features_in": "on frames: test_it_knows_its_columns",
        "check_n_features_in_after_fitting": "on frames: test_it_knows_its_columns",
        "check_pipeline_consistency": "on frames: test_rows_are_planned_for_one_by_one",
        "check_positive_only_tag_during_fit": "negative numbers are the space's to allow",
        "check_readonly_memmap_input": "on frames: test_read_only_rows",
    }

    @parametrize_with_checks(ENGINES, expected_failed_checks=lambda engine: WHY)
    def test_scikit_learns_own_checks(estimator, check):
        assert check(estimator) is None  # or it raises


each = pytest.mark.parametrize("engine", ENGINES, ids=lambda engine: type(engine).__name__)


@each
def test_fit_takes_y_and_returns_self(engine):
    made = clone(engine)
    assert made.fit(X, y) is made


@each
def test_fit_changes_no_parameter(engine):
    made = clone(engine)
    before = {name: joblib.hash(value) for name, value in made.get_params(deep=False).items()}
    made.fit(X)
    assert {name: joblib.hash(value) for name, value in made.get_params(deep=False).items()} == before


@each
def test_asking_changes_no_attribute_s_name(engine):
    made = clone(engine).fit(X)
    before = set(vars(made))
    made.recommend(rejected.head(1))
    assert set(vars(made)) == before


@each
def test_fitting_twice_is_fitting_once(engine):
    once = clone(engine).fit(X)
    first = once.recommend(rejected.head(1))
    pd.testing.assert_frame_equal(once.fit(X).recommend(rejected.head(1)), first)


@each
def test_pickles_of_both_kinds(engine):
    alike = np.eye(data.space.dimension)
    assert (
        clone(pickle.loads(pickle.dumps(engine))).get_params(deep=False).keys()
        == engine.get_params(deep=False).keys()
    )
    fitted = clone(engine).fit(X)
    again = pickle.loads(pickle.dumps(fitted))
    x = rejected.iloc[0]
    assert again.plans(x, alike)[0].target.equals(fitted.plans(x, alike)[0].target)


@each
def test_unfitted(engine):
    made = clone(engine)
    with pytest.raises(NotFittedError):
        check_is_fitted(made)
    check_is_fitted(made.fit(X))
    assert not hasattr(clone(engine), "feature_names_in_")


@each
def test_it_knows_its_columns(engine):
    fitted = clone(engine).fit(X)
    assert list(fitted.feature_names_in_) == [feature.name for feature in data.space.features]
    assert fitted.n_features_in_ == X.shape[1]


@each
def test_read_only_rows(engine):
    values = {column: X[column].to_numpy(copy=True) for column in X}
    for held in values.values():
        held.flags.writeable = False
    frozen = pd.DataFrame(values, index=X.index, copy=False)
    assert not frozen["amount"].to_numpy().flags.writeable
    made = clone(engine).fit(frozen)
    A = np.eye(data.space.dimension)
    np.testing.assert_array_equal(
        made.plans(frozen.iloc[0], A)[0].path, clone(engine).fit(X).plans(X.iloc[0], A)[0].path
    )


@each
def test_an_array_is_refused_with_a_sentence(engine):
    with pytest.raises(reap.InputError, match="DataFrame"):
        clone(engine).fit(X.to_numpy())


@each
def test_rows_are_planned_for_one_by_one(engine):
    """Neither the order of the rows nor who else is in the table matters."""
    fitted = clone(engine).fit(X)
    together = fitted.recommend(rejected.head(2))
    pd.testing.assert_frame_equal(fitted.recommend(rejected.head(2).iloc[::-1]).iloc[::-1], together)
    pd.testing.assert_frame_equal(fitted.recommend(rejected.iloc[[1]]), together.iloc[[1]])

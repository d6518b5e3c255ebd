"""Rows ⇄ vectors, exactly, for every kind and dtype."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

from reap._errors import InputError
from reap.space import ActionSpace, Feature
from tests.space.generators import random_space, seeds

TEXTS = st.sampled_from(["a", "b", "ü", "", "x y", "True", "1"])
COLUMNS = {
    "int64": (st.integers(-(10**9), 10**9), "int64"),
    "int8": (st.integers(-128, 127), "int8"),
    "Int64": (st.integers(-(10**9), 10**9), "Int64"),
    "whole": (st.integers(-(10**6), 10**6).map(float), "float64"),
    "short": (st.integers(-(10**7), 10**7).map(lambda i: i / 1000), "float64"),
    "float32": (st.integers(-(10**4), 10**4).map(lambda i: np.float32(i / 30)), "float32"),
    "Float64": (st.integers(-1000, 1000).map(lambda i: i / 10), "Float64"),
    "bool": (st.booleans(), "bool"),
    "boolean": (st.booleans(), "boolean"),
    "object": (TEXTS, "object"),
    "str": (TEXTS, "str"),
    "string": (TEXTS, "string"),
    "category": (TEXTS, "category"),
    "numbers as categories": (st.integers(0, 4), "category"),
    "ordered": (st.sampled_from("abc"), pd.CategoricalDtype(["c", "a", "b"], ordered=True)),
}


@st.composite
def frames(draw):
    names = draw(st.lists(st.sampled_from(sorted(COLUMNS)), min_size=1, max_size=6, unique=True))
    rows = draw(st.integers(1, 8))
    data = {}
    for name in names:
        values, dtype = COLUMNS[name]
        data[name] = pd.Series(draw(st.lists(values, min_size=rows, max_size=rows)), dtype="object").astype(
            dtype
        )
    return pd.DataFrame(data)


@settings(max_examples=150, deadline=None)
@given(frames(), st.data())
def test_decode_undoes_encode_with_dtypes(X, data):
    space = ActionSpace.from_frame(X)
    pd.testing.assert_frame_equal(space.decode(space.encode(X)), X, check_exact=True)
    part = X.iloc[: data.draw(st.integers(1, len(X)))]
    pd.testing.assert_frame_equal(
        space.decode(space.encode(part), like=X, index=part.index), part, check_exact=True
    )


@settings(max_examples=100, deadline=None)
@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=20))
def test_any_float_comes_back_to_the_last_digits_of_the_range(values):
    X = pd.DataFrame({"x": values})
    back = ActionSpace.from_frame(X).decode(ActionSpace.from_frame(X).encode(X))
    np.testing.assert_allclose(back["x"], X["x"], rtol=0, atol=1e-290 + 2e-15 * np.abs(values).max())


@settings(max_examples=100, deadline=None)
@given(seeds())
def test_declared_spaces_restore_rows_even_with_gaps(rng):
    space, X = random_space(rng)
    pd.testing.assert_frame_equal(space.decode(space.encode(X), like=X), X, check_exact=True)
    Z = space.encode(X)
    np.testing.assert_array_equal(space.encode(space.decode(Z)), Z)


@pytest.mark.parametrize("dtype", ["Int64", "boolean", "string", "category", "str", "object", "float64"])
def test_missing_values_come_back_as_their_dtype_has_them(dtype):
    values = {"boolean": [True, False, None], "Int64": [1, 2, None], "float64": [1, 2, None]}.get(
        dtype, ["a", "b", None]
    )
    X = pd.DataFrame({"x": pd.Series(values, dtype="object").astype(dtype), "y": [1, 2, 3]})
    space = ActionSpace.from_frame(X, missing=["x"])
    pd.testing.assert_frame_equal(space.decode(space.encode(X)), X)


@pytest.mark.parametrize(("values", "expected"), [([1, 2, 5], "float64"), ([True, False, True], "object")])
def test_a_gap_that_the_dtype_cannot_hold_stays_a_gap(values, expected):
    space = ActionSpace.from_frame(pd.DataFrame({"x": values}), missing=["x"])
    back = space.decode(space.encode(pd.DataFrame({"x": [values[0], None]}, dtype=object)))
    assert back["x"].isna().tolist() == [False, True]
    assert back["x"].dtype == expected
    assert back["x"][0] == values[0]


def test_vectors_are_a_function_of_the_space_alone():
    space = ActionSpace(
        [Feature("age", "integer", range=(20, 70)), Feature("job", "categorical", levels=("b", "a"))]
    )
    np.testing.assert_array_equal(space.encode(pd.DataFrame({"age": [45], "job": ["a"]})), [[0.5, 0, 1]])
    np.testing.assert_array_equal(space.encode(pd.DataFrame({"job": ["b"], "age": [120]})), [[2.0, 1, 0]])
    assert space.slices == {"age": slice(0, 1), "job": slice(1, 3)}
    np.testing.assert_allclose(space.encoding.steps, [0.02, 0, 0])


def test_many_rows_and_few_find_the_same_levels():
    levels = ["a", "b", "c"]
    X = pd.DataFrame({"x": np.random.default_rng(0).choice(levels, 500)})
    space = ActionSpace.from_frame(X)
    np.testing.assert_array_equal(space.encode(X)[:7], space.encode(X.iloc[:7]))
    as_category = X.astype(pd.CategoricalDtype(["c", "zebra", "a", "b"]))
    np.testing.assert_array_equal(space.encode(as_category), space.encode(X))
    with pytest.raises(InputError, match="there is no level of 'x' 'zebra'"):
        space.encode(as_category.assign(x=pd.Categorical(["zebra"] * 500, ["c", "zebra", "a", "b"])))


def test_a_range_of_one_value_is_no_division_by_zero():
    space = ActionSpace.from_frame(pd.DataFrame({"x": [5, 5], "y": [0.5, 0.5]}))
    np.testing.assert_array_equal(
        space.encode(pd.DataFrame({"x": [5, 7], "y": [0.5, 1.5]})), [[0, 0], [2, 1]]
    )


def test_changed_knows_features_not_columns():
    space = ActionSpace(
        [Feature("n", range=(0, 1), missing=True), Feature("job", "categorical", levels=("a", "b"))]
    )
    Z = np.array([[0.5, 1, 0], [0.5, 0, 1], [np.nan, 1, 0]])
    np.testing.assert_array_equal(
        space.encoding.changed(Z[0], Z), [[False, False], [False, True], [True, False]]
    )
    np.testing.assert_array_equal(space.encoding.changed(Z[2], Z[2]), [[False, False]])


# tables that are encoded already ----------------------------------------------------------------------


@pytest.fixture
def coded():
    rng = np.random.default_rng(1)
    Z = np.column_stack([rng.normal(size=30), np.eye(3)[rng.integers(0, 3, 30)], rng.integers(0, 2, 30)])
    return pd.DataFrame(Z, columns=["wealth", "job_a", "job_b", "job_c", "owner"])


@pytest.fixture
def coded_space(coded):
    return ActionSpace.from_frame(coded, groups={"job": ["job_a", "job_b", "job_c"]})


def test_an_encoded_table_keeps_its_numbers(coded, coded_space):
    np.testing.assert_array_equal(coded_space.encode(coded), coded.to_numpy())
    np.testing.assert_array_equal(coded_space.encode(coded.to_numpy()), coded.to_numpy())
    pd.testing.assert_frame_equal(coded_space.decode(coded.to_numpy()), coded)
    assert coded_space.columns == tuple(coded.columns)
    assert [f.kind for f in coded_space.features] == ["numeric", "categorical", "binary"]


def test_an_array_is_a_subject_of_an_encoded_space(coded, coded_space):
    z = coded.to_numpy()[3]
    np.testing.assert_array_equal(coded_space.vector(z), z)
    np.testing.assert_array_equal(coded_space.vector(coded.iloc[3]), z)
    far = z.copy()
    far[0] = 99.0  # outside the range seen, without declared bounds
    np.testing.assert_array_equal(coded_space.vector(far), far)


def test_plans_in_an_encoded_space_stay_within_what_was_seen(coded, coded_space):
    z = coded.to_numpy()[3]
    lower, upper = coded_space.legal.box(z)
    assert (lower[0], upper[0]) == (coded["wealth"].min(), coded["wealth"].max())
    projected = coded_space.project(z + np.array([50, 0.2, 0.9, 0, 0.1]), z)
    np.testing.assert_array_equal(
        projected, [[coded["wealth"].max(), *np.eye(3)[1 if z[1] < 1 else 0 if z[1] > 0.8 else 1], z[4]]]
    )


def test_whole_numbers_in_an_encoded_table_may_become_fractions():
    X = pd.DataFrame({"x": [0, 3, 7]})
    space = ActionSpace.from_frame(X, groups={})
    assert space.decode(np.array([[3.0]]))["x"].dtype == "int64"
    assert space.decode(np.array([[2.5]]))["x"].tolist() == [2.5]


def test_a_bare_array_gets_column_names():
    space = ActionSpace.from_frame(np.array([[0.1, 1, 0], [0.4, 0, 1]]), groups={"job": ["x1", "x2"]})
    assert space.names == ("x0", "job")


def test_missing_in_a_group_is_all_zero(coded):
    space = ActionSpace.from_frame(coded, groups={"job": ["job_a", "job_b", "job_c"]}, missing=["job"])
    z = coded.to_numpy()[0].copy()
    z[1:4] = 0
    assert space.values(space.vector(z))["job"] is None
    np.testing.assert_array_equal(space.project(z + 0.4, z)[0, 1:4], [0, 0, 0])
    pd.testing.assert_frame_equal(space.decode(z), pd.DataFrame([z], columns=coded.columns))


# for scikit-learn ---------------------------------------------------------------------------------------


@pytest.fixture
def people():
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "age": rng.integers(18, 80, 60),
            "share": np.round(rng.random(60), 2),
            "grade": pd.Categorical(
                rng.choice(["low", "mid", "high"], 60), ["low", "mid", "high"], ordered=True
            ),
            "job": rng.choice(["cook", "smith", "clerk"], 60),
            "owner": rng.random(60) < 0.5,
        },
        index=[f"p{i}" for i in range(60)],
    )


@pytest.fixture
def whole(people):
    return ActionSpace.from_frame(people)


def test_columns_are_scaled_and_one_hot(people, whole):
    Z = whole.encoder().fit_transform(people)
    assert whole.columns == ("age", "share", "grade", "job=clerk", "job=cook", "job=smith", "owner")
    np.testing.assert_allclose(Z[:, 0], (people["age"] - people["age"].min()) / np.ptp(people["age"]))
    np.testing.assert_array_equal(Z[:, 2], people["grade"].cat.codes / 2)
    np.testing.assert_array_equal(
        Z[:, 3:6].argmax(axis=1), people["job"].map({"clerk": 0, "cook": 1, "smith": 2})
    )
    np.testing.assert_array_equal(Z[:, 6], people["owner"])


def test_works_in_a_pipeline_and_in_cross_validation(people, whole):
    y = (people["age"] > 45).astype(int)
    model = make_pipeline(whole.encoder(), LogisticRegression(C=1e3)).fit(people, y)
    assert model.score(people, y) > 0.9
    assert len(cross_val_score(model, people, y, cv=3)) == 3


def test_names_and_index_come_out(people, whole):
    out = whole.encoder().set_output(transform="pandas").fit_transform(people)
    assert list(out.columns) == list(whole.encoder().get_feature_names_out()) == list(whole.columns)
    assert list(out.index) == list(people.index)
    np.testing.assert_array_equal(out.to_numpy(), whole.encode(people))
    encoder = whole.encoder().fit(people)
    assert (list(encoder.feature_names_in_), encoder.n_features_in_) == (list(people.columns), 5)


def test_clone_keeps_the_space_and_pickle_the_vectors(people, whole):
    encoder = whole.encoder().fit(people)
    assert clone(encoder).space is whole
    again = pickle.loads(pickle.dumps(encoder))
    assert again.space == whole
    np.testing.assert_array_equal(again.transform(people), encoder.transform(people))


def test_a_training_split_changes_nothing(people, whole):
    part = people[(people["job"] != "cook") & (people["age"] < 50)]
    np.testing.assert_array_equal(whole.encoder().fit(part).transform(people), whole.encode(people))
    np.testing.assert_array_equal(whole.encoder().transform(people), whole.encode(people))  # nothing to fit


def test_inverse_restores_everything_but_the_index(people, whole):
    encoder = whole.encoder().fit(people)
    back = encoder.inverse_transform(encoder.transform(people))
    pd.testing.assert_frame_equal(back, people.reset_index(drop=True))
    pd.testing.assert_frame_equal(whole.decode(whole.encode(people), index=people.index), people)

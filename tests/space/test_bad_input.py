"""Every bad input gets one clear sentence, and changes nothing."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from reap._errors import InputError
from reap.space import ActionSpace, Feature

ROW = {"income": 20, "share": 0.5, "job": "cook", "owner": True}


@pytest.fixture
def space():
    return ActionSpace(
        [
            Feature("income", "integer", range=(0, 100), bounds=(0, 90), unit="EUR"),
            Feature("share", range=(0, 1)),
            Feature("job", "categorical", levels=("cook", "smith")),
            Feature("owner", "binary", levels=(False, True)),
        ]
    )


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (
            {"income": None},
            "'income' is missing in row 0; fill it in, or declare the feature with missing=True",
        ),
        ({"share": np.inf}, "'share' is infinite in a row; give a finite number"),
        ({"income": 2.5}, "'income' is 2.5; it must be a whole number"),
        ({"income": 95}, "'income' is 95; the action space allows 0 to 90 EUR"),
        ({"income": "20"}, "'income' is '20' in the table, a str; it must be a number"),
        ({"job": "cok"}, "there is no level of 'job' 'cok'; did you mean 'cook'? There are: cook, smith"),
        ({"job": ["cook"]}, "'job' holds something that cannot be a level; allowed are: cook, smith"),
        (
            {"extra": 1},
            "the table has a column 'extra' that the action space does not know; drop it or declare it",
        ),
    ],
)
def test_a_bad_value(space, change, sentence):
    with pytest.raises(InputError) as caught:
        space.vector(ROW | change)
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("X", "sentence"),
    [
        (
            pd.DataFrame([ROW]).drop(columns="job"),
            "the table lacks the column 'job'; needed are: income, share, job, owner",
        ),
        (
            pd.DataFrame([ROW]).rename(columns={"income": "incme"}),
            "the table lacks the column 'income'; there is 'incme': rename it if it is that; needed are",
        ),
        (
            pd.DataFrame([[20, 0.5, "cook", True, 1]], columns=[*ROW, "job"]),
            "the table has the column 'job' more than once",
        ),
        (pd.DataFrame([ROW]).iloc[:0], "the table has no rows; give at least one"),
        ([1, 2], "a pandas DataFrame is needed, not list"),
        (np.zeros((1, 5)), "a pandas DataFrame is needed, not ndarray"),
    ],
)
def test_a_bad_table(space, X, sentence):
    with pytest.raises(InputError) as caught:
        space.encode(X)
    assert sentence in str(caught.value)


@pytest.mark.parametrize(
    ("x", "sentence"),
    [
        (
            pd.DataFrame([ROW, ROW]),
            "one subject is needed, but the table has 2 rows; pick one, for example X.iloc[0]",
        ),
        ([20, 0.5], "give the subject as a pandas Series or a one-row DataFrame, not list"),
        (
            np.zeros(5),
            "give the subject as a pandas Series or a one-row DataFrame; arrays need a space made with groups=",
        ),
        (
            pd.Series([20, 0.5, "cook", True, 1], index=[*ROW, "job"]),
            "the subject has the feature 'job' more than once",
        ),
    ],
)
def test_a_bad_subject(space, x, sentence):
    with pytest.raises(InputError) as caught:
        space.vector(x)
    assert sentence in str(caught.value)


def test_every_good_way_to_give_a_subject(space):
    z = space.vector(ROW)
    np.testing.assert_array_equal(z, [0.2, 0.5, 1, 0, 1])
    frame = pd.DataFrame([ROW], index=["me"])
    for x in (
        pd.Series(ROW),
        pd.Series(ROW, name="me"),
        frame,
        frame.iloc[0],
        frame[["owner", "job", "share", "income"]],
    ):
        np.testing.assert_array_equal(space.vector(x), z)
    # out of the range that was seen, but within no declared bounds: fine
    assert space.vector(ROW | {"share": 1.5})[1] == 1.5
    # rows of a table may lie outside the bounds, which limit actions
    assert space.encode(pd.DataFrame([ROW | {"income": 95}]))[0, 0] == 0.95


@pytest.mark.parametrize("call", ["decode", "values", "project", "relax", "allows"])
def test_vectors_of_another_length(space, call):
    z0, wrong = space.vector(ROW), np.zeros(3)
    calls = {
        "decode": lambda: space.decode(wrong),
        "values": lambda: space.values(wrong),
        "project": lambda: space.project(wrong, z0),
        "relax": lambda: space.legal.relax(z0, wrong),
        "allows": lambda: space.allows(z0, wrong),
    }
    with pytest.raises(InputError, match=r"the vectors have shape \(1, 3\); the space has 5 encoded columns"):
        calls[call]()


def test_a_bad_space():
    x = Feature("x", range=(0, 1))
    with pytest.raises(InputError, match="an action space needs at least one feature"):
        ActionSpace([])
    with pytest.raises(InputError, match="the feature 'x' is declared twice"):
        ActionSpace([x, x])
    with pytest.raises(InputError, match="there is no feature 'xx'; did you mean 'x'"):
        ActionSpace([Feature("x1", range=(0, 1)), x]).feature("xx")
    with pytest.raises(InputError, match="'x' is a number and has no levels; ask for its box"):
        ActionSpace([x]).legal.reachable("x", np.zeros(1))


@pytest.mark.parametrize(
    ("X", "settings", "sentence"),
    [
        (pd.DataFrame({0: [1, 2]}), {}, "the column name 0 is not text; rename it"),
        (pd.DataFrame({"tags": [["a"], ["b"]]}), {}, "'tags' holds ['a'], a list; drop it"),
        (pd.DataFrame({"x": [1, 2]}), {"immutable": "age"}, "there is no feature 'age'"),
        (pd.DataFrame({"x": [1, 2]}), {"immutable": 3}, "3 is no list of features"),
        (pd.DataFrame({"x": [1, 2]}), {"rules": [3]}, "the rules are [3]; give a list of sentences"),
        (
            pd.DataFrame({"x": [1, 2]}),
            {"features": {"x": {"units": "m"}}},
            "there is no setting of 'x' 'units'; did you mean 'unit'?",
        ),
        (
            pd.DataFrame({"x": [1, 2]}),
            {"features": {"x": {"derived": 3}}},
            "derived of 'x' is 3; write a formula",
        ),
        (pd.DataFrame({"x": [pd.Timestamp("2020-01-01")]}), {}, "turn it into a number that people know"),
        (pd.DataFrame({"x": [None, None]}), {"missing": ["x"]}, "'x' has no value in any row"),
        (pd.DataFrame(), {}, "the table is empty"),
        ({"x": [1]}, {}, "a pandas DataFrame is needed, not dict"),
    ],
)
def test_a_bad_frame_or_setting(X, settings, sentence):
    with pytest.raises(InputError) as caught:
        ActionSpace.from_frame(X, **settings)
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"horizon": 0}, "horizon is 0; give a whole number of at least 1"),
        ({"max_changes": 0}, "max_changes is 0; give a whole number of at least 1"),
        ({"title": 3}, "the title is 3"),
    ],
)
def test_a_bad_setting_of_the_space(settings, sentence):
    with pytest.raises(InputError) as caught:
        ActionSpace([Feature("x", range=(0, 1))], **settings)
    assert sentence in str(caught.value)


def test_one_name_may_stand_without_a_list():
    X = pd.DataFrame({"age": [20, 30], "x": [1, 2]})
    assert not ActionSpace.from_frame(X, immutable="age").feature("age").actionable
    assert ActionSpace.from_frame(X, increasing="x").feature("x").direction == "up"


def test_frames_of_other_libraries_are_converted():
    arrow = pytest.importorskip("pyarrow")
    X = pd.DataFrame({"age": [20, 30, 40], "job": ["a", "b", "c"]})
    table = arrow.Table.from_pandas(X)
    space = ActionSpace.from_frame(table)
    np.testing.assert_array_equal(space.encode(table), space.encode(X))
    np.testing.assert_array_equal(space.vector(table.slice(1, 1)), space.vector(X.iloc[1]))
    assert space.allows(table, table).all()

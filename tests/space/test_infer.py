"""What ``from_frame`` makes of columns, and what it refuses."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from reap.space import ActionSpace


@pytest.mark.parametrize(
    ("column", "kind", "levels", "dtype"),
    [
        ([1, 5, 9], "integer", (), "int64"),
        ([1.0, 5.0, 9.0], "integer", (), "float64"),
        ([0.5, 1.5, 2.0], "numeric", (), "float64"),
        ([0, 1, 1], "binary", (0, 1), "int64"),
        ([0.0, 1.0, 1.0], "binary", (0.0, 1.0), "float64"),
        ([0, 0, 0], "integer", (), "int64"),
        ([True, False, True], "binary", (False, True), "bool"),
        (pd.array([1, 5, 9], dtype="Int64"), "integer", (), "Int64"),
        (pd.array([0, 1, 1], dtype="Int8"), "binary", (0, 1), "Int8"),
        (pd.array([True, False, True], dtype="boolean"), "binary", (False, True), "boolean"),
        (pd.array(["b", "a", "c"], dtype="string"), "categorical", ("a", "b", "c"), "string"),
        (["b", "a", "b"], "binary", ("a", "b"), str(pd.Series(["a"]).dtype)),
        (pd.array(["b", 1, "a"], dtype=object), "categorical", (1, "a", "b"), "object"),
        (pd.Categorical(["b", "a", "b"], ["b", "a", "z"]), "categorical", ("b", "a", "z"), "category"),
        (pd.Categorical(["b", "a", "b"], ["b", "a"]), "binary", ("b", "a"), "category"),
        (pd.Categorical([3, 1, 2], [3, 2, 1], ordered=True), "ordinal", (3, 2, 1), "category[ordered]"),
    ],
)
def test_kinds_levels_and_dtypes(column, kind, levels, dtype):
    feature = ActionSpace.from_frame(pd.DataFrame({"x": column})).feature("x")
    assert (feature.kind, feature.levels, feature.dtype) == (kind, levels, dtype)
    assert [type(v) for v in feature.levels] == [type(v) for v in levels]


STEPS = [
    ([1, 2, 3], 1),
    ([0.5, 1.5], 0.1),
    ([0.25, 0.5], 0.01),
    ([0.0001, 0.5], 0.0001),
    ([1 / 3, 2 / 3 * 1000], 1.0),
]


@pytest.mark.parametrize(("values", "step"), STEPS)
def test_the_step_is_one_that_people_would_use(values, step):
    assert ActionSpace.from_frame(pd.DataFrame({"x": values})).feature("x").step == pytest.approx(step)


def test_what_is_said_goes_before_what_is_inferred():
    codes, flags = [1, 2, 3], [0, 1, 0]
    X = pd.DataFrame(
        {"n": codes, "code": codes, "school": ["b", "a", "c"], "flag": flags, "sex": ["f", "m", "f"]}
    )
    n, code, school, flag, sex = ActionSpace.from_frame(
        X,
        immutable=["sex"],
        increasing=["school"],
        decreasing=["n"],
        bounds={"n": (0, 9)},
        ordinal={"school": ["c", "b", "a"]},
        missing=["n"],
        features={
            "n": {"step": 3, "label": "Number", "unit": "EUR"},
            "code": {"kind": "categorical", "forbidden": [(1, 2)]},
        },
    ).features
    assert (n.direction, n.bounds, n.step, n.missing) == ("down", (0, 9), 3, True)
    assert (n.label, n.unit, n.range) == ("Number", "EUR", (1, 3))
    assert (code.kind, code.levels, code.forbidden) == ("categorical", (1, 2, 3), ((1, 2),))
    assert (school.kind, school.levels, school.direction) == ("ordinal", ("c", "b", "a"), "up")
    assert (flag.kind, sex.actionable) == ("binary", False)


def test_bounds_make_a_number_of_zeros_and_ones():
    X = pd.DataFrame({"loans": [0, 1, 0]})
    assert ActionSpace.from_frame(X, bounds={"loans": (0, 5)}).feature("loans").kind == "integer"


def test_an_unordered_category_may_be_given_an_order():
    X = pd.DataFrame({"x": pd.Categorical(["a", "b", "c"])})
    space = ActionSpace.from_frame(X, ordinal={"x": ["c", "b", "a"]})
    np.testing.assert_array_equal(space.encode(X)[:, 0], [1, 0.5, 0])
    back = space.decode(space.encode(X))
    pd.testing.assert_series_equal(back["x"], X["x"], check_category_order=False)
    assert not back["x"].cat.ordered


def test_the_table_is_left_alone():
    X = pd.DataFrame({"x": [1, 2], "y": ["a", "b"]})
    before = X.copy(deep=True)
    space = ActionSpace.from_frame(X)
    space.encode(X)
    space.vector(X.iloc[0])
    pd.testing.assert_frame_equal(X, before)

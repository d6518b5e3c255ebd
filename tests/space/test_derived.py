from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from reap._errors import InputError
from reap.space import ActionSpace, Feature

BASE = [
    Feature("debt", "integer", range=(0, 100), missing=True),
    Feature("income", "integer", range=(0, 100)),
    Feature("kids", "ordinal", levels=(0, 1, 2, 5)),
]
START = {"debt": 50, "income": 20, "kids": 5, "ratio": 2.5}


def space_with(derived, **facts):
    return ActionSpace([*BASE, Feature("ratio", **({"range": (0, 10), "derived": derived} | facts))])


def moved(space, **change):
    """The derived value after a change, with the row projected from a vector that knows nothing of it."""
    z0 = space.vector(START)
    wanted = space.vector(START | change)
    row = space.project(wanted, z0)
    assert space.allows(z0, row).all()
    return space.values(row[0])


@pytest.mark.parametrize(
    ("formula", "change", "expected"),
    [
        ("debt / income", {"income": 25}, 2.0),
        ("debt / max(income, 1, kids)", {"kids": 2}, 2.5),
        ("kids + debt / 100", {"kids": 1}, 1.5),
        ("sqrt(abs(debt)) - round(income / 100)", {"debt": 16}, 4.0),
    ],
)
def test_a_derived_feature_follows(formula, change, expected):
    assert moved(space_with(formula), **change)["ratio"] == pytest.approx(expected)


def test_where_nothing_it_follows_from_changed_it_keeps_its_own_value():
    space = space_with("debt / income")
    odd = START | {"ratio": 2.4}  # rounded in the table
    z0 = space.vector(odd)
    assert space.allows(z0, space.vector(odd | {"kids": 1}))[0]
    assert not space.allows(z0, space.vector(odd | {"ratio": 2.5}))[0]
    assert not space.allows(z0, space.vector(odd | {"income": 25}))[0]
    assert space.allows(z0, space.vector(odd | {"income": 25, "ratio": 2.0}))[0]
    np.testing.assert_array_equal(space.project(z0, z0)[0], z0)


def test_it_is_rounded_to_its_own_step():
    assert moved(space_with("debt / income", step=0.1), income=30)["ratio"] == 1.7


def test_one_may_follow_from_another_whatever_their_order():
    ratio = Feature("ratio", range=(0, 10), derived="debt / income")
    double = Feature("double", range=(0, 20), derived="2 * ratio")
    for features in ([*BASE, ratio, double], [double, *BASE, ratio]):
        space = ActionSpace(features)
        z0 = space.vector(START | {"double": 5.0})
        got = space.values(space.project(space.vector(START | {"income": 25, "double": 5.0}), z0)[0])
        assert (got["ratio"], got["double"]) == (2.0, 4.0)
    with pytest.raises(InputError, match=r"the formulas go round in a circle: .*leave one of them out"):
        ActionSpace([Feature("a", range=(0, 1), derived="b"), Feature("b", range=(0, 1), derived="a")])


def test_what_cannot_be_computed_is_not_legal_and_project_leaves_its_sources_alone():
    space = space_with("debt / income")
    z0 = space.vector(START)
    nowhere = space.vector(START | {"income": 0, "kids": 1})
    assert not space.allows(z0, nowhere)[0]
    got = space.project(np.vstack([nowhere, z0]), z0)
    assert space.allows(z0, got).all()
    assert space.values(got[0]) == START | {"kids": 1}


def test_a_missing_source():
    space = space_with("debt / income")
    unknown_debt = START | {"debt": None}
    z0 = space.vector(unknown_debt)
    assert space.allows(z0, z0)[0]
    got = space.values(space.project(space.vector(unknown_debt | {"income": 40, "kids": 1}), z0)[0])
    assert got == unknown_debt | {"kids": 1}  # without the debt nobody knows the ratio for another income
    may_miss = space_with("debt / income", missing=True)
    got = may_miss.values(may_miss.project(may_miss.vector(unknown_debt | {"income": 40}), z0)[0])
    assert got == unknown_debt | {"income": 40, "ratio": None}


def test_nobody_sets_it():
    space = space_with("debt / income")
    z0 = space.vector(START)
    lower, upper = space.legal.box(z0)
    assert lower[3] == upper[3] == z0[3]
    assert [str(c) for c in space.changes(z0, space.vector(START | {"income": 25, "ratio": 2.0}))] == [
        "Increase income from 20 to 25",
        "ratio falls from 2.5 to 2 as a result",
    ]


def test_from_frame_makes_a_number_of_it():
    X = pd.DataFrame({"a": [1, 2, 3], "b": [0, 1, 0]})
    space = ActionSpace.from_frame(X, features={"b": {"derived": "a - 1"}})
    assert space.feature("b").kind == "integer"
    assert not space.feature("b").actionable
    with pytest.raises(
        InputError,
        match="'b' has levels, not numbers; bounds, steps, spans, clocks and formulas do not apply",
    ):
        ActionSpace.from_frame(X.assign(b=["x", "y", "x"]), features={"b": {"derived": "a - 1"}})


@pytest.mark.parametrize(
    ("formula", "sentence"),
    [
        ("debt / incme", "there is no feature 'incme'; did you mean 'income'?"),
        ("debt /", "the formula 'debt /' cannot be read; write it like"),
        ("debt if income else 0", "may hold only numbers, features, + - * / **"),
        ("__import__('os')", "there is no function '__import__'"),
        ("debt.real", "may hold only numbers, features"),
        ("max(debt)", "max in the formula 'max(debt)' needs at least 2 values; given were 1"),
        ("abs(debt, income)", "abs in the formula 'abs(debt, income)' needs 1 value; given were 2"),
    ],
)
def test_bad_formulas(formula, sentence):
    with pytest.raises(InputError) as caught:
        moved(space_with(formula), income=25)
    assert sentence in str(caught.value)


def test_levels_that_are_no_numbers():
    job = Feature("job", "categorical", levels=("a", "b"))
    with pytest.raises(InputError, match="'r' cannot be computed from 'job', whose levels are not numbers"):
        ActionSpace([job, Feature("r", range=(0, 1), derived="2 * job")])


def test_follow_gives_what_project_gives_and_keeps_what_cannot_be_computed():
    space = ActionSpace(
        [
            Feature("a", range=(0, 4), step=1),
            Feature("b", range=(0, 4), step=1),
            Feature("q", range=(0, 4), derived="a / b"),
        ]
    )
    z0 = space.vector({"a": 2.0, "b": 2.0, "q": 1.0})
    rows = np.array([[0.5, 0.25, 0.0], [1.0, 0.5, 0.0], [0.5, 0.0, 0.9]])
    out = space.legal.follow(rows, z0)
    np.testing.assert_allclose(out[:, 2], [0.5, 0.5, 0.25])
    np.testing.assert_array_equal(out[:, :2], rows[:, :2])
    np.testing.assert_array_equal(space.allows(z0, out), [True, True, False])
    np.testing.assert_allclose(space.project(rows[:2], z0), out[:2])

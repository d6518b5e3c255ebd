from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from reap._errors import InputError
from reap.space import ActionSpace, Feature, Limits


@pytest.fixture
def space():
    return ActionSpace(
        [
            Feature("amount", "integer", range=(0, 9000), step=100, label="Loan amount", unit="DM"),
            Feature("months", "integer", range=(4, 72)),
            Feature("grade", "ordinal", levels=("low", "mid", "high")),
            Feature("job", "categorical", levels=("cook", "smith", "clerk")),
            Feature("rate", range=(0, 999), derived="amount / months"),
        ]
    )


@pytest.fixture
def z0(space):
    return space.vector({"amount": 5000, "months": 20, "grade": "mid", "job": "cook", "rate": 250.0})


def test_limits_hold_even_where_nothing_changes(space, z0):
    tight = space.tighten(space.limits(at_most={"amount": 4000}))
    assert space.allows(z0, z0)[0]
    assert not tight.allows(z0, z0)[0]
    assert tight.values(tight.project(z0, z0)[0])["amount"] == 4000
    assert tight.tighten(space.limits(fixed=["amount"])).legal.obstacle(z0) == (
        "no value of 'Loan amount' is left to choose: the limits exclude all; relax one"
    )


def test_each_kind_of_limit(space, z0):
    limits = space.limits(fixed="months", at_least={"grade": "high"}, exclude={"job": "cook"}, max_changes=2)
    tight = space.tighten(limits)
    assert tight.dimension == space.dimension
    assert tight.legal.reachable("job", z0) == ["smith", "clerk"]
    assert tight.legal.reachable("grade", z0) == ["high"]
    got = tight.values(tight.project(z0 + 0.2, z0)[0])
    assert (got["months"], got["grade"], got["amount"]) == (20, "high", 5000)
    assert limits.names == ("months", "grade", "job", "max_changes")


def test_no_limits_is_the_space_itself(space):
    assert space.tighten(None) is space
    assert space.tighten(Limits()) is space


def test_tightening_twice_never_loosens(space, z0):
    first = space.tighten(space.limits(at_most={"amount": 3000}, at_least={"grade": "mid"}))
    second = first.tighten(space.limits(at_most={"amount": 8000}, at_least={"grade": "low"}))
    assert second.values(second.project(z0, z0)[0])["amount"] == 3000
    assert second.legal.reachable("grade", z0) == ["mid", "high"]


def test_merge_lets_a_person_correct_what_they_said():
    said = Limits(at_most={"amount": 3000}, exclude={"job": ("cook",)}, max_changes=3)
    later = said.merge(Limits(at_most={"amount": 5000}, exclude={"job": ("smith",)}, max_changes=4))
    assert later == Limits(at_most={"amount": 5000}, exclude={"job": ("cook", "smith")}, max_changes=3)
    assert later.without("amount").without("max_changes") == Limits(exclude={"job": ("cook", "smith")})


def test_they_survive_json(space):
    limits = space.limits(
        fixed=["months"],
        at_most={"amount": np.int64(4000)},
        exclude={"job": ["cook"]},
        max_changes=np.int64(2),
    )
    assert Limits.from_dict(json.loads(json.dumps(limits.to_dict()))) == limits
    assert Limits.from_dict({}) == Limits()


def test_words(space):
    limits = space.limits(
        fixed=["months"], at_most={"amount": 4000}, exclude={"job": ["cook", "clerk"]}, max_changes=1
    )
    assert space.tighten(limits).describe().splitlines()[-4:] == [
        "  Limit: months stays as it is",
        "  Limit: Loan amount is at most 4,000 DM",
        "  Limit: job is not cook or clerk",
        "  Limit: at most 1 feature may change",
    ]


@pytest.mark.parametrize(
    ("limits", "sentence"),
    [
        ({"fixed": ["monts"]}, "there is no feature 'monts'; did you mean 'months'?"),
        ({"fixed": ["rate"]}, "'rate' follows from other features; limit those instead"),
        ({"at_most": {"amount": "much"}}, "a limit on 'amount' must be a number; given was 'much'"),
        ({"at_least": {"grade": "hihg"}}, "there is no level of 'grade' 'hihg'; did you mean 'high'?"),
        (
            {"at_least": {"job": "cook"}},
            "'job' has no order; exclude levels instead of setting a least or most",
        ),
        ({"exclude": {"amount": [3]}}, "'amount' is a number and has no levels; set a least or most instead"),
        ({"max_changes": 1.5}, "max_changes is 1.5; give a whole number of at least 1"),
    ],
)
def test_bad_limits(space, limits, sentence):
    with pytest.raises(InputError) as caught:
        space.limits(**limits)
    assert sentence in str(caught.value)


def test_limits_from_elsewhere_are_checked_when_applied(space):
    with pytest.raises(InputError, match="there is no feature 'amuont'; did you mean 'amount'"):
        space.tighten(Limits.from_dict({"at_most": {"amuont": 3}}))


def test_a_missing_value_is_not_held_against_a_limit():
    space = ActionSpace([Feature("x", range=(0, 9), missing=True), Feature("y", range=(0, 9))])
    z0 = space.vector({"x": None, "y": 3.0})
    tight = space.tighten(space.limits(at_least={"x": 5}))
    assert tight.allows(z0, z0)[0]
    assert pd.isna(tight.project(z0 + 0.1, z0)[0, 0])

"""The second judge: what it finds wrong, and that it and the space's own agree on random changes."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reap
from reap.checks.legality import derived, obeys, violations
from reap.checks.worlds import random_world

GRADES = ["low", "middle", "good"]


@pytest.fixture(scope="module")
def space():
    X = pd.DataFrame(
        {
            "age": [20, 60],
            "income": [1000, 5000],
            "debt": [0.0, 9000.0],
            "ratio": [0.1234567, 8.7654321],
            "grade": pd.Categorical(["low", "good"], GRADES, ordered=True),
            "town": ["Ulm", "Kiel"],
            "owner": [True, False],
            "years": [np.nan, 5.0],
            "sex": ["f", "m"],
        }
    )
    return reap.ActionSpace(
        reap.ActionSpace.from_frame(
            X,
            increasing=["age"],
            immutable=["sex"],
            bounds={"income": (500, 6000)},
            missing=["years"],
            features={
                "income": {"step": 100},
                "age": {"max_change": 3},
                "grade": {"max_change": 1},
                "ratio": {"derived": "debt / income"},
                "town": {"forbidden": [("Ulm", "Kiel")]},
            },
        ).features,
        max_changes=3,
    )


@pytest.fixture
def own():
    return {
        "age": 30, "income": 2000, "debt": 1000.0, "ratio": 0.5, "grade": "low", "town": "Ulm", "owner": False,
        "years": None, "sex": "f",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"age": 29}, "age falls"),
        ({"age": 34}, "age moves by 4, more than 3"),
        ({"income": 2050, "ratio": 0.49}, "income is 2050, no multiple of 100"),
        ({"income": 7000, "ratio": 0.14}, "income is 7000, outside 500.0 to 6000.0"),
        ({"income": 4000}, "ratio is 0.5; by its formula it is 0.25"),
        ({"grade": "good"}, "grade moves by 2, more than 1"),
        ({"town": "Kiel"}, "town may not go from Ulm to Kiel"),
        ({"sex": "m"}, "sex cannot change"),
        ({"years": 3.0}, "years appears or disappears"),
        (
            {"age": 31, "grade": "middle", "owner": True, "debt": 0.0, "ratio": 0.0},
            "4 features change, 3 may",
        ),
    ],
)
def test_one_fault_one_sentence(space, own, change, said):
    assert violations(space, own, {**own, **change}) == [said]


def test_legal_changes_have_no_fault(space, own):
    assert violations(space, own, own) == []
    assert (
        violations(space, own, {**own, "income": 2500, "ratio": 0.4, "grade": "middle", "owner": True}) == []
    )


def test_derived_features_follow_or_stay(space, own):
    assert derived(space, own, {**own, "debt": 500.0})["ratio"] == 0.25
    assert derived(space, own | {"ratio": 0.499}, own | {"age": 31, "ratio": 0.1})["ratio"] == 0.499


@pytest.mark.parametrize(
    ("limits", "change", "said"),
    [
        ({"fixed": ["owner"]}, {"owner": True}, "owner changes against the person's limit"),
        ({"at_most": {"age": 31}}, {"age": 32}, "age is 32, above the person's limit of 31"),
        ({"at_least": {"grade": "middle"}}, {}, "grade is low, below the person's limit of middle"),
        ({"exclude": {"town": ["Ulm"]}}, {}, "town is Ulm, which the person excludes"),
        ({"max_changes": 1}, {"age": 31, "owner": True}, "2 features change, 1 may"),
    ],
)
def test_limits_of_a_person(space, own, limits, change, said):
    assert violations(space, own, {**own, **change}, space.limits(**limits)) == [said]


@pytest.mark.parametrize(
    ("rule", "change", "holds"),
    [
        ("age <= 30", {}, True),
        ("age <= 30", {"age": 31}, False),
        ("100 * age >= income + 1001", {}, False),
        ("debt = income - 1000", {}, True),
        ("age + years <= 1", {}, True),  # what is missing is held against nobody
        ("income + 1000 * owner <= 2500", {"owner": True}, False),
        ("if income increases then age increases by at least 2", {"income": 2100, "age": 31}, False),
        ("if income increases then age increases by at least 2", {"income": 2100, "age": 32}, True),
        ("if income increases by at least 200 then age changes", {"income": 2100}, True),
        ("if income decreases then town stays", {"income": 1900, "town": "Kiel"}, False),
        ("if grade increases then owner is True", {"grade": "middle"}, False),
        ("if grade is at least middle then owner is not False", {"grade": "good"}, False),
        ("if town becomes Ulm then age is at most 20", {}, True),  # it is Ulm already
        ("if town is Ulm then age is at most 20", {}, False),
        ("if years changes then age stays", {"age": 40}, True),
        ("IF `income` increases, then `grade` becomes middle", {"income": 2100}, False),
    ],
)
def test_rules(space, own, rule, change, holds):
    assert obeys(rule, space, own, {**own, **change}) is holds


def test_a_condition_that_cannot_be_read_is_an_error(space, own):
    with pytest.raises(ValueError, match="cannot read the condition 'age grows'"):
        obeys("if age grows then town stays", space, own, own)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_both_judges_agree(seed):
    world, rng = random_world(seed, rich=True, kind="function"), np.random.default_rng(seed)
    space, Z = world.space, world.space.encode(world.X)
    for start, other in zip(*Z[rng.integers(len(Z), size=(2, 40))], strict=True):
        # a whole row of somebody else breaks nearly everything at once; plans consist of parts of it
        taken = np.repeat(rng.random(len(space.features)) < 0.3, [f.width for f in space.features])
        own, there = space.values(start), np.where(taken, other, start)
        wrong = violations(space, own, space.values(there))
        assert bool(space.allows(start, there)[0]) == (not wrong), (own, space.values(there), wrong)
        if space.legal.obstacle(start) is None:  # else nothing is legal from there
            assert violations(space, own, space.values(space.project(there[None], start)[0])) == []

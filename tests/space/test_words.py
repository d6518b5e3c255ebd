"""Spaces and changes in plain words."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from reap.space import ActionSpace, Feature


@pytest.fixture
def space():
    return ActionSpace(
        [
            Feature("amount", "integer", range=(0, 20000), label="Loan amount", unit="DM"),
            Feature(
                "age",
                "integer",
                range=(18, 80),
                direction="up",
                phrases={"up": "Wait {by} years, until {after}"},
            ),
            Feature("school", "ordinal", levels=("none", "basic", "high"), label="FICO class"),
            Feature(
                "job",
                "categorical",
                levels=("cook", "smith"),
                missing=True,
                phrases={"change": "Become a {after}"},
            ),
            Feature("phone", "binary", levels=(False, True)),
            Feature("sex", "binary", levels=("f", "m"), actionable=False),
        ],
        rules=["amount = 100 * age", "if phone changes then age increases"],
        max_changes=2,
        title="Credit",
    )


START = {"amount": 5951, "age": 30, "school": "basic", "job": "cook", "phone": False, "sex": "f"}


def change(space, **values):
    return space.changes(space.vector(START), space.vector(START | values))[0]


@pytest.mark.parametrize(
    ("values", "text", "signed"),
    [
        ({"amount": 3200}, "Reduce loan amount from 5,951 to 3,200 DM", "−2,751 DM"),
        ({"amount": 8000}, "Increase loan amount from 5,951 to 8,000 DM", "+2,049 DM"),
        ({"age": 32}, "Wait 2 years, until 32", "+2"),
        ({"school": "high"}, "Raise FICO class from “basic” to “high”", "basic → high"),
        ({"school": "none"}, "Lower FICO class from “basic” to “none”", "basic → none"),
        ({"job": "smith"}, "Become a smith", "cook → smith"),
        ({"phone": True}, "Change phone from “no” to “yes”", "no → yes"),
    ],
)
def test_a_change_reads_like_advice(space, values, text, signed):
    made = change(space, **values)
    assert (str(made), made.signed) == (text, signed)


def test_a_change_holds_plain_values(space):
    made = change(space, amount=3200)
    assert (made.feature, made.label, made.unit) == ("amount", "Loan amount", "DM")
    assert (made.before, made.after, type(made.after)) == (5951, 3200, int)
    assert (made.before_text, made.after_text) == ("5,951 DM", "3,200 DM")


def test_nothing_changes_in_the_same_row(space):
    z = space.vector(START | {"job": None})
    assert space.changes(z, z) == []


def test_describe(space):
    assert space.describe() == "\n".join(
        [
            "Credit: 6 features, 7 encoded columns",
            "  Loan amount  whole number, 0 to 20,000 DM",
            "  age          whole number, 18 to 80; may only rise",
            "  FICO class   in this order: none, basic, high",
            "  job          one of cook, smith; may be missing",
            "  phone        one of no, yes",
            "  sex          one of f, m; cannot change",
            "  Rule: always amount = 100 * age",
            "  Rule: if phone changes then age increases",
            "  Rule: at most 2 features may change",
        ]
    )
    assert repr(space) == "ActionSpace(6 features, 1 fixed, 2 rules, d=7)"


def test_missing_stays_missing(space):
    loose = ActionSpace(space.features)
    z0 = loose.vector(START | {"job": None})
    assert loose.values(z0)["job"] is None
    assert loose.legal.reachable("job", z0) == []
    wanted = loose.vector(START | {"job": "smith", "amount": 4000})
    after = loose.values(loose.project(wanted, z0)[0])
    assert (after["job"], after["amount"]) == (None, 4000)
    assert loose.allows(z0, loose.vector(START)).tolist() == [False]
    assert loose.allows(loose.vector(START), z0).tolist() == [False]
    np.testing.assert_array_equal(loose.legal.relax(wanted, z0)[0, loose.slices["job"]], [0, 0])
    assert pd.isna(loose.decode(z0)["job"][0])

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reap._errors import InputError
from reap.space import Feature


@pytest.mark.parametrize(
    ("facts", "sentence"),
    [
        ({"kind": "nummeric"}, "there is no kind of feature 'nummeric'; did you mean 'numeric'?"),
        ({}, "'x' is a number and needs a range (low, high); use ActionSpace.from_frame to infer it"),
        ({"range": (2, 1)}, "the range of 'x' is (2, 1); give two finite numbers, the lower one first"),
        ({"range": (0, 1), "step": 0}, "the step of 'x' is 0; it must be a positive number"),
        (
            {"range": (0, 1), "kind": "integer", "step": 0.5},
            "the step of 'x' is 0.5; a whole number needs a whole step",
        ),
        ({"range": (0, 1), "actionable": "false"}, "actionable of 'x' is 'false'; it must be true or false"),
        ({"range": (0, 1), "phrases": {"upp": "Go"}}, "there is no phrase for 'x' 'upp'; did you mean 'up'?"),
        (
            {"range": (0, 1), "derived": "y", "bounds": (0, 1)},
            "'x' follows from other features; give bounds to those",
        ),
        (
            {"kind": "ordinal", "levels": ("a", None)},
            "a missing value is no level of 'x'; say missing=True instead",
        ),
        (
            {"kind": "categorical", "levels": ("a", "b"), "direction": "up"},
            "'x' is categorical and has no direction",
        ),
        (
            {"kind": "categorical", "levels": ("rent", "own"), "forbidden": [("own", "rnt")]},
            "there is no level of 'x' 'rnt'; did you mean 'rent'?",
        ),
        (
            {"kind": "categorical", "levels": ("a", "b"), "columns": ("x_a",)},
            "'x' has 1 columns and 2 levels",
        ),
    ],
)
def test_a_bad_declaration_is_one_clear_sentence(facts, sentence):
    with pytest.raises(InputError) as caught:
        Feature("x", **facts)
    assert sentence in str(caught.value)


JUNK = [
    None, True, 0, -1, 2.5, float("nan"), float("inf"), 10**30, "", "x", "1 every 0 months", "years", "{aftr}", b"x",
    [], [1], ["a", "a"], ["a", None], (0, 0), (2, 1), ("a", 1), {}, {"up": 3}, {"de": {"label": 3}}, [("a", "b")],
]  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(
    st.dictionaries(
        st.sampled_from([name for name in Feature.__dataclass_fields__ if name != "name"]),
        st.sampled_from(JUNK),
        min_size=1,
        max_size=3,
    ),
    st.sampled_from([{"range": (0, 9)}, {"kind": "ordinal", "levels": ("a", "b")}, {}]),
)
def test_whatever_is_declared_is_a_feature_or_one_sentence(facts, sound):
    try:
        said = Feature("x", **{**sound, **facts}).describe()
    except InputError as error:
        said = str(error)
    assert said
    assert "\n" not in said


def test_the_name_must_be_text():
    with pytest.raises(InputError, match="the name of a feature is 3; it must be text"):
        Feature(3, range=(0, 1))


def test_numpy_scalars_become_plain_values():
    feature = Feature("x", "ordinal", levels=np.array([1, 2, 3]), forbidden=[(np.int64(1), np.int64(2))])
    assert all(type(level) is int for level in (*feature.levels, *feature.forbidden[0]))
    assert type(Feature("x", range=np.array([0, 1]), step=np.float64(0.5)).step) is float


@pytest.mark.parametrize(
    ("step", "decimals"),
    [(1, 0), (100, 0), (0.5, 1), (0.25, 2), (0.1, 1), (0.01, 2), (1.5, 1), (1e-4, 4), (None, None)],
)
def test_decimals_follow_from_the_step(step, decimals):
    assert Feature("x", range=(0, 1), step=step).decimals == decimals


@pytest.mark.parametrize(
    ("facts", "value", "text"),
    [
        ({"kind": "integer", "unit": "DM"}, 5951, "5,951 DM"),
        ({"step": 0.01}, 1234.56 - 1000.01, "234.55"),
        ({"step": 0.25}, 1234.25, "1,234.25"),
        ({"step": 0.1}, 0.30000000000000004, "0.3"),
        ({"step": None}, 1234567.89, "1,234,568"),
        ({"step": None}, 0.123456, "0.1235"),
        ({}, None, "not known"),
        ({}, float("nan"), "not known"),
    ],
)
def test_values_read_as_people_write_them(facts, value, text):
    assert Feature("x", range=(0, 9), **facts).show(value) == text


def test_yes_and_no():
    assert Feature("x", "binary", levels=(False, True)).show(True) == "yes"
    assert Feature("x", "binary", levels=(False, True)).show(np.bool_(False)) == "no"


@pytest.mark.parametrize(
    ("feature", "words"),
    [
        (
            Feature("x", range=(0, 1), bounds=(0, 2), step=0.5, unit="km"),
            "number, 0.0 to 2.0 km, in steps of 0.5",
        ),
        (
            Feature("x", range=(0, 1), actionable=False, missing=True),
            "number, 0 to 1; cannot change; may be missing",
        ),
        (
            Feature("x", "ordinal", levels=("low", "high"), direction="up"),
            "in this order: low, high; may only rise",
        ),
        (Feature("x", "categorical", levels=tuple("abcdefgh")), "one of a, b, c, d, e, f and 2 more"),
        (
            Feature("x", "binary", levels=(False, True), forbidden=[(True, False)]),
            "one of no, yes; not yes → no",
        ),
        (Feature("x", range=(0, 1), derived="a / b"), "follows from the others: a / b"),
    ],
)
def test_describe(feature, words):
    assert feature.describe() == words

"""Paces in words, there and back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reap._errors import InputError
from reap.space.feature import read_pace, spell_pace


@pytest.mark.parametrize(
    ("text", "number", "value"),
    [
        ("200 DM a month", True, 200),
        ("200 a month", True, 200),
        ("1,500 EUR per month", True, 1500),
        ("0.5 % per week", True, 0.5 * 52 / 12),
        ("1 every 24 months", True, 1 / 24),
        ("1 a year", True, 1 / 12),
        ("2 in 3 months", True, 2 / 3),
        ("5 hours a week a month", True, 5),
        ("3 months a month", True, 3),
        ("30 per quarter", True, 10),
        ("6 months a level", False, 6),
        ("6 Months", False, 6),
        ("2 years a level", False, 24),
        ("1 year per change", False, 12),
        (7, True, 7),
        (2.5, False, 2.5),
    ],
)
def test_what_is_read(text, number, value):
    assert read_pace("x", text, number) == pytest.approx(value)


@pytest.mark.parametrize(
    ("text", "number"),
    [
        *[
            (text, True)
            for text in ("", "fast", "200", "200 DM", "a month", "-3 a month", "0 a month", "5 a day")
        ],
        *[(text, False) for text in ("6", "6 levels", "6 DM a month", "0 months", "level")],
        *[(given, True) for given in (None, [], -1, float("nan"), float("inf"), False)],
    ],
)
def test_what_cannot_be_read_gets_an_example(text, number):
    with pytest.raises(InputError, match=r"the pace of 'x' is .*; write .*month") as caught:
        read_pace("x", text, number)
    assert "\n" not in str(caught.value)


@given(
    st.one_of(st.floats(1e-6, 1e9), st.integers(1, 400).map(lambda n: 1 / n)),
    st.sampled_from(["", "DM", "$ a year", "of 16", "hours a week", "%", "€", "months", "a", "per"]),
    st.booleans(),
)
def test_what_is_spelled_is_read_again_exactly(pace, unit, number):
    assert read_pace("x", spell_pace(pace, unit, number), number) == pace

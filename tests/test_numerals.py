"""Numbers as people type them, in three languages: each is read right or refused, never misread."""

import contextlib
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

import reap
from reap import language
from reap.language import LANGUAGES, speaking

NO = None
#: What was typed, and what it is in English, German and Spanish; None: refused.
TABLE = [
    ("10000", 10000, 10000, 10000),
    ("10,000", 10000, NO, NO),
    ("10.000", NO, 10000, 10000),
    ("10 000", 10000, 10000, 10000),
    ("10\u00a0000", 10000, 10000, 10000),
    ("10\u202f000", 10000, 10000, 10000),
    ("10'000", 10000, 10000, 10000),
    ("10’000", 10000, 10000, 10000),
    ("1,234,567", 1234567, 1234567, 1234567),
    ("1.234.567", 1234567, 1234567, 1234567),
    ("1 234 567,5", 1234567.5, 1234567.5, 1234567.5),
    ("10.5", 10.5, 10.5, 10.5),
    ("10,5", 10.5, 10.5, 10.5),
    ("1,234.5", 1234.5, 1234.5, 1234.5),
    ("1.234,5", 1234.5, 1234.5, 1234.5),
    ("1.234,567", 1234.567, 1234.567, 1234.567),
    ("0.125", 0.125, 0.125, 0.125),
    ("0,125", 0.125, 0.125, 0.125),
    ("1234.567", 1234.567, 1234.567, 1234.567),
    ("1234,567", 1234.567, 1234.567, 1234.567),
    (".5", 0.5, 0.5, 0.5),
    (",5", 0.5, 0.5, 0.5),
    ("5.", 5, 5, 5),
    ("-3", -3, -3, -3),
    ("−3", -3, -3, -3),
    ("+7", 7, 7, 7),
    ("- 3", -3, -3, -3),
    (" 42 ", 42, 42, 42),
    ("007", 7, 7, 7),
    ("1,2,3", NO, NO, NO),
    ("1.2.3", NO, NO, NO),
    ("1,00,000", NO, NO, NO),
    ("12 34", NO, NO, NO),
    ("1.234.56", NO, NO, NO),
    ("1,234.567.8", NO, NO, NO),
    ("1e5", NO, NO, NO),
    ("nan", NO, NO, NO),
    ("inf", NO, NO, NO),
    ("ten", NO, NO, NO),
    ("", NO, NO, NO),
    (".", NO, NO, NO),
    ("--5", NO, NO, NO),
    ("5-", NO, NO, NO),
    ("١٢", NO, NO, NO),
    ("10.000 DM", NO, NO, NO),
]


@pytest.mark.parametrize("code", LANGUAGES)
@pytest.mark.parametrize("row", TABLE, ids=lambda row: repr(row[0]))
def test_every_format_is_read_right_or_refused(row, code):
    wanted = row[1 + list(LANGUAGES).index(code)]
    with speaking(code):
        if wanted is None:
            with pytest.raises(reap.InputError):
                language.read_number(row[0])
        else:
            assert language.read_number(row[0]) == wanted


@given(st.floats(-1e9, 1e9).map(lambda x: round(x, 4)), st.sampled_from(list(LANGUAGES)))
def test_what_stands_in_a_field_is_read_back(value, code):
    with speaking(code):
        assert math.isclose(language.read_number(language.typed(value)), value, rel_tol=1e-12, abs_tol=1e-12)


@given(st.text(max_size=12), st.sampled_from(list(LANGUAGES)))
def test_any_text_is_a_number_or_a_sentence(text, code):
    with speaking(code), contextlib.suppress(reap.InputError):
        assert math.isfinite(language.read_number(text))

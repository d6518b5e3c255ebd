"""One doing is said once, for as long as it takes."""

from __future__ import annotations

import pytest

from reap._errors import InputError
from reap.datasets.loading import curated
from reap.space import Change, Feature
from reap.space.words import sentences

LATE = "NumberOfTimes90DaysLate", "NumberOfTime60-89DaysPastDueNotWorse"


def test_what_one_deed_brings_is_one_sentence_with_the_longest_time():
    space = curated("gmc")
    ninety, sixty = map(space.feature, LATE)
    income = Change.of(space.feature("MonthlyIncome"), 1000, 1500)
    said = sentences(
        [Change.of(ninety, 3, 1), income, Change.of(sixty, 1, 0)], lambda n: space.feature(n).deed
    )
    assert said == [
        "Pay all bills on time for 24 months (then the bank no longer counts 2 of your 3 payments that were 90 days or more late "
        "and your payment that was 60 to 89 days late)",
        "Earn $1,500 a month (now $1,000)",
    ]


def test_what_has_no_deed_stands_alone():
    debt = Feature("debt", "integer", range=(0, 9), label="Debt")
    rent = Feature("rent", "integer", range=(0, 9), label="Rent")
    said = sentences([Change.of(debt, 3, 1), Change.of(rent, 3, 1)], lambda _: "")
    assert said == ["Reduce debt from 3 to 1", "Reduce rent from 3 to 1"]


@pytest.mark.parametrize(
    ("facts", "months"),
    [
        ({"kind": "integer", "range": (0, 9), "pace": "1 every 5 months"}, 15),
        ({"kind": "ordinal", "levels": (1, 2, 3, 4), "pace": "2 months a level"}, 6),
        ({"kind": "categorical", "levels": (4, 2, 3, 1), "pace": "2 months a level"}, 2),
    ],
)
def test_a_phrase_says_how_long_it_takes(facts, months):
    feature = Feature("x", **facts, phrases={"change": "Wait for {months:month|months}"})
    assert str(Change.of(feature, 1, 4)) == f"Wait for {months} months"


def test_without_a_pace_no_phrase_says_how_long():
    phrases = {"up": "Wait for {months:month|months}"}
    with pytest.raises(InputError, match="give 'x' a pace"):
        Feature("x", range=(0, 1), phrases=phrases)
    with pytest.raises(InputError, match="give 'x' a pace"):
        Feature("x", range=(0, 1), translations={"de": {"phrases": phrases}})


@pytest.mark.parametrize(
    "kind", [{"kind": "integer", "range": (0, 9)}, {"kind": "binary", "levels": ("no", "yes")}]
)
@pytest.mark.parametrize("deed", [float("nan"), 1, ["pay"], None])
def test_a_deed_is_text_whatever_the_feature(kind, deed):
    with pytest.raises(InputError, match="deed of 'late'"):
        Feature("late", deed=deed, **kind)

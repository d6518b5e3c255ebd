"""Features, changes, paces and spaces in plain words, in the language in use."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reap.datasets.loading import curated
from reap.language import speaking
from reap.space import ActionSpace, Change, Feature
from reap.space.feature import read_pace, spell_pace
from reap.space.words import sentences

# values and features ---------------------------------------------------------------------------------


def test_numpy_scalars_become_plain_values():
    feature = Feature("x", "ordinal", levels=np.array([1, 2, 3]), forbidden=[(np.int64(1), np.int64(2))])
    assert all(type(level) is int for level in (*feature.levels, *feature.forbidden[0]))
    assert type(Feature("x", range=np.array([0, 1]), step=np.float64(0.5)).step) is float


@pytest.mark.parametrize(
    ("facts", "value", "text"),
    [
        ({"kind": "integer", "unit": "DM"}, 5951, "5,951 DM"),
        ({"kind": "integer", "range": (1989, 2011)}, 2003, "2003"),  # a year
        ({"step": 0.01}, 1234.56 - 1000.01, "234.55"),
        ({"step": 0.25}, 1234.25, "1,234.25"),
        ({"step": 0.1}, 0.30000000000000004, "0.3"),
        ({"step": 1.5}, 3.0, "3.0"),
        ({"step": 100}, 300.0, "300"),
        ({"step": 1e-4}, 0.5, "0.5000"),
        ({"step": None}, 1234567.89, "1,234,568"),
        ({"step": None}, 0.123456, "0.1235"),
        ({"step": 0.5, "unit": "hours a week"}, 1.0, "1.0 hour a week"),
        ({"unit": "Swiss francs"}, 1.0, "1 Swiss francs"),
        ({}, None, "not known"),
        ({}, float("nan"), "not known"),
        ({"kind": "binary", "levels": (False, True), "range": None}, True, "yes"),
        ({"kind": "binary", "levels": (False, True), "range": None}, np.bool_(False), "no"),
    ],
)
def test_values_read_as_people_write_them(facts, value, text):
    assert Feature("x", **{"range": (0, 9), **facts}).show(value) == text


@pytest.mark.parametrize(
    ("feature", "words"),
    [
        (Feature("x", range=(0, 1), bounds=(0, 2), step=0.5, unit="km"), "number, 0.0 to 2.0 km, in steps of 0.5"),
        (Feature("x", range=(0, 1), actionable=False, missing=True), "number, 0 to 1; cannot change; may be missing"),
        (Feature("x", "ordinal", levels=("a", "b"), direction="up"), "in this order: a, b; may only rise"),
        (Feature("x", "ordinal", levels=("a", "b"), max_change=1), "in this order: a, b; by at most 1 level"),
        (Feature("x", "integer", range=(0, 9), max_change=5, unit="km"), "whole number, 0 to 9 km; by at most 5 km"),
        (Feature("x", "categorical", levels=tuple("abcdefgh")), "one of a, b, c, d, e, f and 2 more"),
        (Feature("x", "binary", levels=(False, True), forbidden=[(True, False)]), "one of no, yes; not yes → no"),
        (Feature("x", range=(0, 1), derived="a / b"), "follows from the others: a / b"),
    ],
)  # fmt: skip
def test_a_feature_is_described(feature, words):
    assert feature.describe() == words


@pytest.mark.parametrize(
    ("text", "number", "value"),
    [
        ("200 DM a month", True, 200),
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
        ("1 year per change", False, 12),
        (7, True, 7),
        (2.5, False, 2.5),
    ],
)
def test_a_pace_is_read(text, number, value):
    assert read_pace("x", text, number) == pytest.approx(value)


@given(
    st.one_of(st.floats(1e-6, 1e9), st.integers(1, 400).map(lambda n: 1 / n)),
    st.sampled_from(["", "DM", "$ a year", "of 16", "hours a week", "%", "€", "months", "a", "per"]),
    st.booleans(),
)
def test_a_pace_that_is_spelled_is_read_again_exactly(pace, unit, number):
    assert read_pace("x", spell_pace(pace, unit, number), number) == pace


# changes -------------------------------------------------------------------------------------------------


@pytest.fixture
def space():
    return ActionSpace(
        [
            Feature("amount", "integer", range=(0, 20000), label="Loan amount", unit="DM"),
            Feature("age", "integer", range=(18, 80), direction="up", phrases={"up": "Wait {by} years, until {after}"}),
            Feature("school", "ordinal", levels=("none", "basic", "high"), label="FICO class"),
            Feature("job", "categorical", levels=("cook", "smith"), missing=True, phrases={"change": "Become a {after}"}),
            Feature("phone", "binary", levels=(False, True)),
            Feature("sex", "binary", levels=("f", "m"), actionable=False),
        ],
        rules=["amount = 100 * age", "if phone changes then age increases"],
        max_changes=2,
        title="Credit",
    )  # fmt: skip


START = {"amount": 5951, "age": 30, "school": "basic", "job": "cook", "phone": False, "sex": "f"}


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
    made = space.changes(space.vector(START), space.vector(START | values))[0]
    assert (str(made), made.signed) == (text, signed)


def test_a_change_holds_plain_values(space):
    made = space.changes(space.vector(START), space.vector(START | {"amount": 3200}))[0]
    assert (made.feature, made.label, made.unit) == ("amount", "Loan amount", "DM")
    assert (made.before, made.after, type(made.after)) == (5951, 3200, int)
    assert (made.before_text, made.after_text) == ("5,951 DM", "3,200 DM")
    z = space.vector(START | {"job": None})
    assert space.changes(z, z) == []


def test_a_space_is_described(space):
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


def months(**facts):
    return Feature("duration", "integer", range=(1, 72), unit="months", label="Duration", **facts)


@pytest.mark.parametrize(
    ("phrase", "said"),
    [
        ("Repay over {after:month|months} instead of {before}", "Repay over 1 month instead of 2"),
        ("Repay over {after} {unit}", "Repay over 1 month"),
        ("{by:month|months} less than {before:month|months}", "1 month less than 2 months"),
        ("{{braces}} stay", "{braces} stay"),
        ("Drop {by:=the one|# of them}, {before:=the one|# of them}", "Drop the one, 2 of them"),
        ("Use {after:%} instead of {before:%}", "Use 100 % instead of 200 %"),
        (None, "Reduce duration from 2 to 1 month"),
    ],
)
def test_a_phrase_with_plurals(phrase, said):
    assert str(Change.of(months(phrases={"down": phrase} if phrase else {}), 2, 1)) == said


@pytest.mark.parametrize(
    ("facts", "takes"),
    [
        ({"kind": "integer", "range": (0, 9), "pace": "1 every 5 months"}, 15),
        ({"kind": "ordinal", "levels": (1, 2, 3, 4), "pace": "2 months a level"}, 6),
        ({"kind": "categorical", "levels": (4, 2, 3, 1), "pace": "2 months a level"}, 2),
    ],
)
def test_a_phrase_says_how_long_it_takes(facts, takes):
    feature = Feature("x", **facts, phrases={"change": "Wait for {months:month|months}"})
    assert str(Change.of(feature, 1, 4)) == f"Wait for {takes} months"


def test_phrases_of_levels_and_missing_values():
    job = Feature("job", "ordinal", levels=("none", "some"), phrases={"up": "From {before} to {after}{by}"})
    assert str(Change.of(job, "none", "some")) == "From none to some"
    number = Feature("x", range=(0, 9), missing=True, phrases={"change": "{before} → {after} ({by})"})
    assert str(Change.of(number, None, 2.0)) == "not known → 2 ()"


def test_options_are_named_by_content():
    """ "Smaller loan", not "lower loan amount": where the space says so, also for levels; else by the label."""
    loan = Feature("amount", range=(0, 9000), label="Loan amount", phrases={"less": "smaller loan"})
    assert Change.of(loan, 5000, 3000).title == "smaller loan"
    assert Change.of(loan, 3000, 5000).title == "higher loan amount"
    job = Feature("job", "ordinal", levels=("none", "some", "years"), phrases={"more": "longer in the job"})
    assert Change.of(job, "none", "some").title == "longer in the job"
    assert Change.of(job, "years", "some").title == "job: some"
    assert str(Change.of(job, "none", "some")) == "Raise job from “none” to “some”"
    unknown = Feature("x", range=(0, 9), missing=True, phrases={"less": "fewer"})
    assert Change.of(unknown, None, 2.0).title == "x: 2"


def test_levels_and_some_numbers_have_words_of_their_own():
    phrases = {"up": "Stay until “{after}”", "some": "Find a job (now: {before})", "more": "work"}
    german = {"de": {"phrases": {"some": "Eine Stelle finden"}}}
    job = Feature(
        "job", "ordinal", levels=("unemployed", "some", "years"), phrases=phrases, translations=german
    )
    assert str(Change.of(job, "unemployed", "some")) == "Find a job (now: unemployed)"
    assert str(Change.of(job, "some", "years")) == "Stay until “years”"
    with speaking("de"):
        assert str(Change.of(job, "unemployed", "some")) == "Eine Stelle finden"
    phrases = {"down": "Pay off {by} of {before} cards", "0": "Pay off all cards", "less": "fewer cards"}
    cards = Feature("cards", range=(0, 9), step=1, phrases={**phrases, "names": {"0": "no cards"}})
    fewer, none = Change.of(cards, 3.9, 1.0), Change.of(cards, 3.9, 0.0)
    assert (str(fewer), fewer.title) == ("Pay off 3 of 4 cards", "fewer cards")
    assert (str(none), none.title) == ("Pay off all cards", "no cards")
    assert (
        str(Change.of(cards, 1.2, 1.0)) == "Pay off 0.2 of 1.2 cards"
    )  # rounded, nothing would be left to do
    again = ActionSpace.from_toml(ActionSpace([cards]).to_toml())
    assert Change.of(again.feature("cards"), 3.0, 0.0).title == "no cards"


def test_what_one_deed_brings_is_one_sentence_with_the_longest_time():
    space = curated("gmc")
    late = "NumberOfTimes90DaysLate", "NumberOfTime60-89DaysPastDueNotWorse"
    ninety, sixty = map(space.feature, late)
    income = Change.of(space.feature("MonthlyIncome"), 1000, 1500)
    changes = [Change.of(ninety, 3, 1), income, Change.of(sixty, 1, 0)]
    assert sentences(changes, lambda name: space.feature(name).deed) == [
        "Pay all bills on time for 24 months (then the bank no longer counts 2 of your 3 payments that were 90 days or more late "
        "and your payment that was 60 to 89 days late)",
        "Earn $1,500 a month (now $1,000)",
    ]
    debt, rent = (Feature(name, "integer", range=(0, 9)) for name in ("debt", "rent"))
    alone = sentences([Change.of(debt, 3, 1), Change.of(rent, 3, 1)], lambda _: "")
    assert alone == ["Reduce debt from 3 to 1", "Reduce rent from 3 to 1"]


# other languages -----------------------------------------------------------------------------------------

TEXT = """
[space]
title = "Loans"

[features.duration]
kind = "integer"
range = [4, 72]
label = "Loan duration"
unit = "months"
phrases = { down = "Repay within {after:month|months}", less = "shorter loan" }

[features.duration.de]
label = "Laufzeit"
unit = "Monat|Monate"
phrases = { down = "In {after:Monat|Monaten} zurückzahlen", less = "kürzerer Kredit" }

[features.amount]
range = [250, 20000]
step = 0.5
label = "Loan amount"
unit = "DM"

[features.amount.de]
label = "Kreditbetrag"

[features.home]
kind = "categorical"
levels = ["rented", "owned"]

[features.home.de]
levels = ["gemietet", "im Eigentum"]
"""


def test_labels_units_levels_phrases_and_names_follow_the_language():
    duration, amount, home = ActionSpace.from_toml(TEXT).features
    assert (duration.label, duration.show(1), duration.show(12)) == ("Loan duration", "1 month", "12 months")
    with speaking("de"):
        assert (duration.label, duration.show(1), duration.show(12)) == ("Laufzeit", "1 Monat", "12 Monate")
        assert amount.show(1234.5) == "1.234,5 DM"
        assert home.show("owned") == "im Eigentum"
        change = Change.of(duration, 24, 12)
        assert (str(change), change.title) == ("In 12 Monaten zurückzahlen", "kürzerer Kredit")
        assert Change.of(amount, 5000, 1250).label == "Kreditbetrag"
    with speaking("es"):  # not translated: the file's own words, numbers all the same
        assert (duration.label, amount.show(1234.5)) == ("Loan duration", "1.234,5 DM")
        assert Change.of(duration, 24, 12).title == "shorter loan"


def test_files_and_digests_do_not_depend_on_the_language():
    space = ActionSpace.from_toml(TEXT)
    written, digest = space.to_toml(), space.digest
    with speaking("de"):
        again, back = ActionSpace.from_toml(space.to_toml()), pickle.loads(pickle.dumps(space))
        assert (again.to_toml(), again.digest, again) == (written, digest, space)
    assert back.feature("duration").label == "Loan duration"
    assert back.to_toml() == written


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

"""Phrases: plurals, and typing errors found when the space is made."""

from __future__ import annotations

import pytest

from reap._errors import InputError
from reap.language import speaking
from reap.space import ActionSpace, Change, Feature


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
    ],
)
def test_a_phrase_with_plurals(phrase, said):
    assert str(Change.of(months(phrases={"down": phrase}), 2, 1)) == said


def test_one_and_many_without_a_phrase():
    change = Change.of(months(), 2, 1)
    assert str(change) == "Reduce duration from 2 to 1 month"
    assert (change.signed, change.before_text, change.after_text) == ("−1 month", "2 months", "1 month")
    assert Feature("h", range=(0, 9), step=0.5, unit="hours a week").show(1.0) == "1.0 hour a week"
    assert Feature("h", range=(0, 9), unit="Swiss francs").show(1.0) == "1 Swiss francs"


@pytest.mark.parametrize(
    "phrase",
    [
        "Wait until {aftr}",
        "{0}",
        "{after.__class__}",
        "{after:a|b|c}",
        "{after",
        3,
    ],
)
def test_a_phrase_that_could_not_be_said_is_refused_when_the_feature_is_made(phrase):
    with pytest.raises(InputError) as caught:
        months(phrases={"up": phrase})
    said = str(caught.value)
    assert "'duration'" in said
    assert "{before}, {after}, {by}, {unit}" in said
    with pytest.raises(InputError):
        ActionSpace.from_toml(
            f"[features.x]\nrange = [0, 1]\nphrases = {{ up = {str(phrase)!r}, upp = 'x' }}"
        )


def test_phrases_of_levels_and_missing_values():
    job = Feature(
        "job", "ordinal", levels=("none", "some"), phrases={"up": "Go from {before} to {after}{by}"}
    )
    assert str(Change.of(job, "none", "some")) == "Go from none to some"
    number = Feature("x", range=(0, 9), missing=True, phrases={"change": "{before} → {after} ({by})"})
    assert str(Change.of(number, None, 2.0)) == "not known → 2 ()"


def test_options_are_named_by_content():
    """ "Smaller loan", not "lower loan amount": where the space says so, also for levels; else by the label."""
    loan = Feature(
        "amount", "integer", range=(0, 9000), label="Loan amount", phrases={"less": "smaller loan"}
    )
    assert Change.of(loan, 5000, 3000).title == "smaller loan"
    assert Change.of(loan, 3000, 5000).title == "higher loan amount"
    job = Feature("job", "ordinal", levels=("none", "some", "years"), phrases={"more": "longer in the job"})
    assert Change.of(job, "none", "some").title == "longer in the job"
    assert Change.of(job, "years", "some").title == "job: some"
    assert str(Change.of(job, "none", "some")) == "Raise job from “none” to “some”"
    unknown = Feature("x", range=(0, 9), missing=True, phrases={"less": "fewer"})
    assert Change.of(unknown, None, 2.0).title == "x: 2"


def test_a_name_is_plain_text():
    with pytest.raises(InputError, match=r"'duration' mentions .after.; a name is plain text"):
        months(phrases={"less": "within {after}"})


def test_names_are_translated_and_kept_in_files():
    space = ActionSpace.from_toml(
        "[features.amount]\nrange = [0, 9000]\nphrases = { less = 'smaller loan' }\n"
        "[features.amount.de]\nphrases = { less = 'kleinerer Kredit' }\n"
    )
    again = ActionSpace.from_toml(space.to_toml())
    with speaking("de"):
        assert Change.of(again.feature("amount"), 5.0, 3.0).title == "kleinerer Kredit"
    with speaking("es"):
        assert Change.of(again.feature("amount"), 5.0, 3.0).title == "smaller loan"


def test_a_level_has_words_of_its_own():
    job = Feature(
        "job",
        "ordinal",
        levels=("unemployed", "some", "years"),
        phrases={"up": "Stay until “{after}”", "some": "Find a job (now: {before})", "more": "work"},
        translations={"de": {"phrases": {"some": "Eine Stelle finden"}}},
    )
    assert str(Change.of(job, "unemployed", "some")) == "Find a job (now: unemployed)"
    assert str(Change.of(job, "some", "years")) == "Stay until “years”"
    with speaking("de"):
        assert str(Change.of(job, "unemployed", "some")) == "Eine Stelle finden"
    with pytest.raises(InputError, match="none"):
        Feature("job", "ordinal", levels=("a", "b"), phrases={"none": "Find a job"})


def test_a_number_has_words_of_its_own_for_some_values():
    cards = Feature(
        "cards",
        "numeric",
        range=(0, 9),
        step=1,
        phrases={
            "down": "Pay off {by} of {before} cards",
            "0": "Pay off all cards",
            "less": "fewer cards",
            "names": {"0": "no cards"},
        },
    )
    fewer, none = Change.of(cards, 3.9, 1.0), Change.of(cards, 3.9, 0.0)
    assert (str(fewer), fewer.title) == ("Pay off 3 of 4 cards", "fewer cards")
    assert (str(none), none.title) == ("Pay off all cards", "no cards")
    assert (
        str(Change.of(cards, 1.2, 1.0)) == "Pay off 0.2 of 1.2 cards"
    )  # rounded, nothing would be left to do
    again = ActionSpace.from_toml(ActionSpace([cards]).to_toml())
    assert Change.of(again.feature("cards"), 3.0, 0.0).title == "no cards"


@pytest.mark.parametrize(
    ("names", "sentence"),
    [
        ("a job", "names in the phrases of 'duration'"),
        ({"some": "a job"}, "a number"),
        ({"1": "{after} month"}, "a name is plain text"),
    ],
)
def test_names_that_could_not_be_said_are_refused(names, sentence):
    with pytest.raises(InputError, match=sentence):
        months(phrases={"names": names})

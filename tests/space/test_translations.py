"""A feature's words in several languages: said in the one in use, never part of what a value means."""

import pickle

import pytest

import reap
from reap.language import speaking
from reap.space import Change, Feature

TEXT = """
[space]
title = "Loans"

[features.duration]
kind = "integer"
range = [4, 72]
label = "Loan duration"
unit = "months"
phrases = { down = "Repay within {after:month|months}" }

[features.duration.de]
label = "Laufzeit"
unit = "Monat|Monate"
phrases = { down = "In {after:Monat|Monaten} zurückzahlen" }

[features.amount]
kind = "numeric"
range = [250, 20000]
step = 0.5
label = "Loan amount"
unit = "DM"

[features.amount.de]
label = "Kreditbetrag"

[features.home]
kind = "categorical"
levels = ["rented", "owned"]
label = "Housing"

[features.home.de]
label = "Wohnung"
levels = ["gemietet", "im Eigentum"]
"""


@pytest.fixture
def space():
    return reap.ActionSpace.from_toml(TEXT)


def test_labels_units_levels_and_phrases_follow_the_language(space):
    duration, amount, home = space.features
    assert (duration.label, duration.show(1), duration.show(12)) == ("Loan duration", "1 month", "12 months")
    with speaking("de"):
        assert (duration.label, duration.show(1), duration.show(12)) == ("Laufzeit", "1 Monat", "12 Monate")
        assert amount.show(1234.5) == "1.234,5 DM"
        assert home.show("owned") == "im Eigentum"
        assert str(Change.of(duration, 24, 12)) == "In 12 Monaten zurückzahlen"
        assert Change.of(amount, 5000, 1250).label == "Kreditbetrag"
    with speaking("es"):  # not translated: the file's own words, numbers all the same
        assert (duration.label, amount.show(1234.5)) == ("Loan duration", "1.234,5 DM")


def test_files_and_digests_do_not_depend_on_the_language(space):
    written, digest = space.to_toml(), space.digest
    with speaking("de"):
        again = reap.ActionSpace.from_toml(space.to_toml())
        assert again.to_toml() == written
        assert again.digest == digest
        assert again == space
    with speaking("de"):
        back = pickle.loads(pickle.dumps(space))
    assert back.feature("duration").label == "Loan duration"
    assert back.to_toml() == written


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ({"fr": {"label": "Durée"}}, "there is no language for 'x' 'fr'"),
        ({"de": {"tone": "du"}}, "there is no word in"),
        ({"de": {"label": 3}}, "label of 'x' in 'de' is 3"),
        ({"de": "Wohnung"}, "must be a table"),
        ({"de": {"levels": ["nur eins"]}}, "has 2 levels and 1 in 'de'"),
        ({"de": {"levels": {"c": "Z"}}}, "there is no level of 'x' 'c'"),
        ({"de": {"phrases": {"up": "{nothing}"}}}, "mentions {nothing}"),
    ],
)
def test_what_cannot_be_said_is_refused(words, said):
    with pytest.raises(reap.InputError, match=said):
        Feature("x", "categorical", levels=("a", "b"), translations=words)

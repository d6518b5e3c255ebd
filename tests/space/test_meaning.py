"""What a decision is about, in plain words, in files and in questions."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest

import reap
from reap.elicitation import Question
from reap.language import speaking
from reap.plan import Plan
from reap.space.words import lowered

TEXT = """
[space]
title = "A flat"
about = "You asked for a flat."
yes = "you would get the flat"

[space.de]
title = "Eine Wohnung"
yes = "bekämen Sie die Wohnung"

[features.debts]
kind = "integer"
range = [0, 9]
direction = "down"
pace = "1 every 2 months"
phrases = { down = "Pay off {by} of {before} debts", less = "fewer debts" }

[features.hours]
kind = "integer"
range = [0, 9]
direction = "up"
pace = "1 a month"
phrases = { up = "Work {after} hours", more = "more work" }

[features.rent]
kind = "integer"
range = [0, 9]
direction = "down"
when = "application"
phrases = { down = "Look for a rent of {after}", less = "lower rent" }
"""
NOW = {"debts": 5, "hours": 3, "rent": 5}


@pytest.fixture
def space():
    return reap.ActionSpace.from_toml(TEXT)


def asked(space, *changed, **facts):
    rows = space.encode(pd.DataFrame([NOW, *({**NOW, **each} for each in changed)]))
    plans = [Plan(space, np.stack([rows[0], row]), np.array([0.2, 0.8])) for row in rows[1:]]
    return Question("0-1", 1, tuple(plans), **facts)


def test_what_it_means_is_kept_in_files_pickles_and_limits_and_said_in_the_language_in_use(space):
    for again in (
        space,
        reap.ActionSpace.from_toml(space.to_toml()),
        pickle.loads(pickle.dumps(space)),
        space.tighten(space.limits(fixed=["rent"])),
        space.keeping(pd.DataFrame({"region": ["north", "south"]})),
    ):
        about, yes = "You asked for a flat.", "you would get the flat"
        assert (again.heading, again.meaning.said("about"), again.meaning.said("yes")) == (
            "A flat",
            about,
            yes,
        )
        with speaking("de"):
            assert (again.heading, again.meaning.said("about")) == ("Eine Wohnung", about)
            assert again.meaning.said("yes") == "bekämen Sie die Wohnung"
        with speaking("es"):  # has none: as the file has it
            assert again.heading == "A flat"
    assert space.digest == reap.ActionSpace(space.features).digest  # words change no meaning of a vector


def test_a_question_says_what_the_yes_is(space):
    def promise(*changed, **facts):
        return asked(space, *changed, **facts).promise

    other = {"debts": 4}, {"hours": 4}
    equal = "Nothing else has to change."
    assert promise(*other) == f"Either way, you would get the flat. {equal}"
    assert promise(*other, {"rent": 4}) == f"Whichever you choose, you would get the flat. {equal}"
    alone = "These are only steps. More may be needed for a yes."
    assert promise(*other, whole=False) == alone
    with speaking("de"):
        assert promise(*other) == "So oder so bekämen Sie die Wohnung. Sonst muss sich nichts ändern."


def test_two_changes_are_joined_by_and_and_more_have_a_name(space):
    question = asked(space, {"debts": 4, "rent": 4}, {"hours": 4, "debts": 3, "rent": 4}, {"rent": 4})
    assert str(question) == (
        "Question 1. Which would be easiest for you?\n"
        "All options include this: look for a rent of 4.\n"
        "  A  Pay off 1 of 5 debts\n"
        "     All of it takes 2 months\n"
        "  B  Pay off 2 of 5 debts, and\n"
        "     work 4 hours\n"
        "     All of it takes 4 months\n"
        "  C  Nothing more\n"
        "     This can be done at once\n"
        "Whichever you choose, you would get the flat. Nothing else has to change.\n"
        "As far as we know these take you about the same effort; your answer tells which you mind more."
    )
    more = asked(space, {"debts": 4, "rent": 4, "hours": 4}, {"debts": 3})
    assert more.titles == ("more work, lower rent and other changes", "fewer debts (3)")
    assert "  A  More work, lower rent and other changes\n     Pay off 1 of 5 debts, and\n" in str(more)


def test_what_all_ask_for_is_joined_by_and(space):
    question = asked(space, {"debts": 4, "rent": 4, "hours": 4}, {"debts": 4, "rent": 4, "hours": 5})
    assert (
        question.also
        == "Both options include this: pay off 1 of 5 debts and look for a rent of 4. Each option takes 2 months in all."
    )


def test_when_one_could_try_again_is_said_in_the_space_s_own_words(space):
    again = TEXT.replace(
        "[space.de]", 'ready = "Ask again {time}"\n\n[space.de]\nready = "Neue Anfrage {time}"'
    )
    again = reap.ActionSpace.from_toml(reap.ActionSpace.from_toml(again).to_toml())
    options = {"debts": 4}, {"rent": 4}
    assert asked(again, *options).ready == ("Ask again in 2 months", "Ask again at once")
    with speaking("de"):
        assert asked(again, *options).ready == ("Neue Anfrage in 2 Monaten", "Neue Anfrage sofort")
        assert asked(space, *options).ready == ("Das dauert 2 Monate", "Das geht sofort")


def test_the_same_time_stands_above_the_options(space):
    again = reap.ActionSpace.from_toml(TEXT.replace("[space.de]", 'ready = "Ask again {time}"\n\n[space.de]'))
    same, both = ({"debts": 4}, {"hours": 5}), ({"debts": 4, "rent": 4}, {"hours": 5, "rent": 4})
    assert asked(again, *same).ready == ("", "")
    assert asked(space, *same).also == "Both take 2 months."
    assert (
        asked(space, *both).also
        == "Both options include this: look for a rent of 4. Each option takes 2 months in all."
    )
    assert asked(space, *same, {"hours": 5, "rent": 4}).also == "All of them take 2 months."
    assert asked(again, *same).also == "Ask again in 2 months, whichever you choose."
    assert (
        asked(again, *both).also == "Both options include this: look for a rent of 4. Ask again in 2 months."
    )
    assert asked(again, {"rent": 4}, {"rent": 3}).also == ""  # at once


LASTING = TEXT.replace(
    'phrases = { up = "Work {after} hours", more = "more work" }',
    'phrases = { up = "Work {after} hours for {months:month|months}", more = "more work" }\n\n'
    "[features.room]\nkind = 'integer'\nrange = [0, 9]\ndirection = 'down'\npace = '1 every 3 months'\n\n"
    "[features.years]\nrange = [0, 99]\nkind = 'integer'\nclock = 'years'",
).replace('yes = "you would', 'rules = ["if debts becomes 0 then room is at most 1"]\nyes = "you would')
LATER = {**NOW, "room": 5, "years": 30}


def lasting(*changed):
    """A question in a space where a doing says how many months it goes on, and a rule entails a slower change."""
    space = reap.ActionSpace.from_toml(LASTING)
    rows = space.encode(pd.DataFrame([LATER, *({**LATER, **each} for each in changed)]))
    ends = space.legal.follow(rows[1:], rows[0])
    return Question("0-1", 1, tuple(Plan(space, np.stack([rows[0], e]), np.array([0.2, 0.8])) for e in ends))


def test_a_time_within_an_option_does_not_contradict_the_time_of_all_of_it():
    """Not "work 5 hours for 2 months, and pay off 2 debts; this takes 4 months": where do the other two come from?"""
    question = lasting({"debts": 3, "hours": 5}, {"hours": 8})
    assert (
        "  A  Pay off 2 of 5 debts, which takes 4 months, and\n"
        "     during that time, work 5 hours for 2 months\n"
        "     This takes 4 months\n"
        "  B  Work 8 hours for 5 months\n"
        "     This takes 5 months\n"
    ) in str(question)
    clear = lasting({"debts": 3, "hours": 7}, {"hours": 8})  # both take 4 months
    assert "  A  Pay off 2 of 5 debts, and\n     work 7 hours for 4 months\n" in str(clear)


def test_a_time_that_a_rule_asks_for_is_said_of_what_asks_for_it():
    question = lasting({"debts": 0, "room": 1, "hours": 4}, {"hours": 8})
    assert "  A  Pay off 5 of 5 debts, which takes 12 months, and\n     during that time, work 4" in str(
        question
    )


def test_what_both_ask_for_says_its_time_too():
    question = lasting({"debts": 3, "hours": 5, "rent": 4}, {"debts": 3, "hours": 6})
    assert question.also == (
        "Both options include this: pay off 2 of 5 debts, which takes 4 months. Each option takes 4 months in all."
    )


def test_waiting_is_called_waiting():
    space = reap.ActionSpace.from_toml(LASTING)
    rows = space.encode(pd.DataFrame([LATER, {**LATER, "hours": 5, "years": 31}, {**LATER, "debts": 4}]))
    plans = [Plan(space, np.stack([rows[0], row]), np.array([0.2, 0.8])) for row in rows[1:]]
    assert Question("0-1", 1, tuple(plans)).ready == (
        "This takes 12 months; the rest of that time is waiting",
        "This takes 2 months",
    )


def test_german_keeps_the_capitals_of_its_nouns_only():
    with speaking("de"):
        said = [
            lowered(said)
            for said in ("Eine Stelle finden", "Anteil senken", "Ihren Kredit abzahlen", "Zu sparen beginnen")
        ]
    assert said == ["eine Stelle finden", "Anteil senken", "Ihren Kredit abzahlen", "zu sparen beginnen"]

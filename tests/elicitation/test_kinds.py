"""Two kinds of questions, "neither of these", and "none of these"."""

from __future__ import annotations

import numpy as np
import pytest

import reap
from reap import Elicitation, InputError
from reap.elicitation.choosing import aside
from reap.elicitation.pool import key


@pytest.fixture(scope="module")
def hold(german_engine, german_rejected):
    """A session answered to its end; returns it with the questions and what was announced."""

    def run(i, **options):
        session = german_engine.elicit(german_rejected.iloc[i], **options)
        person = reap.subjects.Mahalanobis.random(session.space.dimension, np.random.default_rng(i))
        asked = []
        while question := session.ask():
            asked.append((question, session.progress))
            session.answer(person.answer(question))
        return session, asked

    return run


def test_two_plans_or_two_steps_each_with_its_own_words(hold):
    seen = set()
    for i in range(8):
        for question, _ in hold(i, questions=4)[1]:
            seen.add(question.whole)
            text = str(question)
            assert ("Which would be easier for you?" in text) == question.whole
            assert ("Which of these steps is easier to do?" in text) != question.whole
            assert ("More may be needed for a yes" in text) != question.whole
    assert seen == {True, False}, "eight people were asked about one kind only"


def test_neither_drops_exactly_what_is_ticked_and_says_so(german_engine, german_rejected):
    session = german_engine.elicit(german_rejected.iloc[0], questions=6)
    question = session.ask()
    apart = [{change.feature for change in option.changes} for option in question.options]
    name = sorted(apart[0] ^ apart[1])[0]
    other = next(option for option, named in zip(question.options, apart, strict=True) if name not in named)
    session.answer("neither", impossible=[name])
    given = session.history[-1]
    label = session.space.feature(name).label
    assert label.lower() in given.dropped.lower()
    assert session.limits.fixed == (name,)
    assert not aside(session, session.pool).any()  # nothing else went
    if question.whole:
        assert key(other) in {key(plan) for plan in session.pool}
    while (later := session.ask()) is not None:
        assert all(name not in {c.feature for c in option.changes} for option in later.options)
        session.answer("right")
    assert session.recommend().valid
    assert all(name not in {c.feature for c in plan.changes} for plan in [session.recommend(), *session.pool])


def test_neither_without_a_tick_sets_these_aside_and_says_so(german_engine, german_rejected):
    session = german_engine.elicit(german_rejected.iloc[0], questions=6)
    question = session.ask()
    session.answer("neither")
    assert session.limits == reap.Limits()
    assert "We will not show these again" in session.history[-1].dropped
    shown = {key(option) for option in question.options}
    while (later := session.ask()) is not None:
        assert not shown & {key(option) for option in later.options}
        session.answer(0)
    session.revise(0, 0)
    assert session.history[0].dropped == ""


def test_none_of_these_sets_the_plans_aside_and_questions_go_on(hold, german_engine):
    session, _ = hold(0, questions=2)
    shown, answered = session.plans(), session.answered
    assert session.ask() is None
    session.refuse()
    again = Elicitation.from_json(session.to_json(), german_engine)
    refused = [plan.path[-1].tobytes() for plan in shown]
    assert session.recommend().path[-1].tobytes() not in refused
    question = session.ask()
    assert question is not None
    assert not {option.path[-1].tobytes() for option in question.options} & set(refused)
    assert again.ask().id == question.id
    assert session.progress.most == 2
    session.undo()
    assert session.ask() is None
    assert session.answered == answered
    assert session.recommend().path[-1].tobytes() in refused


def test_none_of_these_can_name_what_is_impossible(hold):
    session, _ = hold(0, questions=1)
    name = session.recommend().changes[0].feature
    session.refuse(impossible=name)
    assert name in session.limits.fixed
    assert all(change.feature != name for change in session.recommend().changes)


def test_there_must_be_a_plan_to_refuse(german_engine, german_rejected):
    session = german_engine.elicit(german_rejected.iloc[0])
    with pytest.raises(InputError, match="no plan to refuse"):
        session.refuse([])
    session.screen([])
    with pytest.raises(InputError, match="no plan to refuse"):
        session.refuse()

"""Answers that count: what is set aside stays aside, what was just refused is not recommended, other plans are really others."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import reap
from reap import Elicitation
from reap.elicitation.pool import key
from reap.recourse.reduce import asks_no_more

SAID = st.lists(
    st.sampled_from(["person", "person", "person", "left", "right", "neither", "skip", "same"]),
    min_size=1,
    max_size=8,
)


def change(plan):
    return plan.path[-1] - plan.path[0]


def just_refused(session):
    """The plans that the last answer refused in favour of another, with that one; straight from the answers."""
    question, choice, _ = session.history[-1]
    if isinstance(choice, int) and question.whole:
        yield from ((o, question.options[choice]) for i, o in enumerate(question.options) if i != choice)


@settings(max_examples=12, deadline=None)
@example(["person"], 20, 3, 2)  # a plan that lost to a part
@given(SAID, st.integers(0, 30), st.integers(0, 40), st.sampled_from([2, 3]))
def test_what_was_set_aside_or_just_refused_is_not_recommended(
    german_engine, german_rejected, said, seed, row, options
):
    session = german_engine.elicit(german_rejected.iloc[row], questions=8, options=options, random_state=seed)
    person = reap.subjects.Mahalanobis.random(session.space.dimension, np.random.default_rng(seed), lapse=0.2)
    aside: list[reap.Plan] = []
    open_: list[reap.Plan] = []
    for word in said:
        question = session.ask()
        if question is None:
            break
        words = {"person": person.answer(question), "left": 0, "right": 1}
        session.answer(words.get(word, word))
        aside += question.options if word == "neither" else []
        open_ = [
            plan
            for plan in session.pool
            if not any(asks_no_more(change(a)[None], change(plan)[None]) for a in aside)
        ]
        shown = session.ask()
        for option in shown.options if shown else ():
            assert key(option) not in {key(a) for a in aside}
        best = session.recommend()
        assert not open_ or key(best) not in {key(a) for a in aside}
        left = {key(plan) for plan in open_}
        for loser, winner in just_refused(session):
            if key(winner) in left:
                assert key(best) != key(loser)
    again = Elicitation.from_json(session.to_json(), german_engine)
    assert key(again.recommend()) == key(session.recommend())
    for plan in session.plans(3):
        assert plan.valid
        assert not open_ or key(plan) not in {key(a) for a in aside}


def test_where_nothing_else_is_left_the_plan_set_aside_comes_back(german_engine, german_rejected):
    session = german_engine.elicit(german_rejected.iloc[0], questions=50)
    while session.ask():
        session.answer("neither")
    assert session.recommend().valid  # there may be one plan alone that was never shown
    assert session.answered == 0


def test_a_refused_plan_may_win_again_if_later_answers_say_so(german_engine, german_rejected):
    """One slip takes nothing away for good: all other answers say what the person would choose."""
    came_back = 0
    for row in range(12):
        session = german_engine.elicit(german_rejected.iloc[row], questions=8)
        d = session.space.dimension
        person = reap.subjects.Mahalanobis.random(d, np.random.default_rng(row))
        slipped = None
        while (question := session.ask()) is not None:
            choice = person.answer(question)
            if slipped is None and question.whole:  # the first answer about plans is a slip
                slipped, choice = key(question.options[choice]), 1 - choice
                session.answer(choice)
                assert key(session.recommend()) != slipped
                continue
            session.answer(choice)
        came_back += slipped is not None and key(session.recommend()) == slipped
    assert came_back >= 1


@pytest.mark.parametrize("row", [0, 3, 7])
def test_other_plans_are_clearly_different(german_engine, german_rejected, row):
    session = german_engine.elicit(german_rejected.iloc[row], questions=2)
    while session.ask():
        session.answer("left")
    plans = session.plans(3)
    assert key(plans[0]) == key(session.recommend())
    features = [{c.feature for c in plan.changes} for plan in plans]
    for first, second in itertools.combinations(features, 2):
        assert first != second
    for plan in plans[1:]:
        assert session.effort(plan) <= 2 * session.effort(plans[0]) * (1 + 1e-9)
        before = set().union(*(f for f, p in zip(features, plans, strict=True) if p is not plan))
        shares = "It shares" in plan.note
        assert shares or not before & {c.feature for c in plan.changes} or plan is plans[1]
    assert len(session.plans(1)) == 1

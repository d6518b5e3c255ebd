"""The screening: what could change at all becomes limits, how hard it is becomes the prior, and both can be taken back."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reap import Elicitation, InputError


@pytest.fixture
def session(german_engine, german_rejected):
    return german_engine.elicit(german_rejected.iloc[0], questions=3)


def test_what_is_not_named_stays_as_it_is_in_every_option_and_plan(session):
    offered = session.changeable
    named = offered[:2]
    session.screen(named)
    assert set(session.limits.fixed) == set(offered) - set(named)
    while question := session.ask():
        assert all(change.feature in named for option in question.options for change in option.changes)
        session.answer("left")
    assert {change.feature for change in session.recommend().changes} <= set(named)


def test_difficulties_set_the_prior(session, german_engine, german_rejected):
    first, second = session.changeable[:2]
    session.screen([first, second], difficulty={first: 5, second: 1})
    assert session.difficulties == {first: 5, second: 1}
    A, columns = session.belief.estimate(), session.space.slices
    assert A.diagonal()[columns[first]].mean() > 5 * A.diagonal()[columns[second]].mean()
    by_hand = german_engine.elicit(german_rejected.iloc[0], questions=3)
    by_hand.constrain(first, difficulty=5)
    by_hand.constrain(second, difficulty=1)
    assert (by_hand.belief.estimate() == A).all()


def test_a_skipped_screening_says_nothing_and_is_not_asked_again(session, german_engine):
    before = session.limits, session.belief.estimate().tobytes()
    assert not session.screened
    session.screen(None)
    assert session.screened
    assert (session.limits, session.belief.estimate().tobytes()) == before
    assert Elicitation.from_json(session.to_json(), german_engine).screened
    session.undo()
    assert not session.screened


def test_another_screening_replaces_the_first(session):
    offered = session.changeable
    session.constrain(offered[-1], fixed=True)
    session.screen(offered[:1])
    session.screen(offered[:2])
    assert set(session.limits.fixed) == set(offered[2:])
    session.screen(None)
    assert session.limits.fixed == (offered[-1],)  # said apart from the screening
    assert session.changeable == offered[:-1]


def test_limits_that_leave_no_value_leave_nothing_to_change_and_the_plan_says_why(
    german_engine, german_rejected
):
    levels = german_engine.space.feature("status").levels
    session = german_engine.elicit(
        german_rejected.iloc[0], limits=german_engine.space.limits(exclude={"status": levels[:3]})
    )
    assert session.changeable == []
    with pytest.raises(InputError, match="'amount' cannot change: within the limits nothing can; relax one"):
        session.screen(["amount"])
    session.screen(None)
    assert session.ask() is None
    assert "No value of 'Checking account' is left to choose" in str(session.recommend())


def test_a_limit_of_the_screening_can_be_released(session):
    offered = session.changeable
    session.screen(offered[:1])
    session.release(offered[1])
    assert offered[1] not in session.limits.fixed
    assert offered[2] in session.limits.fixed


def test_somebody_who_can_change_nothing_gets_no_question_and_no_plan(session):
    session.screen([])
    assert session.ask() is None
    assert session.recommend().status != "ok"
    session.undo()
    assert session.recommend().status == "ok"


@settings(max_examples=10, deadline=None)
@given(st.data())
def test_undo_and_replay_restore_the_state(german_engine, german_rejected, data):
    session = german_engine.elicit(german_rejected.iloc[1], questions=2)
    if session.ask() is not None and data.draw(st.booleans()):
        session.answer("left")
    before = session.to_json(), session.belief.estimate().tobytes(), session.limits
    named = data.draw(st.lists(st.sampled_from(session.changeable), unique=True))
    levels = data.draw(st.fixed_dictionaries({}, optional=dict.fromkeys(named, st.integers(1, 5))))
    session.screen(named, difficulty=levels)
    session.ask()
    session.recommend()
    again = Elicitation.from_json(session.to_json(), german_engine)
    assert again.to_json() == session.to_json()
    assert (again.limits, again.difficulties) == (session.limits, session.difficulties)
    assert again.belief.estimate().tobytes() == session.belief.estimate().tobytes()
    session.undo()
    assert (session.to_json(), session.belief.estimate().tobytes(), session.limits) == before


def test_bad_input_is_refused_and_nothing_happens(session):
    name = session.changeable[0]
    refused = [
        ({"changeable": "amount"}, "give a list of names"),
        ({"changeable": ["amonut"]}, "amonut"),
        ({"changeable": ["age"]}, "not for this person to change"),
        ({"changeable": [], "difficulty": {name: 2}}, "not among what is changeable"),
        ({"changeable": [name], "difficulty": {name: 6}}, "1 \\(very easy\\) to 5"),
        ({"changeable": None, "difficulty": {name: 2}}, "skipped screening says nothing"),
    ]
    for given_, message in refused:
        with pytest.raises(InputError, match=message):
            session.screen(**given_)
    assert session.revision == 0
    assert not session.screened

"""A second look: an answer that was not expected may be given again, once, and the later one counts."""

from __future__ import annotations

import json

import pytest

import reap
from reap import Elicitation, InputError
from reap.elicitation.options import key
from reap.elicitation.second_look import DOUBT


class Slipping:
    """Somebody who chooses what they are least expected to choose, of plans: every answer is a surprise."""

    def __init__(self, session: Elicitation) -> None:
        self.session = session

    def answer(self, question: reap.Question) -> int:
        if question.kind == "warm-up":  # it does not count
            return 0
        moves = self.session.pool.priced(question.options)
        return int(self.session.belief.choice_probabilities(moves).argmin())


@pytest.fixture(scope="module")
def seen(german_engine, german_rejected):
    """Sessions with people who answer against what is expected, up to their second look."""
    found = []
    for i in range(20):
        session = german_engine.elicit(german_rejected.iloc[i], questions=6, warm_up=True, held_out=True)
        while (question := session.ask()) is not None and question.kind != "second look":
            session.answer(Slipping(session).answer(question))
        if question is not None:
            found.append(session)
    assert len(found) >= 5, "hardly anybody was asked to look again"
    return found


def again(session, engine):
    return Elicitation.from_json(session.to_json(), engine)


def test_it_shows_two_plans_that_were_compared_and_says_what_was_chosen(seen):
    for session in seen:
        question = session.ask()
        names = {key(option) for option in question.options}
        before = [(q, c) for q, c in session.history if names <= {key(option) for option in q.options}]
        assert len(before) == 1
        asked, choice = before[0]
        assert asked.kind == "question"
        assert key(question.options[question.earlier]) == key(asked.options[choice])
        said = str(question)
        assert "a second look" in said
        assert f"and chose {'AB'[question.earlier]}." in said
        likely = session.belief.choice_probabilities(session.pool.priced(question.options))
        assert likely[question.earlier] < DOUBT


@pytest.mark.parametrize("other", [False, True])
def test_the_later_answer_counts_and_nothing_is_asked_a_third_time(seen, german_engine, other):
    for kept in seen:
        session = again(kept, german_engine)
        question = session.ask()
        choice = 1 - question.earlier if other else question.earlier
        session.answer(choice)
        loser = session._verdicts().beaten([question.options[1 - choice]])
        assert loser.all()
        names = {key(option) for option in question.options}
        while (later := session.ask()) is not None:
            assert not names <= {key(option) for option in later.options}
            session.answer(Slipping(session).answer(later))
        assert session.answered <= 7  # one more where the last was predicted


def test_what_was_taken_back_is_no_contradiction(seen, german_engine):
    for kept in seen:
        session = again(kept, german_engine)
        question = session.ask()
        session.answer(1 - question.earlier)
        told = [q for q, c in session.history if c not in ("neither", "skip")]
        names = {key(option) for option in question.options}
        first = next(i for i, q in enumerate(told) if names <= {key(option) for option in q.options})
        assert all(first not in group for group in session.conflicts())


def test_a_session_comes_back_to_its_second_look(seen, german_engine):
    for session in seen:
        back = again(session, german_engine)
        assert back.ask().earlier == session.ask().earlier
        assert str(back.ask()) == str(session.ask())
        back.answer("skip")
        back.undo()
        assert str(back.ask()) == str(session.ask())


@pytest.mark.parametrize("wrong", [None, 2, -1, True, "A"])
def test_a_damaged_second_look_is_refused(seen, german_engine, wrong):
    log = json.loads(seen[0].to_json())
    log["events"][-1]["question"]["earlier"] = wrong
    with pytest.raises(InputError, match="is not one"):
        Elicitation.from_json(json.dumps(log), german_engine)


def test_nobody_who_answers_as_expected_is_asked_again(german_engine, german_rejected):
    for i in range(8):
        session = german_engine.elicit(german_rejected.iloc[i], questions=6)
        while (question := session.ask()) is not None:
            assert question.kind == "question"
            moves = session.pool.priced(question.options)
            likely = session.belief.choice_probabilities(moves)
            if likely.max() < DOUBT:  # an open question; whatever is said is no surprise
                session.answer("same")
            else:
                session.answer(int(likely.argmax()))

"""Questions that do not count, questions whose answer was predicted, and "none of these"."""

from __future__ import annotations

import json

import numpy as np
import pytest

import reap
from reap import Elicitation, InputError
from reap.batch import answers_of
from reap.elicitation import Prediction
from reap.elicitation.options import key
from reap.elicitation.prediction import held_out
from reap.elicitation.warm_up import warm_up


@pytest.fixture(scope="module")
def hold(german_engine, german_rejected):
    """A session with both kinds, answered to its end; returns it with the questions and what was announced."""

    def run(i, **options):
        session = german_engine.elicit(
            german_rejected.iloc[i], **{"warm_up": True, "held_out": True} | options
        )
        person = reap.subjects.Mahalanobis.random(session.space.dimension, np.random.default_rng(i))
        asked = []
        while question := session.ask():
            asked.append((question, session.progress))
            session.answer(person.answer(question))
        return session, asked

    return run


@pytest.fixture(scope="module")
def held(hold):
    """The first person with a warm-up and a held-out question."""
    for i in range(12):
        session, asked = hold(i, questions=3)
        if [q.kind for q, _ in asked[:1] + asked[-1:]] == ["warm-up", "held-out"]:
            return session, asked
    raise AssertionError("nobody of twelve had a warm-up and a held-out question")


def test_one_warm_up_first_one_held_out_last(held):
    _, asked = held
    assert [question.kind for question, _ in asked] == [
        "warm-up",
        *["question"] * (len(asked) - 2),
        "held-out",
    ]
    assert [question.number for question, _ in asked] == [1, *range(1, len(asked))]
    assert "does not count" in str(asked[0][0])
    assert "We have predicted your answer" in str(asked[-1][0])


def test_no_more_questions_come_than_were_announced(held):
    _, asked = held
    for place, (_, progress) in enumerate(asked):
        assert progress.least <= len(asked) - place <= progress.most


@pytest.mark.parametrize("answer", ["left", "right", "same"])
def test_a_warm_up_teaches_nothing(german_engine, held, answer):
    log = json.loads(held[0].to_json())
    log["events"] = log["events"][:2]
    session = Elicitation.from_json(json.dumps(log), german_engine)
    assert session.ask().kind == "warm-up"
    belief = session.belief.estimate()
    session.answer(answer)
    assert (session.belief.estimate() == belief).all()
    assert not session._verdicts().beaten(session.pool.plans).any()
    assert session.answered == 0
    assert session.history == []


def test_for_a_warm_up_nothing_is_searched_and_nothing_kept(german_engine, german_rejected, monkeypatch):
    asked, plans = [], type(german_engine).plans
    monkeypatch.setattr(
        reap.Recourse,
        "plans",
        lambda self, x, A, limits=None: asked.append(len(A)) or plans(self, x, A, limits),
    )
    session = german_engine.elicit(german_rejected.iloc[0], warm_up=True)
    first = session.ask()
    assert first.kind == "warm-up"
    assert all(option.valid for option in first.options)
    assert asked == []
    assert not len(session.pool)
    again = reap.Elicitation.from_json(session.to_json(), german_engine)
    assert [key(option) for option in again.ask().options] == [key(option) for option in first.options]
    session.answer("left")
    assert session.ask().kind == "question"
    assert asked == [25]
    assert len(session.pool) > 1


def test_where_nothing_can_warm_up_the_first_question_counts(german_engine, german_rejected, monkeypatch):
    monkeypatch.setattr("reap.elicitation.asking.warm_up", lambda *given: None)
    session, plain = (german_engine.elicit(german_rejected.iloc[0], warm_up=warm) for warm in (True, False))
    assert session.ask().kind == "question"
    assert {key(plan) for plan in session.pool} == {key(plan) for plan in plain_pool(plain)}


def plain_pool(session):
    session.ask()
    return session.pool


def test_questions_are_numbered_from_one_after_the_person_has_moved_on(german_engine, german_rejected):
    """The warm-up of before was taken off once more: people read "Question 0", and the session could not be loaded."""
    session = german_engine.elicit(german_rejected.iloc[0], warm_up=True)
    assert session.ask().kind == "warm-up"
    session.answer("left")
    assert session.ask().number == 1
    session.answer("left")
    assert session.ask().number == 2
    moved = german_rejected.iloc[0].copy()
    moved["duration"] += 1
    session.replan(moved)
    assert session.ask().kind == "warm-up"
    session.answer("left")
    assert session.ask().number == 1
    assert Elicitation.from_json(session.to_json(), german_engine).ask().number == 1


def test_a_warm_up_honours_what_cannot_be_done(german_engine, held):
    log = json.loads(held[0].to_json())
    log["events"] = log["events"][:2]
    session = Elicitation.from_json(json.dumps(log), german_engine)
    name = session.ask().options[0].changes[0].feature
    session.answer("neither", impossible=[name])
    assert name in session.limits.fixed
    assert session.ask() is None or session.ask().kind == "question"


def test_the_prediction_is_in_the_log_before_the_answer_and_comes_back(held, german_engine):
    session, asked = held
    question = asked[-1][0]
    assert session.prediction == Prediction(question.predicted, question.probability, session.history[-1][1])
    assert 0.5 <= question.probability <= 1
    events = json.loads(session.to_json())["events"]
    written = [e["question"] for e in events if e["type"] == "asked" and e["question"]]
    assert written[-1]["predicted"] == question.predicted
    again = Elicitation.from_json(session.to_json(), german_engine)
    assert again.prediction == session.prediction
    again.undo()
    assert again.prediction.answer is None
    assert again.prediction.hit is None


def test_revising_counts_questions_without_the_warm_up(held, german_engine):
    session = Elicitation.from_json(held[0].to_json(), german_engine)
    first, choice = session.history[0]
    assert first.kind == "question"
    session.revise(0, 1 - choice)
    assert session.history[0][1] == 1 - choice


def test_the_table_of_answers_leaves_the_warm_up_out(held):
    assert len(answers_of(held[0], row_id=1)) == len(held[1]) - 1


def test_neither_is_on_unless_asked_for(hold):
    kinds = [q.kind for q, _ in hold(0, questions=2, warm_up=False, held_out=False)[1]]
    assert kinds == ["question"] * len(kinds)


def test_the_warm_up_spares_the_first_question_and_needs_another_one():
    plans = np.eye(2)
    rows = np.where(np.eye(2, dtype=bool), np.inf, 2.0)
    assert warm_up(rows, plans, reap.Posterior(2), spared=(0, 1)) is None


def test_a_question_that_everybody_answers_alike_is_not_held_out():
    plans = np.array([[1.0, 0.0], [0.0, 1.0], [9.0, 0.0]])
    rows = np.where(np.eye(3, dtype=bool), np.inf, 2.0)
    prior, rng = reap.Posterior(2), np.random.default_rng(0)
    assert {held_out(rows, plans, prior, rng) for _ in range(20)} == {(0, 1)}
    rows[0, 1] = rows[1, 0] = np.inf
    assert held_out(rows, plans, prior, rng) is None


def test_none_of_these_sets_the_plans_aside_and_questions_go_on(hold, german_engine):
    session, _ = hold(0, questions=2, warm_up=False, held_out=False)
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
    session, _ = hold(0, questions=1, warm_up=False, held_out=False)
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

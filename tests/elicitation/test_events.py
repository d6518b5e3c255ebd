"""One log: the events of a session are all it takes to bring it back, undo it, or carry it elsewhere."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reap
from reap import Elicitation, InputError
from reap.elicitation import ACTS, VERBS, Event, in_force

OWN = "bookmarked"
LOG = st.lists(st.sampled_from([*(v for v in VERBS if v != "started"), OWN]), max_size=12)


class Silent:
    """An engine that must not be asked for anything but who it is, and by its model whether the plans of a file are right."""

    def __init__(self, engine):
        self.space, self.fingerprint = engine.space, engine.fingerprint
        self.classifier_ = engine.classifier_

    def __getattr__(self, name):
        raise AssertionError(f"the engine was asked for {name}")


def by_hand(types):
    """Undo as one would do it with scissors: cut before the last act, keep what is the program's own."""
    kept = []
    for place, type_ in enumerate(types):
        if type_ != "undone":
            kept.append((place, type_))
        elif any(t in ACTS for _, t in kept):
            last = max(i for i, (_, t) in enumerate(kept) if t in ACTS)
            kept = kept[:last] + [entry for entry in kept[last:] if entry[1] == OWN]
    return kept


@given(LOG)
def test_undone_takes_the_last_act_and_what_was_shown_after_it(types):
    log = [Event(type_, {"place": i}) for i, type_ in enumerate(["started", *types])]
    assert [(e.payload["place"], e.type) for e in in_force(log)] == by_hand(["started", *types])


@given(LOG)
def test_what_is_in_force_stays_in_force(types):
    once = in_force([Event(type_, {}) for type_ in types])
    assert in_force(once) == once


def walk(session, steps):
    for step in steps:
        question = session.ask()
        match step:
            case "wish":
                session.constrain("amount", at_most=9000)
            case "hard":
                session.constrain("duration", difficulty=5)
            case "free" if "amount" in session.limits.names:
                session.release("amount")
            case "revise" if session.history:
                session.revise(0, "neither", impossible=["amount"])
            case "undo" if session.revision:
                session.undo()
            case "plan":
                session.recommend()
            case "left" | "right" | "same" | "skip" if question is not None:
                session.answer(step)
    return session


STEPS = st.lists(
    st.sampled_from(["left", "right", "same", "skip", "wish", "hard", "free", "revise", "undo", "plan"]),
    max_size=6,
)


def told(session):
    """What is known of a session without asking an engine."""
    return (
        session.belief.estimate().tobytes(),
        [plan.path.tobytes() for plan in session.pool],
        [(question.id, choice, impossible) for question, choice, impossible in session.history],
        session.limits,
        session.difficulties,
        session.revision,
        session.here.tobytes(),
    )


@settings(max_examples=12, deadline=None)
@given(STEPS)
def test_the_events_bring_a_session_back_without_asking_the_engine(german_engine, german_rejected, steps):
    session = walk(german_engine.elicit(german_rejected.iloc[0], questions=4), steps)
    session.ask()
    plan = session.recommend().to_dict(standalone=False)
    again = Elicitation.from_json(session.to_json(), Silent(german_engine))
    assert told(again) == told(session)
    assert again.recommend().to_dict(standalone=False) == plan
    assert (again.ask() and again.ask().id) == (session.ask() and session.ask().id)
    assert again.to_json() == session.to_json()


def test_an_answer_can_be_revised_and_that_undone(german_engine, german_rejected):
    session = german_engine.elicit(german_rejected.iloc[0], questions=4)
    for _ in range(2):
        session.ask()
        session.answer("left")
    session.ask()
    before, log = told(session), session.to_json()
    question = session.ask()
    name = session.history[0][0].options[0].changes[0].feature
    session.revise(0, "neither", impossible=[name])
    assert [(given.choice, given.impossible) for given in session.history] == [("neither", (name,)), (0, ())]
    assert session.answered == 1
    while asked := session.ask():
        assert all(name not in {c.feature for c in option.changes} for option in asked.options)
        session.answer("right")
    while session.events[-1].type != "revised":
        session.undo() if session.events[-1].type in ACTS else session.events.pop()
    session.undo()
    assert told(session) == before
    assert session.to_json() == log
    assert session.ask().id == question.id


def test_what_is_written_is_one_line_of_events_in_plain_words(german_engine, german_rejected):
    session = walk(german_engine.elicit(german_rejected.iloc[0]), ["left", "wish", "plan"])
    session.replan(session.recommend().start.to_frame().T.astype(german_rejected.dtypes.to_dict()))
    data = json.loads(session.to_json())
    assert [event["type"] for event in data["events"]] == [
        "started",
        "asked",
        "answered",
        "asked",
        "constrained",
        "asked",
        "recommended",
        "replanned",
    ]
    assert data["events"][4]["limits"]["at_most"] == {"amount": 9000}
    assert data["events"][6]["plan"]["changes"] == [
        str(c) for c in session.of(session.events[:7], german_engine).recommend().changes
    ]
    assert data["events"][7]["subject"] == data["events"][0]["subject"]


def test_a_session_does_not_go_on_under_another_engine_and_says_what_differs(german_engine, german_rejected):
    session = german_engine.elicit(german_rejected.iloc[0], questions=2)
    session.ask()
    text = session.to_json()
    X = german_rejected.iloc[:50]

    def other(rows):
        return german_engine.model.predict_proba(rows)[:, 1] ** 1.01

    def engine(**changed):
        return type(german_engine)(**{**german_engine.get_params(deep=False), **changed}).fit(X)

    for made, said in (
        (engine(max_changes=2), "max_changes was 3 and is 2; load it"),
        (engine(threshold=0.6), "threshold was 0.5 and is 0.6; load it"),
        (engine(model=other), "another engine: the model gives other scores; load it"),
        (
            reap.GraphRecourse(german_engine.model, german_engine.space).fit(X),
            "was Recourse and is GraphRecourse",
        ),
    ):
        with pytest.raises(InputError) as caught:
            Elicitation.from_json(text, made)
        assert said in str(caught.value)
    again = Elicitation.from_json(text, engine())  # the same, fitted on other people
    assert again.ask().id == session.ask().id


def test_an_engine_that_was_fitted_again_has_another_fingerprint():
    X = pd.DataFrame({"income": np.arange(40.0), "job": ["a", "b"] * 20, "age": [None, 30] * 20})
    space = reap.ActionSpace.from_frame(X, missing=["age"])
    engine = reap.Recourse(lambda rows: rows["income"] / 50, space).fit(X)
    known = engine.fingerprint()
    assert engine.fingerprint() == known == json.loads(json.dumps(known))
    engine.set_params(model=lambda rows: rows["income"] / 60)
    assert engine.fingerprint() == known  # not fitted yet
    assert engine.fit(X).fingerprint()["model"] != known["model"]
    with pytest.raises(InputError, match="not fitted"):
        reap.Recourse(len, space).fingerprint()

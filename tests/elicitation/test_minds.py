"""What people mind besides the changes: the number of them, and waiting."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

import reap
from reap import Elicitation, InputError
from reap.batch import answers_of
from reap.batch.answers import read
from reap.elicitation.pool import counted as counted_by_us
from reap.elicitation.pool import minded
from reap.research.humans import Minding, QuestionReader


@pytest.fixture(scope="module")
def session(german_engine, german_rejected):
    session = german_engine.elicit(german_rejected.iloc[0], questions=5)
    while session.ask():
        session.answer("left")
    assert session.answered
    return session


def test_a_plan_is_priced_with_its_changes_and_its_time(session):
    plan = session.recommend()
    k, t = counted_by_us(session.space, [plan])[0]
    assert (k, t) == (len(plan.changes), plan.months / session.space.horizon)
    A, d = session.belief.estimate(), session.space.dimension
    whole = plan.moves[0]
    beside = np.sqrt(session.pool.sizes) * [np.sqrt(k), t]
    by_hand = session.belief.expected(np.r_[whole, beside][None])[0]
    assert by_hand > session.belief.expected(np.r_[whole, 0.0, 0.0][None])[0]
    assert session.effort(plan) == pytest.approx(by_hand)
    assert plan.effort == pytest.approx(by_hand)
    assert (session.matrix == A[:d, :d]).all()


def test_scales_are_of_the_first_plans_and_come_back(session, german_engine):
    again = Elicitation.from_json(session.to_json(), german_engine)
    assert np.array_equal(again.pool.sizes, session.pool.sizes)
    first = json.loads(session.to_json())["events"][1]
    assert first["type"] == "asked"
    again.constrain("amount", difficulty=5)
    assert np.array_equal(again.pool.sizes, session.pool.sizes)


def test_the_table_of_answers_carries_the_scales(session, german_engine, german_rejected):
    table = answers_of(session, row_id=3)
    said = read(table, session.space)["3"]
    assert said.scales == session.pool.sizes.tolist()
    same = said.session(german_engine, german_rejected.iloc[0], reap.Limits())
    assert (same.belief.estimate() == session.belief.estimate()).all()
    table["scales"] = "[1.0]"
    with pytest.raises(InputError, match="2 numbers of at least 0"):
        read(table, session.space)


def test_people_who_count_changes_get_fewer_of_them(german_engine, german_rejected):
    plain, few = [], []
    for i in (0, 2, 5, 7):
        start = german_engine.space.vector(german_rejected.iloc[[i]])
        A = reap.subjects.random(german_engine.space.dimension, i).matrix
        for changes, found in ((0.0, plain), (1.0, few)):
            person = Minding(A, space=german_engine.space, start=start, changes=changes)
            session = german_engine.elicit(german_rejected.iloc[i], questions=5)
            while question := session.ask():
                session.answer(person.answer(question))
            found.append(len(session.recommend().changes))
    assert sum(few) < sum(plain)


def test_what_was_learnt_is_said_and_nothing_else(session):
    told = str(session.learned())
    assert ("rather change few things" in told) == session.learned().changes
    fresh = session.engine.elicit(session.engine.space.decode(session.here[None]))
    assert not fresh.learned().changes
    assert not fresh.learned().waiting


def test_where_nothing_takes_time_only_changes_are_counted():
    space = reap.ActionSpace.from_frame(pd.DataFrame({"a": [0.0, 1.0], "b": [0.0, 2.0]}))
    assert not space.timed
    assert minded(space) == 1


def test_somebody_narrow_sees_the_two_dearest_rows_only():
    space = reap.ActionSpace.from_frame(pd.DataFrame({name: [0.0, 1.0] for name in "abc"}))
    person = QuestionReader(np.diag([9.0, 4.0, 3.0]), space=space, reading="narrow")
    first, second = np.array([1.0, 0.0, 1.0]), np.array([0.0, 1.5, 0.0])
    assert person.effort(second) < person.effort(first)  # 9 against 12
    assert person.answer([first, second]) == "same"  # the third row is not seen

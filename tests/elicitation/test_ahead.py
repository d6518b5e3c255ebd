"""What the question after a warm-up needs is known while the warm-up is on the table."""

from __future__ import annotations

import pytest

import reap
from reap.recourse.search import Reachable


@pytest.fixture
def searches(monkeypatch):
    """How many matrices searches were asked for."""
    counted = []
    solve = Reachable._least
    monkeypatch.setattr(Reachable, "_least", lambda self, A: (counted.append(len(A)), solve(self, A))[1])
    return counted


@pytest.fixture
def begin(german, german_model, german_rejected):
    """Begin a session with a warm-up on the table, by an engine that knows nobody, always the same one."""

    def begin():
        engine = reap.Recourse(german_model, german.space).fit(german.X)
        for i in range(len(german_rejected)):
            session = engine.elicit(german_rejected.iloc[[i]], questions=3, warm_up=True)
            if (question := session.ask()) is not None and question.kind == "warm-up":
                return session
        raise AssertionError("nobody has a warm-up")

    return begin


@pytest.fixture
def begun(begin):
    return begin()


def test_the_question_after_a_warm_up_needs_no_search_any_more(begun, searches):
    begun.ahead()()
    assert len(searches) == 1
    begun.answer("left")
    assert begun.ask() is not None
    assert len(searches) == 1


def test_what_is_asked_is_the_same_with_it_and_without(begin):
    with_it, without = begin(), begin()
    with_it.ahead()()
    for session in (with_it, without):
        session.answer("right")
        session.ask()
    assert with_it.to_json() == without.to_json()


def test_there_is_nothing_to_do_where_the_next_question_hangs_on_the_answer(begun):
    begun.answer("left")
    begun.ask()
    assert begun.ahead() is None


def test_an_engine_that_remembers_nothing_is_not_asked_twice(german_graph, german_rejected):
    session = german_graph.elicit(german_rejected.iloc[[0]], questions=3, warm_up=True)
    session.ask()
    assert session.ahead() is None

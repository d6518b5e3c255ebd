"""What to relax where limits leave no plan: single limits, else the smallest set, against brute force."""

from __future__ import annotations

import itertools
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reap.elicitation import advice
from reap.space import Limits

NAMES = tuple("abcdef")


class Gate:
    """An engine that finds a plan where one of some sets of features is free; it counts how often it is asked."""

    def __init__(self, keys):
        self.keys, self.calls, self.space = [set(key) for key in keys], 0, SimpleNamespace(dimension=2)

    def plans(self, x, matrices, limits=None):
        self.calls += 1
        free = set(NAMES) - set(limits.fixed)
        return [SimpleNamespace(status="ok" if any(key <= free for key in self.keys) else "unreachable")]


KEYS = st.lists(st.sets(st.sampled_from(NAMES), min_size=1, max_size=5), max_size=4)


@given(KEYS)
def test_the_smallest_sets_of_limits_are_found(keys):
    engine, limits = Gate(keys), Limits(fixed=NAMES)
    found = advice.relaxations(engine, None, limits)
    sizes = {len(key) for key in keys}
    if not keys:
        assert found == []
    elif min(sizes) == 1:
        assert {frozenset(names) for names in found} == {frozenset(key) for key in keys if len(key) == 1}
    else:
        (names,) = found
        assert set(names) in keys
        assert len(names) == min(sizes)
    assert engine.calls <= 2 * len(NAMES) + 1 + advice.TRIES


def test_the_work_is_bounded_and_the_set_still_suffices(monkeypatch):
    monkeypatch.setattr(advice, "TRIES", 3)
    engine = Gate([set("bcdef"), set("ef")])
    ((names),) = advice.relaxations(engine, None, Limits(fixed=NAMES))
    assert set(names) >= set("ef")
    assert engine.calls <= 2 * len(NAMES) + 1 + 3


def test_nothing_to_relax_without_limits():
    assert advice.relaxations(Gate([]), None, Limits()) == []


def test_a_dialogue_names_limits_that_only_help_together(german_graph, german_rejected):
    for k in range(12):
        session = german_graph.elicit(german_rejected.iloc[k])
        names = [f.name for f in session.space.features if f.actionable and f.derived is None]
        for name in names:
            session.constrain(name, fixed=True)
        said = session.relaxations()
        if said and all(" together with " in words for words in said):
            break
    else:
        pytest.fail("for every subject a single change is enough")
    note = session.recommend().note
    assert " together with “" in note
    (words,) = said
    together = [name for name in names if name in words.replace(",", "").split()]
    assert len(together) >= 2
    for subset in itertools.combinations(together, len(together) - 1):
        for name in subset:
            session.release(name)
        assert session.recommend().status != "ok"
        for _ in subset:
            session.undo()
    for name in together:
        session.release(name)
    assert session.recommend().status == "ok"

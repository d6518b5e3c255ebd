"""What to relax where limits leave no plan: single limits, else the smallest set, against brute force."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from reap.recourse import advice
from reap.recourse.advice import relaxations
from reap.space import Limits

NAMES = tuple("abcdef")


class Gate:
    """Finds a plan where one of some sets of features is free, and counts how often it is asked."""

    def __init__(self, keys):
        self.keys, self.calls = [set(key) for key in keys], 0

    def __call__(self, limits):
        self.calls += 1
        free = set(NAMES) - set(limits.fixed)
        return any(key <= free for key in self.keys)


KEYS = st.lists(st.sets(st.sampled_from(NAMES), min_size=1, max_size=5), max_size=4)


@given(KEYS)
def test_the_smallest_sets_of_limits_are_found(keys):
    possible = Gate(keys)
    found = relaxations(Limits(fixed=NAMES), possible)
    sizes = {len(key) for key in keys}
    if not keys:
        assert found == []
    elif min(sizes) == 1:
        assert {frozenset(names) for names in found} == {frozenset(key) for key in keys if len(key) == 1}
    else:
        (names,) = found
        assert set(names) in keys
        assert len(names) == min(sizes)
    assert possible.calls <= 2 * len(NAMES) + 1 + advice._TRIES


def test_the_work_is_bounded_and_the_set_still_suffices(monkeypatch):
    monkeypatch.setattr(advice, "_TRIES", 3)
    possible = Gate([set("bcdef"), set("ef")])
    ((names),) = relaxations(Limits(fixed=NAMES), possible)
    assert set(names) >= set("ef")
    assert possible.calls <= 2 * len(NAMES) + 1 + 3


def test_nothing_to_relax_without_limits():
    assert relaxations(Limits(), Gate([])) == []

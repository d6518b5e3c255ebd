"""Which changes ask for less than which others, against the definition in words."""

from __future__ import annotations

import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from reap.recourse.targets import order
from reap.recourse.targets.order import asks_no_more, undominated

CHANGES = arrays(
    float, st.tuples(st.integers(0, 8), st.integers(1, 4)), elements=st.sampled_from([-2, -1, 0, 1, 2])
)


def stops_on_the_way(a, b):
    """By the definition: in every column between nothing and what the other does."""
    return all(min(0, y) <= x <= max(0, y) for x, y in zip(a, b, strict=True))


@given(CHANGES)
def test_asking_no_more_is_to_stop_on_the_way_in_every_column(changes):
    found = asks_no_more(changes, changes)
    for (i, a), (j, b) in itertools.product(enumerate(changes), repeat=2):
        assert found[i, j] == stops_on_the_way(a, b)


def by_brute_force(changes):
    def worth_offering(i):
        for j, other in enumerate(changes):
            equal = np.array_equal(other, changes[i])
            if (equal and j < i) or (not equal and stops_on_the_way(other, changes[i])):
                return False
        return True

    return [worth_offering(i) for i in range(len(changes))]


@given(CHANGES)
def test_what_stays_is_what_no_other_is_below_and_the_first_of_equals(changes):
    assert undominated(changes).tolist() == by_brute_force(changes)


@given(CHANGES)
def test_what_leaves_is_always_covered_by_something_that_stays(changes):
    kept = changes[undominated(changes)]
    assert asks_no_more(kept, changes).any(axis=0).all()
    assert undominated(kept).all()


@given(CHANGES, st.randoms(use_true_random=False))
def test_who_asks_for_less_is_easier_for_everybody_without_cross_terms(changes, random):
    weights = np.array([random.uniform(0.01, 1) for _ in range(changes.shape[1])])
    efforts = changes**2 @ weights
    below = asks_no_more(changes, changes)
    i, j = np.nonzero(below & ~below.T)
    assert (efforts[i] < efforts[j]).all()


def test_a_large_set_is_compared_in_parts(monkeypatch):
    changes = np.random.default_rng(0).integers(-2, 3, (60, 3)).astype(float)
    whole = undominated(changes)
    monkeypatch.setattr(order, "_ENTRIES", 500)
    assert undominated(changes).tolist() == whole.tolist() == by_brute_force(changes)

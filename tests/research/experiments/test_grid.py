"""Who stands in whose place in the tables beyond the paper."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from reap.research.experiments.grid import Cell


def cell(subjects: range, matrices: int) -> Cell:
    made = SimpleNamespace(dimension=3)
    return Cell(made, None, "gaussian", 0.0, 2, [0], subjects, matrices, seed=0)


def test_nobody_stands_in_two_places():
    some = cell(range(5), 2)
    people = [some.person(i, k).matrix for i in range(5) for k in range(2)]
    assert len({A.tobytes() for A in people}) == 10


def test_whoever_has_the_same_number_is_the_same_person_in_every_table():
    """Tables are read together, and what one found for a person is held against what another did."""
    one, two = cell(range(6), 1), cell(range(6), 2)
    for i, k, j in ((0, 0, 0), (1, 0, 2), (1, 1, 3), (2, 1, 5)):
        assert two.number(i, k) == one.number(j, 0)
        np.testing.assert_array_equal(two.person(i, k).matrix, one.person(j, 0).matrix)

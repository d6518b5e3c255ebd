"""A space as an object: equality, digest, pickles, and no state that shows."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings

from reap.space import ActionSpace, Feature
from tests.space.generators import random_limits, random_space, seeds

PROGRAM = """
from reap.space import ActionSpace, Feature
space = ActionSpace([Feature("a", range=(0, 1)), Feature("b", range=(0, 2), derived="2 * a")], rules=["a <= 1"])
print(space.digest)
"""


@settings(max_examples=50, deadline=None)
@given(seeds())
def test_pickles_keep_vectors_rules_and_limits(rng):
    space, X = random_space(rng)
    space = space.tighten(random_limits(rng, space))
    Z = space.encode(X)
    before = space.allows(Z[0], Z)
    again = pickle.loads(pickle.dumps(space))
    assert again == space
    assert hash(again) == hash(space)
    np.testing.assert_array_equal(again.encode(X), Z)
    np.testing.assert_array_equal(again.allows(Z[0], Z), before)


def test_the_digest_is_the_same_in_every_process():
    runs = [
        subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
        for _ in "12"
    ]
    assert runs[0].stdout == runs[1].stdout
    assert len(runs[0].stdout.strip()) == 64


@pytest.mark.parametrize(
    "other",
    [
        {"range": (0, 2)},
        {"bounds": (0, 1)},
        {"step": 0.5},
        {"direction": "up"},
        {"actionable": False},
        {"missing": True},
        {"max_change": 0.5},
        {"pace": 1},
        {"derived": "b"},
    ],
)
def test_what_gives_vectors_and_rules_their_meaning_changes_the_digest(other):
    b = Feature("b", range=(0, 1))
    facts = {"range": (0, 1)}
    space = ActionSpace([Feature("a", **facts), b])
    changed = ActionSpace([Feature("a", **(facts | other)), b])
    assert changed.digest != space.digest
    assert changed != space
    assert ActionSpace([Feature("a", **facts), b], max_changes=1) != space
    assert ActionSpace([Feature("a", **facts), b], rules=["a <= b"]) != space


def test_words_and_limits_do_not_change_the_digest_but_are_not_equal_either():
    space, worded = (ActionSpace([Feature("a", range=(0, 1), label=label)]) for label in ("", "Better word"))
    tight = space.tighten(space.limits(fixed=["a"]))
    assert space.digest == worded.digest == tight.digest
    assert all(space != other for other in (worded, tight, "a space"))
    assert copy.deepcopy(space) is space


def test_asking_about_one_person_after_another_mixes_nothing_up():
    rng = np.random.default_rng(3)
    space, X = random_space(rng, rules=False)
    Z = space.encode(X)
    wanted = rng.random((5, space.dimension))
    alone = [ActionSpace(space.features).project(wanted, z0) for z0 in Z[:6]]
    for _ in range(2):
        for z0, expected in zip(Z[:6], alone, strict=True):
            np.testing.assert_array_equal(space.project(wanted, z0), expected)
    z0 = Z[0].copy()
    first = space.project(wanted, z0)
    lower, _ = space.legal.box(z0)
    lower[:] = 99.0  # what was handed out is the caller's own
    z0[:] = Z[1]  # and what was handed in may change
    np.testing.assert_array_equal(space.project(wanted, Z[0]), first)
    np.testing.assert_array_equal(space.project(wanted, z0), alone[1])
    assert not (space.legal.box(Z[0])[0] == 99.0).any()


def test_what_was_read_of_a_row_is_nobody_else_s_to_change_and_goes_into_no_file():
    space = ActionSpace([Feature("income", "integer", range=(0, 100_000))])
    row, fresh = space.vector({"income": 31_337}), pickle.dumps(space)
    space.values(row)["income"] = 0
    assert space.values(row) == {"income": 31_337}
    assert pickle.dumps(space) == fresh


def test_more_people_than_are_remembered_get_what_is_legal_for_them():
    space = ActionSpace([Feature("age", "integer", range=(0, 1_000), direction="up")])
    people = [space.vector({"age": age}) for age in range(0, 900, 2)]
    for _ in range(2):
        for z in people:
            assert space.legal.box(z)[0] == z
            assert space.legal.obstacle(z) is None

"""A space as an object: as TOML and pickle and back, equality, digest, and no state that shows."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from importlib.resources import files

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reap._errors import InputError
from reap.datasets import names
from reap.space import ActionSpace, Feature
from tests.space.generators import random_limits, random_space, seeds


@settings(max_examples=150, deadline=None)
@given(seeds(), st.booleans())
def test_any_space_comes_back_the_same(rng, timed):
    space, X = random_space(rng, timed=timed)
    for comments in (False, True):
        again = ActionSpace.from_toml(space.to_toml(comments))
        assert again == space
        assert again.digest == space.digest
        np.testing.assert_array_equal(again.encode(X), space.encode(X))


def test_words_types_and_strange_names_survive(tmp_path):
    space = ActionSpace(
        [
            Feature(
                'a.b "c"', range=(0.5, 1e20), step=0.25, unit="€", label="Größe\n", phrases={"up": "Add {by}"}
            ),
            Feature("flag", "binary", levels=(False, True)),
            Feature("number levels", "ordinal", levels=(1.0, 2.5, 10.0), direction="up", dtype="float64"),
            Feature("whole levels", "categorical", levels=(1, 2, 3), forbidden=[(1, 2)], missing=True),
            Feature("texts", "categorical", levels=("1", "true", "it's", "\u007f\t")),
            Feature("sum", range=(0, 1), derived='`a.b "c"` / 2'),
        ],
        rules=['`a.b "c"` <= 5'],
        max_changes=np.int64(2),
        title="Loans",
    )
    space.save(tmp_path / "space.toml", comments=True)
    again = ActionSpace.load(tmp_path / "space.toml")
    assert again == space
    assert again.title == "Loans"
    for old, new in zip(space.features, again.features, strict=True):
        assert [type(v) for v in old.levels] == [type(v) for v in new.levels]
        for key in ("label", "unit", "phrases", "dtype"):
            assert getattr(old, key) == getattr(new, key)


def test_an_encoded_space_stays_encoded():
    X = pd.DataFrame({"x": [0.2, 3.0], "j1": [1, 0], "j2": [0, 1]})
    space = ActionSpace.from_frame(X, groups={"job": ["j1", "j2"]})
    again = ActionSpace.from_toml(space.to_toml())
    assert again == space
    np.testing.assert_array_equal(again.vector(np.array([0.5, 1, 0])), [0.5, 1, 0])


def test_a_draft_explains_itself():
    X = pd.DataFrame({"age": [20, 30], "job": ["cook", "smith"]})
    draft = ActionSpace.from_frame(X).to_toml(comments=True)
    assert draft.startswith("# What may change, and how.")
    assert "# whole number, 20 to 30" in draft
    assert "actionable = true" in draft
    assert 'label = "age"' in draft
    assert "# one of cook, smith" in draft


_JUNK = (
    "0", "-1", "nan", "inf", "true", "[]", "{}", "''", "'x'", "[1]", "[1, 2, 3]", "['a']", "[[1, 2]]", "[{}]", "[[]]",
    "{ up = 3 }", "{ up = '{aftr}' }", "1979-05-27", "'1 every 0 months'", "99999999999999999999", "[1, 'a']", "[nan, 1]",
    "[0, inf]", "[-1e308, 1e308]", "'years'", "'application'", "['a', 'a']", "[0, 0]", "1e-300",
)  # fmt: skip


@settings(max_examples=400, deadline=None)
@given(seeds())
def test_a_mutated_file_is_a_space_or_one_sentence(rng):
    text = (files("reap.datasets") / "spaces" / f"{rng.choice(names())}.toml").read_text(encoding="utf-8")
    lines = text.splitlines()
    for _ in range(rng.integers(1, 3)):
        i = int(rng.integers(len(lines)))
        junk = rng.choice(_JUNK)
        if rng.random() < 0.5 and "=" in lines[i]:
            lines[i] = f"{lines[i].split('=')[0]}= {junk}"
        else:
            lines.insert(i + 1, f"{rng.choice(list(Feature.__dataclass_fields__))} = {junk}")
    try:
        space = ActionSpace.from_toml("\n".join(lines))
    except InputError as error:
        said = str(error)
    else:
        said = space.describe().splitlines()[0]
        again = ActionSpace.from_toml(space.to_toml())
        assert (again, again.digest) == (space, space.digest)
    assert "\n" not in said


# the object ----------------------------------------------------------------------------------------------

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

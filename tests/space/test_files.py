"""Spaces as TOML: there and back, a draft to review, and what a broken file is told."""

from __future__ import annotations

from importlib.resources import files

import numpy as np
import pandas as pd
from hypothesis import given, settings
from hypothesis import strategies as st

from reap._errors import InputError
from reap.datasets import names
from reap.space import ActionSpace, Feature
from tests.space.generators import random_space, seeds


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

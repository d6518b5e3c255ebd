"""What the baselines share: the paper's setting without constraints."""

from __future__ import annotations

from dataclasses import MISSING, fields

import numpy as np
import pandas as pd
import pytest

import reap
from reap.datasets.loading import curated
from reap.research.baselines import FACE
from reap.research.baselines.baseline import DESCRIPTION, free
from reap.space import ActionSpace, Feature

#: Features that between them carry every restriction there is.
RESTRICTED = [
    Feature(
        "amount",
        range=(0, 100),
        bounds=(10, 60),
        step=5,
        direction="down",
        max_change=20,
        when="application",
        advice="last",
        effect="0.1 * months",
    ),
    Feature("months", "integer", range=(1, 48), direction="up", pace="2 a month"),
    Feature("grade", "ordinal", levels=("low", "middle", "high"), max_change=1, direction="up"),
    Feature("job", "categorical", levels=("cook", "nurse", "smith"), forbidden=[("cook", "smith")]),
    Feature("married", "binary", levels=("no", "yes"), actionable=False),
    Feature("rate", range=(0, 100), derived="amount / months"),
    Feature("age", "integer", range=(18, 80), clock="years"),
]


def default(field):
    return field.default if field.default is not MISSING else field.default_factory()


@pytest.fixture
def space():
    return ActionSpace(RESTRICTED, rules=["amount <= 50 + months"], max_changes=2)


def test_every_restriction_a_feature_can_carry_is_lifted(space):
    restrictions = [field for field in fields(Feature) if field.name not in DESCRIPTION]
    for field in restrictions:  # a new one must be put on some feature above
        assert any(getattr(f, field.name) != default(field) for f in RESTRICTED), field.name
        assert all(getattr(f, field.name) == default(field) for f in free(space).features), field.name


def test_without_constraints_any_row_may_become_any_other(space):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "amount": rng.uniform(0, 100, 60),
            "months": rng.integers(1, 49, 60),
            "grade": rng.choice(["low", "middle", "high"], 60),
            "job": rng.choice(["cook", "nurse", "smith"], 60),
            "married": rng.choice(["no", "yes"], 60),
            "rate": rng.uniform(0, 100, 60),
            "age": rng.integers(18, 81, 60),
        }
    )
    Z = space.encode(X)
    np.testing.assert_array_equal(free(space).encode(X), Z)  # the same vectors, so the same effort
    assert not space.allows(Z[0], Z[1:]).any()
    assert all(free(space).allows(z, Z).all() for z in Z)


def test_a_table_of_encoded_columns_stays_one():
    X = pd.DataFrame({"pay": [0.0, 1.0], "job=cook": [1, 0], "job=smith": [0, 1]})
    space = ActionSpace.from_frame(X, groups={"job": ["job=cook", "job=smith"]})
    assert space.encoded
    assert free(space).encoded


def test_the_same_plan_has_its_own_effort_under_each_matrix():
    X = pd.DataFrame({"a": np.linspace(0, 1, 21), "b": np.linspace(0, 1, 21)})
    engine = FACE(lambda rows: rows["a"], reap.ActionSpace.from_frame(X)).fit(X)
    one, two = engine.plans(X.iloc[2], np.stack([np.eye(2), np.diag([1.0, 3.0])]))
    assert one.along
    assert np.array_equal(one.path, two.path)
    assert two.effort == pytest.approx(2 * one.effort)


@pytest.mark.parametrize("name", [entry.name for entry in reap.datasets.available()])
def test_every_space_of_ours_can_be_freed_whatever_its_phrases_mention(name):
    space = curated(name)
    assert any("{months" in str(feature.phrases) for feature in curated("gmc").features)
    assert len(free(space).features) == len(space.features)
    assert not any("{months" in f"{f.phrases}{f.translations}" for f in free(space).features)

"""How far a feature may move from where the person stands."""

from __future__ import annotations

import pandas as pd
import pytest

from reap import ActionSpace, Feature, InputError

AGE = Feature("age", "integer", range=(18, 80), direction="up", max_change=5, unit="years")
JOB = Feature("job", "ordinal", levels=("none", "helper", "skilled", "manager"), max_change=1)


def rows(*values):
    return pd.DataFrame(values, columns=["age", "job"])


def test_it_limits_the_distance_and_not_the_place():
    space = ActionSpace([AGE, JOB])
    start = rows((30, "helper"))
    after = rows((35, "helper"), (36, "helper"), (30, "skilled"), (30, "manager"), (30, "none"))
    assert space.allows(start, after).tolist() == [True, False, True, False, True]
    assert space.values(space.project(space.encode(rows((70, "manager"))), space.vector(start))[0]) == {
        "age": 35,
        "job": "skilled",
    }


def test_it_is_said_in_words_and_kept_in_files():
    space = ActionSpace([AGE, JOB])
    assert AGE.describe() == "whole number, 18 to 80 years; may only rise; by at most 5 years"
    assert JOB.describe().endswith("by at most 1 level")
    assert ActionSpace.from_toml(space.to_toml()) == space
    assert (
        space.digest != ActionSpace([Feature("age", "integer", range=(18, 80), direction="up"), JOB]).digest
    )


@pytest.mark.parametrize("value", [0, -1, float("inf"), "far"])
def test_it_must_be_a_positive_number(value):
    with pytest.raises(InputError, match="give a number above 0"):
        Feature("age", "integer", range=(18, 80), max_change=value)


@pytest.mark.parametrize("kind", ["categorical", "binary"])
def test_levels_without_order_have_no_distance(kind):
    with pytest.raises(InputError, match="no distance"):
        Feature("x", kind, levels=("a", "b"), max_change=1)

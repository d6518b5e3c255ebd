"""What one feature may do on its own: direction, bounds, steps, forbidden transitions, the count of changes."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from reap._errors import InputError
from reap.space import ActionSpace, Feature


def one(**facts):
    return ActionSpace([Feature("x", **facts)])


def allowed(space, start, values):
    return space.allows(pd.DataFrame({"x": [start]}), pd.DataFrame({"x": values})).tolist()


def projected(space, start, wanted):
    """Where wanted values (in units) of the one number go, in units."""
    low, high = space.features[0].range
    z0 = space.vector({"x": start})
    Z = (np.array(wanted, dtype=float)[:, None] - low) / (high - low)
    return space.decode(space.project(Z, z0))["x"].tolist()


def test_direction():
    assert allowed(one(range=(0, 10), direction="up"), 4, [3, 4, 5]) == [False, True, True]
    assert allowed(one(range=(0, 10), direction="down"), 4, [3, 4, 5]) == [True, True, False]
    assert allowed(one(range=(0, 10), actionable=False), 4, [3, 4, 5]) == [False, True, False]


def test_bounds_limit_actions_and_the_range_stretches_to_the_person():
    assert allowed(one(range=(0, 10), bounds=(2, 8)), 4, [1, 2, 8, 9]) == [False, True, True, False]
    assert allowed(one(range=(0, 10)), 15, [15, 12, 16]) == [True, True, False]
    assert projected(one(range=(0, 10)), 15, [20, -3]) == [15, 0]


def test_somebody_outside_the_bounds_may_stay_or_come_inside():
    space = one(range=(0, 10), bounds=(2, 8), step=1.0)
    z0 = space.encode(pd.DataFrame({"x": [10.0]}))[0]
    assert space.decode(space.project([[1.0], [0.93], [0.85], [0.1]], z0))["x"].tolist() == [10, 10, 8, 2]
    assert space.allows(z0, np.array([[1.0], [0.9], [0.8]])).tolist() == [True, False, True]
    with pytest.raises(InputError, match=r"'x' is 10; the action space allows 2 to 8"):
        space.vector({"x": 10.0})


def test_steps_and_a_start_that_is_off_them():
    space = one(range=(0, 1000), step=100)
    assert allowed(space, 451, [451, 450, 400, 500]) == [True, False, True, True]
    assert projected(space, 451, [455, 440, 420, 480, 960, 2000]) == [451, 451, 400, 500, 1000, 1000]
    assert projected(one(range=(0, 1), step=0.1), 0.5, [0.31]) == [0.3]


def test_forbidden_transitions():
    space = one(kind="categorical", levels=("rent", "own", "free"), forbidden=[("own", "rent")])
    assert allowed(space, "own", ["rent", "own", "free"]) == [False, True, True]
    assert allowed(space, "rent", ["own"]) == [True]
    z0 = space.vector({"x": "own"})
    assert space.legal.reachable("x", z0) == ["own", "free"]
    assert space.decode(space.project([[0.9, 0.1, 0.2]], z0))["x"].tolist() == ["free"]
    np.testing.assert_allclose(space.legal.relax(np.array([0.9, 0.1, 0.3]), z0), [[0, 0.4, 0.6]])


def test_a_vector_that_is_no_row_is_not_legal():
    space = ActionSpace(
        [Feature("n", "integer", range=(0, 10)), Feature("job", "categorical", levels=("a", "b"))]
    )
    z0 = np.array([0.5, 1, 0])
    Z = np.array([[0.5, 1, 0], [0.55, 1, 0], [0.5, 0.5, 0.5], [0.5, 1, 1], [0.5, 0, 0]])
    assert space.allows(z0, Z).tolist() == [True, False, False, False, False]


def test_at_most_k_changes():
    features = [Feature(n, "integer", range=(0, 10)) for n in "abc"] + [
        Feature("s", range=(0, 30), derived="a + b + c")
    ]
    space = ActionSpace(features, max_changes=2)
    z0 = space.vector({"a": 5, "b": 5, "c": 5, "s": 15.0})
    after = pd.DataFrame({"a": [6, 6, 6], "b": [5, 6, 6], "c": [5, 5, 6], "s": [16.0, 17.0, 18.0]})
    assert space.allows(z0, space.encode(after)).tolist() == [True, True, False]
    wanted = z0 + np.array([0.1, 0.3, 0.2, 0.0])
    got = space.decode(space.project(wanted, z0)).iloc[0].to_dict()
    assert got == {"a": 5, "b": 8, "c": 7, "s": 20.0}
    one_only = space.tighten(space.limits(max_changes=1))
    assert one_only.decode(one_only.project(wanted, z0)).iloc[0].to_dict() == {
        "a": 5,
        "b": 8,
        "c": 5,
        "s": 18.0,
    }


def test_limits_that_force_more_changes_than_allowed():
    space = ActionSpace([Feature(n, "integer", range=(0, 10)) for n in "abc"], max_changes=1)
    z0 = space.vector({"a": 5, "b": 5, "c": 5})
    tight = space.tighten(space.limits(at_least={"a": 6, "b": 7}))
    with pytest.raises(InputError, match="the limits force more changes than are allowed; relax one of them"):
        tight.project(z0, z0)


def test_one_side_may_serve_all_rows_and_others_must_match():
    space = one(range=(0, 10), direction="up")
    Z = np.array([[0.1], [0.5], [0.9]])
    assert space.allows(Z, Z[1]).tolist() == [True, True, False]
    assert space.allows(Z[1], Z).tolist() == [False, True, True]
    with pytest.raises(InputError, match="3 rows before and 2 after; give as many, or one for all"):
        space.allows(Z, Z[:2])

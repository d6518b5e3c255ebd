"""Time: paces, clocks, the horizon; random small spaces against enumeration by the letter."""

from __future__ import annotations

from datetime import date

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from reap._errors import InputError
from reap.checks.legality import time_of
from reap.space import ActionSpace, Feature, Limits
from tests.space.generators import random_space, seeds, world

few = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@few
@given(seeds(), st.booleans())
def test_allows_exactly_the_rows_whose_clocks_agree_and_whose_actions_fit(rng, limited):
    space, z0, Z, fine = world(rng, limited, timed=True)
    np.testing.assert_array_equal(space.allows(z0, Z), fine)
    start, some = space.values(z0), Z[fine][:50]
    said = [time_of(space, start, space.values(z), space.legal.limits) for z in some]
    np.testing.assert_array_equal(space.months(z0, some), said)
    np.testing.assert_allclose(
        space.legal.follow(Z[fine], z0), Z[fine], rtol=0, atol=1e-9
    )  # they follow themselves


@few
@given(seeds(), st.booleans(), st.booleans())
def test_what_is_done_together_takes_as_long_as_its_slowest_part(rng, limited, waiting):
    """Actions, and the wait that one of the clocks asks for."""
    space, z0, Z, fine = world(rng, limited, timed=True)
    assume(fine.any())
    Z = Z[fine]
    for feature in [f for f in space.features if f.clock][1:]:
        Z[:, space.slices[feature.name]] = z0[space.slices[feature.name]]
    alone = [np.zeros(len(Z))]
    for columns in space.slices.values():
        part = np.repeat(z0[None], len(Z), axis=0)
        part[:, columns] = Z[:, columns]
        alone.append(space.legal.lengths(z0, part, waiting=waiting))
    np.testing.assert_array_equal(space.legal.lengths(z0, Z, waiting=waiting), np.max(alone, axis=0))


@few
@given(seeds(), st.booleans())
def test_an_engine_that_moves_the_leading_clock_reaches_every_waiting_time(rng, limited):
    """Rows put together by hand, with the clocks let go by ``follow``, are legal in time."""
    space, z0, Z, fine = world(rng, limited, timed=True)
    if not fine.any():
        assert space.legal.obstacle(z0) is not None
        return
    lower, upper = space.legal.box(z0)
    Z = Z[fine]
    clocks = [space.slices[f.name].start for f in space.features if f.clock is not None]
    opened = [c for c in clocks if upper[c] > lower[c]]
    assert len(opened) <= 1  # one freedom: waiting
    held = np.setdiff1d(clocks, opened)
    made = Z.copy()
    made[:, held] = z0[held]
    made = space.legal.follow(made, z0)
    assert space.allows(z0, made).all()
    assert (space.months(z0, made) <= space.months(z0, Z)).all()
    if opened:  # what the leading clock shows is what the row gets
        np.testing.assert_allclose(made[:, opened], Z[:, opened], atol=1e-12)


@few
@given(seeds())
def test_relaxed_rows_let_all_clocks_go_together(rng):
    space, X = random_space(rng, rules=False, timed=True)
    z0 = space.encode(X.iloc[[0]])[0]
    R = space.legal.relax(rng.normal(0.5, 0.7, (5, space.dimension)), z0)
    gone = []
    for f in space.features:
        c = space.slices[f.name].start
        if f.clock is not None and not np.isnan(z0[c]) and f.bounds is None:
            gone.append((R[:, c] - z0[c]) * f.scale * (12 if f.clock == "years" else 1))
    for months in gone:
        np.testing.assert_allclose(months, gone[0], atol=1e-9)
        assert (months >= -1e-12).all()


@pytest.fixture
def credit():
    return ActionSpace(
        [
            Feature("debt", "integer", range=(0, 9000), step=100, pace="200 EUR a month", direction="down"),
            Feature("amount", "integer", range=(500, 20000), when="application", direction="down"),
            Feature("school", "ordinal", levels=("none", "school", "college"), pace="1 year a level"),
            Feature("job", "categorical", levels=("cook", "smith", "none"), pace="3 months a level"),
            Feature("age", "integer", range=(18, 80), clock="years"),
            Feature("since", "integer", range=(0, 60), clock="months", unit="months"),
        ],
        max_changes=2,
    )


NOW = {"debt": 5000, "amount": 4000, "school": "none", "job": "cook", "age": 30, "since": 7}
BEFORE = pd.DataFrame([NOW])


def moved(**changes):
    return pd.DataFrame([NOW | changes])


@pytest.mark.parametrize(
    ("changes", "months"),
    [
        ({}, 0),
        ({"amount": 2000}, 0),  # chosen on the day
        ({"debt": 4900, "since": 8}, 1),
        ({"debt": 2000, "since": 22, "age": 31}, 15),
        ({"job": "none", "since": 10}, 3),  # two levels away, one change
        ({"school": "college", "since": 31, "age": 32}, 24),
        ({"debt": 4000, "job": "smith", "since": 12}, 5),  # side by side: the slower
        ({"since": 19, "age": 31}, 12),  # waiting alone is no change, and clocks are not counted
        ({"debt": 4900, "amount": 100, "since": 31, "age": 32}, 24),
    ],
)
def test_a_change_takes_as_long_as_its_slowest_action(credit, changes, months):
    assert credit.months(BEFORE, moved(**changes)) == [months]
    if changes.get("amount", 4000) >= 500:
        assert credit.allows(BEFORE, moved(**changes)).all()


@pytest.mark.parametrize(
    "changes",
    [
        {"debt": 2000},  # the clocks stand still
        {"debt": 2000, "since": 21, "age": 31},  # a month too few
        {"since": 19},  # a year by one clock, none by the other
        {"since": 12, "age": 31},
        {"since": 6},  # back
        {"age": 31},
    ],
)
def test_clocks_that_disagree_are_illegal(credit, changes):
    assert np.isnan(credit.months(BEFORE, moved(**changes))).all()
    assert not credit.allows(BEFORE, moved(**changes)).any()


def test_the_horizon_and_a_persons_own_limit(credit):
    late = moved(since=32, age=32)
    assert credit.months(BEFORE, late) == [25]
    assert not credit.allows(BEFORE, late).any()
    short = credit.tighten(credit.limits(within_months=6))
    assert short.allows(BEFORE, moved(debt=3800, since=13)).all()
    assert not short.allows(BEFORE, moved(debt=3700, since=14)).any()
    assert short.legal.reachable("school", credit.vector(NOW)) == ["none"]
    z0 = credit.vector(NOW)
    lower, _ = short.legal.box(z0)
    assert lower[credit.slices["debt"].start] * 9000 == pytest.approx(3800)
    today = credit.tighten(credit.limits(within_months=0))
    assert today.values(today.project(np.zeros(credit.dimension), z0)[0]) == NOW | {"amount": 500}
    assert "done within 6 months" in short.describe()
    assert short.limits(within_months=9).within_months == 9
    assert short.tighten(Limits(within_months=9)).legal.limits.within_months == 6


def test_limits_on_a_clock_are_limits_on_time(credit):
    z0 = credit.vector(NOW)
    young = credit.tighten(credit.limits(fixed="age"))
    assert young.allows(BEFORE, moved(since=18)).all()
    assert not young.allows(BEFORE, moved(since=19, age=31)).any()
    assert young.values(young.project(np.ones(credit.dimension), z0)[0])["since"] == 18
    older = credit.tighten(credit.limits(at_least={"age": 31}))
    assert older.values(older.project(z0, z0)[0]) == NOW | {"age": 31, "since": 19}
    with pytest.raises(InputError, match="no time is left for any plan"):
        credit.tighten(credit.limits(at_most={"age": 29})).project(z0, z0)


def test_without_a_pace_nothing_is_dated_and_clocks_stay():
    space = ActionSpace([Feature("x", range=(0, 1)), Feature("age", range=(0, 9), clock="years")])
    assert not space.timed
    now, after = pd.DataFrame({"x": [0.0], "age": [1.0]}), pd.DataFrame({"x": [1.0, 0.0], "age": [1.0, 2.0]})
    np.testing.assert_array_equal(space.allows(now, after), [True, False])
    assert space.months(now, after)[0] == 0
    assert space.legal.following == []
    assert space.legal.movable == [0]
    z0 = space.vector(now)
    np.testing.assert_array_equal(space.legal.box(z0)[0][1:], space.legal.box(z0)[1][1:])
    with pytest.raises(InputError, match="no feature has a pace, so nothing is dated"):
        space.limits(within_months=3)


def test_a_clock_is_never_advice_and_is_told_apart_from_it(credit):
    z0 = credit.vector(NOW)
    z = credit.project(credit.vector(NOW | {"debt": 2000}), z0)[0]
    said = {change.feature: str(change) for change in credit.changes(z0, z)}
    assert said["since"] == "since goes from 7 to 22 months with time"
    assert [name for name in said if credit.feature(name).is_action] == ["debt"]
    assert credit.time.actions(z0, z) == {"debt": 15}
    assert credit.legal.movable is not None
    assert set(credit.legal.following) == {credit.slices["age"].start, credit.slices["since"].start}


def test_a_derived_feature_follows_the_clock_too():
    space = ActionSpace(
        [
            Feature("debt", range=(0, 100), pace=10, step=1),
            Feature("months", "integer", range=(1, 90), clock="months"),
            Feature("rate", range=(0, 9), derived="debt / months"),
        ]
    )
    now = pd.DataFrame({"debt": [60.0], "months": [6], "rate": [10.0]})
    z0 = space.vector(now)
    z = space.project(space.vector(now.assign(debt=20.0)), z0)
    assert space.values(z[0]) == {"debt": 20.0, "months": 10, "rate": 2.0}
    assert space.allows(z0, z).all()
    rows = np.repeat(z0[None], 3, axis=0)
    rows[:, 0] = [0.2, 0.6, 0.0]
    followed = space.legal.follow(rows, z0)
    assert [space.values(row) for row in followed] == [
        {"debt": 20.0, "months": 10, "rate": 2.0},
        {"debt": 60.0, "months": 6, "rate": 10.0},
        {"debt": 0.0, "months": 12, "rate": 0.0},
    ]
    assert rows[0, 1] == z0[1]  # the input stays as it was


def test_time_goes_through_a_file(credit):
    text = credit.to_toml()
    assert 'pace = "200 a month"' in text
    assert 'pace = "12 months a level"' in text
    assert 'clock = "years"' in text
    assert 'when = "application"' in text
    again = ActionSpace.from_toml(text)
    assert again == credit
    assert again.digest == credit.digest
    assert ActionSpace(credit.features, max_changes=2, horizon=12).digest != credit.digest


def test_dates_in_words(credit):
    assert credit.time.when(5) == "in month 5"
    assert credit.time.when(1, start=date(2026, 12, 31)) == "by January 2027"
    assert credit.time.when(24, start="2026-11-16") == "by November 2028"
    assert credit.time.when(0, start="2026-11-16") == "at once"
    for months, start in ((-1, None), (2.5, None), (np.nan, None), (3, "soon"), (3, 7)):
        with pytest.raises(InputError, match="give a"):
            credit.time.when(months, start)

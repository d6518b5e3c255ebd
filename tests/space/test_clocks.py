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
from tests.space.generators import all_rows, legal, random_limits, random_space, seeds

few = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def world(rng, limited):
    """A timed space within limits, a person, every row, and which rows are legal by the letter."""
    space, X = random_space(rng, timed=True)
    limits = Limits()
    if limited:
        limits = random_limits(rng, space)
        if space.timed and rng.random() < 0.5:
            limits = limits.merge(Limits(within_months=int(rng.integers(0, 9))))
    z0 = space.encode(X.iloc[[0]])[0]
    start = space.values(z0)
    rows = all_rows(space, start)
    fine = np.array([legal(space, limits, start, row) for row in rows.to_dict("records")])
    return space.tighten(limits), limits, z0, rows, fine


@few
@given(seeds(), st.booleans())
def test_allows_exactly_the_rows_whose_clocks_agree_and_whose_actions_fit(rng, limited):
    space, limits, z0, rows, fine = world(rng, limited)
    Z = space.encode(rows)
    np.testing.assert_array_equal(space.allows(z0, Z), fine)
    start = space.values(z0)
    months = space.months(z0, Z[fine][:50])
    said = [time_of(space, start, row, limits) for row in rows[fine][:50].to_dict("records")]
    np.testing.assert_array_equal(months, said)


@few
@given(seeds(), st.booleans())
def test_legal_rows_follow_themselves(rng, limited):
    space, _, z0, rows, fine = world(rng, limited)
    Z = space.encode(rows)[fine]
    np.testing.assert_allclose(space.legal.follow(Z, z0), Z, rtol=0, atol=1e-9)


@few
@given(seeds(), st.booleans(), st.booleans())
def test_what_is_done_together_takes_as_long_as_its_slowest_part(rng, limited, waiting):
    """Actions, and the wait that one of the clocks asks for."""
    space, _, z0, rows, fine = world(rng, limited)
    assume(fine.any())
    Z = space.encode(rows)[fine]
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
def test_project_gives_legal_rows_with_clocks_and_the_nearest_actions(rng, limited):
    space, _, z0, rows, fine = world(rng, limited)
    Z = np.vstack([rng.normal(0.5, 0.7, (5, space.dimension)), np.tile(z0, (1, 1))])
    if not fine.any():
        with pytest.raises(InputError):
            space.project(Z, z0)
        return
    P = space.project(Z, z0)
    assert space.allows(z0, P).all()
    assert (space.months(z0, P) <= space.horizon).all() or not space.timed
    np.testing.assert_allclose(space.project(P, z0), P, rtol=0, atol=1e-12)
    free = [
        c
        for f in space.features
        if f.clock is None and space.values(z0)[f.name] is not None
        for c in range(space.slices[f.name].start, space.slices[f.name].stop)
    ]
    legal_rows = space.encode(rows)[fine]
    best = ((legal_rows[None, :, free] - Z[:, None, free]) ** 2).sum(axis=2).min(axis=1)
    wanted = np.where(np.isnan(Z), np.nan_to_num(z0), Z)
    got = ((P[:, free] - wanted[:, free]) ** 2).sum(axis=1)
    np.testing.assert_allclose(got[:5], best[:5], rtol=0, atol=1e-9)


@few
@given(seeds(), st.booleans())
def test_an_engine_that_moves_the_leading_clock_reaches_every_waiting_time(rng, limited):
    """Rows put together by hand, with the clocks let go by ``follow``, are legal in time."""
    space, _, z0, rows, fine = world(rng, limited)
    if not fine.any():
        assert space.legal.obstacle(z0) is not None
        return
    lower, upper = space.legal.box(z0)
    Z = space.encode(rows)[fine]
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
    assert credit.months(pd.DataFrame([NOW]), moved(**changes)) == [months]
    if changes.get("amount", 4000) >= 500:
        assert credit.allows(pd.DataFrame([NOW]), moved(**changes)).all()


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
    assert np.isnan(credit.months(pd.DataFrame([NOW]), moved(**changes))).all()
    assert not credit.allows(pd.DataFrame([NOW]), moved(**changes)).any()


def test_the_horizon_and_a_persons_own_limit(credit):
    now = pd.DataFrame([NOW])
    late = moved(since=32, age=32)
    assert credit.months(now, late) == [25]
    assert not credit.allows(now, late).any()
    short = credit.tighten(credit.limits(within_months=6))
    assert short.allows(now, moved(debt=3800, since=13)).all()
    assert not short.allows(now, moved(debt=3700, since=14)).any()
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
    assert young.allows(pd.DataFrame([NOW]), moved(since=18)).all()
    assert not young.allows(pd.DataFrame([NOW]), moved(since=19, age=31)).any()
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


@pytest.mark.parametrize(
    ("facts", "sentence"),
    [
        ({"pace": "fast"}, "the pace of 'x' is 'fast'; write \"200 DM a month\""),
        ({"pace": 3, "when": "application"}, "chosen on the day of the application and has a pace"),
        ({"clock": "days"}, "there is no unit for the clock 'x' 'days'"),
        ({"clock": "years", "pace": 2}, "'x' is a clock and goes by itself; leave out pace"),
        ({"clock": "years", "direction": "down"}, "'x' is a clock and goes up"),
        ({"notice": "much"}, "notice of 'x' is 'much'"),
        ({"span": (3, 3)}, "the span of 'x' is (3.0, 3.0); give two different numbers"),
    ],
)
def test_nonsense_about_time_gets_a_sentence(facts, sentence):
    with pytest.raises(InputError) as caught:
        Feature("x", range=(0, 9), **facts)
    assert sentence in str(caught.value)


def test_more_nonsense_about_time():
    x, age = Feature("x", range=(0, 9), pace=1), Feature("age", range=(0, 90), clock="years")
    with pytest.raises(
        InputError, match="a clock and goes by itself; say how long an action takes by its pace"
    ):
        ActionSpace([x, age], rules=["x <= age"])
    with pytest.raises(InputError, match="a clock and goes by itself"):
        ActionSpace([x, age], rules=["if x increases then age increases"])
    for horizon in (0, -3, 2.5, True, "long", 10**9):
        with pytest.raises(InputError, match="horizon is"):
            ActionSpace([x], horizon=horizon)
    for within in (-1, 1.5, "soon"):
        with pytest.raises(InputError, match="within_months is"):
            ActionSpace([x]).limits(within_months=within)
    with pytest.raises(InputError, match='write "6 months a level"'):
        Feature("job", "binary", levels=(0, 1), pace="3 EUR a month")


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


@settings(max_examples=60, deadline=None)
@given(seeds())
def test_any_timed_space_comes_back_the_same(rng):
    space, _ = random_space(rng, timed=True)
    again = ActionSpace.from_toml(space.to_toml())
    assert (again, again.digest) == (space, space.digest)


def test_dates_in_words(credit):
    assert credit.time.when(5) == "in month 5"
    assert credit.time.when(1, start=date(2026, 12, 31)) == "by January 2027"
    assert credit.time.when(24, start="2026-11-16") == "by November 2028"
    assert credit.time.when(0, start="2026-11-16") == "at once"
    for months, start in ((-1, None), (2.5, None), (np.nan, None), (3, "soon"), (3, 7)):
        with pytest.raises(InputError, match="give a"):
            credit.time.when(months, start)

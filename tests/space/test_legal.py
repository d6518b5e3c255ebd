"""What is legal: each feature alone, rules, limits, derived features; and the nearest legal row, against enumeration."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.optimize import Bounds, LinearConstraint, minimize, nnls

from reap._errors import InputError
from reap.space import ActionSpace, Feature, Limits
from tests.space.generators import random_limits, random_space, seeds, world

few = settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])

# random spaces against enumeration and a quadratic programme -----------------------------------------------


def wishes(rng, space, z0, rows):
    """Vectors to project: noise, rows of the space, half-way points, a row with gaps."""
    noise = rng.normal(0.5, 0.7, (4, space.dimension))
    picked = rows[rng.integers(0, len(rows), 2)]
    gaps = np.where(rng.random(space.dimension) < 0.3, np.nan, rng.random(space.dimension))
    return np.vstack([noise, picked, (np.nan_to_num(z0) + picked) / 2, gaps])


@few
@given(seeds(), st.booleans())
def test_allows_exactly_the_rows_that_are_legal_by_the_letter(rng, limited):
    space, z0, rows, fine = world(rng, limited)
    np.testing.assert_array_equal(space.allows(z0, rows), fine)


@few
@given(seeds(), st.booleans(), st.booleans())
def test_project_is_legal_idempotent_and_never_farther_than_enumeration(rng, limited, timed):
    """With clocks: nearest in what a person sets; the clocks follow."""
    space, z0, rows, fine = world(rng, limited, timed)
    Z = wishes(rng, space, z0, rows)
    if not fine.any():
        with pytest.raises(InputError):
            space.project(Z, z0)
        assert space.legal.obstacle(z0) is not None
        return
    P, now = space.project(Z, z0), space.values(z0)
    assert space.allows(z0, P).all()
    assert not space.timed or (space.months(z0, P) <= space.horizon).all()
    np.testing.assert_allclose(space.project(P, z0), P, rtol=0, atol=1e-12)
    free = [f for f in space.features if f.clock is None and now[f.name] is not None]
    columns = np.concatenate([[], *(np.arange(space.dimension)[space.slices[f.name]] for f in free)]).astype(
        int
    )
    wanted = np.where(np.isnan(Z), np.nan_to_num(z0), Z)[:, columns]
    best = ((rows[fine][None][:, :, columns] - wanted[:, None]) ** 2).sum(axis=2).min(axis=1)
    got = ((P[:, columns] - wanted) ** 2).sum(axis=1)
    np.testing.assert_allclose(got, best, rtol=0, atol=1e-9)


@few
@given(seeds())
def test_limits_only_tighten(rng):
    space, X = random_space(rng)
    first, second = random_limits(rng, space), random_limits(rng, space)
    once = space.tighten(first)
    twice = once.tighten(second)
    Z = space.encode(X)
    for z0 in Z[:4]:
        free, tight, tighter = (s.allows(z0, Z) for s in (space, once, twice))
        assert not (tight & ~free).any()
        assert not (tighter & ~tight).any()
        assert not (tighter & ~space.tighten(second).allows(z0, Z)).any()


@few
@given(seeds(), st.booleans())
def test_relax_is_the_answer_of_a_quadratic_programme(rng, limited):
    space, X = random_space(rng)
    space = space.tighten(random_limits(rng, space) if limited else None)
    z0 = space.encode(X.iloc[[0]])[0]
    Z, now = rng.normal(0.5, 1.0, (2, space.dimension)), space.values(z0)
    known = [f for f in space.features if now[f.name] is not None]
    shut = not all(space.legal.reachable(f.name, z0) for f in known if not f.is_number)
    if shut or any(np.greater(*ends(space, f, z0)).any() for f in known if f.is_number):
        with pytest.raises(InputError, match="left to choose"):
            space.legal.relax(Z, z0)
        return
    got = space.legal.relax(Z, z0)
    np.testing.assert_allclose(space.legal.relax(got, z0), got, rtol=0, atol=1e-12)
    for z, answer in zip(Z, got, strict=True):
        for feature in space.features:
            columns = space.slices[feature.name]
            if feature not in known:
                np.testing.assert_array_equal(answer[columns], z0[columns])
            else:
                expected = quadratic_programme(z[columns], *ends(space, feature, z0))
                np.testing.assert_allclose(answer[columns], expected, rtol=0, atol=1e-8)


def ends(space, feature, z0):
    """The least and greatest encoded value of a feature's columns, worked out from what the space says."""
    limits, now = space.legal.limits, space.values(z0)[feature.name]
    if not feature.is_number:
        reachable = space.legal.reachable(feature.name, z0)
        if feature.kind == "categorical":
            return np.zeros(feature.width), np.isin(feature.levels, reachable).astype(float)
        places = np.array([feature.levels.index(level) for level in reachable]) / max(
            len(feature.levels) - 1, 1
        )
        return places[:1], places[-1:]
    low, high = feature.bounds or (min(feature.range[0], now), max(feature.range[1], now))
    far = np.inf if feature.max_change is None else feature.max_change
    stuck = not feature.actionable or feature.name in limits.fixed
    low = now if stuck or feature.direction == "up" else max(low, now - far)
    high = now if stuck or feature.direction == "down" else min(high, now + far)
    inside = (
        max(low, limits.at_least.get(feature.name, low)),
        min(high, limits.at_most.get(feature.name, high)),
    )
    return tuple((np.array([end]) - feature.range[0]) / np.ptp(feature.range) for end in inside)


def quadratic_programme(z, lower, upper):
    """The point x nearest to z in the box, on the simplex where there are several columns.

    A least-distance programme, min |y| with A y ≥ b for y = x − z, solved by SciPy's non-negative least squares.
    """
    if len(z) == 1:
        return np.clip(z, lower, upper)
    eye, one = np.eye(len(z)), np.ones((1, len(z)))
    A = np.vstack([eye, -eye, one, -one])
    b = np.concatenate([lower - z, z - upper, [1 - z.sum(), z.sum() - 1]])
    E = np.vstack([A.T, b])
    rest = E @ nnls(E, np.eye(len(E))[-1], maxiter=1000)[0] - np.eye(len(E))[-1]
    return z - rest[:-1] / rest[-1]


@few
@given(seeds())
def test_continuous_features_tied_by_rules_go_to_the_nearest_point(rng):
    """Without steps rows cannot be listed: here a general solver is the judge."""
    count = int(rng.integers(2, 5))
    names = [f"f{i}" for i in range(count)]
    features = [Feature(name, range=(0, float(rng.integers(1, 9)))) for name in names]
    width = np.array([f.range[1] for f in features])
    weights = rng.choice([-2.0, -1.0, 0.5, 1.0, 3.0], (int(rng.integers(1, 3)), count))
    start = rng.random(count) * width
    sides = weights @ start + rng.random(len(weights))  # the person's own row obeys every rule
    rules = [
        " + ".join(f"{w:g} * {n}" for w, n in zip(row, names, strict=True)) + f" <= {side!r}"
        for row, side in zip(weights, sides.tolist(), strict=True)
    ]
    space = ActionSpace(features, rules=rules)
    z0, z = start / width, rng.normal(0.5, 1.0, count)
    got = space.project(z, z0)[0]
    assert space.allows(z0, got).all()
    expected = minimize(
        lambda x: ((x - z) ** 2).sum(),
        z0,
        jac=lambda x: 2 * (x - z),
        method="SLSQP",
        bounds=Bounds(0, 1),
        constraints=LinearConstraint(weights * width, -np.inf, sides),
        options={"ftol": 1e-15, "maxiter": 500},
    ).x
    np.testing.assert_allclose(((got - z) ** 2).sum(), ((expected - z) ** 2).sum(), rtol=1e-6, atol=1e-9)


# one feature --------------------------------------------------------------------------------------------


def one(**facts):
    return ActionSpace([Feature("x", **facts)])


TEN = {"range": (0, 10)}
HOME = {"kind": "categorical", "levels": ("rent", "own", "free"), "forbidden": [("own", "rent")]}
JOB = {"kind": "ordinal", "levels": ("none", "helper", "skilled", "manager"), "max_change": 1}


@pytest.mark.parametrize(
    ("facts", "start", "fine", "broken"),
    [
        ({**TEN, "direction": "up"}, 4, [4, 5], [3]),
        ({**TEN, "direction": "down"}, 4, [3, 4], [5]),
        ({**TEN, "actionable": False}, 4, [4], [3, 5]),
        ({**TEN, "bounds": (2, 8)}, 4, [2, 8], [1, 9]),
        ({**TEN, "bounds": (2, 8)}, 10, [10, 8], [9]),  # outside the bounds: may stay or come inside
        (TEN, 15, [15, 12], [16]),  # the range stretches to the person
        ({**TEN, "direction": "up", "max_change": 5}, 3, [3, 8], [2, 9]),
        ({"range": (0, 1000), "step": 100}, 451, [451, 400, 500], [450]),
        (HOME, "own", ["own", "free"], ["rent"]),
        (HOME, "rent", ["own"], []),
        (JOB, "helper", ["none", "skilled"], ["manager"]),
    ],
)
def test_what_one_feature_may_become(facts, start, fine, broken):
    now, then = pd.DataFrame({"x": [start]}), pd.DataFrame({"x": [*fine, *broken]})
    assert one(**facts).allows(now, then).tolist() == [True] * len(fine) + [False] * len(broken)


@pytest.mark.parametrize(
    ("facts", "start", "wanted", "nearest"),
    [
        (TEN, 15, [20, -3], [15, 0]),
        ({**TEN, "bounds": (2, 8), "step": 1.0}, 10, [10, 9.3, 8.5, 1], [10, 10, 8, 2]),
        ({"range": (0, 1000), "step": 100}, 451, [455, 440, 420, 480, 960, 2000], [451, 451, 400, 500, 1000, 1000]),
        ({"range": (0, 1), "step": 0.1}, 0.5, [0.31], [0.3]),
        ({**TEN, "kind": "integer", "max_change": 2}, 5, [9, 0], [7, 3]),
    ],
)  # fmt: skip
def test_where_wishes_go(facts, start, wanted, nearest):
    space, (low, high) = one(**facts), facts["range"]
    Z = (np.array(wanted, dtype=float)[:, None] - low) / (high - low)
    assert (
        space.decode(space.project(Z, space.encode(pd.DataFrame({"x": [start]}))[0]))["x"].tolist() == nearest
    )


def test_forbidden_levels_are_out_of_reach():
    space = one(**HOME)
    z0 = space.vector({"x": "own"})
    assert space.legal.reachable("x", z0) == ["own", "free"]
    assert space.decode(space.project([[0.9, 0.1, 0.2]], z0))["x"].tolist() == ["free"]
    np.testing.assert_allclose(space.legal.relax(np.array([0.9, 0.1, 0.3]), z0), [[0, 0.4, 0.6]])


def test_a_vector_that_is_no_row_is_not_legal():
    space = ActionSpace([Feature("n", "integer", **TEN), Feature("job", "categorical", levels=("a", "b"))])
    Z = np.array([[0.5, 1, 0], [0.55, 1, 0], [0.5, 0.5, 0.5], [0.5, 1, 1], [0.5, 0, 0]])
    assert space.allows(Z[0], Z).tolist() == [True, False, False, False, False]


def test_one_side_may_serve_all_rows():
    space, Z = one(**TEN, direction="up"), np.array([[0.1], [0.5], [0.9]])
    assert space.allows(Z, Z[1]).tolist() == [True, True, False]
    assert space.allows(Z[1], Z).tolist() == [False, True, True]


def test_at_most_k_changes():
    features = [Feature(n, "integer", **TEN) for n in "abc"]
    space = ActionSpace([*features, Feature("s", range=(0, 30), derived="a + b + c")], max_changes=2)
    z0 = space.vector({"a": 5, "b": 5, "c": 5, "s": 15.0})
    after = pd.DataFrame({"a": [6, 6, 6], "b": [5, 6, 6], "c": [5, 5, 6], "s": [16.0, 17.0, 18.0]})
    assert space.allows(z0, space.encode(after)).tolist() == [True, True, False]
    wanted = z0 + np.array([0.1, 0.3, 0.2, 0.0])
    assert space.values(space.project(wanted, z0)[0]) == {"a": 5, "b": 8, "c": 7, "s": 20.0}
    tight = space.tighten(space.limits(max_changes=1))
    assert tight.values(tight.project(wanted, z0)[0]) == {"a": 5, "b": 8, "c": 5, "s": 18.0}
    forced = tight.tighten(space.limits(at_least={"a": 6, "b": 7}))
    with pytest.raises(InputError, match="the limits force more changes than are allowed; relax one of them"):
        forced.project(z0, z0)


# rules ---------------------------------------------------------------------------------------------------

FEATURES = [
    Feature("existing", "integer", range=(0, 5)),
    Feature("new", "integer", range=(0, 5)),
    Feature("credit amount", range=(0, 1000), step=100),
    Feature("owner", "binary", levels=("no", "yes")),
    Feature("grade", "ordinal", levels=("low", "mid", "high")),
    Feature("job", "categorical", levels=("cook", "smith", "not known")),
]
START = {"existing": 1, "new": 1, "credit amount": 500.0, "owner": "no", "grade": "mid", "job": "cook"}
BACK = "if new decreases then `credit amount` decreases"
OWNER = "if owner becomes yes then `credit amount` is at least 1,000"


@pytest.mark.parametrize(
    ("rule", "fine", "broken"),
    [
        ("existing + 2 * new <= 5", {"new": 2}, {"new": 3}),
        ("5 >= existing + 2 * new", {"new": 2}, {"new": 3}),
        ("existing = new", {"existing": 2, "new": 2}, {"new": 2}),
        ("existing == new", {"existing": 0, "new": 0}, {"existing": 0}),
        ("2 * (existing - new) / 4 <= 1 - 0.5", {"existing": 2}, {"existing": 3}),
        ("`credit amount` <= 600 - 100 * owner", {"owner": "yes"}, {"credit amount": 600.0, "owner": "yes"}),
        ("-existing >= -3", {"existing": 3}, {"existing": 4}),
        ("if job changes then owner changes", {"job": "smith", "owner": "yes"}, {"job": "smith"}),
        ("if job changes, then grade stays", {"job": "smith"}, {"job": "smith", "grade": "high"}),
        ("if grade increases then new increases by at least 2", {"grade": "high", "new": 3}, {"grade": "high", "new": 2}),
        (BACK, {"new": 0, "credit amount": 400.0}, {"new": 0}),
        ("if job is smith then owner is yes", {"job": "smith", "owner": "yes"}, {"job": "smith"}),
        ("if job becomes 'not known' then owner is not no", {"job": "not known", "owner": "yes"}, {"job": "not known"}),
        (OWNER, {"owner": "yes", "credit amount": 1000.0}, {"owner": "yes"}),
        ("if new is at least 3 then grade is at most low", {"new": 3, "grade": "low"}, {"new": 3}),
        ("IF job is not cook THEN owner is yes", {"job": "smith", "owner": "yes"}, {"job": "smith"}),
    ],
)  # fmt: skip
def test_rules(rule, fine, broken):
    space = ActionSpace(FEATURES, rules=[rule])
    rows = pd.DataFrame([START, START | fine, START | broken])
    assert space.allows(rows[:1], rows).tolist() == [True, True, False]


@pytest.mark.parametrize(
    ("rule", "wanted", "nearest"),
    [
        ("if new changes then existing changes", (0.9, 3, 1), (0, 3, "mid")),
        ("if new increases then grade increases", (1, 5, 1.2), (1, 5, "high")),
        ("if new increases then grade increases", (1, 2, 1), (1, 1, "mid")),
        ("existing + new <= 3", (1.4, 3, 1), (1, 2, "mid")),
        ("existing + new >= 5", (1.4, 3, 1), (2, 3, "mid")),
    ],
)
def test_project_obeys_rules_at_the_least_distance(rule, wanted, nearest):
    space = ActionSpace(FEATURES[:2] + FEATURES[4:5], rules=[rule])
    z0 = space.vector({name: START[name] for name in space.names})
    assert tuple(space.values(space.project(np.array(wanted) / [5, 5, 2], z0)[0]).values()) == nearest


def test_rules_that_leave_nothing_say_so_and_are_not_searched_unless_exact():
    z0 = np.array([0.2, 0.2])
    space = ActionSpace(FEATURES[:2], rules=["existing + new >= 100"])
    with pytest.raises(InputError, match="no row is legal for this person: the rules contradict the limits"):
        space.project(z0, z0)
    assert space.legal.obstacle(z0).startswith("no row is legal")
    assert ActionSpace(FEATURES[:2]).legal.obstacle(z0) is None
    loose = space.project(np.array([1.0, 1.0]), z0, exact=False)
    np.testing.assert_array_equal(loose, [[1.0, 1.0]])
    assert not space.allows(z0, loose)[0]


SMITH = "if job becomes smith then new is at least"


@pytest.mark.parametrize(
    ("rules", "change", "named"),
    [
        (["if job becomes smith then grade is at least high"], {"job": "smith", "grade": "high"}, ["grade"]),
        ([f"{SMITH} 2"], {"job": "smith", "new": 2}, ["new"]),
        ([f"{SMITH} 2"], {"job": "smith", "new": 3}, []),  # farther than asked
        ([f"{SMITH} 1"], {"job": "smith", "new": 2}, []),  # not asked for
        ([f"{SMITH} 2"], {"new": 2}, []),  # nothing asks for it
        (["if new increases then existing decreases by at least 1"], {"new": 3, "existing": 0}, ["existing"]),
        (["if new increases then owner changes"], {"new": 3, "owner": "yes"}, []),
        # two changes that ask for each other: the one that is named first stays
        (
            ["if new becomes 0 then existing is at most 0", "if existing becomes 0 then new is at most 0"],
            {"new": 0, "existing": 0},
            ["existing"],
        ),
        (["existing + new <= 9"], {"new": 3}, []),
    ],
)
def test_what_a_rule_entails(rules, change, named):
    space = ActionSpace(FEATURES, rules=rules)
    found = space.legal.entailing(space.vector(START), space.vector(START | change)[None])[0] >= 0
    assert [f.name for f, yes in zip(space.features, found, strict=True) if yes] == named


def test_a_ratio_may_rise_by_so_much_and_no_more():
    """For everybody by what they asked for: 40 a month may become 50."""
    amount, months = (
        Feature("amount", range=(100, 5000), step=10),
        Feature("months", "integer", range=(4, 60)),
    )
    space = ActionSpace([amount, months], rules=["amount / months rises by at most 25 %"])
    start = space.encode(pd.DataFrame({"amount": [960], "months": [24]}))
    rows = pd.DataFrame({"amount": [960, 960, 960, 480, 2000], "months": [20, 19, 60, 10, 50]})
    Z = space.encode(rows)
    assert space.allows(start, Z).tolist() == (rows["amount"] / rows["months"] <= 50).tolist()
    nearest = space.decode(space.project(Z[[1]], start[0]))
    assert nearest["amount"].iloc[0] / nearest["months"].iloc[0] <= 50
    again = ActionSpace.from_toml(space.to_toml())
    assert again.digest == space.digest
    assert again.allows(start, Z).tolist() == space.allows(start, Z).tolist()


# limits of a person --------------------------------------------------------------------------------------


@pytest.fixture
def loan():
    return ActionSpace(
        [
            Feature("amount", "integer", range=(0, 9000), step=100, label="Loan amount", unit="DM"),
            Feature("months", "integer", range=(4, 72)),
            Feature("grade", "ordinal", levels=("low", "mid", "high")),
            Feature("job", "categorical", levels=("cook", "smith", "clerk")),
            Feature("rate", range=(0, 999), derived="amount / months"),
        ]
    )


ME = {"amount": 5000, "months": 20, "grade": "mid", "job": "cook", "rate": 250.0}


def test_limits_hold_even_where_nothing_changes(loan):
    z0, tight = loan.vector(ME), loan.tighten(loan.limits(at_most={"amount": 4000}))
    assert loan.allows(z0, z0)[0]
    assert not tight.allows(z0, z0)[0]
    assert tight.values(tight.project(z0, z0)[0])["amount"] == 4000
    assert tight.tighten(loan.limits(fixed=["amount"])).legal.obstacle(z0) == (
        "no value of 'Loan amount' is left to choose: the limits exclude all; relax one"
    )
    assert loan.tighten(None) is loan
    assert loan.tighten(Limits()) is loan


def test_each_kind_of_limit(loan):
    limits = loan.limits(fixed="months", at_least={"grade": "high"}, exclude={"job": "cook"}, max_changes=2)
    z0, tight = loan.vector(ME), loan.tighten(limits)
    assert tight.legal.reachable("job", z0) == ["smith", "clerk"]
    assert tight.legal.reachable("grade", z0) == ["high"]
    got = tight.values(tight.project(z0 + 0.2, z0)[0])
    assert (got["months"], got["grade"], got["amount"]) == (20, "high", 5000)
    assert limits.names == ("months", "grade", "job", "max_changes")
    assert tight.describe().splitlines()[-4:] == [
        "  Limit: months stays as it is",
        "  Limit: grade is at least high",
        "  Limit: job is not cook",
        "  Limit: at most 2 features may change",
    ]


def test_tightening_twice_never_loosens(loan):
    z0 = loan.vector(ME)
    first = loan.tighten(loan.limits(at_most={"amount": 3000}, at_least={"grade": "mid"}))
    second = first.tighten(loan.limits(at_most={"amount": 8000}, at_least={"grade": "low"}))
    assert second.values(second.project(z0, z0)[0])["amount"] == 3000
    assert second.legal.reachable("grade", z0) == ["mid", "high"]


def test_merge_lets_a_person_correct_what_they_said():
    said = Limits(at_most={"amount": 3000}, exclude={"job": ("cook",)}, max_changes=3)
    later = said.merge(Limits(at_most={"amount": 5000}, exclude={"job": ("smith",)}, max_changes=4))
    assert later == Limits(at_most={"amount": 5000}, exclude={"job": ("cook", "smith")}, max_changes=3)
    assert later.without("amount").without("max_changes") == Limits(exclude={"job": ("cook", "smith")})


def test_limits_survive_json(loan):
    most, few = {"amount": np.int64(4000)}, np.int64(2)
    limits = loan.limits(fixed=["months"], at_most=most, exclude={"job": ["cook"]}, max_changes=few)
    assert Limits.from_dict(json.loads(json.dumps(limits.to_dict()))) == limits
    assert Limits.from_dict({}) == Limits()


def test_a_missing_value_is_not_held_against_a_limit():
    space = ActionSpace([Feature("x", range=(0, 9), missing=True), Feature("y", range=(0, 9))])
    z0 = space.vector({"x": None, "y": 3.0})
    tight = space.tighten(space.limits(at_least={"x": 5}))
    assert tight.allows(z0, z0)[0]
    assert pd.isna(tight.project(z0 + 0.1, z0)[0, 0])


# derived features ----------------------------------------------------------------------------------------

BASE = [
    Feature("debt", "integer", range=(0, 100), missing=True),
    Feature("income", "integer", range=(0, 100)),
    Feature("kids", "ordinal", levels=(0, 1, 2, 5)),
]
NOW = {"debt": 50, "income": 20, "kids": 5, "ratio": 2.5}


def with_ratio(formula="debt / income", **facts):
    return ActionSpace([*BASE, Feature("ratio", range=(0, 10), derived=formula, **facts)])


def moved(space, start=NOW, **change):
    """Where a row is projected to that knows nothing of what follows."""
    z0 = space.vector(start)
    row = space.project(space.vector(start | change), z0)
    assert space.allows(z0, row).all()
    return space.values(row[0])


@pytest.mark.parametrize(
    ("formula", "change", "expected"),
    [
        ("debt / income", {"income": 25}, 2.0),
        ("debt / max(income, 1, kids)", {"kids": 2}, 2.5),
        ("kids + debt / 100", {"kids": 1}, 1.5),
        ("sqrt(abs(debt)) - round(income / 100)", {"debt": 16}, 4.0),
    ],
)
def test_a_derived_feature_follows(formula, change, expected):
    assert moved(with_ratio(formula), **change)["ratio"] == pytest.approx(expected)
    assert moved(with_ratio(step=0.1), income=30)["ratio"] == 1.7  # rounded to its own step


def test_where_nothing_it_follows_from_changed_it_keeps_its_own_value():
    space, odd = with_ratio(), NOW | {"ratio": 2.4}  # rounded in the table
    z0 = space.vector(odd)
    rows = [{"kids": 1}, {"ratio": 2.5}, {"income": 25}, {"income": 25, "ratio": 2.0}]
    assert [space.allows(z0, space.vector(odd | row))[0] for row in rows] == [True, False, False, True]
    np.testing.assert_array_equal(space.project(z0, z0)[0], z0)


def test_one_may_follow_from_another_declared_before_it():
    double = Feature("double", range=(0, 20), derived="2 * ratio")
    got = moved(ActionSpace([*with_ratio().features, double]), NOW | {"double": 5.0}, income=25)
    assert (got["ratio"], got["double"]) == (2.0, 4.0)


def test_what_cannot_be_computed_is_not_legal_and_project_leaves_its_sources_alone():
    space = with_ratio()
    z0, nowhere = space.vector(NOW), space.vector(NOW | {"income": 0, "kids": 1})
    assert not space.allows(z0, nowhere)[0]
    assert moved(space, income=0, kids=1) == NOW | {"kids": 1}
    owing = NOW | {"debt": None}
    assert space.allows(space.vector(owing), space.vector(owing))[0]
    # without the debt nobody knows the ratio for another income
    assert moved(space, owing, income=40, kids=1) == owing | {"kids": 1}
    assert moved(with_ratio(missing=True), owing, income=40) == owing | {"income": 40, "ratio": None}


def test_nobody_sets_it():
    space = with_ratio()
    z0 = space.vector(NOW)
    lower, upper = space.legal.box(z0)
    assert lower[3] == upper[3] == z0[3]
    assert [str(c) for c in space.changes(z0, space.vector(NOW | {"income": 25, "ratio": 2.0}))] == [
        "Increase income from 20 to 25",
        "ratio falls from 2.5 to 2 as a result",
    ]
    X = pd.DataFrame({"a": [1, 2, 3], "b": [0, 1, 0]})
    b = ActionSpace.from_frame(X, features={"b": {"derived": "a - 1"}}).feature("b")
    assert (b.kind, b.actionable) == ("integer", False)


def test_follow_gives_what_project_gives_and_keeps_what_cannot_be_computed():
    a, b = Feature("a", range=(0, 4), step=1), Feature("b", range=(0, 4), step=1)
    space = ActionSpace([a, b, Feature("q", range=(0, 4), derived="a / b")])
    z0 = space.vector({"a": 2.0, "b": 2.0, "q": 1.0})
    rows = np.array([[0.5, 0.25, 0.0], [1.0, 0.5, 0.0], [0.5, 0.0, 0.9]])
    out = space.legal.follow(rows, z0)
    np.testing.assert_allclose(out[:, 2], [0.5, 0.5, 0.25])
    np.testing.assert_array_equal(out[:, :2], rows[:, :2])
    np.testing.assert_array_equal(space.allows(z0, out), [True, True, False])
    np.testing.assert_allclose(space.project(rows[:2], z0), out[:2])

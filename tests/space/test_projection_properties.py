"""``project``, ``allows`` and ``relax`` on random spaces, against enumeration and a quadratic programme."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.optimize import Bounds, LinearConstraint, minimize, nnls

from reap._errors import InputError
from reap.space import ActionSpace, Feature
from tests.space.generators import all_rows, legal, random_limits, random_space, seeds

few = settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def world(rng, limited):
    """A space within limits, a person, every row of the space, and which rows are legal by the letter."""
    space, X = random_space(rng)
    limits = random_limits(rng, space) if limited else None
    z0 = space.encode(X.iloc[[0]])[0]
    start = space.values(z0)
    rows = all_rows(space, start)
    fine = np.array([legal(space, limits, start, row) for row in rows.to_dict("records")])
    return space.tighten(limits), z0, space.encode(rows), fine


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
@given(seeds(), st.booleans())
def test_project_is_legal_idempotent_and_never_farther_than_enumeration(rng, limited):
    space, z0, rows, fine = world(rng, limited)
    Z = wishes(rng, space, z0, rows)
    if not fine.any():
        with pytest.raises(InputError):
            space.project(Z, z0)
        assert space.legal.obstacle(z0) is not None
        return
    P = space.project(Z, z0)
    assert space.allows(z0, P).all()
    np.testing.assert_allclose(space.project(P, z0), P, rtol=0, atol=1e-12)
    wanted = np.where(np.isnan(Z), np.nan_to_num(z0), Z)
    missing = _missing_columns(space, z0)
    wanted = np.where(missing, 0.0, wanted)
    best = ((np.nan_to_num(rows[fine])[None] - wanted[:, None])[:, :, ~missing] ** 2).sum(axis=2).min(axis=1)
    got = ((np.nan_to_num(P) - wanted)[:, ~missing] ** 2).sum(axis=1)
    np.testing.assert_allclose(got, best, rtol=0, atol=1e-9)


def _missing_columns(space, z0):
    missing = np.zeros(space.dimension, dtype=bool)
    for name, value in space.values(z0).items():
        missing[space.slices[name]] = value is None
    return missing


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
    Z = rng.normal(0.5, 1.0, (2, space.dimension))
    shut = not all(space.legal.reachable(f.name, z0) for f in space.features if graded(space, f, z0))
    if shut or any((low > high).any() for low, high in intervals(space, z0)):
        with pytest.raises(InputError, match="left to choose"):
            space.legal.relax(Z, z0)
        return
    got = space.legal.relax(Z, z0)
    np.testing.assert_allclose(space.legal.relax(got, z0), got, rtol=0, atol=1e-12)
    for z, answer in zip(Z, got, strict=True):
        for feature in space.features:
            columns = space.slices[feature.name]
            if space.values(z0)[feature.name] is None:
                np.testing.assert_array_equal(answer[columns], z0[columns])
            else:
                expected = quadratic_programme(z[columns], *ends(space, feature, z0))
                np.testing.assert_allclose(answer[columns], expected, rtol=0, atol=1e-8)


def graded(space, feature, z0):
    return not feature.is_number and space.values(z0)[feature.name] is not None


def intervals(space, z0):
    known = (f for f in space.features if f.is_number and space.values(z0)[f.name] is not None)
    return (ends(space, feature, z0) for feature in known)


def ends(space, feature, z0):
    """The least and greatest encoded value of a feature's columns, worked out from what the space says."""
    limits, now = space.legal.limits, space.values(z0)[feature.name]
    if feature.kind == "categorical":
        return np.zeros(feature.width), np.isin(
            feature.levels, space.legal.reachable(feature.name, z0)
        ).astype(float)
    if not feature.is_number:
        places = [feature.levels.index(level) for level in space.legal.reachable(feature.name, z0)]
        span = max(len(feature.levels) - 1, 1)
        return np.array([min(places) / span]), np.array([max(places) / span])
    low, high = feature.bounds or (min(feature.range[0], now), max(feature.range[1], now))
    if feature.max_change is not None:
        low, high = max(low, now - feature.max_change), min(high, now + feature.max_change)
    stuck = not feature.actionable or feature.name in limits.fixed
    low = now if stuck or feature.direction == "up" else low
    high = now if stuck or feature.direction == "down" else high
    low, high = (
        max(low, limits.at_least.get(feature.name, low)),
        min(high, limits.at_most.get(feature.name, high)),
    )
    width = feature.range[1] - feature.range[0]
    return np.array([(low - feature.range[0]) / width]), np.array([(high - feature.range[0]) / width])


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

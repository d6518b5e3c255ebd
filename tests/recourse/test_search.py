"""The search against an independent enumeration, in spaces of every kind: numbers and levels, rules, limits, time, gaps."""

from __future__ import annotations

import time

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.ensemble import RandomForestClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline

import reap
from benchmarks import _enumeration
from reap.checks.worlds import random_matrices

MODELS = {
    "network": lambda: MLPClassifier((8,), max_iter=5000, random_state=0, solver="lbfgs", alpha=0.01),
    "forest": lambda: RandomForestClassifier(30, max_depth=6, random_state=0),
}


def people(seed, rows=250):
    """Five numbers, fine and coarse, and two features with levels; the favourable outcome needs several of them."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "income": rng.integers(10, 90, rows) * 50,
            "debt": rng.integers(0, 400, rows) * 25.0,
            "cards": rng.integers(0, 9, rows),
            "years": rng.integers(0, 30, rows),
            "share": rng.random(rows).round(3),
            "home": rng.choice(["rent", "own", "free"], rows),
            "bank": rng.choice(["no", "yes"], rows),
        }
    )
    w = rng.uniform(0.5, 1.5, 5)
    value = (
        w[0] * X["income"] / 4500 - w[1] * X["debt"] / 10000 - w[2] * X["cards"] / 9 + w[3] * X["years"] / 30
    )
    value = value - w[4] * X["share"] + 0.4 * (X["home"] == "own") * (X["bank"] == "yes")
    return X, (value + 0.1 * rng.normal(size=rows) > np.quantile(value, 0.7)).astype(int)


def fitted(kind, seed, **options):
    X, y = people(seed)
    space = reap.ActionSpace.from_frame(
        X, **options, features={"debt": {"step": 25}, "income": {"step": 50}, "share": {"step": 0.01}}
    )
    model = make_pipeline(space.encoder(), MODELS[kind]()).fit(X, y)
    return X, space, model, reap.Recourse(model, space).fit(X)


@pytest.mark.parametrize("kind", MODELS)
def test_plans_ask_for_no_more_than_what_enumeration_finds(kind):
    ours, theirs = [], []
    for seed in range(3):
        X, space, model, engine = fitted(kind, seed)
        A = random_matrices(space.dimension, 4, seed=seed)
        for i in np.flatnonzero(model.predict(X) == 0)[:3]:
            ours += [plan.effort for plan in engine.plans(X.iloc[[i]], A)]
            theirs += _enumeration.best(engine, X.iloc[[i]], A).tolist()
    ours, theirs = np.array(ours), np.array(theirs)
    assert np.isfinite(theirs).all()
    assert ours.sum() <= 1.01 * theirs.sum()
    assert (ours <= 1.3 * theirs).mean() >= 0.95


@settings(max_examples=12, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_every_promise_holds_in_random_spaces_with_rules_and_limits(seed):
    rng = np.random.default_rng(seed)
    kind = str(rng.choice(list(MODELS)))
    rules = [[], ["income - 300 * cards >= 0"], ["if income increases then years increases by at least 1"]]
    X, _, _, engine = fitted(kind, seed % 50, rules=rules[seed % 3])
    report = reap.checks.engine(engine, X, people=2, matrices=3, raises=False)
    assert [(line.promise, line.broken) for line in report.lines if line.broken] == []


@pytest.mark.parametrize("kind", MODELS)
def test_what_limits_force_is_done_and_nothing_else_is_needless(kind):
    X, space, model, engine = fitted(kind, 1)
    limits = space.limits(at_most={"cards": 3}, exclude={"home": ["rent"]}, fixed=["debt"])
    some = X[(model.predict(X) == 0) & (X["cards"] > 3) & (X["home"] == "rent")].iloc[:4]
    assert len(some) == 4
    for i in range(len(some)):
        plan = engine.plans(some.iloc[[i]], np.eye(space.dimension), limits)[0]
        assert plan.valid
        assert plan.target["cards"] <= 3
        assert plan.target["home"] != "rent"
        assert plan.target["debt"] == some["debt"].iloc[i]


@pytest.mark.parametrize("needed", [4, 6, 9])
def test_more_changes_than_three_where_three_are_not_enough(needed):
    names = [f"x{i}" for i in range(10)]
    X = pd.DataFrame(np.random.default_rng(0).uniform(0, 1, (200, 10)).round(2), columns=names)
    engine = reap.Recourse(
        lambda rows: 1 / (1 + np.exp(-4 * ((rows[names] >= 0.5).sum(axis=1) - needed + 0.5))),
        reap.ActionSpace.from_frame(X),
    ).fit(X)
    plan = engine.plans(pd.DataFrame([dict.fromkeys(names, 0.0)]), np.eye(10))[0]
    assert plan.valid
    assert len(plan.changes) == needed
    assert {change.after for change in plan.changes} == {0.5}


def test_somebody_who_is_accepted_shows_the_way_where_no_single_step_helps():
    """Five changes help only together, and no score rises before."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({name: rng.integers(0, 10, 400) for name in "abcdef"})
    X.iloc[:20] = 8
    space = reap.ActionSpace.from_frame(X)

    def score(rows):
        return 0.9 * (rows[list("abcde")].min(axis=1) >= 7)

    plan = reap.Recourse(score, space).fit(X).plans(pd.Series(dict.fromkeys("abcdef", 2)), np.eye(6))[0]
    assert plan.valid
    assert {change.feature: change.after for change in plan.changes} == dict.fromkeys("abcde", 7)


def test_a_change_that_the_model_does_not_need_by_a_hair_is_left_out():
    """0.0001 log-odds beyond the boundary is a yes."""

    def score(rows):
        return 1 / (1 + np.exp(-(rows["a"] - 5 + 1e-4 + 0.01 * rows["b"])))

    X = pd.DataFrame({"a": range(10), "b": range(10)})
    plan = (
        reap.Recourse(score, reap.ActionSpace.from_frame(X))
        .fit(X)
        .plans(pd.Series({"a": 2, "b": 0}), np.diag([1.0, 1e-6]))[0]
    )
    assert {change.feature: change.after for change in plan.changes} == {"a": 5}


@pytest.mark.parametrize("kind", MODELS)
def test_somebody_with_gaps_keeps_them(kind):
    X, y = people(2)
    rng = np.random.default_rng(0)
    X["share"] = X["share"].where(rng.random(len(X)) > 0.3)
    space = reap.ActionSpace.from_frame(
        X, missing=["share"], features={"debt": {"step": 25}, "income": {"step": 50}}
    )
    inner = MODELS[kind]().fit(np.nan_to_num(space.encode(X)), y)
    engine = reap.Recourse(
        reap.models.on_vectors(lambda Z: inner.predict_proba(np.nan_to_num(Z))[:, 1]), space
    ).fit(X)
    some = X[X["share"].isna() & ~engine.classifier_.accepts(space.encode(X))].iloc[:3]
    assert len(some) == 3
    for i in range(len(some)):
        plan = engine.plans(some.iloc[[i]], np.eye(space.dimension))[0]
        assert plan.valid
        assert np.isnan(plan.target["share"])


def test_a_slow_model_is_asked_no_longer_than_there_is_time():
    X, y = people(0)
    space = reap.ActionSpace.from_frame(X)
    inner = MODELS["forest"]().fit(space.encode(X), y)

    def slow(Z):
        time.sleep(0.05)
        return inner.predict_proba(Z)[:, 1]

    engine = reap.Recourse(reap.models.on_vectors(slow), space, time_limit=0.4).fit(X)
    x = X[inner.predict(space.encode(X)) == 0].iloc[[0]]
    begin = time.monotonic()
    plan = engine.plans(x, random_matrices(space.dimension, 4))[0]
    assert time.monotonic() - begin < 1.5
    assert plan.status in ("ok", "time_limit")
    if plan.status == "ok":
        assert "time limit" in plan.note

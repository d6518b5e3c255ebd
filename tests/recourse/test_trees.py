"""Plans of trees, against every row of up to three changes."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.tree import DecisionTreeClassifier

import reap
from reap import effort
from reap._arrays import unique_rows
from reap.checks.worlds import random_matrices
from reap.recourse.reduce import undominated
from tests.models.ensembles import BLENDS, EVERY, blended, make, people, piped, shares_with_outliers


def every_row(space, z, most):
    """All legal rows of at most so many changes, (n, d), by the space's own grid."""
    numbers, choices = space.legal.grid(z)
    base = z.copy()
    for j in np.flatnonzero(~numbers.stays):
        values = numbers.values(j)
        base[numbers.columns[j]] = values[np.abs(values - numbers.start[j]).argmin()]
    for choice in choices:
        if choice.own < 0:
            base[choice.columns] = choice.options[0]
    axes = [(numbers.columns[[j]], numbers.values(j)[:, None]) for j in range(len(numbers.columns))]
    axes += [(choice.columns, choice.options) for choice in choices]
    forced = int(space.encoding.changed(z, base).sum())
    rows = [base[None]]
    for size in range(1, min(most + forced, len(axes)) + 1):
        for some in combinations(axes, size):
            places = np.indices([len(options) for _, options in some]).reshape(size, -1)
            block = np.repeat(base[None], places.shape[1], axis=0)
            for (columns, options), place in zip(some, places, strict=True):
                block[:, columns] = options[place]
            rows.append(block)
    table = space.legal.follow(np.concatenate(rows), z, waiting=False)
    table = table[unique_rows(table)]
    table = table[space.allows(z, table)]
    return table[own_changes(space, z, table).sum(axis=1) <= most]


def own_changes(space, z, rows):
    return space.encoding.changed(z, rows)[:, [f.is_action for f in space.features]]


def assert_like_brute_force(model, X, y, space, limits=None, most=3, subjects=3, matrices=8):
    """Hold plans against brute force: within .5 % of its efforts on average, none below, every promise kept on the way."""
    engine = reap.Recourse(model.fit(X, y), space, max_changes=most).fit(X)
    within, accepts = space.tighten(limits), engine.classifier_.accepts
    A = random_matrices(space.dimension, matrices, seed=1)
    still = np.delete(np.arange(space.dimension), space.legal.following)
    ratios = []
    for i, z in enumerate(space.encode(X)):
        if accepts(z[None])[0]:
            continue
        rows = every_row(within, z, most)
        rows = rows[accepts(rows)]
        if len(rows) == 0:
            continue
        rows = rows[undominated(effort.changes(rows, z)[:, still])]
        plans = engine.plans(X.iloc[[i]], A, limits)
        ends = np.stack([plan.path[-1] for plan in plans])
        assert all(plan.valid for plan in plans)
        assert accepts(ends).all()
        assert within.allows(z, ends).all()
        assert (own_changes(space, z, ends).sum(axis=1) <= most).all()
        efforts = np.array([plan.effort for plan in plans])
        np.testing.assert_allclose(efforts, effort.of_each(A, effort.changes(ends, z)), atol=1e-15)
        ratios.append(efforts / effort.of_changes(A, effort.changes(rows, z)).min(axis=1))
        if len(ratios) == subjects:
            break
    assert len(ratios) == subjects
    assert np.min(ratios) >= 1 - 1e-9
    assert np.mean(ratios) <= 1.005


@pytest.mark.parametrize("name", EVERY)
def test_plans_are_those_of_brute_force(name):
    X, y = people()
    space = reap.ActionSpace.from_frame(X, features={"income": {"step": 100}})
    assert_like_brute_force(piped(make(name), X), X, y, space)


@pytest.mark.parametrize("name", BLENDS)
def test_votes_and_calibrated_trees(name):
    X, y = people()
    space = reap.ActionSpace.from_frame(X, features={"income": {"step": 100}})
    assert_like_brute_force(blended(name, X), X, y, space)


@pytest.mark.parametrize(
    ("most", "rules"),
    [
        (1, ()),
        (2, ()),
        (3, ["income - 100 * cards >= 600"]),
        (3, ["if income increases then age increases by at least 2"]),
    ],
)
def test_fewer_changes_and_rules(most, rules):
    X, y = people()
    space = reap.ActionSpace.from_frame(X, rules=rules, features={"income": {"step": 100}})
    assert_like_brute_force(piped(make("histogram"), X), X, y, space, most=most)


@pytest.mark.parametrize("name", ["histogram", *EVERY[-2:]])
def test_splits_on_categories(name):
    X, y = people()
    space = reap.ActionSpace.from_frame(X, features={"income": {"step": 100}})
    assert_like_brute_force(make(name, native=True), X, y, space)


def test_derived_features_follow():
    X, y = people()
    X = X.drop(columns=["grade", "owner"]).assign(share=(X["cards"] / X["income"] * 100).round(4))
    space = reap.ActionSpace.from_frame(
        X, features={"income": {"step": 100}, "share": {"derived": "cards / income * 100"}}
    )
    assert_like_brute_force(piped(make("histogram"), X), X, y, space)


def test_a_derived_feature_of_three_sources_follows_all_of_them():
    X, y = people()
    X = X.drop(columns=["grade", "owner"])
    X = X.assign(load=((X["cards"] * 100 + X["age"]) / X["income"]).round(4))
    y = np.where(X["load"] > X["load"].quantile(0.7), 0, y)
    space = reap.ActionSpace.from_frame(
        X, features={"income": {"step": 100}, "load": {"derived": "(cards * 100 + age) / income"}}
    )
    assert_like_brute_force(piped(make("histogram"), X), X, y, space)


def test_clocks_go_on_while_people_act(monkeypatch):
    X, y = people()
    y = np.where(X["age"] < 22, 0, y)  # age is a clock here, and the model looks at it
    space = reap.ActionSpace(
        [
            replace(f, clock="years", bounds=None, direction="any")
            if f.name == "age"
            else replace(f, pace="100 EUR a month", unit="EUR", step=100.0)
            if f.name == "income"
            else f
            for f in reap.ActionSpace.from_frame(X).features
        ],
        horizon=24,
    )
    model = piped(make("histogram"), X).fit(X, y)
    A = np.eye(space.dimension)
    some = X[(model.predict(X) == 0) & X["age"].between(20, 23)].iloc[:6]
    whole = reap.Recourse(model, space).fit(X).plan_each(some, A)
    monkeypatch.setattr("reap.recourse.search._ENUMERATED", 0)
    read_off = reap.Recourse(model, space).fit(X).plan_each(some, A)
    assert any(plan.months >= 12 for plan in whole)
    assert [plan.status for plan in read_off] == [plan.status for plan in whole]
    ratios = [b.effort / a.effort for a, b in zip(whole, read_off, strict=True) if a.valid]
    assert np.mean(ratios) <= 1.005


def test_limits_that_force_changes():
    X, y = people()
    space = reap.ActionSpace.from_frame(X, features={"income": {"step": 100}})
    limits = space.limits(fixed=["cards"], at_least={"age": 22}, exclude={"housing": ["own"]})
    assert_like_brute_force(piped(make("forest"), X), X, y, space, limits)


def test_numbers_with_more_edges_than_a_word_has_bits_are_refined():
    X, y = people(1500)
    rng = np.random.default_rng(1)
    X["income"] = (X["income"] + rng.uniform(-50, 50, len(X))).round(1)
    X = X[["age", "income", "cards"]]
    space = reap.ActionSpace.from_frame(X, features={"income": {"step": 10}})
    assert_like_brute_force(make("forest"), X, y, space, subjects=2)


def test_the_same_question_gets_the_same_answer_whatever_was_asked_before():
    X, y = people()
    space = reap.ActionSpace.from_frame(X, features={"income": {"step": 100}})
    model = piped(make("forest"), X).fit(X, y)
    A, x = random_matrices(space.dimension, 6), X[model.predict(X) == 0].iloc[[0]]
    fresh, used = (reap.Recourse(model, space).fit(X) for _ in range(2))
    used.plans(x, A[3:])
    for one, other in zip(fresh.plans(x, A[:3]), used.plans(x, A[:3]), strict=True):
        np.testing.assert_array_equal(one.path, other.path)


def test_somebody_a_hair_below_an_edge_has_a_plan():
    """A share of 0.9999999 beside a range of 50,000: read as 1 it was accepted already, and every plan was lost."""
    X, y = shares_with_outliers()
    space = reap.ActionSpace.from_frame(X)
    model = HistGradientBoostingClassifier(max_iter=20, random_state=0).fit(X, y)
    engine = reap.Recourse(model, space).fit(X)
    people = X[(X["share"] == 0.9999999) & (X["income"] > 4000)].head(5)
    assert not model.predict(people).any()
    for i in range(len(people)):
        plan = engine.plans(people.iloc[[i]], np.eye(2))[0]
        assert plan.valid
        assert [change.feature for change in plan.changes] == ["share"]
        assert model.predict(space.decode(plan.path[-1:])).all()


def test_the_model_itself_is_asked_about_somebody_of_whom_the_reading_is_wrong():
    X, _ = shares_with_outliers()
    X["share"] = X["share"].clip(0, 3)
    X.loc[X.index % 3 == 0, "share"] += 2
    y = ((X["share"] < 2.5) | (X["income"] > 6000)).astype(int)
    model = DecisionTreeClassifier(random_state=0).fit(X, y)
    known = X[X["share"] < 2]  # nobody beyond the edge: it is not read
    space = reap.ActionSpace.from_frame(known)
    engine = reap.Recourse(model, space).fit(known)
    person = pd.Series({"share": 2.9, "income": 2000.0})
    assert engine._read is not None
    assert engine._read.classifier.accepts(space.vector(person)[None])[0]
    assert not engine.classifier_.accepts(space.vector(person)[None])[0]
    plan = engine.plans(person, np.eye(2))[0]
    assert plan.valid
    assert engine.classifier_.accepts(plan.path[-1:])[0]


def test_who_is_accepted_by_the_model_alone_needs_no_plan():
    X, _ = shares_with_outliers()
    X["share"] = X["share"].clip(0, 3)
    X.loc[X.index % 3 == 0, "share"] += 2
    y = ((X["share"] > 2.5) | (X["income"] > 6000)).astype(int)
    model = DecisionTreeClassifier(random_state=0).fit(X, y)
    known = X[X["share"] < 2]  # nobody beyond the edge: it is not read
    space = reap.ActionSpace.from_frame(known)
    engine = reap.Recourse(model, space).fit(known)
    person = pd.Series({"share": 2.9, "income": 2000.0})
    assert not engine._read.classifier.accepts(space.vector(person)[None])[0]
    plan = engine.plans(person, np.eye(2))[0]
    assert plan.status == "already_accepted"
    assert plan.scores[0] == 1.0

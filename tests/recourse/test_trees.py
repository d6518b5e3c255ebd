"""Trees are searched exactly: against every row of up to three changes."""

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
from reap.models.trees import read
from reap.recourse.targets.order import asks_no_more, undominated
from reap.recourse.targets.problem import Problem
from reap.recourse.targets.trees import Trees
from tests.models.ensembles import BLENDS, EVERY, blended, make, people, piped, shares_with_outliers


def every_row(problem, most):
    """All legal rows of at most so many changes, (n, d)."""
    n = problem.numbers
    axes = [(n.columns[[j]], n.values(j)[:, None]) for j in range(len(n.columns))]
    axes += [(choice.columns, choice.options) for choice in problem.choices]
    forced = int(problem.changed(problem.base[None]).sum())
    rows = [problem.base[None]]
    for size in range(1, min(most + forced, len(axes)) + 1):
        for some in combinations(axes, size):
            places = np.indices([len(options) for _, options in some]).reshape(size, -1)
            block = np.repeat(problem.base[None], places.shape[1], axis=0)
            for (columns, options), place in zip(some, places, strict=True):
                block[:, columns] = options[place]
            rows.append(block)
    table = problem.follow(np.concatenate(rows))
    table = table[unique_rows(table)]
    return table[problem.legal(table)]


def own(problem, rows):
    return np.delete(problem.moves(rows), problem.derived, axis=1)


def compare(model, X, y, space, limits=None, most=3, subjects=3, matrices=8):
    """Return efforts over those of brute force, (subjects, matrices), having checked every promise on the way."""
    classifier = reap.models.wrap(model.fit(X, y), space)
    reader = read(classifier, space, X)
    Z = space.encode(X)
    accepted = classifier.accepts(Z)
    within = space.tighten(limits)
    A = random_matrices(space.dimension, matrices, seed=1)
    ratios = []
    for z in Z[~accepted]:
        problem = Problem(within, classifier, z, most)
        rows = every_row(problem, most)
        rows = rows[problem.score(rows) >= problem.goal]
        if len(rows) == 0:
            continue
        rows = rows[undominated(own(problem, rows))]
        trees = Trees(Problem(within, classifier, z, most), reader, Z[accepted], np.random.default_rng(0))
        best = trees.solve(A)
        assert best.found.all()
        assert classifier.accepts(best.rows).all()
        assert within.allows(z, best.rows).all()
        assert (problem.changed(best.rows).sum(axis=1) <= most).all()
        np.testing.assert_allclose(best.efforts, effort.of_each(A, problem.moves(best.rows)))
        np.testing.assert_allclose(trees.pool.logits, classifier.logit(trees.pool.rows))
        assert within.allows(z, trees.pool.rows).all()
        assert undominated(own(problem, trees.pool.rows)).all()
        ratios.append(best.efforts / effort.of_changes(A, problem.moves(rows)).min(axis=1))
        if len(ratios) == subjects:
            break
    assert len(ratios) == subjects
    return np.array(ratios)


@pytest.mark.parametrize("name", EVERY)
def test_plans_are_those_of_brute_force(name):
    X, y = people()
    space = reap.ActionSpace.from_frame(X, steps={"income": 100})
    ratios = compare(piped(make(name), X), X, y, space)
    assert ratios.min() >= 1 - 1e-9
    assert ratios.mean() <= 1.005


@pytest.mark.parametrize("name", BLENDS)
def test_votes_and_calibrated_trees(name):
    X, y = people()
    space = reap.ActionSpace.from_frame(X, steps={"income": 100})
    ratios = compare(blended(name, X), X, y, space)
    assert ratios.min() >= 1 - 1e-9
    assert ratios.mean() <= 1.005


@pytest.mark.parametrize("name", ["histogram", *EVERY[-2:]])
def test_splits_on_categories(name):
    X, y = people()
    space = reap.ActionSpace.from_frame(X, steps={"income": 100})
    ratios = compare(make(name, native=True), X, y, space)
    assert ratios.min() >= 1 - 1e-9
    assert ratios.mean() <= 1.005


@pytest.mark.parametrize(
    "rule", ["income - 100 * cards >= 600", "if income increases then age increases by at least 2"]
)
def test_rules_are_obeyed(rule):
    X, y = people()
    space = reap.ActionSpace.from_frame(X, steps={"income": 100}, rules=[rule])
    ratios = compare(piped(make("histogram"), X), X, y, space)
    assert ratios.min() >= 1 - 1e-9
    assert ratios.mean() <= 1.005


def test_derived_features_follow():
    X, y = people()
    X = X.drop(columns=["grade", "owner"]).assign(share=(X["cards"] / X["income"] * 100).round(4))
    space = reap.ActionSpace.from_frame(X, steps={"income": 100}, derived={"share": "cards / income * 100"})
    ratios = compare(piped(make("histogram"), X), X, y, space)
    assert ratios.min() >= 1 - 1e-9
    assert ratios.mean() <= 1.005


def test_a_derived_feature_of_three_sources_follows_all_of_them():
    X, y = people()
    X = X.drop(columns=["grade", "owner"])
    X = X.assign(load=((X["cards"] * 100 + X["age"]) / X["income"]).round(4))
    y = np.where(X["load"] > X["load"].quantile(0.7), 0, y)
    space = reap.ActionSpace.from_frame(
        X, steps={"income": 100}, derived={"load": "(cards * 100 + age) / income"}
    )
    ratios = compare(piped(make("histogram"), X), X, y, space)
    assert ratios.min() >= 1 - 1e-9
    assert ratios.mean() <= 1.005


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
    monkeypatch.setattr("reap.recourse.targets.search.QUICK", 0)
    read_off = reap.Recourse(model, space).fit(X).plan_each(some, A)
    assert any(plan.months >= 12 for plan in whole)
    assert [plan.status for plan in read_off] == [plan.status for plan in whole]
    ratios = [b.effort / a.effort for a, b in zip(whole, read_off, strict=True) if a.valid]
    assert np.mean(ratios) <= 1.005


def test_limits_that_force_changes():
    X, y = people()
    space = reap.ActionSpace.from_frame(X, steps={"income": 100})
    limits = space.limits(fixed=["cards"], at_least={"age": 22}, exclude={"housing": ["own"]})
    ratios = compare(piped(make("forest"), X), X, y, space, limits)
    assert ratios.min() >= 1 - 1e-9
    assert ratios.mean() <= 1.005


@pytest.mark.parametrize("most", [1, 2])
def test_fewer_changes(most):
    X, y = people()
    space = reap.ActionSpace.from_frame(X, steps={"income": 100})
    ratios = compare(piped(make("histogram"), X), X, y, space, most=most)
    assert ratios.min() >= 1 - 1e-9
    assert ratios.mean() <= 1.005


def all_five(n=400):
    """Accepted are those who have all five; the first person has none."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.random((n, 5)) < 0.7, columns=list("abcde"))
    X.iloc[0] = False
    return X, X.all(axis=1).to_numpy().astype(int)


@pytest.mark.parametrize(("most", "found"), [(3, False), (4, False), (5, True), (None, True)])
def test_more_than_three_changes_where_nothing_less_helps(most, found):
    X, y = all_five()
    space = reap.ActionSpace.from_frame(X)
    classifier = reap.models.wrap(DecisionTreeClassifier().fit(X, y), space)
    problem = Problem(space, classifier, space.encode(X)[0], most)
    trees = Trees(problem, read(classifier, space, X), space.encode(X)[y == 1], np.random.default_rng(0))
    best = trees.solve(np.eye(5)[None])
    assert best.found.tolist() == [found]
    assert (len(trees.pool) > 0) == found
    assert np.isfinite(problem.closest)
    if found:
        assert best.rows.tolist() == [[1.0] * 5]


def test_numbers_with_more_edges_than_a_word_has_bits_are_refined():
    X, y = people(1500)
    rng = np.random.default_rng(1)
    X["income"] = (X["income"] + rng.uniform(-50, 50, len(X))).round(1)
    X = X[["age", "income", "cards"]]
    space = reap.ActionSpace.from_frame(X, steps={"income": 10})
    ratios = compare(make("forest"), X, y, space, subjects=2)
    assert ratios.min() >= 1 - 1e-9
    assert ratios.mean() <= 1.005


def test_the_same_question_gets_the_same_answer_whatever_was_asked_before():
    X, y = people()
    space = reap.ActionSpace.from_frame(X, steps={"income": 100})
    classifier = reap.models.wrap(piped(make("forest"), X).fit(X, y), space)
    reader, Z = read(classifier, space, X), space.encode(X)
    A = random_matrices(space.dimension, 6)
    z = Z[~classifier.accepts(Z)][0]

    def trees():
        return Trees(Problem(space, classifier, z, 3), reader, Z[:0], np.random.default_rng(0))

    fresh, used = trees(), trees()
    used.solve(A[3:])
    np.testing.assert_array_equal(fresh.solve(A[:3]).rows, used.solve(A[:3]).rows)


def test_no_row_asks_for_all_that_another_of_the_pool_asks_for():
    X, y = people()
    space = reap.ActionSpace.from_frame(X, steps={"income": 100})
    classifier = reap.models.wrap(piped(make("boosting"), X).fit(X, y), space)
    reader, Z = read(classifier, space, X), space.encode(X)
    for z in Z[~classifier.accepts(Z)][:4]:
        trees = Trees(Problem(space, classifier, z, 3), reader, Z[:0], np.random.default_rng(0))
        moves = trees.problem.moves(trees.pool.rows)
        assert (asks_no_more(moves, moves) == np.eye(len(moves), dtype=bool)).all()


@pytest.mark.parametrize("derived", [False, True])
def test_what_is_said_of_trees_is_no_more_than_is_done(derived):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"income": rng.integers(10, 60, 80) * 100.0, "debt": rng.integers(1, 40, 80) * 100.0})
    names = ["income", "debt"]
    options = {}
    if derived:
        X["ratio"] = X["debt"] / X["income"]
        options["derived"] = {"ratio": "debt / income"}
        names.append("ratio")
    y = (X["income"] > 2 * X["debt"]).astype(int)
    space = reap.ActionSpace.from_frame(X[names], **options)
    model = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X[names], y)
    said = reap.Recourse(model, space).fit(X[names]).describe()
    assert said.startswith("Its trees were read; changes of one or two features are known")
    assert ("only some values and days" in said) == derived


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
    assert engine.reader_ is not None
    assert engine.reader_.classifier.accepts(space.vector(person)[None])[0]
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
    assert not engine.reader_.classifier.accepts(space.vector(person)[None])[0]
    plan = engine.plans(person, np.eye(2))[0]
    assert plan.status == "already_accepted"
    assert plan.scores[0] == 1.0

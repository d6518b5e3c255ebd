"""The paper's gradient generator to the letter: Algorithm 1."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import reap
from reap.checks.promises import EVERY, asked, keep
from reap.checks.worlds import random_matrices, random_world
from tests.recourse.answers import told


@pytest.fixture(scope="module")
def world():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {"a": rng.integers(0, 12, 200), "b": rng.integers(0, 12, 200), "c": rng.integers(0, 12, 200)}
    )
    space = reap.ActionSpace.from_frame(X)
    model = make_pipeline(space.encoder(), LogisticRegression(C=1)).fit(X, X["a"] + 2 * X["b"] - X["c"] > 14)
    return X, space, model


def by_hand(model, x0, A, steps, rate=0.01, weight=1.0, hinge=False, stop=False):
    """Algorithm 1 for a logistic regression on the unit box, written out."""
    w, b = model[-1].coef_[0], model[-1].intercept_[0]
    x, goal = x0.copy(), 0.5 + 1e-3 / 2
    for _ in range(steps):
        f = expit(w @ x + b)
        loss = (-1.0 if f < goal else 0.0) if hinge else 2 * (f - goal)
        x = np.clip(x - rate * (loss * f * (1 - f) * w + 2 * weight * A @ (x - x0)), 0, 1)
        if stop and expit(w @ x + b) > 0.5:
            break
    return x


@pytest.mark.parametrize("loss", ["quadratic", "hinge"])
def test_algorithm_1_to_the_letter(world, loss):
    X, space, model = world
    x = X[~model.predict(X)].iloc[[0]]
    A = random_matrices(3, 2)
    engine = reap.GradientRecourse(
        model,
        space,
        target=True,
        method="algorithm1",
        loss=loss,
        weight=0.0,
        max_iterations=300,
        constraints=False,
    ).fit(X)
    for plan, matrix in zip(engine.plans(x, A), A, strict=True):
        end = by_hand(model, space.encode(x)[0], matrix, 300, weight=0.0, hinge=loss == "hinge")
        if plan.status == "ok":
            assert np.allclose(plan.path[-1], end, atol=1e-9)
        else:
            assert model[-1].decision_function(end[None])[0] <= 0


def test_algorithm_1_stops_at_the_first_accepted_point(world):
    X, space, model = world
    x = X[~model.predict(X)].iloc[[1]]
    A = 0.1 * random_matrices(3, 1)
    engine = reap.GradientRecourse(
        model, space, target=True, method="algorithm1", weight=0.05, stop_early=True, constraints=False
    ).fit(X)
    plan = engine.plans(x, A)[0]
    assert plan.valid
    assert plan.note == ""  # λ as given
    assert np.allclose(
        plan.path[-1], by_hand(model, space.encode(x)[0], A[0], 1000, weight=0.05, stop=True), atol=1e-9
    )


def test_lambda_falls_until_the_end_is_accepted(world):
    X, space, model = world
    x = X[~model.predict(X)].iloc[[0]]
    engine = reap.GradientRecourse(
        model,
        space,
        target=True,
        method="algorithm1",
        learning_rate=0.2,
        max_iterations=400,
        constraints=False,
    ).fit(X)
    plan = engine.plans(x, np.eye(3))[0]
    assert plan.status == "ok"
    assert plan.note.startswith("λ = ")


QUICK = {"stop_early": True, "loss": "hinge", "learning_rate": 0.05, "max_iterations": 200}
NEAR = "this plan is the easiest accepted one found near it"


@pytest.mark.parametrize("name", ["german", "breast cancer"])
def test_a_refused_end_gives_way_to_an_accepted_legal_row_near_it(name, german, german_model):
    if name == "german":
        X, space, model = german.X, german.space, german_model
    else:
        X, y = load_breast_cancer(as_frame=True, return_X_y=True)
        space = reap.ActionSpace.from_frame(X)
        model = make_pipeline(space.encoder(), LogisticRegression(max_iter=1000)).fit(X, y)
    engine = reap.GradientRecourse(model, space, **QUICK).fit(X)
    rows, A = X[model.predict(X) == 0].iloc[:4], random_matrices(space.dimension, 3)
    plans = [
        (rows.iloc[[i]], matrix, p)
        for i in range(4)
        for p, matrix in zip(engine.plans(rows.iloc[[i]], A), A, strict=True)
    ]
    assert sum(plan.valid for _, _, plan in plans) >= 11
    assert any(NEAR in plan.note for _, _, plan in plans)
    for x, matrix, plan in plans:
        if plan.valid:
            assert space.allows(plan.path[0], plan.path[-1])[0]
            assert model.predict(space.decode(plan.path[-1:], like=x))[0] == 1
            assert np.isclose(plan.effort, plan.moves[0] @ matrix @ plan.moves[0])


def test_no_step_from_the_row_near_a_refused_end_is_accepted_for_less(world):
    X, space, model = world
    engine = reap.GradientRecourse(model, space, target=True, **QUICK).fit(X)
    rows, found = X[~model.predict(X)].iloc[:20], 0
    for i in range(len(rows)):
        x, A = rows.iloc[[i]], random_matrices(3, 4, seed=i)
        z = space.encode(x)[0]
        for plan, matrix in zip(engine.plans(x, A), A, strict=True):
            if NEAR not in plan.note:
                continue
            found += 1
            end = space.decode(plan.path[-1:], like=x)
            for name in X:
                for step in (-1, 1):
                    other = end.assign(**{name: end[name] + step})
                    if not 0 <= other[name].item() <= 11:
                        continue
                    change = space.encode(other)[0] - z
                    cheaper = change @ matrix @ change < plan.effort * (1 - 1e-6)
                    assert not (cheaper and model.predict(other)[0])
    assert found >= 5


def test_without_constraints_a_refused_end_stays_refused(world):
    X, space, model = world
    settings = {"target": True, "learning_rate": 0.01, "max_iterations": 5}  # stops far from the boundary
    x, A = X[~model.predict(X)].iloc[[0]], random_matrices(3, 2)
    free = reap.GradientRecourse(model, space, constraints=False, **settings).fit(X)
    assert {plan.status for plan in free.plans(x, A)} == {"none_found"}
    legal = reap.GradientRecourse(model, space, **settings).fit(X)
    assert all(plan.valid and NEAR in plan.note for plan in legal.plans(x, A))


@pytest.mark.parametrize("settings", [{"margin": 0.1}, {"durability": reap.Durability(0.9, refits=10)}])
def test_what_must_hold_holds_for_the_row_near_a_refused_end(world, settings):
    X, space, model = world
    y, x = X["a"] + 2 * X["b"] - X["c"] > 14, X[~model.predict(X)].iloc[[0]]
    engine = reap.GradientRecourse(model, space, target=True, **QUICK, **settings).fit(X, y)
    near = [plan for plan in engine.plans(x, random_matrices(3, 6)) if NEAR in plan.note]
    assert near
    for plan in near:
        if "margin" in settings:
            assert plan.scores[-1] > 0.6
        else:
            row = space.decode(plan.path[-1:], like=x)
            assert plan.durability >= 0.9
            assert sum(one.accepts(space.encode(row))[0] for one in engine.acceptance_.others) >= 9


def test_limits_hold_for_the_row_near_a_refused_end(world):
    X, space, model = world
    engine = reap.GradientRecourse(model, space, target=True, **QUICK).fit(X)
    x = X[~model.predict(X)].iloc[[2]]  # can be accepted without b
    nothing = reap.Limits(fixed=("a", "b", "c"))
    assert not engine.plans(x, np.eye(3), nothing)[0].valid
    plans = engine.plans(x, random_matrices(3, 6), reap.Limits(fixed=("b",)))
    assert all(plan.valid and NEAR in plan.note for plan in plans)
    assert all(plan.target["b"] == x["b"].item() for plan in plans)


def test_algorithm_1_takes_the_worst_matrix(world):
    X, space, model = world
    engine = reap.GradientRecourse(
        model,
        space,
        target=True,
        method="algorithm1",
        stop_early=True,
        constraints=False,
        weight=0.05,
        learning_rate=1.0,
        max_iterations=40,
    ).fit(X)
    x = X[~model.predict(X)].iloc[[0]]
    free = engine.robust(x, reap.ConfidenceSet(3))  # nothing known: the worst matrix is the identity
    same = engine.plans(x, np.eye(3))[0]
    assert same.valid
    assert np.allclose(free.path, same.path, atol=1e-6)
    known = told(3, 4)
    plan = engine.robust(x, known)
    assert np.isclose(plan.effort, known.worst_case_plan(plan.moves).cost)


def test_algorithm_1_needs_a_gradient(world):
    X, space, _ = world
    forest = make_pipeline(space.encoder(), RandomForestClassifier(5)).fit(X, X["a"] > 5)
    with pytest.raises(reap.InputError, match=r"has no gradient; use reap\.Recourse"):
        reap.GradientRecourse(forest, space, target=True, method="algorithm1").fit(X)


@pytest.mark.parametrize("seed", range(12))
def test_promises_over_random_worlds(seed):
    world = random_world(seed, rows=50, kind="logistic")
    engine = reap.GradientRecourse(
        world.model, world.space, stop_early=True, learning_rate=0.1, max_iterations=200
    ).fit(world.X)
    for i in range(2):
        call = asked(engine, world, world.rejected.iloc[[i]], world.matrices(2))
        assert {plan.status for plan in call.plans} <= {"ok", "none_found"}
        keep(call, EVERY)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"method": "algorithm2"}, "did you mean 'algorithm1'"),
        ({"loss": "square"}, "no loss 'square'"),
        ({"learning_rate": 0}, "learning_rate is 0"),
        ({"time_limit": -1}, "time_limit is -1"),
        ({"weight": -1}, "weight is -1"),
        ({"max_iterations": 0}, "max_iterations is 0"),
    ],
)
def test_bad_settings_are_refused(world, settings, words):
    X, space, model = world
    with pytest.raises(reap.InputError, match=words):
        reap.GradientRecourse(model, space, target=True, **settings).fit(X)

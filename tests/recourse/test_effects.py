"""Engines where one change brings others with it: effort is of what people do, models and rules see where that leads."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest

import reap
from reap.checks.legality import violations
from reap.effort import of_changes
from reap.space import ActionSpace, Feature

JOBS = ("none", "skilled", "boss")


def small_space(**facts):
    """A space whose rows can all be tried: the job moves income, income moves savings and, alone, a score."""
    said = {
        "job": {"kind": "categorical", "levels": JOBS},
        "income": {
            "kind": "integer",
            "range": (0, 12),
            "effect": "1.5 * (job == 'skilled') + 3 * (job == 'boss')",
        },
        "savings": {"kind": "integer", "range": (0, 12), "effect": "0.5 * income"},
        "score": {"range": (-90.0, 90.0), "effect": "only 0.5 * savings - 0.2 * income"},
    }
    made = [Feature(name, **{**own, **facts.get(name, {})}) for name, own in said.items()]
    return ActionSpace(made, rules=facts.get("rules", ()))


def logistic(frame):
    """A model that likes savings and the score, and a little income."""
    value = 0.7 * frame["savings"] + 0.8 * frame["score"] + 0.15 * frame["income"]
    return 1 / (1 + np.exp(5.2 - value.to_numpy(dtype=float)))


def steps(frame):
    """A model that decides by thresholds, as trees do."""
    yes = (frame["savings"] >= 6) & ((frame["score"] >= 1.0) | (frame["income"] >= 9))
    return np.where(yes, 0.9, 0.1) + 0.001 * frame["savings"].to_numpy(dtype=float)


def person(rng):
    return {
        "job": str(rng.choice(["none", "skilled"])),
        "income": int(rng.integers(0, 6)),
        "savings": int(rng.integers(0, 5)),
        "score": float(rng.normal()),
    }


def every_row(space, me, model):
    """All legal accepted rows: what somebody does, and where that leads."""
    grid = [JOBS, range(13), range(13)]
    alone = pd.DataFrame(
        [{**me, **dict(zip(me, values, strict=False))} for values in itertools.product(*grid)]
    )
    z0 = space.vector(me)
    done = space.encode(alone)
    rows = space.legal.brought(done, z0)
    fine = space.allows(z0, rows) & (model(space.decode(rows)) > 0.5)
    return done[fine] - z0, rows[fine]


@pytest.mark.parametrize("model", [logistic, steps])
@pytest.mark.parametrize(
    "facts",
    [
        {},
        {"savings": {"direction": "up"}, "income": {"direction": "up"}},
        {"savings": {"actionable": True, "bounds": (0, 9)}, "rules": ["savings <= income + 3"]},
    ],
)
def test_the_optimum_is_that_of_trying_every_row(model, facts):
    space, rng = small_space(**facts), np.random.default_rng(5)
    engine = reap.Recourse(model, space, max_changes=None).fit(pd.DataFrame([person(rng) for _ in range(20)]))
    found = 0
    for _ in range(6):
        me = person(rng)
        changes, rows = every_row(space, me, model)
        A = reap.checks.worlds.random_matrices(space.dimension, 6, int(rng.integers(99)))
        for matrix, plan in zip(A, engine.plans(me, A), strict=True):
            if len(rows) == 0 or model(pd.DataFrame([me]))[0] > 0.5:
                assert plan.status != "ok"
                continue
            assert plan.status == "ok"
            assert not violations(space, me, space.values(plan.path[-1]))
            assert model(space.decode(plan.path[-1:]))[0] > 0.5
            # irreducible plans may ask for more under a matrix in which changes help each other
            best = of_changes(matrix[None], irreducible(changes))[0].min()
            assert plan.effort == pytest.approx(best, rel=1e-6, abs=1e-9)
            found += 1
    assert found >= 6


def irreducible(changes):
    """Changes of which no other asks for a part: the same sides, no column farther."""
    kept = []
    for k, change in enumerate(changes):
        less = (np.abs(changes) <= np.abs(change) + 1e-9).all(axis=1)
        less &= (np.abs(changes) <= 1e-9).__or__(np.sign(changes) == np.sign(change)).all(axis=1)
        less[k] = False
        if not less.any():
            kept.append(change)
    return np.array(kept)


def test_effort_is_of_what_people_do_and_the_plan_says_what_follows():
    space = small_space(savings={"label": "Your savings", "unit": "€"})
    engine = reap.Recourse(logistic, space).fit(
        pd.DataFrame([person(np.random.default_rng(1)) for _ in range(9)])
    )
    me = {"job": "none", "income": 4, "savings": 3, "score": 0.0}
    dear = np.eye(space.dimension)
    dear[space.slices["savings"], space.slices["savings"]] = 1e6  # savings are out of the question
    plan = engine.plans(me, dear)[0]
    assert plan.status == "ok"
    assert "savings" not in [change.feature for change in plan.changes]
    assert plan.target["savings"] > 3
    assert plan.effort == pytest.approx(float(plan.moves[0] @ dear @ plan.moves[0]))
    assert plan.effort < 1e3
    assert f"Your savings would then be about {plan.target['savings']} €" in str(plan)
    again = reap.Plan.from_json(plan.to_json())
    assert str(again) == str(plan)


@pytest.mark.parametrize("make", [reap.GraphRecourse, reap.GradientRecourse, reap.PoolRecourse])
def test_other_engines_keep_the_promises(make):
    from reap.checks.cases import EVERY, asked, keep
    from reap.checks.worlds import random_world

    ok = 0
    for seed in range(300, 306):
        world = random_world(seed, rows=50, kind="logistic", effects=True)
        if make is reap.PoolRecourse:
            engine = make(world.X, world.model, world.space).fit(world.X)
        else:
            engine = make(world.model, world.space).fit(world.X)
        call = asked(engine, world, world.rejected.iloc[[0]], world.matrices(2, seed))
        keep(call, EVERY, f"in world {seed}, ")
        ok += sum(plan.status == "ok" for plan in call.plans)
    assert ok >= 6


def test_the_papers_gradient_goes_through_effects():
    """What is worth nothing by itself is worth doing for what it brings."""
    a, b = Feature("a", range=(0.0, 1.0)), Feature("b", range=(0.0, 1.0), effect="only 0.9 * a")
    space = ActionSpace([a, b])
    X = pd.DataFrame({"a": np.linspace(0.1, 0.9, 30), "b": np.linspace(0.05, 0.95, 30)})
    from sklearn.linear_model import LogisticRegression

    model = reap_pipeline(space, LogisticRegression(C=50), X)
    model[-1].coef_[:] = [[0.0, 9.0]]
    model[-1].intercept_[:] = -4.5
    engine = reap.GradientRecourse(model, space, target=True).fit(X)
    plan = engine.plans({"a": 0.2, "b": 0.2}, 0.01 * np.eye(2))[0]
    assert plan.status == "ok"
    assert [change.feature for change in plan.changes] == ["a"]
    assert plan.target["b"] == pytest.approx(0.2 + 0.9 * (plan.target["a"] - 0.2))


def reap_pipeline(space, model, X):
    from sklearn.pipeline import make_pipeline

    return make_pipeline(space.encoder(), model).fit(X, X["b"] > 0.5)


def test_slopes_are_those_of_small_moves():
    space = ActionSpace(
        [
            Feature("job", "categorical", levels=JOBS),
            Feature("a", range=(0.0, 2.0)),
            Feature("b", range=(0.0, 5.0), effect="a * a + 0.5 * (job == 'boss')"),
            Feature("c", range=(0.0, 9.0), effect="only 2 * b - a"),
        ]
    )
    z0 = space.vector({"job": "none", "a": 0.5, "b": 1.0, "c": 3.0})
    T = space.legal.slopes(z0)
    for column in (3, 4):
        near = z0.copy()
        near[column] += 1e-5
        moved = (space.legal.brought(near[None], z0)[0] - z0) / 1e-5
        np.testing.assert_allclose(T[:, column], moved, atol=1e-3)
    boss = space.vector({"job": "boss", "a": 0.5, "b": 1.0, "c": 3.0})
    np.testing.assert_allclose(space.legal.brought(boss[None], z0)[0] - z0, T @ (boss - z0), atol=1e-9)


def test_sessions_ask_of_what_people_do_and_come_back_from_a_file():
    rng = np.random.default_rng(2)
    space = small_space()
    people = pd.DataFrame([person(rng) for _ in range(40)])
    engine = reap.Recourse(logistic, space).fit(people)
    me = {"job": "none", "income": 3, "savings": 2, "score": 0.1}
    session, brings = engine.elicit(me, questions=4), 0
    while question := session.ask():
        for option in question.options:
            assert option.moves[0][space.slices["score"]] == 0  # nobody does anything about it
        assert "score" not in [row.label for row in question.differences]
        for name, each in question.brought.items():
            assert space.feature(name).effect
            assert "As a result: " in str(question)
            for option, change in zip(question.options, each, strict=True):
                assert change is None or option.target[name] == change.after
                brings += change is not None
        session.answer(0)
    assert brings
    plan = session.recommend()
    assert plan.status == "ok"
    assert not violations(space, me, space.values(plan.path[-1]))
    again = reap.Elicitation.from_json(session.to_json(), engine)
    np.testing.assert_array_equal(again.recommend().path, plan.path)
    assert session.pool
    assert all(len(moves) for moves in [p.moves for p in session.pool])


def test_a_batch_and_its_audit_count_what_people_do():
    rng = np.random.default_rng(3)
    space = small_space()
    people = pd.DataFrame([person(rng) for _ in range(30)])
    engine = reap.Recourse(logistic, space).fit(people)
    table = engine.recommend(people)
    rows = table[table["recourse_status"] == "ok"]
    assert len(rows)
    for index, row in rows.iterrows():
        me = people.loc[index].to_dict()
        there = {name: row[name] for name in space.names}
        assert not violations(space, me, there)
        assert row["recourse_changes"] <= 3


def test_the_easiest_chance_of_a_yes_is_weighed_where_plans_really_lead():
    rng = np.random.default_rng(4)
    space = small_space()
    people = pd.DataFrame([person(rng) for _ in range(200)])
    y = logistic(people) > np.quantile(logistic(people), 0.7)
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    model = make_pipeline(space.encoder(), LogisticRegression()).fit(people, y)
    engine = reap.Recourse(model, space, target=True, durability="chance").fit(people, y)
    rejected, ok = people[~model.predict(people)].iloc[:8], 0
    for i in range(len(rejected)):
        (plan,) = engine.plans(rejected.iloc[i], np.eye(space.dimension))
        if plan.status != "ok":
            continue
        ok += 1
        assert not violations(space, rejected.iloc[i].to_dict(), space.values(plan.path[-1]))
        assert model.predict(space.decode(plan.path[-1:]))[0]
        assert plan.effort == pytest.approx(float(plan.moves[0] @ plan.moves[0]))
    assert ok >= 4

"""Any generator's counterfactuals as a pool of plans."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import reap
from reap import effort
from reap.checks.worlds import random_matrices
from reap.recourse import advice


@pytest.fixture(scope="module")
def world():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "income": rng.integers(10, 60, 200) * 100,
            "debts": rng.integers(0, 6, 200),
            "age": rng.integers(18, 70, 200),
        }
    )
    space = reap.ActionSpace.from_frame(X, increasing=["age"], features={"income": {"step": 100}})
    model = make_pipeline(space.encoder(), LogisticRegression(C=100)).fit(
        X, (X["income"] > 800 * X["debts"] + 1500).astype(int)
    )
    return X, space, model


class Generator:
    """Rows around the subject, as a third party might give them: with an outcome column, some rejected, some illegal."""

    def __init__(self):
        self.calls = 0

    def __call__(self, x):
        self.calls += 1
        assert isinstance(x, pd.DataFrame)
        assert len(x) == 1
        rng = np.random.default_rng(0)
        rows = x.loc[x.index.repeat(60)].reset_index(drop=True)
        rows["income"] += rng.integers(-5, 40, 60) * 100
        rows["debts"] = rng.integers(0, 6, 60)
        rows["age"] += rng.integers(-3, 4, 60)
        rows["income"] = rows["income"].clip(1000, 5900)
        return rows.assign(outcome=1)


@pytest.fixture
def subject(world):
    X, _, model = world
    return X[model.predict(X) == 0].iloc[[0]]


def passing(space, model, x, rows):
    rows = rows.drop(columns="outcome")
    before = x.loc[x.index.repeat(len(rows))].reset_index(drop=True)
    return rows[space.allows(before, rows) & (model.predict_proba(rows)[:, 1] > 0.5)].drop_duplicates()


def test_the_cheapest_row_that_passes(world, subject):
    X, space, model = world
    engine = reap.PoolRecourse(Generator(), model, space, repair=False).fit(X)
    rows = passing(space, model, subject, Generator()(subject))
    moves = space.encode(rows) - space.encode(subject)
    A = random_matrices(3, 6)
    costs = effort.of_changes(A, moves)
    plans = engine.plans(subject, A)
    assert np.allclose([plan.effort for plan in plans], costs.min(axis=1))
    for plan, cost in zip(plans, costs, strict=True):
        assert plan.target.to_dict() == rows.iloc[cost.argmin()].to_dict()
    assert len(engine.candidates(subject)) == len(rows)
    assert len({tuple(plan.target) for plan in plans}) > 1, (
        "one row is cheapest for everybody: the test says nothing"
    )


def test_illegal_rows_are_repaired(world, subject):
    _, space, model = world
    young = subject.assign(age=subject["age"] - 1, income=5900, debts=0)
    assert (
        reap.PoolRecourse(young, model, space, repair=False).fit().plans(subject, np.eye(3))[0].status
        == "none_found"
    )
    plan = reap.PoolRecourse(young, model, space).fit().plans(subject, np.eye(3))[0]
    assert plan.valid
    assert plan.target["age"] == subject["age"].iloc[0]


def test_robust_is_the_least_worst_case_of_the_pool(world, subject):
    X, space, model = world
    engine = reap.PoolRecourse(Generator(), model, space).fit(X)
    known = reap.ConfidenceSet(3)
    moves = engine.candidates(subject).moves
    known.add(moves[3], moves[0])
    known.add(moves[5], moves[1])
    plan = engine.robust(subject, known)
    assert np.isclose(plan.effort, known.worst_case(moves).costs.min(), rtol=1e-6)


def test_the_generator_is_asked_once_a_subject(world, subject):
    X, space, model = world
    generator = Generator()
    engine = reap.PoolRecourse(generator, model, space).fit(X)
    engine.plans(subject, np.eye(3))
    engine.plans(subject, np.eye(3), space.limits(fixed=["income"]))
    engine.candidates(subject)
    assert generator.calls == 1


def test_limits_are_kept_and_the_one_in_the_way_is_named(world, subject):
    _, space, model = world
    rows = subject.assign(income=5900, debts=0)
    engine = reap.PoolRecourse(rows, model, space, repair=False).fit()
    assert engine.plans(subject, np.eye(3))[0].valid
    limits = space.limits(fixed=["income"])
    plan = engine.plans(subject, np.eye(3), limits)[0]
    assert plan.status == "none_found"
    assert advice.advised(engine, plan, subject, limits).note == (
        "The generator gave 1 row, none of them both legal and accepted. Without your limit on “income” there is a plan."
    )


@pytest.mark.parametrize("nothing", [None, pd.DataFrame()])
def test_a_generator_may_find_nothing(world, subject, nothing):
    X, space, model = world
    plan = reap.PoolRecourse(lambda x: nothing, model, space).fit(X).plans(subject, np.eye(3))[0]
    assert (plan.status, plan.note) == ("none_found", "The generator gave no row.")


def test_what_a_generator_returns_is_checked(world, subject):
    X, space, model = world
    with pytest.raises(reap.InputError, match="returned list"):
        reap.PoolRecourse(lambda x: [1], model, space).fit(X).plans(subject, np.eye(3))
    with pytest.raises(reap.InputError, match="lacks the column 'debts'"):
        reap.PoolRecourse(lambda x: x.drop(columns="debts"), model, space).fit(X).plans(subject, np.eye(3))
    with pytest.raises(reap.InputError, match="give a function"):
        reap.PoolRecourse("dice", model, space).fit(X)


def test_a_dialogue_over_another_generators_rows(world, subject):
    X, space, model = world
    engine = reap.PoolRecourse(Generator(), model, space).fit(X)
    A = random_matrices(3, 1, seed=4)[0]
    session = engine.elicit(subject, questions=5)
    while question := session.ask():
        session.answer(int(np.argmin([effort.of_moves(A, plan.moves) for plan in question.options])))
    efforts = effort.of_change(A, engine.candidates(subject).moves)
    assert effort.of_moves(A, session.recommend().moves) <= np.quantile(efforts, 0.1)

"""The easiest chance of a yes: effort against the share of the model's possible updates that accept."""

from __future__ import annotations

import itertools
import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

import reap
from reap import effort
from reap.models.durable import accepting
from reap.recourse.chance import MOST


def world(seed=0, n=300):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "income": rng.integers(2, 12, n) * 500,
            "debts": rng.integers(0, 7, n),
            "home": rng.choice(["own", "rent"], n),
        }
    )
    score = X["income"] / 1000 - X["debts"] + (X["home"] == "own") + rng.normal(0, 1.2, n)
    features = {"income": {"step": 500, "range": (1000, 6000)}, "debts": {"step": 1}}
    return X, (score > 1).to_numpy().astype(int), reap.ActionSpace.from_frame(X, features=features)


MODELS = {
    "logistic": LogisticRegression(),
    "tree": DecisionTreeClassifier(max_leaf_nodes=8, random_state=0),
}


@pytest.fixture(scope="module", params=MODELS)
def case(request):
    X, y, space = world()
    model = make_pipeline(space.encoder(), MODELS[request.param]).fit(X, y)
    engine = reap.Recourse(model, space, durability="chance").fit(X, y)
    return engine, X[model.predict(X) == 0], X, y


def every_row(space, x):
    """All rows that there are, and the subject's own."""
    values = itertools.product(range(1000, 6001, 500), range(7), ["own", "rent"])
    rows = pd.DataFrame(values, columns=list(x.columns)).astype(x.dtypes.to_dict())
    return space.encode(rows), space.encode(x)[0]


def test_a_plan_is_the_easiest_chance_of_a_yes_of_all_rows_there_are(case):
    """Against brute force: rows that the search does not know may not be easier by more than a tenth of a chance."""
    engine, rejected, _X, _y = case
    judge, identity = engine.acceptance_, np.eye(engine.space.dimension)
    ratios = []
    for i in range(0, 40, 4):
        x = rejected.iloc[[i]]
        (plan,), (easiest,) = (one.plans(x, identity[None]) for one in (engine, engine.holding(0)))
        assert plan.status == "ok"
        assert plan.valid
        assert plan.effort <= MOST * easiest.effort + 1e-9
        Z, z = every_row(engine.space, x)
        legal = engine.space.allows(z, Z) & engine.classifier_.accepts(Z)
        Z = Z[legal]
        efforts = effort.size(effort.changes(Z, z))
        within = efforts <= MOST * easiest.effort + 1e-9
        best = (efforts[within] / judge.likely(Z[within])).min()
        assert judge.likely(plan.path[-1:])[0] == pytest.approx(plan.chance, abs=1e-6)
        ratios.append(plan.effort / plan.chance / best)
    assert max(ratios) < 1.1
    assert np.median(ratios) == pytest.approx(1, abs=1e-6)


def test_how_it_stands_is_counted_and_said(case):
    engine, rejected, _X, _y = case
    plan = engine.plans(rejected.iloc[[0]], np.eye(engine.space.dimension))[0]
    assert plan.refits == len(engine.acceptance_.others) == 20
    count = accepting(engine.acceptance_.others, plan.path[-1:])[0]
    assert plan.durability == count / 20
    assert f"{count} of 20 possible updates" in str(plan)
    again = reap.Plan.from_json(plan.to_json())
    assert (again.chance, again.durability) == (plan.chance, plan.durability)


def test_a_session_recommends_it_and_offers_a_safer_one_with_its_price(case):
    engine, rejected, _X, _y = case
    safer = 0
    for i in range(6):
        session = engine.elicit(rejected.iloc[[3 * i]], questions=2)
        while session.ask():
            session.answer("same")
        first, *others = session.plans(4)
        assert first.to_json() == session.recommend().to_json()
        open_ = [plan for plan in session.pool if plan.valid]
        least = min(map(session.effort, open_))
        assert session.effort(first) <= MOST * least + 1e-9
        best = min(session.effort(p) / p.chance for p in open_ if session.effort(p) <= MOST * least)
        assert session.effort(first) / first.chance == pytest.approx(best)
        if first.durability < 0.95 and others and "safer" in others[0].note:
            safer += 1
            assert others[0].durability >= 0.95
        again = reap.Elicitation.from_json(session.to_json(), engine)
        assert again.recommend().to_json() == first.to_json()
    assert (
        safer or not engine.classifier_.has_gradient
    )  # nothing that this tree's updates agree on is in reach


def test_everybody_in_a_table_gets_it_and_a_pickled_engine_too(case):
    engine, rejected, _X, _y = case
    some, identity = rejected.iloc[:5], np.eye(engine.space.dimension)
    table = engine.recommend(some)
    again = pickle.loads(pickle.dumps(engine))
    for i in range(5):
        plan = engine.plans(some.iloc[[i]], identity)[0]
        assert table["recourse_effort"].iloc[i] == plan.effort
        assert again.plans(some.iloc[[i]], identity)[0].to_json() == plan.to_json()


def test_without_labels_a_margin_stands_in(case):
    engine, rejected, X, _y = case
    alone = reap.Recourse(engine.model, engine.space, durability="chance").fit(X)
    plan = alone.plans(rejected.iloc[[0]], np.eye(engine.space.dimension))[0]
    assert alone.acceptance_.margin == 0.03
    assert plan.score > 0.53
    assert plan.durability is None
    with_margin = reap.Recourse(engine.model, engine.space, margin=0.03).fit(X)
    assert plan.effort == with_margin.plans(rejected.iloc[[0]], np.eye(engine.space.dimension))[0].effort


def test_a_function_cannot_be_trained_again_and_gets_the_margin(case):
    engine, _rejected, X, y = case

    def score(rows):
        return engine.model.predict_proba(rows)[:, 1]

    assert reap.Recourse(score, engine.space, durability="chance").fit(X, y).acceptance_.margin == 0.03


def test_a_word_that_says_nothing_is_refused(case):
    engine, _rejected, X, y = case
    with pytest.raises(
        reap.InputError, match="durability is 'always'; give a share of retrainings between 0 and 1"
    ):
        reap.Recourse(engine.model, engine.space, durability="always").fit(X, y)


@pytest.mark.parametrize("kind", [reap.GraphRecourse, reap.GradientRecourse])
def test_other_engines_leave_the_choice_to_the_session(case, kind):
    """They have one row for each effort; the session weighs these."""
    engine, rejected, X, y = case
    if kind is reap.GradientRecourse and not engine.classifier_.has_gradient:
        pytest.skip("it follows a gradient")
    other = kind(engine.model, engine.space, durability="chance").fit(X, y)
    plan = other.plans(rejected.iloc[[0]], np.eye(engine.space.dimension))[0]
    assert plan.status != "ok" or 0 < plan.chance <= 1

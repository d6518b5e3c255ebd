"""A table that nobody prepared: what went wrong on the first day, each as small as it can be made, by the public face alone."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import reap
from reap.space import ActionSpace, Feature, draft


def _loans(n=600, seed=0):
    """Amounts with long tails, counts, and a column that came from 32-bit floats."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "jobs": np.floor(rng.lognormal(1.2, 1.6, n)).astype(int),
            "amount": np.rint(rng.lognormal(10.5, 1.2, n)).astype(int),
            "months": rng.integers(3, 300, n),
            "rate": rng.lognormal(3.0, 0.5, n).astype(np.float32).astype(float),
        }
    )
    good = np.log1p(X["jobs"]) + X["months"] / 90 - np.log(X["amount"]) / 2 + rng.logistic(size=n) / 3
    return X, (good > good.median()).astype(int)


def _matrices(d, count, seed):
    rng = np.random.default_rng(seed)
    made = [(G := rng.standard_normal((d, d))) @ G.T for _ in range(count)]
    return np.stack([A / np.linalg.eigvalsh(A)[-1] for A in made])


def _less(plan, own, space):
    """Yield the rows that ask for less than a plan: a change left out, or a number one step back."""
    target = plan.target
    for change in plan.changes:
        feature = space.feature(change.feature)
        back = [own[feature.name]]
        if feature.is_number and abs(target[feature.name] - own[feature.name]) > 1.5 * feature.step:
            sign = np.sign(own[feature.name] - target[feature.name])
            back.append(round(target[feature.name] + sign * feature.step, 9))
        for value in back:
            row = target.copy()
            row[feature.name] = value
            if not row.equals(own):
                yield row


@pytest.fixture(scope="module", params=["logistic", "forest"])
def trained(request):
    X, y = _loans()
    made = {
        "logistic": make_pipeline(StandardScaler(), LogisticRegression()),
        "forest": RandomForestClassifier(60, min_samples_leaf=3, random_state=0),
    }
    return made[request.param].fit(X, y), X


def test_no_change_can_be_left_out_by_the_models_own_decision(trained):
    """Rows counted as accepted from 0.001 log-odds above the boundary: what was accepted by less could be left out."""
    model, X = trained
    space = ActionSpace.from_frame(X)
    engine = reap.Recourse(model, space).fit(X)
    refused = X[model.predict(X) == 0].iloc[:25]
    for i in range(len(refused)):
        own = refused.iloc[i]
        for plan in engine.plans(refused.iloc[[i]], _matrices(4, 4, i)):
            assert plan.valid, plan
            for row in _less(plan, own, space):
                assert model.predict(pd.DataFrame([row])[list(X)])[0] == 0, plan


def test_forests_with_random_efforts_do_not_crash():
    """What was offered in the last round was not kept: 'need at least one array to concatenate'."""
    X, y = _loans(900, 3)
    model = RandomForestClassifier(100, min_samples_leaf=3, random_state=2).fit(X, y)
    engine = reap.Recourse(
        model, ActionSpace.from_frame(X, features={"amount": {"step": 1}, "months": {"step": 1}})
    ).fit(X)
    refused = X[model.predict(X) == 0].iloc[:30]
    for i in range(len(refused)):
        for A in _matrices(4, 3, i):
            assert engine.plans(refused.iloc[[i]], A)[0].status == "ok"


def test_what_stays_comes_back_to_the_bit(trained):
    """25.770000457763672 came back as 25.77000045776367, from a plan, a table, a file and a session."""
    model, X = trained
    space = ActionSpace.from_frame(X)
    engine = reap.Recourse(model, space).fit(X)
    refused = X[model.predict(X) == 0].iloc[:20]
    table = engine.recommend(refused)
    for i in range(len(refused)):
        own, plan = refused.iloc[i], engine.plans(refused.iloc[[i]], np.eye(4))[0]
        session = reap.Elicitation.from_json(engine.elicit(own, questions=0).to_json(), engine)
        kept = (pickle.loads(pickle.dumps(plan)), reap.Plan.from_json(plan.to_json()), session.recommend())
        for one in (plan, *kept):
            stays = [name for name in X if name not in {change.feature for change in one.changes}]
            assert (one.target[stays] == own[stays]).all()
            assert (one.start == own).all()
        moved = {change.feature for change in plan.changes}
        assert all((table.iloc[i][name] != own[name]) == (name in moved) for name in X)


# defaults ------------------------------------------------------------------------------------------------


def test_a_long_tail_is_scaled_by_where_people_stand_and_can_be_moved():
    """Median 38, 99th percentile 1,343, largest 1,000,000: the step was 1,000."""
    rng = np.random.default_rng(0)
    values = np.append(rng.lognormal(np.log(38), 1.53, 999), 1_000_000.0)
    feature = ActionSpace.from_frame(pd.DataFrame({"cost": values})).feature("cost")
    low, high = np.quantile(values, [0.05, 0.95])
    assert low / 1.3 < feature.span[0] < low * 1.3
    assert high / 1.3 < feature.span[1] < high * 1.3
    assert feature.step == 1.0


@pytest.mark.parametrize(
    ("values", "step"),
    [
        (np.arange(18, 90), 1),  # years
        (np.random.default_rng(0).integers(0, 90_000, 500), 1000),  # two significant digits
        (np.random.default_rng(0).integers(0, 90, 500) * 500, 500),  # a step that people use
        (np.random.default_rng(0).random(500), 0.01),
        (np.random.default_rng(0).integers(0, 40, 500) / 10, 0.1),  # never finer than the data
        (
            np.where(np.arange(500) % 10 < 8, 0, np.random.default_rng(0).integers(0, 9_000, 500)),
            100,
        ),  # zeros
        (np.array([1.0, 2.5, 7.0]), 0.1),  # a few rows do not show how people round
    ],
)
def test_steps_are_round(values, step):
    assert ActionSpace.from_frame(pd.DataFrame({"x": values})).feature("x").step == step


def test_a_column_of_zeros_is_scaled_by_the_others():
    values = np.zeros(1000)
    values[:8] = [100, 200, 300, 400, 500, 600, 700, 1_000_000]
    feature = ActionSpace.from_frame(pd.DataFrame({"gain": values})).feature("gain")
    assert feature.scale <= 1_000_000
    assert feature.scale >= 100


# why nothing is asked ------------------------------------------------------------------------------------


def _ended(model, X, x, **settings):
    engine = reap.Recourse(model, ActionSpace.from_frame(X, **settings)).fit(X)
    session = engine.elicit(x)
    assert session.ask() is None
    return session.ended


def test_a_session_says_why_nothing_is_asked():
    X = pd.DataFrame({"income": np.arange(1000, 5000, 40), "debts": np.tile(np.arange(20), 5)})
    richer = {"income": 4000, "debts": 3}
    only_income = lambda rows: 1 / (1 + np.exp(3 - rows["income"] / 1000))  # noqa: E731
    poor = {"income": 1000, "debts": 3}
    assert "only one plan" in _ended(only_income, X, poor, increasing=["income"], immutable=["debts"])
    never = lambda rows: np.full(len(rows), 0.2)  # noqa: E731
    assert "no plan to compare" in _ended(never, X, poor)
    assert "no plan to compare" in _ended(only_income, X, richer)
    either = lambda rows: 1 / (1 + np.exp(3 - rows["income"] / 1000 + rows["debts"] / 5))  # noqa: E731
    alike = _ended(either, X, poor, features={"income": {"notice": 5000}, "debts": {"notice": 30}})
    assert "too much alike" in alike
    engine = reap.Recourse(either, ActionSpace.from_frame(X)).fit(X)
    session = engine.elicit(poor, questions=1)
    assert session.ended is None
    session.ask()
    session.answer("left")
    assert session.ended == "You have answered all questions."


# what a review says --------------------------------------------------------------------------------------


def _findings(space, about, *given):
    return [str(found) for found in space.review(*given) if found.about == about]


def test_a_review_names_columns_that_follow_from_others():
    X, _ = _loans()
    X = X.assign(days=30 * X["months"], per_month=X["amount"] / X["months"], twin=X["amount"] + 7.0)
    X["nearly"] = X["months"] + np.random.default_rng(0).normal(size=len(X)) / 4
    found = _findings(ActionSpace.from_frame(X), "follows", None, X)
    assert len(found) == 4
    assert any('say derived = "30 * months"' in text for text in found)
    assert any('say derived = "amount / months"' in text for text in found)
    assert any('say derived = "amount + 7"' in text for text in found)
    assert any("moves with" in text and "correlation 1.00" in text for text in found)
    derived = {"days": "30 * months", "per_month": "amount / months", "twin": "amount + 7"}
    said = {name: {"derived": formula} for name, formula in derived.items()}
    space = ActionSpace.from_frame(X, immutable=["nearly"], features=said)
    assert [text for text in _findings(space, "follows", None, X) if "say derived = " in text] == []
    assert 'say derived = "30 * months"' in draft(X).to_toml()


def test_columns_that_have_nothing_to_do_with_each_other_are_not_named():
    X, _ = _loans()
    assert _findings(ActionSpace.from_frame(X), "follows", None, X) == []


def test_a_review_says_what_the_model_rewards_the_wrong_way():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"income": rng.integers(10, 60, 300) * 100, "debt": rng.integers(0, 100, 300) * 100})
    space = ActionSpace.from_frame(X)
    wrong = lambda rows: 1 / (1 + np.exp(rows["income"] / 1000 - rows["debt"] / 5000 - 2))  # noqa: E731
    income, debt = _findings(space, "reward", wrong, X)
    assert "rewards less of it" in income
    assert 'say direction = "up"' in income
    assert "rewards more of it" in debt
    right = lambda rows: 1 / (1 + np.exp(2 - rows["income"] / 1000 + rows["debt"] / 5000))  # noqa: E731
    assert _findings(space, "reward", right, X) == []


def test_a_review_says_where_slight_changes_decide_about_most_people():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"paid": rng.integers(0, 1000, 300), "owed": rng.integers(0, 1000, 300)})
    steep = lambda rows: np.where(rows["paid"] % 40 < 20, 0.4, 0.6)  # noqa: E731
    (found,) = _findings(ActionSpace.from_frame(X), "cliff", steep, X)
    assert "refused people looked at, a change of one number that hardly anybody feels brings a yes" in found
    smooth = lambda rows: 1 / (1 + np.exp((500 - rows["paid"]) / 200))  # noqa: E731
    assert _findings(ActionSpace.from_frame(X), "cliff", smooth, X) == []


def test_long_tails_are_a_note():
    tail = Feature("jobs", "integer", range=(0, 5000), span=(0, 30))
    (note,) = [found for found in ActionSpace([tail]).review() if found.about == "scale"]
    assert note.note
    assert "more than ten times the 0 to 30 that effort is scaled by" in str(note)

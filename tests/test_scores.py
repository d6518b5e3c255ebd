"""Scores of any kind: points, margins and regressions, in the API, in files and in words."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

import reap
from reap.models import wrap
from reap.scores import Scale

numbers = st.floats(-1e4, 1e4, allow_nan=False)


def table(n=240, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "income": rng.integers(10, 60, n) * 100,
            "debts": rng.integers(0, 7, n),
            "home": rng.choice(["own", "rent"], n),
        }
    )
    return X, reap.ActionSpace.from_frame(X, features={"income": {"unit": "EUR"}})


def card(frame):
    """A scorecard: points for income, home and few debts."""
    return 500 + frame["income"] / 50 - 15 * frame["debts"] + 30 * (frame["home"] == "own")


# the scale -------------------------------------------------------------------------------------------


@settings(deadline=None)
@given(
    low=st.none() | numbers,
    wide=st.floats(1e-3, 1e4),
    score=numbers,
    spread=st.floats(1e-3, 1e3),
    one=st.booleans(),
)
def test_enough_is_what_the_logit_says_and_what_the_words_say(low, wide, score, spread, one):
    threshold = score + wide if low is None and one else low if one else (low, (low or 0.0) + wide)
    scale = Scale(threshold, "score", "points", spread)
    fine = bool(scale.enough(score))
    assert (scale.logit(np.array([score]))[0] > 0) == fine
    shown = float(scale.number(score).replace(",", ""))
    assert abs(shown - score) <= 0.5 * 10.0**-scale.decimals + 1e-6 * abs(score) + 1e-9
    assert bool(scale.enough(scale.rough(score))) == fine or wide < 10.0**-scale.decimals
    assert Scale.from_dict(scale.to_dict()) == scale


def test_the_slope_is_that_of_the_logit():
    scale = Scale((10, 20), "score", spread=4.0)
    for score, sign in ((8.0, 1), (12.0, 1), (19.0, -1), (25.0, -1)):
        step = (scale.logit(np.array([score + 1e-6])) - scale.logit(np.array([score - 1e-6]))) / 2e-6
        assert (
            scale.slope(np.array([score]))[0] == pytest.approx(sign / 4.0) == pytest.approx(step[0], rel=1e-4)
        )


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"threshold": 620}, r"threshold is 620; give a probability.*output='score'"),
        ({"threshold": "high", "output": "score"}, r"threshold is 'high'.*620.*\(620, 700\)"),
        ({"threshold": (700, 620), "output": "score"}, r"threshold is \(700, 620\)"),
        ({"threshold": (None, None), "output": "score"}, "threshold is"),
        ({"threshold": np.nan, "output": "score"}, "threshold is nan"),
        ({"threshold": True, "output": "score"}, "threshold is True"),
        ({"threshold": (0.2, 0.8)}, "threshold is"),
        ({"output": "points"}, "points"),
        ({"unit": "points"}, "a probability has none"),
    ],
)
def test_a_scale_that_cannot_be_is_refused(settings, message):
    X, space = table(20)
    with pytest.raises(reap.InputError, match=message):
        reap.Recourse(card, space, **settings).fit(X)


# models ----------------------------------------------------------------------------------------------


def models(space, X):
    y = card(X).to_numpy()
    rough = np.random.default_rng(0).normal(0, 20, len(X)) + y
    return {
        "a scorecard": card,
        "a linear regression": make_pipeline(space.encoder(), LinearRegression()).fit(X, rough),
        "a network": make_pipeline(
            space.encoder(),
            MLPRegressor(hidden_layer_sizes=(8,), max_iter=800, solver="lbfgs", random_state=0),
        ).fit(X, rough),
        "trees": make_pipeline(space.encoder(), HistGradientBoostingRegressor(max_iter=30)).fit(X, rough),
        "a margin": make_pipeline(space.encoder(), LinearSVC(random_state=0)).fit(X, rough > 560),
    }


@pytest.fixture(
    scope="module", params=["a scorecard", "a linear regression", "a network", "trees", "a margin"]
)
def case(request):
    X, space = table()
    model = models(space, X)[request.param]
    margin = request.param == "a margin"
    threshold, unit, target = (0.3, "", True) if margin else (560, "points", 1)
    return model, space, X, {"threshold": threshold, "output": "score", "unit": unit, "target": target}


def test_a_model_of_scores_is_seen_as_it_is(case):
    model, space, X, how = case
    seen, Z = wrap(model, space, **how), space.encode(X)
    own = model(X) if callable(model) else getattr(model, "decision_function", model.predict)(X)
    np.testing.assert_allclose(seen.score(Z), own, rtol=1e-9)
    assert np.array_equal(seen.accepts(Z), np.asarray(own) > how["threshold"])
    if seen.has_gradient:
        step = 1e-6 * np.eye(space.dimension)
        for z in Z[:3]:
            slope = (seen.logit(z + step) - seen.logit(z - step)) / 2e-6
            np.testing.assert_allclose(seen.gradient(z)[0], slope, atol=1e-4)


def test_plans_reach_the_score_and_keep_every_promise(case):
    model, space, X, how = case
    engine = reap.Recourse(model, space, **how).fit(X)
    assert reap.checks.engine(engine, X, people=4, matrices=2).ok
    x = X[~engine.classifier_.accepts(space.encode(X))].iloc[[0]]
    plan = engine.plans(x, np.eye(space.dimension))[0]
    again = model(x.assign(**plan.target)) if callable(model) else None
    assert again is None or float(again.iloc[0]) == pytest.approx(plan.score)
    assert plan.valid
    assert plan.scores[0] <= how["threshold"] < plan.score
    unit = how["unit"]
    assert f"to {plan.scale.say(plan.score)} (needed: more than {how['threshold']:g} {unit}".strip() in str(
        plan
    )
    back = reap.Plan.from_json(plan.to_json())
    assert back.scale == plan.scale
    assert str(back) == str(plan)
    assert plan.to_frame()["score"].tolist() == plan.scores.tolist()


@pytest.mark.parametrize("kind", ["graph", "gradient", "pool"])
def test_the_other_engines_speak_in_points_too(kind):
    X, space = table()
    y = card(X)
    model = make_pipeline(space.encoder(), Ridge(1e-3)).fit(X, y)
    how = {"threshold": 560, "output": "score", "unit": "points"}
    engine = {
        "graph": lambda: reap.GraphRecourse(model, space, **how),
        "gradient": lambda: reap.GradientRecourse(model, space, **how),
        "pool": lambda: reap.PoolRecourse(X, model, space, **how),
    }[kind]().fit(X)
    x = X[model.predict(X) < 540].iloc[[1]]  # somebody who has a choice
    plan = engine.plans(x, np.eye(space.dimension))[0]
    assert plan.valid
    assert plan.score > 560
    assert plan.scale.unit == "points"
    session = engine.elicit(x, questions=1)
    question = session.ask()
    assert question is not None
    if question is not None:
        assert question.options[0].scale.unit == "points"
        reach = [option.score > 560 for option in question.options]
        assert all(reach) or not question.whole  # parts of plans may end below it
    assert reap.Elicitation.from_json(session.to_json(), engine).recommend().scale.unit == "points"


def test_a_range_is_reached_from_both_sides_ends_included():
    X, space = table()
    engine = reap.Recourse(card, space, threshold=(540, 560), output="score").fit(X)
    points = card(X)
    for who in (points < 520, points > 580):
        plan = engine.plans(X[who].iloc[[0]], np.eye(space.dimension))[0]
        assert plan.valid
        assert 540 <= plan.score <= 560
        assert "(needed: 540 to 560)" in str(plan)
    inside = X.assign(income=2000, debts=0, home="rent").iloc[[0]]
    assert float(card(inside).iloc[0]) == 540
    assert engine.plans(inside, np.eye(space.dimension))[0].status == "already_accepted"


def test_durability_and_margin_in_points():
    X, space = table()
    y = card(X) + np.random.default_rng(1).normal(0, 25, len(X))
    model = make_pipeline(space.encoder(), LinearRegression()).fit(X, y)
    how = {"threshold": 560, "output": "score", "unit": "points"}
    x, alike = X[model.predict(X) < 540].iloc[[0]], np.eye(space.dimension)
    edge = reap.Recourse(model, space, **how).fit(X).plans(x, alike)[0]
    far = reap.Recourse(model, space, margin=8, **how).fit(X).plans(x, alike)[0]
    assert 560 < edge.score < 566 < 568 < far.score
    holds = (
        reap.Recourse(model, space, durability=reap.Durability(0.9, refits=9), **how)
        .fit(X, y)
        .plans(x, alike)[0]
    )
    assert holds.durability == 1.0
    assert "9 of 9 possible updates" in str(holds)
    with pytest.raises(reap.InputError, match="margin is -1"):
        reap.Recourse(model, space, margin=-1, **how).fit(X)


def test_what_gives_no_score_says_so():
    X, space = table(30)
    with pytest.raises(reap.InputError, match=r"returned shape \(256, 2\).*one score a row"):
        wrap(lambda f: np.zeros((len(f), 2)), space, threshold=1, output="score").score(space.encode(X))
    with pytest.raises(reap.InputError, match="gives NaN as a score"):
        wrap(lambda f: np.full(len(f), np.nan), space, threshold=1, output="score").score(space.encode(X))
    regression = make_pipeline(space.encoder(), LinearRegression()).fit(X, card(X))
    with pytest.raises(reap.InputError, match="gives no probabilities; say output='score'"):
        wrap(regression, space)

"""A session that begins with a learnt prior: recorded by hash, replayed with it, refused with another."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import reap
from reap.belief import LearnedPrior


@pytest.fixture(scope="module")
def engine():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.integers(0, 21, (300, 3)), columns=["hours", "savings", "courses"])
    y = (X.sum(axis=1) > 30).astype(int)
    space = reap.ActionSpace.from_frame(X, increasing=list(X.columns))
    model = make_pipeline(space.encoder(), LogisticRegression()).fit(X, y)
    return reap.Recourse(model, space).fit(X)


X0 = pd.Series({"hours": 9, "savings": 8, "courses": 9})


def learnt(engine, scales, **changed):
    space = engine.space
    k = len(space.legal.movable)
    said = {
        "space": space.digest,
        "dimension": space.dimension,
        "columns": tuple(space.legal.movable),
        "names": space.columns,
        "learnt": "weights",
        "mean": [*scales, np.log(8.0)],
        "covariance": 0.25 * np.eye(k + 1),
        "powers": [0.0, 0.0, 1.0],
        "lapses": [1.0, 0.0, 0.0],
        "interaction": [1.0, 0.0, 0.0],
        "welcome": np.zeros(k),
        "minded": [],
        "heavy": [],
        "people": 30,
        "answers": 150,
        **changed,
    }
    return LearnedPrior(**said)


def test_the_first_plan_is_the_populations(engine):
    for easy in range(3):
        scales = np.full(3, 2.0)
        scales[easy] = -2.0
        plan = engine.elicit(X0, preset=reap.Bayes(prior=learnt(engine, scales))).recommend()
        assert int(plan.moves[0].argmax()) == easy


def test_a_session_replays_with_its_prior(engine, tmp_path):
    prior = learnt(engine, [-1.0, 0.5, 0.5])
    prior.save(tmp_path / "prior.json")
    session = engine.elicit(X0, preset=reap.Bayes(prior=tmp_path / "prior.json"))
    session.ask()
    session.answer("left")
    session.constrain("hours", difficulty=5)
    assert json.loads(session.to_json())["events"][0]["prior"] == prior.hash
    back = reap.Elicitation.from_json(session.to_json(), engine, prior=str(tmp_path / "prior.json"))
    assert back.belief.mean.tobytes() == session.belief.mean.tobytes()
    assert str(back.recommend()) == str(session.recommend())


def test_another_prior_is_refused(engine):
    prior, other = learnt(engine, [0.1, 0.2, 0.3]), learnt(engine, [0.1, 0.2, 0.4])
    text = engine.elicit(X0, preset=reap.Bayes(prior=prior)).to_json()
    with pytest.raises(reap.InputError, match=f"prior {prior.hash[:12]}, given was {other.hash[:12]}"):
        reap.Elicitation.from_json(text, engine, prior=other)
    with pytest.raises(reap.InputError, match="none was given"):
        reap.Elicitation.from_json(text, engine)
    with pytest.raises(reap.InputError, match="began without a learnt prior"):
        reap.Elicitation.from_json(engine.elicit(X0).to_json(), engine, prior=prior)


def test_a_prior_of_another_space_is_refused(engine):
    with pytest.raises(reap.InputError, match="another action space"):
        engine.elicit(X0, preset=reap.Bayes(prior=learnt(engine, [0.0, 0.0, 0.0], space="elsewhere")))


def test_a_prior_needs_the_posterior(engine):
    prior = learnt(engine, [0.0, 0.0, 0.0])
    with pytest.raises(reap.InputError, match="belief="):
        engine.elicit(X0, preset=reap.Bayes(prior=prior), belief=reap.Posterior(3))

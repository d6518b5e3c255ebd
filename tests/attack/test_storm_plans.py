"""Plans by the thousand, judged by the second judge, which shares no code with the engines: legal, accepted, scored right."""

from __future__ import annotations

import os

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import reap
from reap.checks.judge import Judge
from reap.checks.legality import violations
from reap.checks.worlds import random_matrices

pytestmark = [pytest.mark.long, pytest.mark.timeout(0)]

TIMES = int(os.environ.get("REAP_ATTACK", "1"))
SEED = int(os.environ.get("REAP_SEED", "0"))
#: Efforts that each person is asked about.
MATRICES = 4
ENGINES = {"people": reap.Recourse, "graph": reap.GraphRecourse}
MODELS = {"linear": LogisticRegression(max_iter=2000), "trees": HistGradientBoostingClassifier(max_iter=50)}


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", ["german", "heloc"])
def test_every_plan_is_legal_accepted_and_scored_by_the_model(load, name, engine, model):
    data = load(name)
    X, y = data.X, data.y
    fitted = make_pipeline(data.space.encoder(), MODELS[model]).fit(X, y)
    made = ENGINES[engine](fitted, data.space, random_state=SEED).fit(X)
    judge = Judge.of_engine(made, X)
    refused = X[~judge.scale.enough(judge.score(X))]
    chosen = refused.sample(min(5 * TIMES, len(refused)), random_state=SEED)
    seen = none = 0
    for i in range(len(chosen)):
        own = data.space.values(data.space.vector(chosen.iloc[[i]]))
        matrices = random_matrices(data.space.dimension, MATRICES, SEED + i)
        for plan in made.plans(chosen.iloc[[i]], matrices):
            if plan.status != "ok":
                none += 1
                continue
            target = data.space.values(plan.path[-1])
            assert violations(data.space, own, target) == [], (own, target)
            scores = judge.scores(judge.rows(plan.path[[0, -1]]))
            assert judge.scale.enough(scores[-1])
            np.testing.assert_allclose(scores, plan.scores[[0, -1]], atol=1e-6)
            assert np.isfinite(plan.effort)
            seen += 1
    print(f"{seen} plans, {name}, {engine}, {model}, seed {SEED}: legal and accepted; {none} times no plan")
    assert seen > none

"""ROAR: the line is the model's own, the worst change is the worst, and a wider box asks for more."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import reap
from reap.research.baselines import ROAR


@pytest.fixture(scope="module")
def world():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.random((200, 3)), columns=["a", "b", "c"])
    space = reap.ActionSpace.from_frame(X, immutable=["c"])
    model = make_pipeline(space.encoder(), LogisticRegression(C=100.0)).fit(X, X["a"] + X["b"] > 1.2)
    return X, space, model, X[~model.predict(X)]


def test_refuses_nonsense(world):
    X, space, model, _ = world
    for options in ({"radius": -1.0}, {"weight": -1.0}, {"learning_rate": 0.0}, {"max_iterations": 0}):
        with pytest.raises(reap.InputError):
            ROAR(model, space, target=True, **options).fit(X)


def test_of_a_logistic_regression_the_line_is_the_model(world):
    X, space, model, rejected = world
    engine = ROAR(model, space, target=True).fit(X)
    slope, constant = engine._line(space.vector(rejected.iloc[[0]]))
    assert np.allclose(slope, model[-1].coef_[0], atol=1e-8)
    assert constant == pytest.approx(model[-1].intercept_[0], abs=1e-8)


def test_a_wider_box_goes_further_and_survives_its_worst_change(world):
    X, space, model, rejected = world
    x = rejected.iloc[[0]]
    slope, constant = model[-1].coef_[0], model[-1].intercept_[0]
    efforts = []
    for radius in (0.0, 0.5, 2.0):
        engine = ROAR(model, space, target=True, radius=radius, weight=0.5, tolerance=1e-6).fit(X)
        plan = engine.plans(x, np.eye(3))[0]
        z = plan.path[-1]
        assert plan.valid
        assert plan.target["c"] == x["c"].iloc[0]
        assert (slope - radius * np.sign(z)) @ z + constant - radius > 0
        efforts.append(plan.effort)
    assert efforts[0] < efforts[1] < efforts[2]


def test_what_the_model_rejects_is_no_plan(world):
    X, space, model, rejected = world
    engine = ROAR(model, space, target=True, weight=1e3).fit(X)  # not worth a step
    plan = engine.plans(rejected.iloc[[0]], np.eye(3))[0]
    assert plan.status == "none_found"
    assert not plan.valid

"""Wachter against torch's Adam, and what λ does."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import reap
from reap.research.baselines import Wachter


@pytest.fixture(scope="module")
def world():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.random((200, 3)), columns=["a", "b", "c"])
    space = reap.ActionSpace.from_frame(X, immutable=["c"])
    model = make_pipeline(space.encoder(), LogisticRegression(C=100.0)).fit(X, X["a"] + X["b"] > 1.2)
    return X, space, model, X[~model.predict(X)]


def test_refuses_nonsense(world):
    X, space, model, _ = world
    for options in ({"learning_rate": 0.0}, {"weight": -1.0}, {"max_iterations": 0}):
        with pytest.raises(reap.InputError):
            Wachter(model, space, target=True, **options).fit(X)


def test_it_stops_at_the_first_row_beyond_the_boundary(world):
    X, space, model, rejected = world
    engine = Wachter(model, space, target=True).fit(X)
    for i in range(3):
        plan = engine.plans(rejected.iloc[[i]], np.eye(3))[0]
        assert plan.valid
        assert plan.score < 0.75  # it stops at the first accepted row
        assert plan.target["c"] == rejected.iloc[i]["c"]


def test_unconstrained_stays_in_the_unit_box(world):
    X, space, model, rejected = world
    plan = (
        Wachter(model, space, target=True, constraints=False).fit(X).plans(rejected.iloc[[0]], np.eye(3))[0]
    )
    assert plan.valid
    assert ((plan.path >= 0) & (plan.path <= 1)).all()


def test_lambda_falls_to_zero_and_not_below(world):
    X, space, _, rejected = world
    weak = make_pipeline(space.encoder(), LogisticRegression(C=1e-3)).fit(X, X["a"] + X["b"] > 1.2)
    wanted = weak.predict_proba(X)[:, 1].max() - 1e-4  # near the best there is: only a small λ gets there
    engine = Wachter(weak, space, target=True, threshold=wanted, weight=0.2, max_iterations=300).fit(X)
    plan = engine.plans(rejected.iloc[[0]], np.eye(3))[0]
    assert plan.valid
    assert 0 <= float(plan.note.removeprefix("λ = ").rstrip(".")) < 0.2


@pytest.mark.extras
def test_its_way_is_that_of_torchs_adam(world):
    torch = pytest.importorskip("torch")
    X, space, model, rejected = world
    engine = Wachter(model, space, target=True, constraints=False, max_iterations=60, weight=0.7).fit(X)
    z0 = space.vector(rejected.iloc[[0]])
    z = torch.tensor(z0, requires_grad=True)
    slope, constant = torch.tensor(model[-1].coef_[0]), float(model[-1].intercept_[0])
    adam, way = torch.optim.Adam([z], lr=0.01), []
    for _ in range(60):
        adam.zero_grad()
        loss = torch.nn.functional.softplus(-(z @ slope + constant))
        (loss + 0.7 * ((z - torch.tensor(z0)) ** 2).sum()).backward()
        adam.step()
        with torch.no_grad():
            z.clamp_(0, 1)
        way.append(z.detach().numpy().copy())
    first = next((row for row in way if model[-1].decision_function(row[None])[0] > 0), None)
    plan = engine.plans(rejected.iloc[[0]], np.eye(3))[0]
    assert first is not None
    assert plan.note == ""
    np.testing.assert_allclose(plan.path[-1], first, atol=1e-9)

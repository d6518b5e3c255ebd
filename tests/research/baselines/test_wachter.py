"""Wachter against torch's Adam, and what λ does."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import reap
from reap.research.baselines import Wachter
from reap.research.baselines.wachter import Adam, Linear


@pytest.fixture(scope="module")
def world():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.random((200, 3)), columns=["a", "b", "c"])
    space = reap.ActionSpace.from_frame(X, immutable=["c"])
    model = make_pipeline(space.encoder(), LogisticRegression(C=100.0)).fit(X, X["a"] + X["b"] > 1.2)
    return X, space, model, X[~model.predict(X)]


def test_refuses_nonsense(world):
    X, space, model, _ = world
    for options in ({"loss": "logg"}, {"learning_rate": 0.0}, {"weight": -1.0}, {"max_iterations": 0}):
        with pytest.raises(reap.InputError):
            Wachter(model, space, target=True, **options).fit(X)


@pytest.mark.parametrize("loss", ["cross-entropy", "quadratic", "hinge"])
def test_every_loss_finds_a_row_near_the_boundary(world, loss):
    X, space, model, rejected = world
    engine = Wachter(model, space, target=True, loss=loss).fit(X)
    for i in range(3):
        plan = engine.plans(rejected.iloc[[i]], np.eye(3))[0]
        assert plan.valid
        assert plan.probability < 0.75  # it stops at the first accepted row
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


def test_a_batch_of_starts_is_each_start_alone():
    rng = np.random.default_rng(1)
    slope = Linear(rng.random((50, 2)), rng.random(50) > 0.5)
    starts = rng.random((4, 2))
    outer = lambda t: 1 / (1 + np.exp(-t)) - 1  # noqa: E731
    clip = lambda Z: np.clip(Z, 0, 1)  # noqa: E731
    together = Adam(slope, clip, starts, outer, 0.01, 0.5)
    alone = [Adam(slope, clip, s[None], outer, 0.01, 0.5) for s in starts]
    for _ in range(30):
        Z = together.step()
        assert np.allclose(Z, np.vstack([a.step() for a in alone]), atol=1e-12)


@pytest.mark.extras
def test_adam_is_torchs_adam():
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(2)
    slope = Linear(rng.random((50, 3)), rng.random(50) > 0.6)
    z0 = rng.random(3)
    ours = Adam(slope, lambda Z: np.clip(Z, 0, 1), z0[None], lambda t: 1 / (1 + np.exp(-t)) - 1, 0.01, 0.7)
    z = torch.tensor(z0, requires_grad=True)
    w = torch.tensor(slope.weights)
    adam = torch.optim.Adam([z], lr=0.01)
    for _ in range(60):
        adam.zero_grad()
        loss = (
            torch.nn.functional.softplus(-(z @ w + slope.constant))
            + 0.7 * ((z - torch.tensor(z0)) ** 2).sum()
        )
        loss.backward()
        adam.step()
        with torch.no_grad():
            z.clamp_(0, 1)
        assert np.allclose(ours.step()[0], z.detach().numpy(), atol=1e-10)

"""Pages of somebody whose savings follow the income: what they do is asked for, what follows is said."""

from __future__ import annotations

import contextlib

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import reap
from reap.service.case import Case
from reap.service.settings import Settings

from .conftest import running

ME = {"income": 1500, "savings": 500, "debts": 3}


@pytest.fixture(scope="module")
def saving():
    """A case in which savings follow the income."""
    rng = np.random.default_rng(0)
    income = rng.integers(10, 50, 300) * 100
    X = pd.DataFrame(
        {
            "income": income,
            "savings": (0.4 * income + rng.integers(0, 10, 300) * 50).astype(int),
            "debts": rng.integers(0, 5, 300),
        }
    )
    features = {
        "income": {"label": "Income", "unit": "€", "step": 50},
        "savings": {"label": "Savings", "unit": "€", "step": 50, "effect": "0.4 * income"},
    }
    space = reap.ActionSpace.from_frame(X, features=features)
    y = X["income"] + 2 * X["savings"] - 300 * X["debts"] > 5000
    model = make_pipeline(space.encoder(), LogisticRegression()).fit(X, y)
    return Case.of(reap.Recourse(model, space, target=True).fit(X), X, X[~model.predict(X)])


@pytest.fixture
def here(saving, tmp_path):
    with contextlib.ExitStack() as stack:
        url = f"sqlite:///{tmp_path}/reap.db"
        yield stack.enter_context(running(saving, Settings(database_url=url, rate=0, questions=4)))


def test_questions_and_plans_say_what_follows_and_trying_values_moves_it(here, saving):
    token = here.start(ME)["token"]
    state = here.state(token)
    plan = here.client.get(f"/api/v1/sessions/{token}/plan").json()
    told = [cell["text"] for row in state["question"]["rows"] for cell in row["cells"]]
    assert any("Savings would then be about" in text for text in told)
    assert any("Savings would then be about" in said for said in plan["follows"])
    page = here.client.get(f"/s/{token}/plan").text
    assert "Savings would then be about" in page
    tried = here.client.get(
        f"/s/{token}/what-if", params={"f.income": 4500, "f.savings": 500, "f.debts": 3}
    ).text
    space, z0 = saving.engine.space, saving.engine.space.vector(ME)
    there = space.legal.brought(space.vector({**ME, "income": 4500})[None], z0)
    assert saving.engine.classifier_.accepts(there)[0]
    assert "This would be accepted." in tried
    assert "you could not get there" not in tried

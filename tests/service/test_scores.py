"""A model in points: the API and the pages speak in points."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest

import reap
from reap.service.case import Case
from reap.service.settings import Settings

from .conftest import running


def card(frame):
    return 500 + frame["income"] / 50 - 15 * frame["debts"] + 30 * frame["home"]


@pytest.fixture(scope="module")
def service():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "income": rng.integers(10, 60, 200) * 100,
            "debts": rng.integers(0, 7, 200),
            "home": rng.integers(0, 2, 200),
        }
    )
    space = reap.ActionSpace.from_frame(X, immutable=["home"])
    engine = reap.Recourse(card, space, threshold=560, output="score", unit="points").fit(X)
    rejected = X[card(X) <= 540]
    with running(Case.of(engine, X, rejected), Settings(database_url="sqlite://")) as made:
        yield made, space.values(space.vector(rejected.iloc[[0]]))


def test_the_api_says_scores_in_points(service):
    made, row = service
    started = made.start(row)
    state, token = started["state"], started["token"]
    points = float(card(pd.DataFrame([row])).iloc[0])
    assert state["said"] == f"{points:,.0f} points"
    assert state["score"] == round(points)
    assert (state["needed"], state["threshold"]) == ("more than 560 points", 560)
    plan = made.client.get(f"/api/v1/sessions/{token}/plan").json()
    assert plan["score"] > 560
    assert plan["said"].endswith(" points")
    tried = made.client.post(f"/api/v1/sessions/{token}/score", json={"subject": row}).json()
    assert tried["said"] == state["said"]
    assert not tried["accepted"]


def test_the_pages_say_points_and_nothing_out_of_100(service):
    made, row = service
    token = made.start(row)["token"]
    for page in ("", "/plan", "/print", "/what-if"):
        text = made.client.get(f"/s/{token}{page}", follow_redirects=True).text
        assert re.search(r"560 points", text), page
        assert "out of 100" not in text

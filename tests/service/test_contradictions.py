"""Contradictions are no error: a cycle of answers still ends in a plan, and the conflict is shown."""

from __future__ import annotations

import itertools

import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import reap
from reap.service.case import Case
from reap.service.settings import Settings

from .conftest import running

BEATS = {("course", "savings"), ("savings", "guarantor"), ("guarantor", "course")}


@pytest.fixture(scope="module")
def three_ways():
    """Any one of three changes is enough, so the session compares three plans with each other."""
    rows = pd.DataFrame(
        list(itertools.product([False, True], repeat=3)), columns=["course", "savings", "guarantor"]
    )
    X = pd.concat([rows] * 6, ignore_index=True)
    space = reap.ActionSpace.from_frame(X)
    model = make_pipeline(space.encoder(), LogisticRegression(C=100, class_weight="balanced"))
    engine = reap.Recourse(model.fit(X, X.any(axis=1).astype(int)), space).fit(X)
    return Case.of(engine, X, X.iloc[:1], title="Three ways")


def test_a_cycle_of_three_answers_still_ends_in_a_plan_and_is_shown_kindly(three_ways, tmp_path):
    with running(three_ways, Settings(database_url=f"sqlite:///{tmp_path}/reap.db", questions=6)) as service:
        started = service.start({"course": False, "savings": False, "guarantor": False})
        token, state = started["token"], started["state"]
        pairs = set()
        while state["question"]:
            features = [[text.split()[1] for text in o["changes"]] for o in state["question"]["options"]]
            single = tuple(f[0] for f in features) if all(len(f) == 1 for f in features) else None
            pairs.add(single)
            state = service.answer(token, state, "left" if single in BEATS else "right").json()["state"]
        cycle = {frozenset(pair) for pair in pairs if pair}
        assert len(cycle) == 3, "the session did not compare all three plans with each other"
        plan = service.client.get(f"/api/v1/sessions/{token}/plan").json()
        assert plan["status"] == "ok"
        assert plan["valid"]
        assert plan["conflicts"]
        page = service.client.get(f"/s/{token}/plan").text
        assert "pull in different directions" in page
        assert "That is normal" in page
        group = plan["conflicts"][0]
        for position in group:
            assert f"/s/{token}/questions?change=1#answer-{position}" in page
        # Changing one of them resolves it.
        position = group[0]
        choice = 1 - state["answers"][position]["choice"]
        body = {"revision": state["revision"], "choice": choice, "key": f"r{position}"}
        service.client.put(f"/api/v1/sessions/{token}/answers/{position}", json=body)
        after = service.client.get(f"/api/v1/sessions/{token}/plan").json()
        assert group not in after["conflicts"]

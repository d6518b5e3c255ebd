"""Local search around accepted rows: what is known of their neighbours changes nothing but the number of rows scored."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import reap
from reap.recourse.targets.boundary.search import search
from reap.recourse.targets.problem import Problem


@pytest.fixture
def problem():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.integers(0, 30, (400, 5)), columns=list("abcde"))
    space = reap.ActionSpace.from_frame(X)
    model = make_pipeline(space.encoder(), LogisticRegression()).fit(X, X.sum(axis=1) > 75)
    z0 = space.vector(pd.Series([12, 12, 14, 14, 12], index=X.columns))
    return Problem(space, reap.models.wrap(model, space, target=True), z0, 3)


def accepted(problem):
    """Rows that change three features, and their logits."""
    Z = np.random.default_rng(1).random((200, 5))
    rows = problem.tidy(problem.partly(Z, np.tile(np.arange(5) < 3, (200, 1))))
    scores = problem.judge(rows)
    return rows[scores >= problem.goal][:12], scores[scores >= problem.goal][:12]


def test_neighbours_that_are_known_are_not_scored_again_and_lead_to_the_same_rows(problem, monkeypatch):
    rows, scores = accepted(problem)
    assert len(rows) > 4
    A = np.stack([G @ G.T for G in np.random.default_rng(1).normal(size=(len(rows), 5, 5))])
    asked, score = [], problem.score
    monkeypatch.setattr(problem, "score", lambda rows: (asked.append(len(rows)), score(rows))[1])
    alone, known = search(problem, A, rows, scores), {}
    before, first = sum(asked), search(problem, A, rows, scores, known)
    asked.clear()
    again = search(problem, A, rows, scores, known)
    assert before > 0
    assert sum(asked) == 0
    for found in (first, again):
        np.testing.assert_array_equal(found[0], alone[0])
        np.testing.assert_allclose(found[1], alone[1], rtol=0, atol=1e-12)

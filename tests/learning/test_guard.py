"""A learnt prior only weighs: through the engine, whoever differs from everybody still gets the plan that suits them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import reap
from reap.belief import LearnedPrior
from reap.belief.learned_prior import WIDEST

NAMES = ["hours", "savings", "courses"]


@pytest.fixture(scope="module")
def engine():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.integers(0, 21, (300, 3)), columns=NAMES)
    y = (X.sum(axis=1) > 30).astype(int)
    space = reap.ActionSpace.from_frame(X, increasing=NAMES)
    model = make_pipeline(space.encoder(), LogisticRegression()).fit(X, y)
    return reap.Recourse(model, space, random_state=0).fit(X)


@pytest.fixture(scope="module")
def against(engine):
    """The strongest prior there can be: the first column a hundred times as hard as by default, the last a hundredth."""
    space = engine.space
    return LearnedPrior(
        space.digest,
        space.dimension,
        (0, 1, 2),
        tuple(NAMES),
        "weights",
        [WIDEST, 0.0, -WIDEST, np.log(8.0)],
        0.25 * np.eye(4),
        [0.0, 0.0, 1.0],
        [1.0, 0.0, 0.0],
        [1.0, 0.0, 0.0],
        np.zeros(3),
        [],
        [],
        people=1000,
        answers=5000,
    )


def held(engine, prior, hard, questions, seed=3):
    who = pd.Series({"hours": 8, "savings": 8, "courses": 8})
    session = engine.elicit(who, preset=reap.Bayes(prior=prior), questions=questions, random_state=seed)
    person = reap.subjects.Mahalanobis(np.diag(hard), random_state=0)
    while question := session.ask():
        session.answer(person.answer(question))
    return session.recommend()


def asked(plan):
    return {change.feature for change in plan.changes}


def test_no_plan_becomes_unreachable(engine, against):
    """Hours are what everybody else avoids and all this person can do."""
    hard = [0.05, 4.0, 4.0]
    before = held(engine, against, hard, 0)
    assert before.valid
    assert "hours" not in asked(before)  # the prior is strong, and before any answer it rules
    best = held(engine, None, hard, 8)
    assert asked(best) == {"hours"}
    found = [held(engine, against, hard, 8, seed) for seed in range(3, 9)]
    assert all(plan.valid and "hours" in asked(plan) for plan in found)
    assert sum(asked(plan) == asked(best) for plan in found) >= 4  # eight answers against a hundredfold prior


def test_what_is_legal_does_not_depend_on_the_prior(engine, against):
    """Fixed to the one column that the prior makes hardest, there is the same plan as without a prior."""
    who = pd.Series({"hours": 8, "savings": 8, "courses": 8})
    limits = reap.Limits(fixed=("savings", "courses"))
    plans = [
        engine.elicit(who, preset=reap.Bayes(prior=prior), limits=limits).recommend()
        for prior in (None, against)
    ]
    assert all(plan.valid for plan in plans)
    assert plans[0].path[-1].tolist() == plans[1].path[-1].tolist()

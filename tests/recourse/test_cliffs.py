"""A change too small to notice that decides: plans warn, audits list it."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import reap


def world(jump):
    """Incomes; the score jumps at 3,120, by much or by little."""
    X = pd.DataFrame({"gains": np.arange(2000, 4000, 7), "sex": np.arange(286) % 2})
    features = [
        reap.Feature("gains", "integer", range=(2000, 4000), label="Capital gains", unit="$", notice=50),
        reap.Feature("sex", "binary", levels=(0, 1), actionable=False),
    ]

    def model(rows):
        return np.where(rows["gains"] < 3120, 0.5 + jump, 0.5 - jump) + 1e-6 * (3120 - rows["gains"])

    return X, reap.ActionSpace(features), model


def test_a_plan_on_a_cliff_says_so_and_keeps_it_in_files():
    X, space, model = world(0.4)
    engine = reap.Recourse(model, space).fit(X)
    plan = engine.plans(X[X["gains"] > 3130].iloc[[0]], np.eye(space.dimension))[0]
    assert plan.valid
    (cliff,) = plan.cliffs
    assert cliff.feature == "gains"
    assert cliff.score_below == pytest.approx(0.1, abs=0.01)
    assert "A tiny difference decides here: with capital gains at" in str(plan)
    assert "flaw of the computer" in str(plan)
    assert reap.Plan.from_json(plan.to_json()).cliffs == plan.cliffs
    far = engine.plans(X[X["gains"] > 3500].iloc[[0]], np.eye(space.dimension))[0]
    assert far.cliffs  # however long the way: the end stands on the cliff


def test_a_slope_is_no_cliff():
    X, space, model = world(0.01)
    engine = reap.Recourse(model, space).fit(X)
    plan = engine.plans(X[X["gains"] > 3130].iloc[[0]], np.eye(space.dimension))[0]
    assert plan.valid
    assert plan.cliffs == ()
    assert "tiny difference" not in str(plan)


@pytest.mark.parametrize("jump", [0.4, 0.01])
def test_an_audit_lists_model_cliffs_with_an_example(jump, tmp_path):
    X, space, model = world(jump)
    engine = reap.Recourse(model, space).fit(X)
    plans = reap.batch.run(engine, X, n_jobs=1)
    found = reap.audit(plans, by=["sex"], matrices=3, resamples=20)
    if jump < 0.1:
        assert found.cliffs == []
        assert "Model cliffs" not in str(found) + found.to_html()
        return
    (cliff,) = found.cliffs
    assert cliff.feature == "gains"
    assert cliff.plans == (plans["recourse_status"] == "ok").sum()
    assert "Model cliffs" in str(found)
    assert "Model cliffs" in found.to_html()
    assert "$ a score goes from" in str(cliff)

"""Robust plans of the default engine: least worst case over a confidence set."""

from __future__ import annotations

import numpy as np
import pytest

import reap
from reap.checks.worlds import random_matrices
from reap.recourse.robust import WorstCase
from tests.recourse.answers import told
from tests.recourse.enumeration import Everything, small_world


@pytest.mark.parametrize("answers", [0, 4, 10])
@pytest.mark.parametrize("objective", ["worst-case", "minimax"])
def test_robust_equals_enumeration(answers, objective):
    world = small_world("logistic", 0)
    x, known = world.rejected.iloc[[0]], told(world.space.dimension, answers)
    plan = reap.Recourse(world.model, world.space).fit(world.X).robust(x, known, objective=objective)
    everything = Everything(world, x)
    rows = world.space.encode(everything.judge.frame(everything.undominated))
    least = known.worst_case(rows - everything.z).costs.min()
    assert plan.valid
    assert least * (1 - 1e-5) <= plan.effort <= least * 1.01
    assert np.isclose(plan.effort, known.worst_case_plan(plan.moves).cost, rtol=1e-6)


def test_no_plan_for_one_matrix_is_better_in_the_worst_case(german, german_model, german_rejected):
    engine = reap.Recourse(german_model, german.space).fit(german.X)
    d = german.space.dimension
    for i in range(2):
        x, known = german_rejected.iloc[i], told(d, 5, seed=i)
        robust = engine.robust(x, known)
        others = engine.plans(x, np.stack([np.eye(d), known.estimate(), *random_matrices(d, 3)]))
        worst = [known.worst_case_plan(plan.moves).cost for plan in others]
        assert robust.valid
        assert robust.effort <= min(worst) * (1 + 1e-6)


def test_the_cheapest_worst_case_is_found_with_few_solutions(monkeypatch):
    known, moves = told(4, 6), np.random.default_rng(0).normal(size=(120, 4))
    exact = np.array([known.worst_case_plan(move).cost for move in moves])
    asked = []
    original = reap.ConfidenceSet.worst_case_plan
    monkeypatch.setattr(
        reap.ConfidenceSet, "worst_case_plan", lambda self, m: asked.append(1) or original(self, m)
    )
    place, cost = WorstCase(known).least(moves, most=120)
    assert np.isclose(cost, exact.min(), rtol=1e-6)
    assert np.isclose(exact[place], cost, rtol=1e-6)
    assert len(asked) < 40

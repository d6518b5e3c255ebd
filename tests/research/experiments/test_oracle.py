"""The engine's plan for a known effort."""

from __future__ import annotations

import numpy as np
import pytest

import reap
from reap.research.experiments.oracle import oracles
from reap.research.experiments.people import person


@pytest.fixture(scope="module")
def engine(german, german_model):
    return reap.Recourse(german_model, german.space).fit(german.X)


def test_of_a_matrix_it_is_the_engines_plan(engine, german_rejected):
    x, d = german_rejected.iloc[[0]], engine.space.dimension
    persons = [person("gaussian", d, k, 0) for k in range(3)]
    plans = engine.plans(x, np.stack([someone.matrix for someone in persons]))
    assert oracles(engine, x, persons) == pytest.approx([plan.effort for plan in plans])


def test_an_l1_persons_is_no_harder_than_what_one_matrix_gives(engine, german_rejected):
    d = engine.space.dimension
    persons = [person("l1", d, k, 0) for k in range(3)]
    less = 0
    for i in range(3):
        x = german_rejected.iloc[[i]]
        once = engine.plans(x, np.stack([np.diag(someone.weights) for someone in persons]))
        first = np.array([someone.effort(plan.moves) for someone, plan in zip(persons, once, strict=True)])
        best = np.array(oracles(engine, x, persons))
        assert (best <= first + 1e-12).all()
        less += (best < first - 1e-9).sum()
    assert less > 0  # asking again is worth it

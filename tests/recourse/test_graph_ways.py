"""Ways to targets: even steps for numbers, switches at once, numbers only as far as needed."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import reap
from reap.recourse import GraphRecourse
from reap.recourse._graph_neat import Neat
from reap.recourse._graph_shortcuts import shortcuts
from reap.recourse._graph_ways import nearer, ways
from tests.spaces import random_world


def views(seed, count=3):
    world = random_world(seed, rows=120)
    engine = GraphRecourse(world.model, world.space).fit(world.X)
    made = []
    for i in range(min(count, len(world.rejected))):
        subject = engine._subject(world.rejected.iloc[[i]])
        if subject.verdict is None:
            made.append(engine._view(subject, None))
    return made


@pytest.mark.parametrize("seed", range(12))
def test_ways_lead_from_the_subject_to_the_targets_by_legal_steps(seed):
    for view in views(seed):
        targets = nearer(view, shortcuts(view, 32, 0))
        for steps in (1, 2, 4, None):
            made = ways(view, targets, steps)
            assert made.paths.shape[1] == (5 if steps is None else steps + 1)
            for path in made.paths:
                assert np.array_equal(path[0], view.z0, equal_nan=True)
                assert (np.abs(np.nan_to_num(targets - path[-1])).max(axis=1) < 1e-12).any()
            if not view.simple and len(made):
                before, after = (
                    made.paths[:, part].reshape(-1, made.paths.shape[2])
                    for part in (slice(0, -1), slice(1, None))
                )
                assert view.space.allows(before, after).all()


@pytest.mark.parametrize("seed", range(12))
def test_nearer_targets_are_accepted_legal_and_no_farther(seed):
    for view in views(seed):
        targets = shortcuts(view, 32, 0)
        taken_back = nearer(view, targets)
        if len(targets) == 0:
            continue
        assert view.classifier.accepts(taken_back).all()
        assert view.space.allows(view.z0, taken_back).all()
        free = [f.derived is None for f in view.space.features]
        columns = np.concatenate(
            [
                np.full(view.space.slices[f.name].stop - view.space.slices[f.name].start, ok)
                for f, ok in zip(view.space.features, free, strict=True)
            ]
        )
        far, near = (np.abs(np.nan_to_num(rows - view.z0))[:, columns] for rows in (targets, taken_back))
        assert (near <= far + 1e-9).all()


def line(step=None):
    """Accepted where a + b passes 1; numbers with or without a step."""
    grid = np.linspace(0, 1, 21)
    X = pd.DataFrame([(a, b) for a in grid for b in grid], columns=["a", "b"])
    features = [reap.Feature(name, "numeric", range=(0.0, 1.0), step=step) for name in "ab"]
    return GraphRecourse(
        lambda rows: 1 / (1 + np.exp(-20 * (rows["a"] + rows["b"] - 1))), reap.ActionSpace(features)
    ).fit(X)


def test_against_the_best_there_is():
    # least vᵀAv with v_a + v_b = 0.6: 0.36 / (1ᵀA⁻¹1), and a quarter of it in four even steps
    engine, rng = line(), np.random.default_rng(0)
    x = pd.Series({"a": 0.2, "b": 0.2})
    for A in [np.eye(2), *(np.diag(rng.uniform(0.05, 1, 2)) for _ in range(6))]:
        best = 0.36 / np.linalg.inv(A).sum() / 4
        assert best <= engine.plans(x, A)[0].cost * (1 + 1e-9) <= best * 1.06


def test_even_steps_cost_a_quarter_and_stay_on_the_grid():
    engine = line(step=0.05)
    x = pd.Series({"a": 0.2, "b": 0.2})
    X = engine.space.decode(engine.rows_.vectors)
    four, one = (
        GraphRecourse(engine.model, engine.space, max_steps=steps).fit(X).plans(x, np.eye(2))[0]
        for steps in (4, 1)
    )
    assert (len(four.steps), len(one.steps)) == (4, 1)
    assert four.cost == pytest.approx(one.cost / 4, rel=0.2)
    assert np.allclose(four.path / 0.05, np.rint(four.path / 0.05))


def test_a_value_between_steps_stays_where_it_is():
    engine = line(step=0.05)
    x = pd.Series({"a": 0.21, "b": 0.33})
    A = np.diag([1.0, 0.001])  # only b is worth moving
    plan = engine.plans(x, A)[0]
    assert {change.feature for step in plan.steps for change in step.changes} == {"b"}
    assert engine.space.allows(plan.path[:-1], plan.path[1:]).all()


def test_no_way_at_all_is_no_error():
    view = views(0)[0]
    none = Neat(view, 4, 4, 0)
    none.ways = ways(view, np.empty((0, view.space.dimension)), 4)
    matrices = np.stack([np.eye(view.space.dimension)] * 3)
    assert none.costs(matrices).shape == (3, 0)
    assert none.choose([None] * 3, matrices, none.costs(matrices)) == [None] * 3


def test_where_no_way_is_legal_the_path_is_the_plan(monkeypatch):
    engine, x = line(), pd.Series({"a": 0.2, "b": 0.2})
    bent = Neat._walked

    def broken(self, path):
        return np.concatenate([bent(self, path)[:-1], bent(self, path)[-1:] + 5.0])  # outside the bounds

    monkeypatch.setattr(Neat, "_walked", broken)
    plan = engine.plans(x, np.eye(2))[0]
    assert (plan.status, plan.valid) == ("ok", True)

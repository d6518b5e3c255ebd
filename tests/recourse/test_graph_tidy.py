"""Tidied plans: never dearer, still legal and accepted, nothing left that could go."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest

import reap
from reap.recourse import GraphRecourse
from reap.recourse._graph_tidy import _cheapest_chain
from tests import checks
from tests.spaces import random_world


@pytest.mark.parametrize("seed", range(10))
def test_tidied_plans_are_legal_valid_and_never_dearer(seed):
    world = random_world(seed, rows=80)
    raw, neat = (GraphRecourse(world.model, world.space, tidy=tidy).fit(world.X) for tidy in (False, True))
    matrices = world.matrices(3, seed)
    for i in range(2):
        x = world.rejected.iloc[[i]]
        for before, after in zip(raw.plans(x, matrices), neat.plans(x, matrices), strict=True):
            assert before.status == after.status
            checks.assert_honest(world, x, before)
            checks.assert_honest(world, x, after)
            if after.status == "ok":
                assert after.cost <= before.cost * (1 + 1e-9)
                assert len(after.steps) <= len(before.steps)


@pytest.mark.parametrize("seed", range(6))
def test_nothing_is_left_that_could_go(seed):
    world = random_world(seed, rows=80)
    engine = GraphRecourse(world.model, world.space).fit(world.X)
    A = world.matrices(1, seed)[0]
    plan = engine.plans(world.rejected.iloc[0], A)[0]
    if plan.status != "ok":
        pytest.skip("no plan")
    space, path = world.space, plan.path
    assert (plan.probabilities[:-1] <= 0.5).all()
    for a, b in itertools.combinations(range(len(path)), 2):  # merging steps would be illegal or dearer
        if b > a + 1 and space.allows(path[a], path[b])[0] and space.allows(path[0], path[b])[0]:
            direct = path[b] - path[a]
            assert direct @ A @ direct >= _cost(path[a : b + 1], A) * (1 - 1e-9)
    for feature in {c.feature for s in plan.steps for c in s.changes}:  # and so would be undoing a feature
        trial = path.copy()
        trial[:, space.slices[feature]] = path[0, space.slices[feature]]
        moved = np.append(True, np.abs(np.diff(trial, axis=0)).max(axis=1) > 1e-9)
        trial = trial[moved]
        accepted = engine.classifier_.probability(trial[-1:])[0] > 0.5 + 1e-8
        legal = space.allows(trial[:-1], trial[1:]).all() and space.allows(path[:1], trial[1:]).all()
        assert not (accepted and legal and _cost(trial, A) < plan.cost * (1 - 1e-9))


def _cost(path, A):
    moves = np.diff(path, axis=0)
    return float(np.einsum("si,ij,sj->", moves, A, moves))


def test_a_change_the_decision_does_not_need_is_undone():
    # the only accepted rows differ in both columns, but the model looks at one
    X = pd.DataFrame({"income": [1.0, 1.1, 3.0, 3.1], "shoes": [36.0, 37.0, 44.0, 45.0]})
    space = reap.ActionSpace.from_frame(X)
    engine = GraphRecourse(lambda rows: rows["income"] / 4, space).fit(X)
    plan = engine.plans(X.iloc[0], np.eye(2))[0]
    assert [change.feature for change in plan.changes] == ["income"]
    paper = GraphRecourse(lambda rows: rows["income"] / 4, space, tidy=False).fit(X)
    assert len(paper.plans(X.iloc[0], np.eye(2))[0].changes) == 2


@pytest.mark.parametrize("seed", range(20))
def test_the_cheapest_chain_equals_enumeration(seed):
    rng = np.random.default_rng(seed)
    size = int(rng.integers(2, 7))
    price = np.full((size, size), np.inf)
    price[np.triu_indices(size, 1)] = rng.integers(0, 5, size * (size - 1) // 2)
    inner = range(1, size - 1)
    chains = [[0, *m, size - 1] for r in range(size - 1) for m in itertools.combinations(inner, r)]
    best = min((sum(price[a, b] for a, b in itertools.pairwise(c)), len(c)) for c in chains)
    chain = _cheapest_chain(price)
    assert (sum(price[a, b] for a, b in itertools.pairwise(chain)), len(chain)) == best

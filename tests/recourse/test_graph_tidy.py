"""Tidied plans: never dearer, still legal and accepted, nothing left that could go."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest

import reap
from reap.recourse import GraphRecourse
from reap.recourse._graph_tidy import _cheapest_chain, _short_chain
from tests import checks
from tests.spaces import random_world


@pytest.mark.parametrize("seed", range(10))
def test_tidied_plans_are_legal_valid_and_never_dearer(seed):
    world = random_world(seed, rows=80)
    raw, neat = (
        GraphRecourse(world.model, world.space, tidy=tidy, max_steps=None).fit(world.X)
        for tidy in (False, True)
    )
    matrices = world.matrices(3, seed)
    for i in range(2):
        x = world.rejected.iloc[[i]]
        for before, after in zip(raw.plans(x, matrices), neat.plans(x, matrices), strict=True):
            assert before.status == after.status
            checks.assert_honest(world, x, before)
            checks.assert_honest(world, x, after)
            if after.status == "ok":
                assert after.cost <= before.cost * (1 + 1e-9)
                assert len(after.steps) <= max(len(before.steps), 4)


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


def test_a_short_chain_is_the_cheapest_of_so_many_steps():
    """Against all chains, on random prices with forbidden steps."""
    rng = np.random.default_rng(0)
    for _ in range(50):
        size, most = int(rng.integers(4, 9)), int(rng.integers(1, 4))
        price = np.full((size, size), np.inf)
        upper = np.triu_indices(size, 1)
        price[upper] = np.where(rng.random(len(upper[0])) < 0.3, np.inf, rng.random(len(upper[0])))
        price[np.arange(size - 1), np.arange(1, size)] = rng.random(size - 1)  # the path itself is legal
        chain = _short_chain(price, most)
        assert chain[0] == 0
        assert chain[-1] == size - 1
        costs = {}
        for count in range(size - 1):
            for inner in itertools.combinations(range(1, size - 1), count):
                nodes = [0, *inner, size - 1]
                cost = sum(price[a, b] for a, b in itertools.pairwise(nodes))
                costs[count + 1] = min(cost, costs.get(count + 1, np.inf))
        allowed = next(k for k in range(most, size) if min(costs[s] for s in range(1, k + 1)) < np.inf)
        best = min(costs[s] for s in range(1, allowed + 1))
        assert len(chain) - 1 <= allowed
        assert sum(price[a, b] for a, b in itertools.pairwise(chain)) == pytest.approx(best)


def test_plans_do_not_creep():
    """Rows a hair apart make the cheapest path crawl; a person gets a few steps."""
    X = pd.DataFrame({"hours": np.arange(60)})
    space = reap.ActionSpace.from_frame(X)
    model = lambda rows: (rows["hours"].to_numpy() > 50) * 0.8 + 0.1  # noqa: E731
    x, A = pd.Series({"hours": 2}), np.eye(1)[None]
    crawl = reap.GraphRecourse(model, space, n_neighbors=2, max_steps=None).fit(X).plans(x, A)[0]
    walk = reap.GraphRecourse(model, space, n_neighbors=2).fit(X).plans(x, A)[0]
    assert len(crawl.moves) > 20
    assert len(walk.moves) <= 4
    assert walk.valid
    assert walk.target["hours"] == 51

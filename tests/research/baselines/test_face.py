"""FACE against Dijkstra of networkx on a graph built by hand, and its density condition."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from sklearn.neighbors import NearestNeighbors

import reap
from reap.research.baselines import FACE


def model(rows):
    return 1 / (1 + np.exp(12 - 10 * (rows["a"] + rows["b"])))


@pytest.fixture(scope="module")
def world():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.random((120, 2)).round(3), columns=["a", "b"])
    X.loc[0], X.loc[1] = (0.0, 0.0), (1.0, 1.0)  # so that vectors are the values
    unit = {"step": 0.001, "span": (0.0, 1.0)}
    space = reap.ActionSpace.from_frame(X, features={"a": unit, "b": unit})
    return X, space, X[model(X) <= 0.5]


def reference(X, x, k):
    """The cheapest path by squared length from x to the first accepted row, by networkx."""
    Z = np.vstack([X.to_numpy(), x])
    near = NearestNeighbors(n_neighbors=k + 1).fit(X.to_numpy()).kneighbors(Z, return_distance=False)
    graph = nx.DiGraph()
    accepted = model(pd.DataFrame(Z, columns=X.columns)).to_numpy() > 0.5
    for i, row in enumerate(near):
        for j in [j for j in row if j != i][:k]:
            weight = float(((Z[i] - Z[j]) ** 2).sum())
            for a, b in ((i, j), (j, i)) if i < len(X) else ((i, j),):
                if not accepted[a]:
                    graph.add_edge(a, b, weight=weight)
    costs = nx.single_source_dijkstra_path_length(graph, len(X))
    return min((cost for node, cost in costs.items() if accepted[node]), default=np.nan)


@pytest.mark.parametrize("i", range(5))
def test_shortest_path(world, i):
    X, space, rejected = world
    x = rejected.iloc[i]
    others = X.drop(index=x.name)
    engine = FACE(model, space, n_neighbors=4, max_neighbors=4, min_neighbors=0).fit(others)
    plan = engine.plans(x, np.eye(2))[0]
    cost = reference(others, x.to_numpy(), 4)
    assert np.isclose(plan.effort, cost, rtol=1e-6, equal_nan=True)  # nan: no path


def test_same_plan_for_every_matrix(world):
    X, space, rejected = world
    plans = FACE(model, space).fit(X).plans(rejected.iloc[0], np.stack([np.eye(2), np.diag([1.0, 100.0])]))
    assert np.array_equal(plans[0].path, plans[1].path)
    assert plans[1].effort > plans[0].effort


def test_thin_places_are_left_out(world):
    X, space, _ = world
    lonely = pd.concat([X[(X["a"] < 0.8) | (X["b"] < 0.8)], X.loc[[1]]])  # one row far off
    engine = FACE(model, space, n_neighbors=3, min_neighbors=1).fit(lonely)
    everybody = FACE(model, space, n_neighbors=3, min_neighbors=0).fit(lonely)
    assert len(everybody.graph_.rows_) == len(lonely)
    assert len(engine.graph_.rows_) < len(lonely)
    assert not (engine.graph_.rows_.vectors == 1.0).all(axis=1).any()


def test_unconstrained_ignores_the_space_and_keeps_limits(world):
    X, _, rejected = world
    space = reap.ActionSpace.from_frame(X, immutable=["a"], decreasing=["b"])
    x = rejected.iloc[0]
    assert FACE(model, space).fit(X).plans(x, np.eye(2))[0].status == "unreachable"
    engine = FACE(model, space, constraints=False).fit(X)
    assert engine.plans(x, np.eye(2))[0].valid
    near = rejected.loc[rejected["a"].idxmax()]  # somebody whom a larger b alone is enough for
    kept = engine.plans(near, np.eye(2), space.limits(fixed=["a"]))[0]
    assert kept.valid
    assert kept.target["a"] == near["a"]

"""Robust graph plans against enumeration of every path."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pandas as pd
import pytest

import reap
from reap.checks.worlds import random_world
from reap.recourse import GraphRecourse
from reap.recourse.paper.minimax import GAP
from tests.belief.sdp import worst


class Above:
    """Accepts rows far enough in one direction."""

    def __init__(self, level, weights):
        self.level, self.weights = level, np.asarray(weights)

    def __call__(self, rows):
        return np.where(rows.to_numpy(dtype=float) @ self.weights > self.level, 0.9, 0.1)


def small_world(seed, rows=10, d=3, neighbors=3):
    """An engine on a graph of at most 12 nodes, a rejected subject, and a confidence set after a few answers."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.random((rows, d)).round(2), columns=list("abcde")[:d])
    weights = rng.random(d)
    space = reap.ActionSpace.from_frame(X, features={c: {"step": 0.01} for c in X})
    level = float(np.quantile(X.to_numpy() @ weights, 0.75))
    engine = GraphRecourse(Above(level, weights), space, n_neighbors=neighbors).fit(X)
    start = X.iloc[int((X.to_numpy() @ weights).argmin())]
    beliefs = reap.ConfidenceSet(d)
    truth = rng.normal(size=(d, d))
    truth = truth @ truth.T
    for _ in range(4):
        p, o = rng.normal(size=(2, 2, d)) * 0.5
        if np.trace(p @ truth @ p.T) > np.trace(o @ truth @ o.T):
            p, o = o, p
        beliefs.add(p, o)
    return engine, start, beliefs


def graph_of(engine, x, neighbors):
    """The subject's whole graph by networkx, with moves on the edges."""
    space, rows = engine.space, engine.rows_
    z0 = space.vector(x)
    Z = space.project(rows.vectors, z0, exact=False)
    near = {(i, int(j)) for i, row in enumerate(rows.lists[:, :neighbors]) for j in row}
    links = near | {(j, i) for i, j in near}
    start = int(np.flatnonzero(np.abs(Z - z0).max(axis=1) < 1e-9)[0])
    order = np.argsort(((Z - z0) ** 2).sum(axis=1), kind="stable")
    links |= {(start, int(j)) for j in order[order != start][:neighbors]}
    accepted = engine.classifier_.accepts(Z)
    graph = nx.DiGraph()
    graph.add_nodes_from(range(len(Z)))
    graph.add_edges_from((i, j, {"move": Z[j] - Z[i]}) for i, j in links if not accepted[i])
    return graph, start, np.flatnonzero(accepted).tolist()


def every_path(graph, start, goals):
    for goal in goals:
        for nodes in nx.all_simple_paths(graph, start, goal):
            yield np.array([graph.edges[a, b]["move"] for a, b in nx.utils.pairwise(nodes)])


@pytest.mark.parametrize("seed", range(12))
def test_minimax_equals_enumeration(seed):
    engine, x, beliefs = small_world(seed)
    plan = engine.robust(x, beliefs, "minimax")
    assert plan.valid
    costs = [
        beliefs.worst_case_plan(moves).cost for moves in every_path(*graph_of(engine, x, plan.neighbors))
    ]
    assert plan.effort == pytest.approx(min(costs), rel=1e-5)
    assert plan.effort == pytest.approx(beliefs.worst_case_plan(plan.moves).cost, rel=1e-6)
    assert plan.effort * (1 - 2 * GAP) <= plan.bound <= plan.effort * (1 + 1e-12)


@pytest.mark.parametrize("seed", range(8))
def test_worst_case_is_the_shortest_path_of_worst_edges(seed):
    engine, x, beliefs = small_world(seed, rows=40, d=4)
    plan = engine.robust(x, beliefs)
    graph, start, goals = graph_of(engine, x, plan.neighbors)
    edges = list(graph.edges)
    costs = beliefs.worst_case(np.array([graph.edges[e]["move"] for e in edges])).costs
    nx.set_edge_attributes(graph, dict(zip(edges, costs.tolist(), strict=True)), "weight")
    lengths = nx.single_source_dijkstra_path_length(graph, start)
    assert plan.effort == pytest.approx(min(lengths[g] for g in goals if g in lengths), rel=1e-6)
    assert plan.effort == pytest.approx(
        sum(worst(beliefs, move[None]) for move in plan.moves), rel=1e-5
    )  # Clarabel
    exact = engine.robust(x, beliefs, "minimax")
    assert plan.bound * (1 - 1e-9) <= exact.effort <= beliefs.worst_case_plan(plan.moves).cost * (1 + 1e-6)


def test_before_any_answer_both_are_the_plan_of_the_identity():
    engine, x, _ = small_world(3, rows=60)
    nothing = reap.ConfidenceSet(3)
    expected = engine.plans(x, np.eye(3))[0]
    for objective in ("worst-case", "minimax"):
        plan = engine.robust(x, nothing, objective)
        assert plan.effort == pytest.approx(expected.effort)
        assert np.array_equal(plan.path, expected.path)


@pytest.mark.parametrize("make", [reap.Recourse, reap.GraphRecourse, reap.GradientRecourse])
def test_bad_objectives_and_sets_are_refused_by_every_engine(make):
    world = random_world(0, rows=50, kind="logistic")
    engine, x = make(world.model, world.space).fit(world.X), world.rejected.iloc[[0]]
    d = world.space.dimension
    with pytest.raises(reap.InputError, match="'minmax'; give 'worst-case' or 'minimax'"):
        engine.robust(x, reap.ConfidenceSet(d), "minmax")
    with pytest.raises(reap.InputError, match=f"dimension {d + 1}"):
        engine.robust(x, reap.ConfidenceSet(d + 1))
    with pytest.raises(reap.InputError, match="needs a ConfidenceSet, not Posterior"):
        engine.robust(x, reap.Posterior(d))


def test_minimax_closes_the_gap_on_german(german, german_model, german_rejected):
    engine = GraphRecourse(german_model, german.space).fit(german.X)
    d = german.space.dimension
    rng = np.random.default_rng(0)
    for i in range(3):
        x = german_rejected.iloc[i]
        moves = engine.candidates(x).moves
        beliefs = reap.ConfidenceSet(d)
        truth = rng.normal(size=(d, d))
        truth = truth @ truth.T
        for _ in range(5):
            p, o = moves[rng.choice(len(moves), 2, replace=False)]
            beliefs.add(*((p, o) if p @ truth @ p <= o @ truth @ o else (o, p)))
        plan = engine.robust(x, beliefs, "minimax")
        assert plan.valid
        assert plan.bound >= plan.effort * (1 - 2 * GAP)

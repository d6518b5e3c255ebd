"""Graph plans against an independent shortest path, and what the engine promises about them."""

from __future__ import annotations

import pickle

import networkx as nx
import numpy as np
import pandas as pd
import pytest

import reap
from reap import effort
from reap.checks.worlds import random_world
from reap.recourse import GraphRecourse


def reference(engine, x, A, neighbors, limits=None):
    """The least effort by networkx on the whole projected graph, built row by row; None where none is reached."""
    space, rows = engine.space.tighten(limits), engine.rows_
    z0 = space.vector(x)
    projected = space.project(rows.vectors, z0, exact=False)
    legal = space.allows(z0, projected)
    origin = tuple(np.nan_to_num(z0).round(9))
    name = [tuple(np.nan_to_num(z).round(9)) if ok else None for z, ok in zip(projected, legal, strict=True)]
    where = {key: z for key, z in zip(name, projected, strict=True) if key is not None} | {origin: z0}
    pairs = {(i, int(j)) for i, near in enumerate(rows.lists[:, :neighbors]) for j in near}
    links = {(name[i], name[j]) for i, j in pairs} | {(name[j], name[i]) for i, j in pairs}
    others = sorted((k for k in where if k != origin), key=lambda k: np.nansum((where[k] - z0) ** 2))
    links |= {(origin, key) for key in others[:neighbors]}
    scores = engine.classifier_.probability(np.array(list(where.values())))
    accepted = dict(zip(where, scores > 0.5, strict=True))
    links = [(a, b) for a, b in links if None not in (a, b) and a != b and not accepted[a]]
    if not links:
        return None
    before, after = (np.array([where[pair[side]] for pair in links]) for side in (0, 1))
    moves = np.nan_to_num(after - before)
    graph = nx.DiGraph()
    graph.add_node(origin)
    for (a, b), move, fine in zip(links, moves, space.allows(before, after), strict=True):
        if fine:
            graph.add_edge(a, b, weight=max(float(move @ A @ move), 0.0))
    lengths = nx.single_source_dijkstra_path_length(graph, origin)
    return min((length for key, length in lengths.items() if accepted[key]), default=None)


@pytest.mark.parametrize("seed", range(12))
def test_plans_equal_an_independent_shortest_path(seed):
    world = random_world(seed, rows=50)
    engine = GraphRecourse(world.model, world.space, n_neighbors=4, max_neighbors=4).fit(world.X)
    matrices = world.matrices(3, seed)
    for i in range(min(2, len(world.rejected))):
        x = world.rejected.iloc[i]
        for plan, A in zip(engine.plans(x, matrices), matrices, strict=True):
            expected = reference(engine, x, A, 4)
            if expected is None:
                assert plan.status in ("unreachable", "infeasible")
            else:
                # equally easy paths are told apart by 1e-11 of |v|²
                assert plan.effort == pytest.approx(expected, rel=1e-8, abs=1e-15)


def test_zero_efforts_make_no_loops():
    world = random_world(3, rows=80)
    engine = GraphRecourse(world.model, world.space).fit(world.X)
    d = world.space.dimension
    v = np.random.default_rng(0).normal(size=d)
    for A in (np.zeros((d, d)), np.outer(v, v)):
        plan = engine.plans(world.rejected.iloc[0], A)[0]
        assert plan.effort == pytest.approx(reference(engine, world.rejected.iloc[0], A, 10), abs=1e-12)


@pytest.mark.parametrize("seed", [1, 2, 3, 4, 5, 6])
def test_limits_apply_at_query_and_only_tighten(seed):
    world = random_world(seed, rows=80)
    engine = GraphRecourse(world.model, world.space, n_neighbors=5, max_neighbors=5).fit(world.X)
    x, A = world.rejected.iloc[0], world.matrices(1)
    free = engine.plans(x, A)[0]
    assert free.status == "ok"
    changed = free.changes[0].feature
    limits = world.space.limits(fixed=[changed])
    bound, expected = engine.plans(x, A, limits)[0], reference(engine, x, A[0], 5, limits)
    assert changed not in [change.feature for change in bound.changes]
    assert bound.status == ("unreachable" if expected is None else "ok")
    assert bound.effort == pytest.approx(np.nan if expected is None else expected, nan_ok=True)
    assert engine.plans(x, A)[0].effort == free.effort


def test_wider_until_reached_and_said_so():
    # two clouds far apart: with few neighbours the accepted one cannot be reached
    rng = np.random.default_rng(0)
    low, high = rng.random((30, 2)), 9 + rng.random((30, 2))
    X = pd.DataFrame(np.vstack([low, high]).round(2), columns=["a", "b"])
    space = reap.ActionSpace.from_frame(X)
    model = _Above(5.0)
    x = X.iloc[0]
    narrow = GraphRecourse(model, space, n_neighbors=5, max_neighbors=20).fit(X).plans(x, np.eye(2))[0]
    assert (narrow.status, narrow.valid, narrow.neighbors) == ("unreachable", False, None)
    wide = GraphRecourse(model, space, n_neighbors=5).fit(X).plans(x, np.eye(2))[0]
    assert (wide.status, wide.valid, wide.neighbors) == ("ok", True, 40)
    assert "this plan needed 40" in wide.note


class _Above:
    def __init__(self, level):
        self.level = level

    def __call__(self, rows):
        return np.where(rows["a"] > self.level, 0.9, 0.1)


def test_many_matrices_at_once_are_the_same_as_one_by_one():
    world = random_world(5, rows=120)
    matrices = world.matrices(9)
    x = world.rejected.iloc[1]
    together = GraphRecourse(world.model, world.space).fit(world.X).plans(x, matrices)
    for plan, A in zip(together, matrices, strict=True):
        alone = GraphRecourse(world.model, world.space).fit(world.X).plans(x, A)[0]
        assert np.array_equal(plan.path, alone.path, equal_nan=True)
        assert plan.effort == pytest.approx(alone.effort)


def test_candidates_are_distinct_accepted_and_legal():
    world = random_world(6, rows=150)
    engine = GraphRecourse(world.model, world.space).fit(world.X)
    x = world.rejected.iloc[0]
    found = engine.candidates(x)
    assert len(found) > 3
    assert len(np.unique(found.moves.round(9), axis=0)) == len(found)
    assert np.abs(found.moves).max(axis=1).min() > 0
    z0 = world.space.vector(x)
    assert world.space.allows(z0, found.targets).all()
    assert (world.probability(world.space.decode(found.targets)) > 0.5).all()
    assert all(plan.valid and len(plan.moves) == 1 for plan in found[:3])
    away = np.einsum("nd,nd->n", found.moves, found.moves)
    assert (np.diff(away) >= -1e-12).all()


def test_an_immutable_number_leaves_plans():
    rng = np.random.default_rng(1)
    X = pd.DataFrame({"age": rng.normal(40, 9, 200), "income": rng.normal(3, 1, 200)})
    space = reap.ActionSpace.from_frame(X, immutable=["age"])
    engine = GraphRecourse(lambda rows: 1 / (1 + np.exp(4 - rows["income"])), space).fit(X)
    plan = engine.plans(X[X["income"] < 3].iloc[0], np.eye(2))[0]
    assert plan.valid
    assert plan.target["age"] == plan.start["age"]


@pytest.mark.parametrize(
    ("name", "value"), [("n_neighbors", 0), ("max_neighbors", 2.5), ("time_limit", -1.0)]
)
def test_bad_settings_are_refused(name, value):
    world = random_world(0)
    with pytest.raises(reap.InputError, match=name):
        GraphRecourse(world.model, world.space, **{name: value}).fit(world.X)


def test_boosting_in_a_pipeline_on_raw_frames():
    from sklearn.compose import make_column_transformer
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder

    world = random_world(4, rows=150)
    words = [c for c in world.X.columns if not pd.api.types.is_numeric_dtype(world.X[c].dtype)]
    coded = make_column_transformer((OneHotEncoder(sparse_output=False), words), remainder="passthrough")
    model = make_pipeline(coded, HistGradientBoostingClassifier(max_iter=10))
    model.fit(world.X, world.probability(world.X) > 0.5)
    rejected = world.X[model.predict(world.X) == 0]
    engine = GraphRecourse(model, world.space).fit(world.X)
    table = engine.recommend(rejected.iloc[:3])
    assert table["recourse_valid"].all()
    assert (model.predict(table[list(world.X.columns)]) == 1).all()


@pytest.mark.extras
def test_a_torch_network():
    torch = pytest.importorskip("torch")
    world = random_world(2, rows=100)
    torch.manual_seed(0)
    network = torch.nn.Sequential(
        torch.nn.Linear(world.space.dimension, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1)
    )
    Z = torch.tensor(world.space.encode(world.X), dtype=torch.float32)
    with torch.no_grad():
        network[2].bias -= network(Z).quantile(0.6)
    engine = GraphRecourse(reap.models.torch_model(network, output="logit"), world.space).fit(world.X)
    with torch.no_grad():
        rejected = world.X[(network(Z) < 0).numpy().ravel()]
    for i in range(3):
        plan = engine.plans(rejected.iloc[i], np.eye(world.space.dimension))[0]
        assert plan.valid
        with torch.no_grad():
            assert network(torch.tensor(plan.path[-1:], dtype=torch.float32)).item() > 0


def test_an_encoded_table_with_groups():
    rng = np.random.default_rng(0)
    Z = np.column_stack([rng.random((80, 2)), np.eye(3)[rng.integers(3, size=80)]])
    space = reap.ActionSpace.from_frame(Z, groups={"job": ["x2", "x3", "x4"]})
    engine = GraphRecourse(lambda rows: np.asarray(rows)[:, :2].mean(axis=1), space).fit(Z)
    z0 = Z[Z[:, :2].mean(axis=1) < 0.4][0]
    plan = engine.plans(z0, np.eye(5))[0]
    assert plan.valid
    assert plan.path[-1, :2].mean() > 0.5


def test_a_pickled_engine_gives_the_same_plans():
    world = random_world(3, rows=80)
    engine = GraphRecourse(world.model, world.space).fit(world.X)
    x, A = world.rejected.iloc[0], world.matrices(2)
    plans = engine.plans(x, A)
    again = pickle.loads(pickle.dumps(engine)).plans(x, A)
    assert [plan.effort for plan in again] == [plan.effort for plan in plans]


def test_steps_measured_by_the_quadratic_form_give_the_same_path():
    for seed in range(6):
        world = random_world(seed, rows=80)
        engine = GraphRecourse(world.model, world.space).fit(world.X)
        x, A = world.rejected.iloc[0], world.matrices(1, seed)[0]
        plan = engine.plans(x, A)[0]
        other = engine.path(x, lambda before, after, A=A: effort.of_change(A, effort.changes(after, before)))
        assert other.status == plan.status
        assert np.array_equal(other.path, plan.path, equal_nan=True)
        assert other.effort == pytest.approx(plan.effort, nan_ok=True)


def test_other_efforts_lead_elsewhere():
    # from (0, 0): one step of length 1 along a, or two steps of 0.6 along b
    X = pd.DataFrame({"a": [0.0, 1.0, 0.0, 0.0], "b": [0.0, 0.0, 0.6, 1.2]})
    space = reap.ActionSpace.from_frame(X)
    engine = GraphRecourse(lambda rows: (rows["a"] + rows["b"] > 0.9) * 0.9, space, n_neighbors=3).fit(X)
    scale = np.abs(space.encode(X)).max(axis=0)

    def length(before, after):
        return np.abs((after - before) / scale * [1.0, 1.2]).sum(axis=1)

    squares = engine.path(X.iloc[0], lambda before, after: length(before, after) ** 2)
    lengths = engine.path(X.iloc[0], length)
    assert (squares.target["b"], len(squares.moves)) == (1.2, 2)
    assert (lengths.target["a"], len(lengths.moves)) == (1.0, 1)
    assert squares.effort == pytest.approx(2 * 0.36)
    assert lengths.effort == pytest.approx(1.0)


def test_a_path_costs_each_of_its_moves():
    """Rows a hair apart make the path creep: that is the paper's effort, and the plan says so by ``along``."""
    X = pd.DataFrame({"hours": np.arange(60)})
    space = reap.ActionSpace.from_frame(X)
    engine = GraphRecourse(lambda rows: (rows["hours"].to_numpy() > 50) * 0.8 + 0.1, space, n_neighbors=2)
    plan = engine.fit(X).plans(pd.Series({"hours": 2}), np.eye(1))[0]
    assert plan.along
    assert (len(plan.moves), plan.target["hours"]) == (49, 51)
    whole = plan.path[-1] - plan.path[0]
    assert plan.effort == pytest.approx(float(whole @ whole) / 49)


def test_where_actions_take_time_nothing_is_called_unreachable_that_can_be_reached(german, german_model):
    """Clocks were left where they stood: for two of 58 people every accepted row was illegal, 938 of 1,000 for one."""
    engine = GraphRecourse(german_model, german.space, max_neighbors=10).fit(german.X)
    rejected = german.X[~engine.classifier_.accepts(german.space.encode(german.X))]
    A = np.eye(german.space.dimension)
    for place, fixed in (
        (31, ["housing", "personal_status", "status", "duration"]),
        (39, ["personal_status", "savings"]),
    ):
        x, limits = rejected.iloc[place], german.space.limits(fixed=fixed)
        plan = engine.plans(x, A, limits)[0]
        assert plan.status == "ok"
        assert plan.effort == pytest.approx(reference(engine, x, A, 10, limits))

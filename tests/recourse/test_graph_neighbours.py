"""What fit learns: neighbours; prototypes; what does not matter to either."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reap
from reap.checks import cases
from reap.checks.worlds import random_world
from reap.recourse import GraphRecourse
from reap.recourse.fitting import groups, prototypes
from reap.recourse.paper.paths import OtherRows, exact_neighbors, ragged


def test_exact_neighbours_equal_a_table_of_distances():
    Z = np.random.default_rng(0).random((80, 5))
    away = ((Z[:, None] - Z[None]) ** 2).sum(axis=2)
    np.fill_diagonal(away, np.inf)
    assert np.array_equal(exact_neighbors(Z, 7), np.argsort(away, axis=1)[:, :7])


@given(st.integers(0, 12), st.integers(1, 20), st.integers(0, 3))
@settings(max_examples=60, deadline=None)
def test_few_rows_have_all_others_as_neighbours(n, most, seed):
    Z = np.random.default_rng(seed).random((n, 3))
    near = exact_neighbors(Z, most)
    assert near.shape == (n, max(0, min(most, n - 1)))
    assert all(i not in some for i, some in enumerate(near.tolist()))


def test_neighbours_are_symmetric_and_ordered_in_k():
    world = random_world(3, rows=120)
    rows = OtherRows(world.space, world.space.encode(world.X), 40)
    links = {}
    for k in (5, 10):
        begin, ends = rows.graph(k)
        links[k] = {(i, int(j)) for i in range(len(rows)) for j in ends[begin[i] : begin[i + 1]]}
        assert links[k] == {(j, i) for i, j in links[k]}
        assert all(i != j for i, j in links[k])
    assert links[5] < links[10]


def test_what_nobody_can_change_does_not_tell_rows_apart():
    X = pd.DataFrame({"age": [20, 30, 40, 50], "income": [1, 1, 2, 3]})
    space = reap.ActionSpace.from_frame(X, immutable=["age"])
    assert len(OtherRows(space, space.encode(X), 3)) == 3


@given(st.integers(1, 60), st.integers(1, 9), st.integers(0, 100))
@settings(max_examples=60, deadline=None)
def test_groups_are_a_partition_with_at_least_k_members(n, k, seed):
    Z = np.random.default_rng(seed).integers(0, 4, size=(n, 3)) / 4
    parts = groups(Z, min(k, n))
    assert sorted(np.concatenate(parts).tolist()) == list(range(n))
    for rows in parts:
        assert len(rows) >= min(k, n)
        assert len(rows) < 2 * min(k, n) or (Z[rows] == Z[rows[0]]).all()


def test_prototypes_show_nobody():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"income": rng.normal(3000, 800, 200).round(2), "job": rng.choice(["a", "b", "c"], 200)})
    space = reap.ActionSpace.from_frame(X)
    Z = prototypes(space, space.encode(X), 8)
    assert len(Z) <= 200 / 8
    assert not set(space.decode(Z)["income"]) & set(X["income"])
    engine = GraphRecourse(lambda rows: rows["income"] / 6000, space, anonymity=8).fit(X)
    plan = engine.plans(X[X["income"] < 2500].iloc[0], np.eye(4))[0]
    assert plan.valid
    assert not set(plan.to_frame()["income"].iloc[1:]) & set(X["income"])


def test_an_anonymous_engine_passes_the_checks():
    def make(model, space):
        return GraphRecourse(model, space, anonymity=3)

    for assert_case in (cases.random_worlds, cases.awkward_dtypes):
        assert_case(make)


def test_more_anonymity_than_rows_is_refused():
    world = random_world(2)
    with pytest.raises(reap.InputError, match="anonymity is 1000, but the table has 60 rows"):
        GraphRecourse(world.model, world.space, anonymity=1000).fit(world.X)


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 5)), max_size=9))
def test_ragged(ranges):
    begin = np.array([b for b, _ in ranges], dtype=int)
    count = np.array([c for _, c in ranges], dtype=int)
    index, owner = ragged(begin, count)
    assert index.tolist() == [b + i for b, c in ranges for i in range(c)]
    assert owner.tolist() == [k for k, (_, c) in enumerate(ranges) for _ in range(c)]

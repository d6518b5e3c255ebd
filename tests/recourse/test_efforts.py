"""Plans for people who differ in more than a matrix: curvature, the number of changes, waiting."""

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import reap
from reap.effort import Efforts, curved
from reap.space import Feature
from tests.recourse.enumeration import Everything, small_world

KINDS = ("network", "forest", "logistic")


def drawn(rng, dimension, count, diagonal):
    G = rng.normal(size=(count, dimension, dimension))
    A = np.stack([np.diag(row) for row in rng.exponential(size=(count, dimension))])
    return A if diagonal else G @ G.transpose(0, 2, 1) / dimension


def by_hand(efforts, V, counts, waits):
    """The formula of maths 5.19, person by person and change by change."""
    out = np.empty((len(efforts), len(V)))
    for b, i in itertools.product(range(len(efforts)), range(len(V))):
        bow = np.sign(V[i]) * np.abs(V[i]) ** efforts.powers[b]
        out[b, i] = bow @ efforts.matrices[b] @ bow
        out[b, i] += efforts.per_change[b] * counts[i] + efforts.per_wait[b] * waits[i] ** 2
    return out


numbers = st.floats(-1, 1, allow_nan=False)


@given(arrays(float, (4, 3), elements=numbers), arrays(float, (3, 3), elements=numbers), st.data())
def test_efforts_are_what_the_formula_says(V, G, data):
    power, h, w = (data.draw(st.floats(low, 1)) for low in (0.3, 0, 0))
    people = Efforts.of(np.stack([G @ G.T, np.eye(3)]), powers=[power, 1.0], per_change=[h, 0], per_wait=w)
    counts, waits = (V != 0).sum(axis=1), np.abs(V[:, 0])
    expected = by_hand(people, V, counts, waits)
    np.testing.assert_allclose(people.ask(V, counts, waits), expected, rtol=1e-9, atol=1e-12)
    each = people.ask_each(np.stack([V, V]), np.stack([counts] * 2), np.stack([waits] * 2))
    np.testing.assert_allclose(each, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("diagonal", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_plans_are_the_easiest_that_enumeration_finds_whatever_the_curvature(kind, diagonal):
    world, rng = small_world(kind, 6), np.random.default_rng(3)
    engine = reap.Recourse(world.model, world.space).fit(world.X)
    for i in np.flatnonzero(world.model.predict(world.X) == 0)[:3]:
        x = world.X.iloc[[i]]
        every = Everything(world, x)
        rows = world.space.encode(every.judge.frame(every.undominated))
        A = drawn(rng, world.space.dimension, 9, diagonal)
        people = Efforts.of(A, powers=[0.5, 0.75, 1.0] * 3, per_change=[0.0] * 3 + [0.05] * 3 + [1.0] * 3)
        counts = world.space.encoding.changed(every.z, rows).sum(axis=1)
        plans = engine.plans(x, people)
        least = people.ask(rows - every.z, counts).min(axis=1)
        np.testing.assert_allclose([plan.effort for plan in plans], least, rtol=1e-9)
        ends = np.stack([plan.path[-1] for plan in plans])
        own = people.ask_each(ends - every.z, world.space.encoding.changed(every.z, ends).sum(axis=1))
        np.testing.assert_allclose([plan.effort for plan in plans], own)


@pytest.mark.parametrize(("power", "diagonal", "seed"), [(0.5, True, 1), (0.5, False, 2), (0.75, False, 3)])
def test_a_search_that_cannot_try_everything_comes_close_for_any_curvature(
    german_engine, german_rejected, power, diagonal, seed
):
    """Whatever is found for others is at hand: no person's plan asks more of them than those of the others."""
    space, x = german_engine.space, german_rejected.iloc[[seed % 9]]
    A = drawn(np.random.default_rng(seed), space.dimension, 4, diagonal)
    people = Efforts.joined([Efforts.of(A, powers=power), Efforts.of(A)])
    plans = german_engine.plans(x, people)
    V = np.stack([plan.path[-1] - plan.path[0] for plan in plans])
    asked = people.ask(V)
    np.testing.assert_allclose([plan.effort for plan in plans], np.diag(asked))
    assert (np.diag(asked) <= asked.min(axis=1) * (1 + 1e-9)).all()


def test_who_minds_changes_gets_fewer_and_who_minds_waiting_is_ready_sooner():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({name: rng.integers(0, 40, 400) for name in ("saved", "paid", "worked")})
    months = {"saved": "1 a month", "paid": "2 a month", "worked": "4 a month"}
    space = reap.ActionSpace(
        [Feature(name, "integer", range=(0, 40), pace=pace) for name, pace in months.items()]
    )

    def model(rows):
        return 1 / (1 + np.exp(3 - (rows["saved"] + rows["paid"] + 0.8 * rows["worked"]) / 20))

    engine = reap.Recourse(model, space).fit(X)
    x, A = pd.DataFrame({"saved": [12], "paid": [12], "worked": [12]}), np.eye(3)[None]
    usual, few, soon = engine.plans(
        x, Efforts.of(np.repeat(A, 3, axis=0), per_change=[0, 1.0, 0], per_wait=[0, 0, 100.0])
    )
    assert len(few.changes) < len(usual.changes)
    assert soon.months < usual.months
    assert soon.effort == pytest.approx(np.sum(soon.moves**2) + 100 * (soon.months / space.horizon) ** 2)


def test_every_engine_takes_efforts_and_says_the_effort_that_was_asked(
    german, german_engine, german_rejected
):
    x, d = german_rejected.iloc[[0]], german.space.dimension
    people = Efforts.of(np.repeat(np.eye(d)[None], 2, axis=0), powers=[1.0, 0.5], per_change=[0.0, 0.1])
    given = german.X[german_engine.classifier_.accepts(german.space.encode(german.X))].head(20)
    pool = reap.PoolRecourse(given, german_engine.model, german.space).fit(german.X)
    gradient = reap.GradientRecourse(german_engine.model, german.space, max_iterations=200).fit(german.X)
    for engine in (german_engine, pool, gradient):
        for k, plan in enumerate(engine.plans(x, people)):
            assert plan.valid
            asked = people[k : k + 1].ask(plan.path[-1:] - plan.path[:1], np.array([len(plan.changes)]))
            assert plan.effort == pytest.approx(float(asked[0, 0])), type(engine).__name__
    graph = reap.GraphRecourse(german_engine.model, german.space).fit(german.X)
    for plan, power in zip(graph.plans(x, people), people.powers, strict=True):
        assert plan.effort == pytest.approx(np.sum(curved(plan.moves, power) ** 2))


@pytest.mark.parametrize(
    ("wrong", "said"),
    [({"powers": 0.0}, "powers .* above 0"), ({"per_change": -1.0}, "per_change .* of at least 0")],
)
def test_efforts_that_cannot_be_are_refused(german_engine, german_rejected, wrong, said):
    people = Efforts.of(np.eye(german_engine.space.dimension)[None], **wrong)
    with pytest.raises(reap.InputError, match=said):
        german_engine.plans(german_rejected.iloc[[0]], people)

"""PEAR's cost by hand, its posterior against a long independent chain, its dialogue."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import reap
from reap.research.baselines import DAGS, PEAR
from reap.research.baselines.pear import Cost


@pytest.fixture(scope="module")
def world():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "a": rng.random(150).round(2),
            "b": rng.random(150).round(2),
            "job": rng.choice(["cook", "nurse", "smith"], 150),
        }
    )
    space = reap.ActionSpace.from_frame(X, features={"a": {"step": 0.01}, "b": {"step": 0.01}})

    def model(rows):
        return 1 / (1 + np.exp(12 - 10 * (rows["a"] + rows["b"])))

    return X, space, model, X[np.asarray(model(X)) <= 0.5]


def by_hand(before, after, w, dag):
    """The cost of going from one row to another (dicts of numbers in [0, 1]; job by index / 2), one weight at a time."""
    state, total = dict(before), 0.0
    for f in ("a", "job", "b"):  # an order in which parents come first
        if after[f] == state[f]:
            continue
        size = 1.0 if f == "job" else abs(after[f] - state[f])
        total += max(0.0, w[f] * size + sum(w[p, f] * state[p] for p in dag if f in dag[p]))
        state[f] = after[f]
    return total


def test_cost_is_the_formula(world):
    X, space, _, _ = world
    dag = {"a": ["b", "job"], "job": ["b"]}
    cost = Cost(space, dag)
    rng = np.random.default_rng(1)
    Z = space.encode(X)
    pairs = rng.integers(len(Z), size=(40, 2))
    values = cost.values(Z)
    names = [f.name for f in space.features]
    for w in rng.normal(size=(5, cost.size)) * 3:
        named = {name: w[i] for i, name in enumerate(names)}
        for i, name in enumerate(names):
            for place, parent in zip(cost.places[i][1:], cost.parents[i], strict=True):
                named[names[parent], name] = w[place]
        for i, j in pairs:
            ours = cost.of(cost.terms(Z[[i]], Z[[j]]), w[None])[0, 0]
            rows = (dict(zip(names, values[k], strict=True)) for k in (i, j))
            assert ours == pytest.approx(by_hand(*rows, named, dag), abs=1e-9)


def test_refuses_circles_and_strangers(world):
    _, space, _, _ = world
    with pytest.raises(reap.InputError, match="circle"):
        Cost(space, {"a": ["b"], "b": ["a"]})
    with pytest.raises(reap.InputError, match="agge"):
        Cost(space, {"agge": ["b"]})


def test_the_authors_graphs_fit_the_data(load):
    for name, dag in DAGS.items():
        assert Cost(load(name, paper=True).space, dag).size > 10


def test_learns_the_weights_behind_the_answers(world):
    X, space, model, rejected = world
    engine = PEAR(model, space, dag={"a": ["b"]}, random_state=3).fit(X)
    truth = engine.means_[2] + 0.5
    session = engine.session(rejected.iloc[0], estimate="mean")
    shown = set()
    for _ in range(12):
        question = session.ask()
        pair = frozenset(plan.path.tobytes() for plan in question.options)
        assert pair not in shown
        shown.add(pair)
        costs = session._costs(truth[None])[0][list(session.pair)]
        session.answer("same" if costs[0] == costs[1] else int(costs.argmin()))
    assert session.answers
    before = np.linalg.norm(engine.means_.mean(axis=0) - truth)
    assert np.linalg.norm(session.weights() - truth) < 0.7 * before
    assert session.recommend().valid


def test_particles_follow_the_posterior(world):
    """The share of particles on each side of a plane through the prior agrees with importance sampling."""
    X, space, model, rejected = world
    engine = PEAR(model, space, random_state=1).fit(X)
    engine.means_ = np.zeros_like(engine.means_)  # one Gaussian: importance sampling is then exact enough
    session = engine.session(rejected.iloc[0])
    rng = np.random.default_rng(0)
    i, j = 0, len(session.options) - 1
    session.sharpness, session.answers = 3.0, [(j, i)]
    session._learn()
    draws = rng.normal(size=(200_000, engine.cost_.size))
    weights = np.exp(session._likelihood(draws, [(j, i)]))
    wanted = (weights[:, None] * draws).sum(axis=0) / weights.sum()
    means = []
    for seed in range(8):
        again = engine.session(rejected.iloc[0])
        again.rng, again.sharpness, again.answers = np.random.default_rng(seed), 3.0, [(j, i)]
        again._learn()
        means.append(again.particles.mean(axis=0))
    assert np.allclose(np.mean(means, axis=0), wanted, atol=0.15)


def test_bad_answers_are_refused(world):
    X, space, model, rejected = world
    session = PEAR(model, space).fit(X).session(rejected.iloc[0])
    with pytest.raises(reap.InputError, match="ask"):
        session.answer(0)
    session.ask()
    with pytest.raises(reap.InputError, match="not 0, 1"):
        session.answer(2)

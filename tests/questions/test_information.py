from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import softmax

from reap.belief import Posterior
from reap.belief.answers import KINDS
from reap.questions import Information
from tests.questions.helpers import Cloud, cloud, spd


def information(belief, moves, question, kinds=KINDS):
    """Mutual information in bits from the joint table of answers and matrices, by the definition."""
    efforts, k = belief.efforts(moves)[:, list(question)], len(question)
    joint = np.zeros((len(efforts), k))
    for p, costs in enumerate(efforts):
        for i in range(k):
            for kappa, eta in kinds:
                clear = softmax(-kappa * costs / costs.mean())[i]
                joint[p, i] += belief.weights[p] / len(kinds) * (eta / k + (1 - eta) * clear)
    product = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0, keepdims=True)
    return (joint * np.log2(joint / product)).sum()


@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=15, deadline=None)
def test_is_the_largest_mutual_information(seed):
    rng = np.random.default_rng(seed)
    moves = rng.normal(size=(7, 3))
    weights = rng.dirichlet(np.ones(15))
    belief = Cloud([spd(3, rng) for _ in range(15)], weights)
    choice = Information().choose(moves, belief)
    bits = {pair: information(belief, moves, pair) for pair in itertools.combinations(range(7), 2)}
    assert choice.score == pytest.approx(max(bits.values()), rel=1e-9)
    assert bits[choice.options] == pytest.approx(choice.score, rel=1e-9)

    three = Information(options=3).choose(moves, belief)
    extended = [information(belief, moves, [*choice.options, m]) for m in range(7) if m not in choice.options]
    assert three.score == pytest.approx(max(*extended, choice.score), rel=1e-8)


def test_nothing_is_asked_where_nothing_can_be_learnt():
    rng = np.random.default_rng(0)
    moves = rng.normal(size=(5, 3))
    assert Information().choose(moves, Cloud([spd(3, rng)] * 10)) is None


def test_careless_people_tell_less():
    rng = np.random.default_rng(1)
    moves, matrices = rng.normal(size=(10, 4)), cloud(4, rng).matrices
    careful, careless = Cloud(matrices), Cloud(matrices)
    careful.kinds, careless.kinds = [(200.0, 0.0)], [(5.0, 0.5)]
    first, second = (Information().choose(moves, belief).score for belief in (careful, careless))
    assert second < first < 1


def test_answers_so_far_say_who_is_answering():
    rng = np.random.default_rng(2)
    moves, fresh, contradicted = rng.normal(size=(10, 2)), Posterior(2), Posterior(2)
    for _ in range(4):
        contradicted.update(moves[0], moves[1])
        contradicted.update(moves[1], moves[0])
    assert Information().choose(moves, contradicted).score < Information().choose(moves, fresh).score
    assert 0 < Information().choose(moves, fresh).score < 1


def test_lighter_questions_are_preferred_only_when_near_equal():
    rng = np.random.default_rng(3)
    moves, belief = rng.normal(size=(12, 4)), cloud(4, rng)
    burden = rng.integers(1, 6, (12, 12))
    burden = burden + burden.T
    light = Information().choose(moves, belief, burden=burden)
    best = Information().choose(moves, belief)
    assert light.score >= 0.9 * best.score
    assert burden[light.options] <= burden[best.options]

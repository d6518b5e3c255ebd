from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reap._errors import InputError
from reap.belief import ConfidenceSet, Posterior
from reap.questions import Decision, Information
from tests.questions.helpers import Cloud, cloud, plans, spd

seeds = st.integers(0, 2**32 - 1)


def saving(belief, moves, question):
    """1 − E[min over the question] / min over plans of E[effort], by the definition."""
    weights, efforts = belief.weights, belief.efforts(moves)
    return 1 - weights @ efforts[:, list(question)].min(axis=1) / (weights @ efforts).min()


@given(seed=seeds, n=st.integers(2, 15), steps=st.booleans())
@settings(max_examples=40, deadline=None)
def test_pairs_are_the_best_of_all(seed, n, steps):
    rng = np.random.default_rng(seed)
    moves = plans(n, 3, rng) if steps else rng.normal(size=(n, 3))
    belief = cloud(3, rng)
    choice = Decision(min_gain=0.0).choose(moves, belief)
    best = max(saving(belief, moves, pair) for pair in itertools.combinations(range(n), 2))
    assert choice.gain == pytest.approx(best, abs=1e-12)
    assert saving(belief, moves, choice.options) == pytest.approx(best, abs=1e-12)
    weights = belief.weights
    expected = weights @ belief.efforts(moves)[:, list(choice.options)].min(axis=1)
    assert choice.score == pytest.approx(expected)


@given(seed=seeds, k=st.integers(3, 5))
@settings(max_examples=30, deadline=None)
def test_more_options_are_added_greedily(seed, k):
    rng = np.random.default_rng(seed)
    moves, belief = rng.normal(size=(12, 4)), cloud(4, rng)
    pair = Decision(min_gain=0.0).choose(moves, belief).options
    chosen = list(pair)
    while len(chosen) < k:
        gains = {m: saving(belief, moves, [*chosen, m]) for m in set(range(12)) - set(chosen)}
        best = max(gains, key=gains.get)
        if gains[best] <= saving(belief, moves, chosen) + 1e-12:
            break
        chosen.append(best)
    choice = Decision(options=k, min_gain=0.0).choose(moves, belief)
    assert choice.gain == pytest.approx(saving(belief, moves, chosen), abs=1e-10)
    assert choice.gain == pytest.approx(saving(belief, moves, choice.options), abs=1e-10)
    assert 2 <= len(choice.options) <= k


def test_an_option_nobody_would_choose_is_not_shown():
    moves = np.array([[1.0, 0.0], [0.0, 1.0], [5.0, 5.0], [6.0, 6.0]])
    belief = Cloud([np.diag([1.0, 0.1]), np.diag([0.1, 1.0])])
    assert Decision(options=4).choose(moves, belief).options == (0, 1)


def test_stops_when_the_answer_changes_nothing():
    moves = np.array([[1.0, 0.0], [0.0, 1.0]])
    sure = Cloud([np.diag([0.1, 1.0]), np.diag([0.2, 0.9])])
    assert Decision().choose(moves, sure) is None
    unsure = Cloud([np.diag([0.1, 1.0]), np.diag([0.9, 0.2])])
    gain = Decision().choose(moves, unsure).gain
    assert Decision(min_gain=gain * 0.99).choose(moves, unsure) is not None
    assert Decision(min_gain=gain * 1.01).choose(moves, unsure) is None


def test_free_plans_need_no_question():
    assert Decision(min_gain=0.0).choose(np.array([[0.0, 0.0], [1.0, 0.0]]), Cloud([np.eye(2)])) is None


def test_among_near_equal_questions_the_lighter_is_asked():
    moves = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.01]])
    belief = Cloud([np.diag(row) for row in ([0.1, 1, 1], [1, 0.1, 1], [1, 1, 0.1])])
    burden = np.array([[0, 5, 2], [5, 0, 5], [2, 5, 0]])
    assert Decision().choose(moves, belief).options == (0, 1)
    lenient = Decision(tolerance=0.1)
    assert lenient.choose(moves, belief, burden=burden).options == (0, 2)
    assert Decision(tolerance=0.0).choose(moves, belief, burden=burden).options == (0, 1)
    best, light = Decision().choose(moves, belief), lenient.choose(moves, belief, burden=burden)
    assert light.gain >= 0.9 * best.gain


def test_a_long_list_is_shortened_to_what_may_be_recommended():
    rng = np.random.default_rng(0)
    moves, belief = rng.normal(size=(400, 5)), cloud(5, rng, n=100)
    choice = Decision(min_gain=0.0).choose(moves, belief)
    weights, efforts = belief.weights, belief.efforts(moves)
    winners = itertools.combinations(np.unique(efforts.argmin(axis=1)), 2)
    assert choice.score <= min(weights @ efforts[:, pair].min(axis=1) for pair in map(list, winners)) + 1e-12
    assert choice.examined < 200**2


def test_with_the_posterior_answers_lead_to_the_best_plan():
    """Ask, answer truthfully, repeat: the plan of the estimate ends near the best there is."""
    rng = np.random.default_rng(0)
    excess = []
    for run in range(6):
        moves, truth = rng.normal(size=(25, 4)), spd(4, rng)
        efforts = np.einsum("nd,de,ne->n", moves, truth, moves)
        belief, asked = Posterior(4, particles=200, random_state=run), []
        for number in range(8):
            choice = Decision(options=3).choose(moves, belief, asked, random_state=number)
            if choice is None:
                break
            asked.append(choice.options)
            best = min(choice.options, key=efforts.__getitem__)
            belief.update(moves[best], [moves[i] for i in choice.options if i != best])
        A = belief.estimate()
        excess.append(efforts[np.einsum("nd,de,ne->n", moves, A, moves).argmin()] / efforts.min() - 1)
    assert np.mean(excess) < 0.1


@pytest.mark.parametrize("strategy", [Decision(), Information()])
def test_says_which_strategies_work_without_samples(strategy):
    with pytest.raises(InputError, match="use SimilarCost, Exhaustive or Random"):
        strategy.choose(np.eye(2), np.eye(2))
    with pytest.raises(InputError, match="was given ConfidenceSet"):
        strategy.choose(np.eye(2), ConfidenceSet(2))


@pytest.mark.parametrize("strategy", [Decision, Information])
def test_refuses_a_burden_of_the_wrong_shape(strategy):
    with pytest.raises(InputError, match=r"burden has shape \(3, 3\); 2 options need \(2, 2\)"):
        strategy().choose(np.eye(2), Cloud([np.eye(2)]), burden=np.ones((3, 3)))

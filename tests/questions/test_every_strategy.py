"""What every strategy must keep: no question twice, no twins, ties by the seed, honest when nothing is left."""

from __future__ import annotations

import itertools
import pickle

import numpy as np
import pytest

from reap._errors import InputError
from reap.belief import ConfidenceSet, Posterior
from reap.questions import Decision, Exhaustive, Information, Random, SimilarCost
from tests.questions.helpers import Cloud, cloud, one_hot, plans

PAIRS = [SimilarCost(), Exhaustive(), Random(), Information(), Decision(min_gain=0.0)]
MORE = [SimilarCost(options=4), Random(options=4), Information(options=4), Decision(options=4, min_gain=0.0)]
every = pytest.mark.parametrize("strategy", PAIRS + MORE, ids=repr)
pairs = pytest.mark.parametrize("strategy", PAIRS, ids=repr)


def same(first, second):
    first, second = np.atleast_2d(first), np.atleast_2d(second)
    return np.allclose(first.T @ first, second.T @ second, rtol=0, atol=1e-12)


def data(kind, rng):
    if kind == "rows":
        return rng.normal(size=(15, 9))
    if kind == "plans":
        return plans(15, 9, rng)
    moves = one_hot(60, rng)
    return moves[moves.any(axis=1)]  # a free plan would leave nothing to decide


@every
@pytest.mark.parametrize("kind", ["rows", "one-hot", "plans"])
def test_no_question_twice_in_50_rounds_and_no_twins(strategy, kind):
    rng = np.random.default_rng(0)
    moves, belief, asked = data(kind, rng), cloud(9, rng, n=25), []
    for number in range(50):
        choice = strategy.choose(moves, belief, asked, random_state=number)
        if choice is None:  # what is left is worth nothing, and only these two know
            assert isinstance(strategy, Decision | Information)
            break
        assert 2 <= len(choice.options) <= getattr(strategy, "options", 2)
        assert list(choice.options) == sorted(set(choice.options))
        for i in choice.options:
            assert not any(same(moves[i], moves[j]) for j in choice.options if j != i)
        assert set(choice.options) not in map(set, asked)
        asked.append(tuple(rng.permutation(choice.options).tolist()))
    assert len(asked) >= 10


@every
def test_ends_when_all_is_asked(strategy):
    rng = np.random.default_rng(1)
    moves, belief, asked = rng.normal(size=(5, 3)), cloud(3, rng), []
    while choice := strategy.choose(moves, belief, asked):
        asked.append(choice.options)
        assert len(asked) <= 25
    # Decision and Information may stop before, where a question is worth nothing.
    assert asked


@pairs
def test_a_question_about_a_twin_is_the_same_question(strategy):
    moves = np.array([[1.0, 0.0], [0.0, 1.1], [-1.0, 0.0], [1.0, 0.0], [0.0, 1.1]])
    belief = Cloud([np.diag([1.0, 0.1]), np.diag([0.1, 1.0])])
    assert strategy.choose(moves, belief) is not None
    assert strategy.choose(moves, belief, asked=[(4, 2)]) is None


@pairs
def test_rounding_does_not_make_a_twin_another_option(strategy):
    moves = np.array([[0.3, 1.0], [0.1 + 0.2, 1.0], [0.3, 1.0 + 2e-16], [3 * 0.1, np.nextafter(1.0, 0)]])
    belief = Cloud([np.diag([1.0, 0.1]), np.diag([0.1, 1.0])])
    assert strategy.choose(moves, belief) is None
    assert strategy.choose([np.vstack([v, v]) for v in moves], belief) is None


@every
@pytest.mark.parametrize("moves", [np.empty((0, 3)), np.ones((1, 3)), np.ones((6, 3)), np.zeros((4, 3)), []])
def test_nothing_to_compare(strategy, moves):
    assert strategy.choose(moves, cloud(3, np.random.default_rng(0))) is None


@every
def test_same_seed_same_question_and_input_untouched(strategy):
    rng = np.random.default_rng(2)
    moves, belief = rng.integers(0, 2, size=(30, 5)).astype(float), cloud(5, rng)
    before = moves.copy()
    first = strategy.choose(moves, belief, random_state=7)
    assert repr(strategy.choose(moves, belief, random_state=7)) == repr(first)
    assert repr(strategy.choose(moves, belief, random_state=np.random.default_rng(7))) == repr(first)
    np.testing.assert_array_equal(moves, before)


@every
def test_ties_are_broken_by_the_seed(strategy):
    moves = np.eye(8)  # eighths, so that equal efforts are equal to the bit
    belief = Cloud([np.diag(np.where(np.arange(8) == i, 0.125, 1.0)) for i in range(8)])
    assert len({strategy.choose(moves, belief, random_state=seed).options for seed in range(20)}) > 3


@every
def test_lists_and_arrays_are_the_same(strategy):
    rng = np.random.default_rng(3)
    moves, belief = rng.normal(size=(12, 3)), cloud(3, rng)
    assert repr(strategy.choose(list(moves), belief)) == repr(strategy.choose(moves, belief))


@every
def test_works_with_the_posterior(strategy):
    rng = np.random.default_rng(4)
    moves, belief = plans(12, 4, rng), Posterior(4, bank=500)
    choice = strategy.choose(moves, belief)
    chosen, *others = choice.options
    belief.update(moves[chosen], [moves[i] for i in others])
    after = strategy.choose(moves, belief, asked=[choice.options])
    assert set(after.options) != set(choice.options)


@pytest.mark.parametrize(
    "strategy", [SimilarCost(), SimilarCost(options=3), Exhaustive(), Random()], ids=repr
)
def test_works_with_the_confidence_set(strategy):
    rng = np.random.default_rng(5)
    moves, belief, asked = rng.normal(size=(12, 4)), ConfidenceSet(4), []
    for number in range(5):
        choice = strategy.choose(moves, belief, asked, random_state=number)
        asked.append(choice.options)
        chosen, *others = choice.options
        belief.update(moves[chosen], [moves[i] for i in others])
    assert len(set(map(frozenset, asked))) == 5


@every
def test_pickles(strategy):
    assert pickle.loads(pickle.dumps(strategy)) == strategy


@pytest.mark.parametrize("strategy", [SimilarCost, Random, Information, Decision])
def test_refuses_a_question_with_one_option(strategy):
    with pytest.raises(InputError, match="options is 1"):
        strategy(options=1)
    with pytest.raises(InputError, match="whole number"):
        strategy(options=2.5)


@every
def test_refuses_asked_questions_about_options_that_are_not_there(strategy):
    with pytest.raises(InputError, match="names option 9; there are 3"):
        strategy.choose(np.eye(3), cloud(3, np.random.default_rng(0)), asked=[(0, 9)])


@every
def test_refuses_missing_values(strategy):
    with pytest.raises(InputError, match="NaN"):
        strategy.choose(np.array([[np.nan, 1.0], [1.0, 0.0]]), cloud(2, np.random.default_rng(0)))


@pytest.mark.parametrize("strategy", [SimilarCost(), Exhaustive()])
def test_refuses_a_matrix_that_is_none(strategy):
    with pytest.raises(InputError, match=r"shape \(3, 3\); these moves need \(2, 2\)"):
        strategy.choose(np.eye(2), np.eye(3))
    with pytest.raises(InputError, match="symmetric"):
        strategy.choose(np.eye(2), np.array([[1.0, 0.5], [0.0, 1.0]]))


def test_refuses_moves_of_different_dimensions():
    with pytest.raises(InputError, match=r"shapes \(1, 2\), \(1, 3\)"):
        Random().choose([np.ones(2), np.ones(3)], np.eye(2))


def test_random_is_fair_among_what_is_left():
    moves, asked = np.eye(4), [(0, 1), (2, 3), (0, 2)]
    drawn = [Random().choose(moves, np.eye(4), asked, random_state=seed).options for seed in range(300)]
    left, counts = np.unique(drawn, axis=0, return_counts=True)
    assert left.tolist() == [[0, 3], [1, 2], [1, 3]]
    assert counts.min() > 70


@every
@pytest.mark.parametrize("kind", ["rows", "plans"])
def test_an_infinite_burden_keeps_options_apart(strategy, kind):
    rng = np.random.default_rng(6)
    moves, belief, asked = data(kind, rng), cloud(9, rng, n=25), []
    n = len(moves)
    burden = np.where(rng.random((n, n)) < 0.2, np.inf, 1.0)
    burden = np.maximum(burden, burden.T)
    for number in range(30):
        choice = strategy.choose(moves, belief, asked, burden, random_state=number)
        if choice is None:
            break
        pairs = list(itertools.combinations(choice.options, 2))
        assert all(np.isfinite(burden[pair]) for pair in pairs)
        asked.append(choice.options)
    assert len(asked) >= 3
    assert strategy.choose(moves, belief, burden=np.full((n, n), np.inf)) is None


@every
def test_refuses_a_burden_of_another_size(strategy):
    with pytest.raises(InputError, match=r"burden has shape \(2, 2\); 3 options need \(3, 3\)"):
        strategy.choose(np.eye(3), cloud(3, np.random.default_rng(0)), burden=np.ones((2, 2)))


@every
def test_parts_of_plans_may_be_given_and_stay_apart_by_their_burden(strategy):
    """Every strategy takes all that a session says; which of the options are plans matters to those who think of the plan."""
    rng = np.random.default_rng(7)
    moves, belief = rng.normal(size=(12, 4)), cloud(4, rng)
    whole = np.arange(12) < 7
    burden = np.where(whole[:, None] == whole, 1.0, np.inf)
    choice = strategy.choose(moves, belief, burden=burden, plans=7)
    assert len({bool(whole[i]) for i in choice.options}) == 1

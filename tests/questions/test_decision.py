"""The value of an answer, against its definition; about plans and about parts of plans."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reap._errors import InputError
from reap.belief import Posterior
from reap.belief.answers import KINDS, by_kinds
from reap.questions import Decision, Information
from reap.questions.decision import PART
from tests.questions.helpers import Cloud, cloud, plans, spd

seeds = st.integers(0, 2**32 - 1)


def worth(belief, moves, question, parts=()):
    """1 − Σ_a P(a) min_i E[c_i | a] / min_i E[c_i], by the definition: an answer at a time."""
    efforts, shown = belief.efforts(moves), belief.efforts([[*moves, *parts][i] for i in question])
    chances = by_kinds(
        shown, [(kappa, 0.0) for kappa, _ in KINDS]
    )  # (samples, k): an answer is taken at its word
    after = 0.0
    for a in range(len(question)):
        weights = belief.weights * chances[:, a]
        after += weights.sum() * (weights @ efforts / weights.sum()).min()
    return 1 - after / (belief.weights @ efforts).min()


@given(seed=seeds, n=st.integers(2, 9), steps=st.booleans())
@settings(max_examples=25, deadline=None)
def test_the_best_pair_of_plans_is_asked(seed, n, steps):
    rng = np.random.default_rng(seed)
    moves = plans(n, 3, rng) if steps else rng.normal(size=(n, 3))
    belief = cloud(3, rng)
    choice = Decision(min_gain=0.0).choose(moves, belief)
    best = max(worth(belief, moves, pair) for pair in itertools.combinations(range(n), 2))
    if choice is None:
        assert best < 1e-4
        return
    assert choice.gain == pytest.approx(best, abs=2e-3)  # the table of answers has steps
    assert worth(belief, moves, choice.options) == pytest.approx(best, abs=2e-3)
    assert choice.score == pytest.approx(
        (1 - choice.gain) * (belief.weights @ belief.efforts(moves)).min(), rel=1e-9
    )


@given(seed=seeds)
@settings(max_examples=15, deadline=None)
def test_parts_are_asked_about_where_their_answer_is_worth_more(seed):
    rng = np.random.default_rng(seed)
    moves, parts, belief = rng.normal(size=(4, 3)), rng.normal(size=(5, 3)), cloud(3, rng)
    choice = Decision(min_gain=0.0).choose(np.vstack([moves, parts]), belief, plans=len(moves))
    pairs = [*itertools.combinations(range(4), 2), *itertools.combinations(range(4, 9), 2)]
    each = {pair: worth(belief, moves, pair, parts) * (1.0 if pair[0] < 4 else PART) for pair in pairs}
    if choice is None:
        assert max(each.values()) < 1e-4
        return
    assert choice.options in pairs  # never a plan beside a part
    assert each[choice.options] == pytest.approx(max(each.values()), abs=2e-3)


@pytest.mark.parametrize("k", [3, 4])
def test_more_options_add_to_the_worth(k):
    longer = 0
    for seed in range(6):  # people answer softly: a third option does not always pay
        rng = np.random.default_rng(seed)
        moves, belief = rng.normal(size=(10, 4)), cloud(4, rng)
        pair, more = (Decision(options=n, min_gain=0.0).choose(moves, belief) for n in (2, k))
        assert 2 <= len(more.options) <= k
        assert set(pair.options) <= set(more.options)
        assert more.gain == pytest.approx(worth(belief, moves, more.options), abs=4e-3)
        if len(more.options) > 2:
            assert more.gain > pair.gain
            longer += 1
    assert longer >= 3


def test_no_question_twice_and_none_that_must_not_be():
    rng = np.random.default_rng(0)
    moves, parts, belief = rng.normal(size=(4, 3)), rng.normal(size=(3, 3)), cloud(3, rng)
    burden = np.full((7, 7), 2.0)
    burden[0, 1] = burden[1, 0] = np.inf
    asked = []
    while choice := Decision(min_gain=0.0).choose(np.vstack([moves, parts]), belief, asked, burden, plans=4):
        asked.append(choice.options)
    assert len(asked) == len(set(asked)) <= 5 + 3
    assert (0, 1) not in asked


def test_what_nobody_answers_differently_is_not_asked():
    moves = np.array([[1.0, 0.0], [0.0, 1.0]])
    sure = Cloud([np.diag([0.1, 1.0]), np.diag([0.2, 0.9])])
    assert Decision().choose(moves, sure) is None
    assert Decision().choose(np.vstack([moves, [[1.0, 1.0], [0.0, 2.0]]]), sure, plans=2) is None
    assert Decision().choose(moves[:1], sure) is None
    unsure = Cloud([np.diag([0.1, 1.0]), np.diag([0.9, 0.2])])
    gain = Decision().choose(moves, unsure).gain
    assert [Decision(min_gain=gain * k).choose(moves, unsure) is None for k in (0.99, 1.01)] == [False, True]
    free = np.array([[0.0, 0.0], [1.0, 0.0]])
    assert Decision(min_gain=0.0).choose(free, Cloud([np.eye(2)])) is None


def test_an_answer_is_taken_at_its_word_even_where_few_would_give_it():
    """One in twenty finds the second plan easier, by far: a slip is about as likely, and the question is worth asking."""
    moves = np.array([[1.0, 0.0], [0.0, 1.0]])
    rare = Cloud([np.diag([0.3, 2.0])] * 19 + [np.diag([2.0, 0.01])])
    assert Decision().choose(moves, rare).gain > 0.1
    careful, careless = (Posterior(2, lapse=lapse, sharpness=200.0) for lapse in (0.0, 0.6))
    first, second = (Decision(min_gain=0.0).choose(moves, who).gain for who in (careful, careless))
    assert second == pytest.approx(first, rel=0.05)


def test_many_options_are_looked_at_in_short_time():
    rng = np.random.default_rng(0)
    moves, parts = (rng.normal(size=(n, 6)) for n in (300, 100))
    moves, parts = (each / np.linalg.norm(each, axis=1, keepdims=True) for each in (moves, parts))
    choice = Decision().choose(np.vstack([moves, parts]), Posterior(6), plans=300)
    assert choice is not None
    assert choice.examined < 5000


def test_a_belief_without_samples_is_refused():
    for strategy in (Decision(), Information()):
        with pytest.raises(InputError, match=r"was given ndarray.*use SimilarCost, Exhaustive or Random"):
            strategy.choose(np.eye(2), np.eye(2))


def test_an_option_nobody_would_choose_is_not_shown():
    moves = np.array([[1.0, 0.0], [0.0, 1.0], [5.0, 5.0], [6.0, 6.0]])
    belief = Cloud([np.diag([1.0, 0.1]), np.diag([0.1, 1.0])])
    assert Decision(options=4).choose(moves, belief).options == (0, 1)


def test_among_near_equal_questions_the_lighter_is_asked():
    moves = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.01]])
    belief = Cloud([np.diag(row) for row in ([0.1, 1, 1], [1, 0.1, 1], [1, 1, 0.1])])
    burden = np.array([[0, 2, 1], [2, 0, 2], [1, 2, 0]])  # up to two rows, all read alike
    assert Decision().choose(moves, belief).options == (0, 1)
    lenient = Decision(tolerance=0.1)
    assert lenient.choose(moves, belief, burden=burden).options == (0, 2)
    assert Decision(tolerance=0.0).choose(moves, belief, burden=burden).options == (0, 1)
    best, light = Decision().choose(moves, belief), lenient.choose(moves, belief, burden=burden)
    assert light.gain >= 0.9 * best.gain


def test_with_the_posterior_answers_lead_to_the_best_plan():
    """Ask, answer truthfully, repeat: the plan of the estimate ends near the best there is."""
    rng = np.random.default_rng(0)
    excess = []
    for run in range(6):
        moves, truth = rng.normal(size=(25, 4)), spd(4, rng)
        efforts = np.einsum("nd,de,ne->n", moves, truth, moves)
        belief, asked = Posterior(4, random_state=run), []
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


def test_people_count_by_their_weights():
    """Ten people of no weight, one of all: what the ten say is not heard."""
    moves = np.array([[1.0, 0.0], [0.0, 1.0]])
    sure = Cloud([np.diag([0.1, 1.0])] + [np.diag([1.0, 0.1])] * 10, weights=[1.0] + [0.0] * 10)
    assert Decision().choose(moves, sure) is None
    even = Cloud([np.diag([0.1, 1.0])] + [np.diag([1.0, 0.1])] * 10, weights=[0.5] + [0.05] * 10)
    two = Cloud([np.diag([0.1, 1.0]), np.diag([1.0, 0.1])])
    assert Decision().choose(moves, even).gain == pytest.approx(Decision().choose(moves, two).gain)

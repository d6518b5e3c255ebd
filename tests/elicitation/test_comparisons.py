"""What is shown side by side: nothing that only differs in steps, and rarely an option that another contains."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from reap.elicitation.comparisons import WORTH, Comparisons, asks_no_more
from reap.questions import Choice, Decision
from tests.questions.helpers import Cloud, cloud

CHANGES = arrays(
    float, st.tuples(st.integers(2, 7), st.integers(1, 4)), elements=st.sampled_from([-2, -1, 0, 1, 2])
)


@given(CHANGES)
def test_asking_no_more_is_to_stop_on_the_way_in_every_column(changes):
    """By the definition, in words: between nothing and what the other does."""
    found, pairs = asks_no_more(changes, changes), compare(changes)
    for (i, a), (j, b) in itertools.product(enumerate(changes), repeat=2):
        forth, back = (
            all(min(0, y) <= x <= max(0, y) for x, y in zip(*both, strict=True)) for both in ((a, b), (b, a))
        )
        assert found[i, j] == forth
        assert pairs.alike[i, j] == np.array_equal(a, b)
        assert pairs.nested[i, j] == ((forth or back) and not np.array_equal(a, b))


@given(CHANGES, st.randoms(use_true_random=False))
def test_who_asks_for_less_is_easier_for_everybody_without_cross_terms(changes, random):
    weights = np.array([random.uniform(0.01, 1) for _ in range(changes.shape[1])])
    efforts = changes**2 @ weights
    i, j = np.nonzero(asks_no_more(changes, changes) & compare(changes).nested)
    assert (efforts[i] < efforts[j]).all()


def compare(changes):
    return Comparisons.of((changes[:, None] != changes[None]).sum(-1).astype(float), changes)


@settings(max_examples=60, deadline=None)
@given(CHANGES, st.integers(0, 99), st.sampled_from([2, 3]))
def test_an_option_that_contains_another_is_shown_only_where_that_is_worth_it(changes, seed, size):
    rng = np.random.default_rng(seed)
    belief, strategy, pairs = cloud(changes.shape[1], rng), Decision(options=size), compare(changes)
    choice = pairs.choose(strategy, list(changes[:, None]), belief, [], rng)
    if choice is None:
        return
    assert not pairs.alike[np.ix_(choice.options, choice.options)][
        np.triu_indices(len(choice.options), 1)
    ].any()
    if pairs.nested[np.ix_(choice.options, choice.options)].any():
        apart = np.where(pairs.nested | pairs.alike, np.inf, pairs.burden)
        neat = strategy.choose(list(changes[:, None]), belief, burden=apart, random_state=rng)
        assert neat is None or choice.gain > WORTH * neat.gain


def test_the_same_target_by_other_steps_is_asked_about_when_nothing_else_is_left():
    once, twice, other = np.array([[1.0, 1.0]]), np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([[0.0, 1.6]])
    moves = [once, twice, other]
    pairs = compare(np.array([m.sum(axis=0) for m in moves]))
    # Steps together are dearer for one kind of people, and cheaper for the other.
    belief = Cloud([[[1.0, 0.9], [0.9, 1.0]], [[1.0, -0.9], [-0.9, 1.0]]])
    rng = np.random.default_rng(0)
    assert set(Decision().choose(moves, belief).options) == {0, 1}
    first = pairs.choose(Decision(), moves, belief, [], rng)
    assert 2 in first.options
    last = pairs.choose(Decision(), moves, belief, [(0, 2), (1, 2)], rng)
    assert last.options == (0, 1)


class Says:
    """A strategy that does not know what its questions save."""

    def choose(self, moves, belief, asked=(), burden=None, *, random_state=0):
        for pair in itertools.combinations(range(len(moves)), 2):
            if np.isfinite(burden[pair]) and pair not in asked:
                return Choice(pair, 0.0, 1)
        return None


def test_without_a_known_gain_the_plainer_question_is_taken():
    changes = np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 1.5]])
    pairs = compare(changes)
    rng = np.random.default_rng(0)
    assert pairs.choose(Says(), list(changes), None, [], rng).options == (0, 2)
    assert pairs.choose(Says(), list(changes), None, [(0, 2), (1, 2)], rng).options == (0, 1)


@pytest.mark.parametrize("options", [2, 4])
def test_a_dialogue_shows_no_two_plans_to_one_target_while_others_are_left(
    german_graph, german_rejected, options
):
    asked, alike = 0, 0
    for k in range(4):
        session = german_graph.elicit(german_rejected.iloc[k], questions=4, options=options)
        while question := session.ask():
            targets = [option.path[-1].tobytes() for option in question.options]
            asked, alike = asked + 1, alike + (len(set(targets)) < len(targets))
            session.answer(0)
    assert asked >= 8
    assert alike <= asked // 4

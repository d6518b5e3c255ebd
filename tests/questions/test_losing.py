"""A question is worth what may be recommended after it: not what lost, and again what the loser has beaten."""

from __future__ import annotations

import numpy as np
import pytest

from reap.belief import Posterior
from reap.questions import AnswerValue
from reap.questions.losing import Losing

#: The third is between the others: easier than the second for most who find the first easiest.
PLANS = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.7, 0.0, 0.7]])
NOTHING = Losing(np.zeros(3, dtype=bool), np.eye(3, dtype=bool), np.zeros((3, 3), dtype=bool))


def known(answers):
    """Somebody for whom the first column is easy, as several answers say."""
    belief = Posterior(3, random_state=0)
    for _ in range(answers):
        belief.update([1.0, 0.0, 0.0], [0.0, 1.0, 0.0])
    return belief


def beaten_by(loser, winner):
    """Return what is known where one plan lost to another."""
    beaten = np.arange(3) == loser
    still = np.tile(beaten, (3, 1))
    still[winner] = False
    return Losing(beaten, np.eye(3, dtype=bool), still)


def test_what_a_slip_has_taken_away_is_worth_a_question():
    """All answers but one say that the first plan is easiest; the slip said the second. Only its loss gives the first back."""
    slipped = beaten_by(0, 1)
    strategy = AnswerValue(min_gain=0.0)
    asked = [(0, 1)]
    free = strategy.choose(PLANS, known(6), asked=asked, losing=NOTHING)
    choice = strategy.choose(PLANS, known(6), asked=asked, losing=slipped)
    assert choice.options == (1, 2)
    assert choice.gain > 0.1
    assert free.options != (1, 2)  # nothing is to be had from the second where the first can be recommended


def test_what_lost_is_not_counted_on():
    """The first lost to the second; a question about the third is worth what the second and the third leave."""
    first, second = (
        AnswerValue(min_gain=0.0).choose(PLANS, known(2), losing=each) for each in (NOTHING, beaten_by(0, 1))
    )
    assert second.score > first.score


@pytest.mark.parametrize("options", [2, 3])
def test_gains_are_of_what_is_left(options):
    """By hand: the worth of a question of two or three plans, from samples of the belief and how people answer."""
    belief, losing = Posterior(3, random_state=1), beaten_by(2, 0)
    choice = AnswerValue(options=options, min_gain=0.0).choose(PLANS, belief, losing=losing)
    efforts, who = belief.efforts(PLANS), belief.people
    who = who._replace(slip=np.zeros_like(who.slip))
    from reap.belief.answers import choice_probabilities

    shown = list(choice.options)
    chance = choice_probabilities(efforts[:, shown], who) @ who.share
    best = 0.0
    for k in range(len(shown)):
        gone = losing.after([i for i in shown if i != shown[k]])
        expected = (chance[:, [k]] * efforts).mean(axis=0)
        best += expected[~gone].min() if not gone.all() else expected.min()
    single = efforts.mean(axis=0)[~losing.beaten].min()
    assert choice.gain == pytest.approx(1 - best / single, abs=2e-3)

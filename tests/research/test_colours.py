"""Regret of a recommended colour: none once enough was asked of somebody who never errs, and less with every answer."""

from __future__ import annotations

import numpy as np

from reap.questions import Decision, Random
from reap.research.colours import SmoothUtility, regrets

PLACES = np.random.default_rng(0).uniform(0, 100, (12, 3))


def likes(utility):
    return (utility[:, None] > utility[None]).astype(float)


def test_it_ends_at_the_best_colour():
    utility = -np.linalg.norm(PLACES - PLACES[4], axis=1)
    found = regrets(likes(utility), SmoothUtility(PLACES), Decision(), 25, np.random.default_rng(0))
    assert found.shape == (26,)
    assert found[-1] < 0.1
    assert (found >= 0).all()
    assert found.max() <= 1


def test_our_questions_need_fewer_answers_than_random_ones():
    rng, last = np.random.default_rng(1), {}
    crowd = [likes(-np.linalg.norm(PLACES - rng.uniform(0, 100, 3), axis=1)) for _ in range(12)]
    for strategy in (Decision(), Random()):
        each = [regrets(who, SmoothUtility(PLACES), strategy, 6, np.random.default_rng(2)) for who in crowd]
        last[type(strategy)] = np.mean(each, axis=0)[-1]
    assert last[Decision] < last[Random]


def test_an_answer_raises_what_is_near_to_what_was_chosen():
    belief = SmoothUtility(PLACES)
    far = np.linalg.norm(PLACES - PLACES[0], axis=1)
    near, away = int(far.argsort()[1]), int(far.argmax())
    before = belief.expected(np.eye(12))
    twin = belief.copy()
    for _ in range(3):
        belief.update(np.eye(12)[0], np.eye(12)[away])
    after = belief.expected(np.eye(12))
    assert after[near] - before[near] < after[away] - before[away]
    np.testing.assert_array_equal(twin.expected(np.eye(12)), before)

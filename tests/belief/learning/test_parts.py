"""The parts of learning, each against a slower way: derivatives by differences, inverses in full, orders that must not matter."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from reap.belief.answers import people
from reap.belief.families import PEOPLE
from reap.belief.learning import Comparison, Past, fit
from reap.belief.learning.coordinates import Coordinates
from reap.belief.learning.marginal import Marginal
from reap.belief.learning.past import MOST
from reap.belief.learning.shares import FAMILIES, Shares
from reap.belief.learning.shrinkage import covariance, evidence, penalty, variances
from reap.belief.learning.slopes import log_probability, slopes


def answers(rng, k, count, options=(2,), extra=0):
    """Return answers of one person who finds the last columns hard; paths of two moves now and then."""
    said = []
    for _ in range(count):
        moves = [rng.standard_normal((int(rng.integers(1, 3)), k)) for _ in range(rng.choice(options))]
        efforts = [float((move**2 @ np.arange(1, k + 1)).sum()) for move in moves]
        order = np.argsort(efforts)
        beside = np.abs(rng.standard_normal((len(moves), extra))) if extra else None
        said.append(Comparison(tuple(moves[i] for i in order), bool(rng.random() < 0.1), beside))
    return said


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.floats(0.1, 10.0), min_size=2, max_size=4, unique=True), st.booleans(), st.floats(0.5, 30.0)
)
def test_slopes_are_those_of_the_probability(efforts, same, sharpness):
    at, who, step = np.array(efforts), people(lapse=0.1, sharpness=sharpness), 1e-6
    assume(
        not same or np.min(np.diff(np.sort(at))) > 1e-3
    )  # at a tie two options change places: there is a kink
    found = slopes(at, same, who, np.ones(1))
    for j in range(len(at)):
        near = step * np.eye(len(at))[j]
        by_hand = log_probability(at + near, same, who) - log_probability(at - near, same, who)
        assert found[j] == pytest.approx(float(by_hand[0]) / (2 * step), rel=1e-3, abs=1e-4)


@pytest.mark.parametrize(
    ("shape", "extra"), [((True, True), 0), ((False, True), 1), ((True, True), 2), ((False, False), 2)]
)
def test_the_gradient_is_that_of_the_marginal_likelihood(shape, extra):
    rng, k = np.random.default_rng(0), 4
    past = Past.of([answers(rng, k, 3, (2, 3), extra) for _ in range(12)], k, extra)
    marginal = Marginal(past, list(FAMILIES), 90, 0)
    shape = Coordinates(k, *shape, extra)
    who = people(lapse=0.2, sharpness=4.0)
    shares = replace(Shares.start(extra), kinds=np.ones(1), minders=np.full(extra, 0.4))
    p = 0.1 * rng.standard_normal(shape.size)

    def at(p, **given):
        return marginal.at(shape.root(p), who, sizes=shape.split(p)[2], **given)

    def value(p):
        return shares.mixed(at(p).logs).sum()

    exact = at(p, shares=shares.logs)
    found = shape.pull(p, exact.by_root, exact.by_weight).sum(axis=0)
    assert np.abs(found[-extra:]).max() > 0.05 or not extra
    for j in range(shape.size):
        near = 1e-2 * np.eye(shape.size)[j]  # efforts are products in single precision
        assert found[j] == pytest.approx((value(p + near) - value(p - near)) / 2e-2, rel=0.02, abs=0.02)


@pytest.mark.parametrize("n", [3, 40])
def test_variances_with_fewer_and_with_more_people_than_parameters(n):
    rng = np.random.default_rng(0)
    G, precision = rng.standard_normal((n, 12)), rng.uniform(0.5, 2.0, 12)
    whole = np.linalg.inv(G.T @ G + np.diag(precision))
    assert variances(G, precision) == pytest.approx(np.diag(whole))
    assert covariance(G, precision, 5) == pytest.approx(whole[:5, :5])


def test_the_evidence_shrinks_what_answers_do_not_support():
    rng = np.random.default_rng(0)
    groups = {"scales": np.arange(8), "directions": np.arange(8, 20)}
    slopes_ = 3 * rng.standard_normal((200, 20))
    p = np.concatenate([rng.standard_normal(8), 0.001 * rng.standard_normal(12)])
    found = evidence(p, slopes_, groups, {"scales": 0.7, "directions": 0.15})
    assert 0.5 < found["scales"] < 2.0
    assert found["directions"] == 0.02  # its least
    assert penalty(groups, found)[-1] == pytest.approx(2500.0)


def test_shares_follow_the_answers_and_stay_near_the_start_without_any():
    start = Shares.start(1)
    shape = start.logs.shape
    flat = start.learnt(np.zeros((50, *shape)), np.zeros((50, 2)))
    assert flat.families == pytest.approx(start.families)
    assert flat.minders == pytest.approx(start.minders)
    logs = np.zeros((500, *shape))
    logs[:, 1, 2, 2] = 3.0
    sure = start.learnt(logs, np.full((500, 2), -9.0))
    assert sure.families[2] > 5 * start.families[2]
    assert sure.kinds[2] > 2 * start.kinds[2]
    assert sure.minders[0] > 5 * start.minders[0]
    assert sure.guessing < 0.001
    assert sure.families.sum() == pytest.approx(1.0)
    assert sure.kinds.sum() == pytest.approx(1.0)
    assert min(sure.families) > 0
    few = start.learnt(logs[:20], np.full((20, 2), -9.0))
    assert (
        few.spread(logs[:20], np.full((20, 2), -9.0)).kinds > sure.spread(logs, np.full((500, 2), -9.0)).kinds
    ).all()


def test_learning_starts_from_the_default_mixture():
    """A family of the default keeps its weight there; those that only a learnt prior uses are a little more."""
    weights = np.array([PEOPLE.get(name, 0.0) for name in FAMILIES])
    start, default = Shares.start().families, Shares.default().families
    np.testing.assert_allclose(default, weights / weights.sum())
    np.testing.assert_allclose(start[weights > 0] / start[weights > 0].sum(), default[weights > 0])
    assert (start[weights == 0] > 0).all()
    assert start[weights == 0].sum() < 0.1


def test_who_guesses_is_found_and_teaches_nothing():
    start = Shares.start()
    logs = np.full((200, *start.logs.shape), -9.0)
    guessed = np.full((200, 2), -20.0)
    guessed[:30, 0] = guessed[30:40, 1] = -1.0  # thirty at random, ten always "left"
    found = start.learnt(logs, guessed)
    assert found.guessing == pytest.approx(0.2, abs=0.02)
    assert found.places == pytest.approx(0.25, abs=0.02)
    spread = found.spread(logs, guessed).guessing
    assert spread == pytest.approx(np.sqrt(0.2 * 0.8 / 210), rel=0.05)  # as if it were known of everybody
    each, blind = found.explain(logs, guessed)
    assert each.sum(axis=(1, 2, 3)) + blind.sum(axis=1) == pytest.approx(1.0)
    assert blind[:40].max(axis=1).min() > 0.99 > 0.01 > blind[40:].max()


def test_where_the_chosen_option_stood_tells_who_always_says_left():
    moves = np.ones((1, 2)), np.zeros((1, 2))

    def said(*places):
        return [Comparison(moves, place=place) for place in places]

    past = Past.of([said(0, 0, 0, 0, 0), said(1, 1, 1, 1, 1), said(0, 1, 0, 0, 1), said(*[None] * 5)], 2)
    at_random, by_place = past.guessed.T
    assert at_random == pytest.approx(5 * np.log(0.5))
    found = {
        tuple(answer.place for answer in who): value for who, value in zip(past.people, by_place, strict=True)
    }
    assert found[0, 0, 0, 0, 0] == found[1, 1, 1, 1, 1] > np.log(0.4)
    assert found[0, 1, 0, 0, 1] < 5 * np.log(0.5) - 2
    assert found[(None,) * 5] == pytest.approx(5 * np.log(0.5))  # not known: nothing is said
    assert len({who[0].digest for who in past.people}) == 3


@settings(max_examples=20, deadline=None)
@given(st.permutations(range(6)), st.integers(0, 100))
def test_the_order_of_people_does_not_matter(order, seed):
    rng = np.random.default_rng(seed)
    crowd = [answers(rng, 2, int(rng.integers(1, 4)), (2, 3)) for _ in range(6)]
    one, two = Past.of(crowd, 2), Past.of([crowd[i] for i in order], 2)
    assert one.fingerprint == two.fingerprint
    assert one.rows.tobytes() == two.rows.tobytes()
    parts = one.parts(2)
    assert sum(part.answers for part in parts) == one.answers
    assert np.concatenate([part.rows for part in parts]).tobytes() == one.rows.tobytes()
    assert sum(len(at) for at, _ in one.groups.values()) == one.answers


def test_nobody_teaches_by_more_than_their_first_answers():
    rng = np.random.default_rng(0)
    many = answers(rng, 2, MOST + 5)
    assert Past.of([many, []], 2).fingerprint == Past.of([many[:MOST]], 2).fingerprint


def test_what_everybody_finds_hard_is_learnt_with_an_interval_that_holds_it():
    rng = np.random.default_rng(0)
    past = Past.of([answers(rng, 3, 5) for _ in range(60)], 3)
    found = fit(past, "directions", matrices=90)
    truth = np.log([1.0, 2.0, 3.0])
    assert (np.abs(found.scales - (truth - truth.mean())) < 3 * found.scales_sd).all()
    assert found.scales[0] < found.scales[1] < found.scales[2]
    assert found.root == pytest.approx(np.exp(found.scales / 2)[:, None] * (np.eye(3) + found.directions))

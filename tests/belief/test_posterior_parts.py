"""The prior, the likelihood and the moves, each on its own."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from reap.belief.answers import (
    Answers,
    as_seen,
    choice_probabilities,
    choice_probability,
    people,
    same_probability,
)
from reap.belief.families import PEOPLE
from reap.belief.particles import Particles
from reap.belief.prior import DIFFICULTIES, Prior
from reap.effort import of_changes
from reap.elicitation.learned import WORDS

efforts = arrays(float, st.integers(2, 5), elements=st.floats(0, 1e6))


@given(efforts)
def test_the_chances_of_all_options_sum_to_one(costs):
    chances = choice_probabilities(costs, people())
    assert (chances > 0).all()
    if not (len(costs) > 2 and (costs < 1e-290).sum() > 1):  # ties below the smallest number count once each
        np.testing.assert_allclose(chances.sum(axis=0), 1.0)


@given(st.floats(-3, 3))
def test_for_two_options_the_rule_for_k_is_the_rule_for_pairs(log_ratio):
    who = people()
    pair = choice_probability(np.array([1.0, np.exp(log_ratio)]), who)
    luce = who.slip + (1 - 2 * who.slip) / (1 + np.exp(-who.sharpness / 2 * log_ratio))
    np.testing.assert_allclose(pair, luce, atol=2e-3)
    # A third option that costs far more takes nothing but its share of the lapses.
    three = choice_probability(np.array([1.0, np.exp(log_ratio), 1e9]), who)
    np.testing.assert_allclose(three - 2 * who.slip / 3, luce - who.slip, atol=1e-9)


@given(efforts, st.floats(1e-3, 1e3))
def test_answers_feel_ratios_of_effort_only(costs, scale):
    costs = costs + 1e-3
    for rule in (choice_probability, same_probability):
        np.testing.assert_allclose(rule(costs, people()), rule(costs * scale, people()), rtol=1e-6, atol=1e-9)


def test_pair_formula_by_hand():
    who = people(lapse=0.2, sharpness=10.0)
    expected = 0.1 + 0.8 / (1 + np.exp(-10 * (3 - 1) / (3 + 1)))
    assert choice_probability(np.array([1.0, 3.0]), who)[0] == pytest.approx(expected)


def test_same_is_likeliest_at_equal_efforts_and_symmetric():
    gaps = np.linspace(0, 1, 11)
    first = same_probability(np.stack([np.ones(11), 1 + gaps], axis=1), people())
    second = same_probability(np.stack([1 + gaps, np.ones(11)], axis=1), people())
    np.testing.assert_allclose(first, second)
    assert (np.diff(first, axis=0) <= 0).all()
    assert (first[0] > first[3] + 0.2).all()


def test_the_stack_scores_each_answer_as_it_would_be_alone():
    rng = np.random.default_rng(0)
    who, costs, answers, alone = people(), [], Answers(), []
    for k, same in [(2, False), (4, False), (2, True), (2, False), (3, True), (4, False)]:
        answers = answers.add(rng.random((k, 1, 4)), same=same)
        costs.append(rng.random((5, k)))
        alone.append(np.log((same_probability if same else choice_probability)(costs[-1], who)))
    each = answers.log_likelihood(
        np.hstack(costs), who
    )  # (5, 6, 2, t): nothing is shared, so both ways to weigh are one
    np.testing.assert_allclose(each, np.repeat(np.stack(alone, axis=1)[:, :, None], 2, axis=2))
    assert answers.moves.shape == (17, 4)


def test_options_that_share_something_are_scored_whole_and_as_they_are_seen():
    rng = np.random.default_rng(0)
    who, first, second = people(), rng.random((2, 1, 3)), rng.random((3, 1, 3))
    answers = Answers().add(first, same=False, seen=list(rng.random((2, 1, 3)))).add(second, same=True)
    costs = rng.random((5, 7))  # two whole, the same two as seen, three that share nothing
    whole, seen = answers.log_likelihood(costs, who).transpose(2, 0, 1, 3)
    np.testing.assert_allclose(whole[:, 0], np.log(choice_probability(costs[:, :2], who)))
    np.testing.assert_allclose(seen[:, 0], np.log(choice_probability(costs[:, 2:4], who)))
    np.testing.assert_allclose(whole[:, 1], np.log(same_probability(costs[:, 4:], who)))
    np.testing.assert_array_equal(whole[:, 1], seen[:, 1])


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=50, deadline=None)
def test_what_is_seen_of_options_is_what_differs(seed):
    rng = np.random.default_rng(seed)
    features = np.array([0, 0, 1, 2, 3, -1])
    options = [rng.integers(0, 2, (1, 6)).astype(float) for _ in range(rng.integers(2, 5))]
    ends = np.vstack(options)
    differ = {int(f) for f in features if f >= 0 and np.ptp(ends[:, features == f], axis=0).any()}
    rows = np.isin(features, list(differ))
    expected = np.where(rows, ends, 0.0)
    seen = as_seen(options, features)
    if seen:
        np.testing.assert_array_equal(np.vstack(seen), expected)
    else:
        np.testing.assert_array_equal(ends, expected)


def test_families_have_the_shape_they_are_named_for():
    rng = np.random.default_rng(0)
    for name in PEOPLE:
        prior = Prior(4, name)
        A = prior.matrices(*prior.draw(200, rng))
        off = A[:, ~np.eye(4, dtype=bool)]
        ranks = np.linalg.matrix_rank(A, tol=1e-9)
        assert (ranks == (1 if name.startswith("rank-one") else 4)).all()
        assert (off == 0).all() == (name == "diagonal")
        triangles = (
            A[:, 0, 1] * A[:, 1, 2] * A[:, 0, 2]
        )  # all positive where signs of columns make every entry so
        assert (triangles >= -1e-12).all() == (name in {"positive", "rank-one", "diagonal"})
    ridge = np.linalg.eigvalsh(Prior(4, "scaled").matrices(*Prior(4, "scaled").draw(200, rng)))[:, 0]
    assert ridge.min() >= 0.3 / 1.3


@pytest.mark.parametrize("beside", [0, 2])
@pytest.mark.parametrize("difficulties", [None, [10.0, 1.0, 0.4]])
def test_efforts_without_matrices_are_those_with_them(beside, difficulties):
    rng = np.random.default_rng(0)
    prior = Prior(3, "people", difficulties, beside)
    people_, V = prior.draw(400, rng), rng.standard_normal((5, 3 + beside))
    exact = people_[0].astype(float), people_[1]
    A = prior.matrices(*exact)
    assert set(people_[1]) == set(range(len(PEOPLE)))  # every family
    np.testing.assert_allclose(prior.efforts(*exact, V), of_changes(A, V), rtol=1e-9)
    # as they are drawn, in single precision
    np.testing.assert_allclose(prior.efforts(*people_, V), of_changes(A, V), rtol=1e-5, atol=1e-5)


def test_a_path_costs_the_sum_of_its_moves():
    path, plan = np.array([[1.0, 0.0], [0.0, 2.0]]), np.array([[1.0, 1.0]])
    answers = Answers().add([path, plan], same=False).add([plan, path], same=True)
    assert answers.efforts((answers.moves**2).sum(axis=1)[None]).tolist() == [[5.0, 2.0, 2.0, 5.0]]


def test_the_sign_of_a_column_says_nothing():
    """Whoever codes a feature the other way round meets the same people: off-diagonals are as often below 0."""
    prior = Prior(4)
    A = prior.matrices(*prior.draw(20_000, np.random.default_rng(0)))
    off = A[:, *np.triu_indices(4, 1)]
    np.testing.assert_allclose(off.mean(axis=0), 0.0, atol=4 * off.std() / np.sqrt(20_000))


def test_the_mixture_has_its_shares():
    prior = Prior(2)
    weight = int(sum(PEOPLE.values()) * 10_000)
    families = prior.draw_families(weight, np.random.default_rng(0))
    shares = np.bincount(families) / 10_000
    np.testing.assert_allclose(shares, list(PEOPLE.values()), atol=0.05)


def test_stated_difficulties_scale_the_prior_and_may_be_words():
    rng = np.random.default_rng(0)
    latents, families = Prior(3).draw(300, rng)
    plain = Prior(3).matrices(latents, families)
    root = np.sqrt([10.0, 1.0, 0.4])
    scaled = plain * root[:, None] * root
    scaled *= 3 / scaled.trace(axis1=1, axis2=2)[:, None, None]
    np.testing.assert_allclose(Prior(3, [10.0, 1.0, 0.4]).matrices(latents, families), scaled)
    words = Prior(3, ["very hard", "neither easy nor hard", "easy"]).matrices(latents, families)
    np.testing.assert_allclose(words, scaled)
    assert sorted(DIFFICULTIES.values()) == list(DIFFICULTIES.values())
    assert list(DIFFICULTIES) == list(WORDS.values())  # the words a session says


def test_moves_leave_the_prior_as_it_is():
    rng = np.random.default_rng(0)
    cloud = Particles(Prior(3), people(), 20_000, rng)
    latents, spread = cloud._latents.copy(), cloud.matrices.std(axis=0)
    cloud.move(Answers(), rng, moves=1)
    memory = np.mean(latents * cloud._latents)
    assert 0.85 < memory < 0.97  # a step of .4, not a fresh draw
    cloud.move(Answers(), rng, moves=12)
    z = cloud._latents
    count = z.size
    assert abs(z.mean()) < 4 / np.sqrt(count)
    assert abs((z**2).mean() - 1) < 4 * np.sqrt(2 / count)
    assert abs((z**4).mean() - 3) < 4 * np.sqrt(96 / count)
    np.testing.assert_allclose(
        np.bincount(cloud._families) / 20_000 * sum(PEOPLE.values()), list(PEOPLE.values()), atol=0.1
    )
    np.testing.assert_allclose(cloud.matrices.std(axis=0), spread, rtol=0.05)


def test_the_step_follows_the_share_of_accepted_moves():
    rng = np.random.default_rng(0)
    cloud = Particles(Prior(4, "gaussian"), people(), 300, rng)
    answers = Answers()
    for _ in range(12):
        options = rng.standard_normal((4, 4))
        options = options[np.argsort((options**2).sum(axis=1))]
        answers = answers.add(options[:, None], same=False)
        cloud.learn(answers, rng)
    assert 0.2 < cloud.acceptance < 0.4

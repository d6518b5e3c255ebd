from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reap._errors import InputError
from reap.belief.posterior import Posterior

FAMILIES = ["gaussian", "positive", "rank-one", "diagonal", "scaled", "causal", "alike-50"]


def truthful(A, options):
    """The options with the cheapest under A first."""
    costs = [np.sum((np.atleast_2d(V) @ A) * V) for V in options]
    best = int(np.argmin(costs))
    return options[best], [V for i, V in enumerate(options) if i != best]


@settings(deadline=None, max_examples=25)
@given(st.integers(1, 6), st.sampled_from(["people", *FAMILIES]), st.integers(0, 99), st.integers(2, 4))
def test_every_particle_keeps_trace_d_and_is_semidefinite(d, prior, seed, k):
    rng = np.random.default_rng(seed)
    belief = Posterior(d, prior, particles=40, random_state=seed)
    belief.update(*truthful(np.eye(d), [rng.standard_normal((2, d)) for _ in range(k)]))
    belief.update_same([rng.standard_normal(d) for _ in range(k)])
    np.testing.assert_allclose(belief.matrices.trace(axis1=1, axis2=2), d)
    assert np.linalg.eigvalsh(belief.matrices).min() > -1e-12 * d
    np.testing.assert_array_equal(belief.matrices, belief.matrices.transpose(0, 2, 1))
    assert belief.mean.trace() == pytest.approx(d)
    assert belief.estimate().trace() == pytest.approx(d)


def conversation(belief, rng, answers):
    for _ in range(answers):
        a, b, c = rng.standard_normal((3, belief.dimension))
        belief.update(a, b)
        belief.update(b, [a, c])
        belief.update_same([b, c])


def test_replaying_the_same_answers_gives_the_same_state_to_the_bit():
    first, second = Posterior(4, random_state=7), Posterior(4, random_state=7)
    for belief in (first, second):
        conversation(belief, np.random.default_rng(1), 2)
    np.testing.assert_array_equal(first.matrices, second.matrices)
    np.testing.assert_array_equal(first.sample(9), second.sample(9))
    assert first.consistency == second.consistency
    other = Posterior(4, random_state=8)
    conversation(other, np.random.default_rng(1), 2)
    assert not np.array_equal(first.matrices, other.matrices)


def test_a_copy_and_a_pickle_go_their_own_way_and_leave_the_original():
    belief = Posterior(3, particles=60)
    conversation(belief, np.random.default_rng(0), 1)
    before = belief.matrices.copy()
    twins = [belief.copy(), pickle.loads(pickle.dumps(belief))]
    for twin in twins:
        conversation(twin, np.random.default_rng(5), 1)
    np.testing.assert_array_equal(belief.matrices, before)
    assert (len(belief), len(twins[0])) == (3, 6)
    conversation(belief, np.random.default_rng(5), 1)
    for twin in twins:
        np.testing.assert_array_equal(belief.matrices, twin.matrices)


def test_one_other_option_may_come_bare_or_in_a_list():
    bare, listed, plain = Posterior(3), Posterior(3), Posterior(3)
    bare.update(np.ones(3), np.eye(3))
    listed.update(np.ones(3), [np.eye(3)])
    np.testing.assert_array_equal(bare.matrices, listed.matrices)
    plain.update([1.0, 1.0, 1.0], [1.0, 0.0, 0.0])
    assert len(plain) == 1


def test_answers_bring_the_mean_nearer_to_the_truth():
    """On average over people: of one of them 25 answers may leave a tenth of the distance, or two thirds."""
    d, left = 4, []
    for seed in range(3, 9):
        rng = np.random.default_rng(seed)
        G = rng.standard_normal((d, d))
        A = G @ G.T * d / np.sum(G**2)
        belief = Posterior(d)
        start = np.linalg.norm(belief.mean - A)
        for _ in range(25):
            belief.update(*truthful(A, list(rng.standard_normal((4, d)))))
        left.append(np.linalg.norm(belief.mean - A) / start)
    assert np.mean(left) < 0.4


def test_contradictions_without_lapses_stay_finite():
    belief = Posterior(2, lapse=0.0, sharpness=1e4, particles=50)
    for _ in range(3):
        belief.update([1.0, 0.0], [0.0, 1.0])
        belief.update([0.0, 1.0], [1.0, 0.0])
    assert np.isfinite(belief.matrices).all()
    assert belief.consistency == 1.0


def test_a_surprising_answer_is_taken_in_by_stages():
    belief = Posterior(6, "diagonal", lapse=0.0, sharpness=300.0, particles=300)
    easy, hard = 3.0 * np.eye(6)[0], np.eye(6)[1]  # easy wins only where column 1 is 9 times as hard
    for other in range(2, 6):
        belief.update(0.25 * np.eye(6)[1], np.eye(6)[other])
    belief.update(easy, hard)
    assert belief.effective_sample_size < 0.1 * 300
    costs = belief.efforts([easy, hard])
    assert np.mean(costs[:, 0] < costs[:, 1]) > 0.9
    assert len(np.unique(costs[:, 0])) > 100


def test_effective_sample_size_is_that_of_the_answer():
    options = [np.eye(3)[0], np.eye(3)[1]]
    belief = Posterior(3, lapse=0.2, sharpness=30.0)
    costs = belief.efforts(options)
    x = (costs[:, 1] - costs[:, 0]) / costs.sum(axis=1)
    weights = 0.1 + 0.8 / (1 + np.exp(-30 * x))
    belief.update(*options)
    assert belief.effective_sample_size == pytest.approx(weights.sum() ** 2 / (weights**2).sum())


def test_identical_options_say_nothing():
    belief = Posterior(3, lapse=0.1)
    belief.update(np.ones(3), np.ones(3))
    assert belief.effective_sample_size == pytest.approx(len(belief.weights))


def test_consistency_tells_a_careful_person_from_a_careless_one():
    rng = np.random.default_rng(0)
    careful, careless = Posterior(3), Posterior(3)
    assert careful.consistency == pytest.approx(0.75)
    for _ in range(12):
        options = list(rng.standard_normal((3, 3)))
        best, rest = truthful(np.diag([1.0, 2.0, 4.0]), options)
        careful.update(best, rest)
        careless.update(options[0], options[1:])
    assert careless.consistency < 0.2 < 0.8 < careful.consistency
    np.testing.assert_allclose(careful.kinds.sum(), 1.0)


def test_same_pulls_efforts_together():
    belief = Posterior(3, "diagonal")
    options = [np.eye(3)[0], np.eye(3)[1]]
    apart = np.abs(np.log(belief.efforts(options)[:, 0] / belief.efforts(options)[:, 1])).mean()
    for _ in range(2):
        belief.update_same(options)
    costs = belief.efforts(options)
    assert np.abs(np.log(costs[:, 0] / costs[:, 1])).mean() < 0.4 * apart


def test_efforts_of_few_and_many_options_equal_the_quadratic_form():
    rng = np.random.default_rng(0)
    belief = Posterior(3, particles=20)
    rows = rng.standard_normal((5000, 3))
    expected = np.maximum(np.einsum("mi,nij,mj->nm", rows, belief.matrices, rows), 0)
    np.testing.assert_allclose(belief.efforts(rows), expected, atol=1e-12)
    plan = rows[:4]
    np.testing.assert_allclose(belief.efforts([plan])[:, 0], expected[:, :4].sum(axis=1), atol=1e-12)


def test_probability_and_excess_by_their_definition():
    rng = np.random.default_rng(2)
    belief = Posterior(3, particles=50)
    pool = rng.standard_normal((6, 3))
    costs = belief.efforts(pool)
    hits, excess = np.zeros(6), np.zeros(6)
    for row in costs:
        yardstick = max(row.min(), np.median(row) / 10)
        hits += row <= 1.05 * row.min()
        excess += (row - row.min()) / yardstick
    np.testing.assert_allclose(belief.probability_best(pool, tolerance=0.05), hits / 50)
    np.testing.assert_allclose(belief.expected_excess(pool), excess / 50)
    assert belief.probability_best(pool).sum() == pytest.approx(1.0)
    # The plan of the estimate has the least expected effort of the pool.
    planned = np.argmin(np.einsum("mi,ij,mj->m", pool, belief.estimate(), pool))
    assert planned == np.argmin(costs.mean(axis=0))


def test_samples_are_particles_without_repetition():
    belief = Posterior(2, particles=30)
    drawn = belief.sample(30)
    assert len(np.unique(drawn[:, 0, 0])) == len(np.unique(belief.matrices[:, 0, 0]))
    assert belief.sample(45).shape == (45, 2, 2)
    assert not np.array_equal(belief.sample(5, 1), belief.sample(5, 2))


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: Posterior(0), "dimension is 0"),
        (lambda: Posterior(2, particles=1), "particles is 1"),
        (lambda: Posterior(2, "gausian"), "did you mean 'gaussian'"),
        (lambda: Posterior(2, lapse=1.5), "lapse is 1.5"),
        (lambda: Posterior(2, sharpness=0.0), "sharpness is 0"),
        (lambda: Posterior(2, [1.0, -1.0]), "positive"),
        (lambda: Posterior(2, [1.0]), "each of the 2 columns"),
        (lambda: Posterior(2, ["hard", "esay"]), "did you mean 'easy'"),
        (lambda: Posterior(2).update([1.0, 2.0], []), "shape"),
        (lambda: Posterior(2).update([1.0, np.nan], [1.0, 0.0]), "finite"),
        (lambda: Posterior(2).update([1.0, 2.0, 3.0], [1.0, 0.0, 0.0]), "shape"),
        (lambda: Posterior(2).update_same([[1.0, 2.0]]), "at least 2"),
        (lambda: Posterior(2).sample(0), "n is 0"),
        (lambda: Posterior(2).probability_best([]), "no options"),
    ],
)
def test_bad_input_is_told_in_a_sentence(call, says):
    with pytest.raises(InputError, match=says):
        call()


def test_columns_that_cannot_move_cost_nothing_and_change_nothing():
    """A posterior on some columns is the posterior of a smaller space, embedded."""
    rng = np.random.default_rng(3)
    columns = [0, 2, 3]
    small, large = Posterior(3, random_state=5), Posterior(5, columns=columns, random_state=5)
    for _ in range(4):
        moves = rng.normal(size=(2, 2, 3))
        wide = np.zeros((2, 2, 5))
        wide[..., columns] = moves
        small.update(moves[0], [moves[1]])
        large.update(wide[0], [wide[1]])
    inside = np.ix_(columns, columns)
    assert np.array_equal(large.mean[inside], small.mean)
    assert np.array_equal(large.sample(7)[:, inside[0], inside[1]], small.sample(7))
    assert large.mean.trace() == pytest.approx(5)
    assert large.mean[1, 1] == large.mean[4, 4] == 1
    assert np.array_equal(large.efforts(list(wide)), small.efforts(list(moves)))
    assert np.array_equal(large.estimate()[inside], small.estimate())


@pytest.mark.parametrize("columns", [[], [5], [-1, 2]])
def test_columns_must_exist(columns):
    with pytest.raises(InputError, match="positions from 0 to 4"):
        Posterior(5, columns=columns)


def test_people_may_weigh_only_what_a_question_shows_as_different():
    """One change makes another harder. Who answers by what differs alone says nothing about that; who weighs all does."""
    both, alone = np.array([1.0, 1.0, 0.0]), np.array([1.0, 0.0, 1.2])
    whole = Posterior(3, lapse=0.01)
    default = Posterior(3)
    for belief in (whole, default):
        for _ in range(4):
            belief.update(alone, both)
    # both ask for the first: that they choose the larger change beside it may mean that the other two hinder each other
    assert whole.mean[0, 1] > default.mean[0, 1] > 0
    seen = default.choice_probabilities([[0.0, 1.0, 0.0], [0.0, 0.0, 1.2]])
    assert seen[1] > whole.choice_probabilities([[0.0, 1.0, 0.0], [0.0, 0.0, 1.2]])[1]


@pytest.mark.parametrize("given", [[0, 1], ["a", "b", "c"], [0.5, 1, 2], [0, np.nan, 1], 3, [0, -5, 1]])
def test_features_are_a_whole_number_for_each_column(given):
    with pytest.raises(InputError, match=r"features is .*; give a whole number for each of the 3 columns"):
        Posterior(3, features=given)

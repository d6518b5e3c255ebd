from __future__ import annotations

import pickle
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import solve_discrete_are

from reap._errors import InputError
from reap.research import subjects

KINDS = ["gaussian", "uniform", "rank-one", "diagonal", "lqr", "scm"]
sizes, seeds = st.integers(1, 7), st.integers(0, 10_000)


def semidefinite(rng, d, rank=None):
    G = rng.standard_normal((d, rank or d))
    return G @ G.T


def unit(A):
    return A / np.linalg.eigvalsh(A)[-1]


@settings(deadline=None)
@given(sizes, seeds)
def test_lqr_equals_the_riccati_solver_of_scipy(d, seed):
    rng = np.random.default_rng(seed)
    Q, R = semidefinite(rng, d) + 0.1 * np.eye(d), semidefinite(rng, d) + 0.1 * np.eye(d)
    expected = unit(solve_discrete_are(np.eye(d), np.eye(d), Q, R))
    np.testing.assert_allclose(subjects.from_lqr(Q, R).matrix, expected, atol=1e-7)


def test_lqr_with_singular_q_is_where_the_riccati_recursion_ends():
    rng = np.random.default_rng(0)
    Q, R = semidefinite(rng, 5, rank=2), semidefinite(rng, 5) + np.eye(5)
    A = np.zeros((5, 5))
    for _ in range(200):
        A = Q + A - A @ np.linalg.solve(R + A, A)
    endless = subjects.from_lqr(Q, R).matrix
    assert np.linalg.matrix_rank(endless, tol=1e-9) == 2
    np.testing.assert_allclose(endless, unit(A), atol=1e-9)


def test_lqr_effort_is_the_least_cost_of_the_way():
    # Minimise Σ zᵀQz + uᵀRu over many free steps as least squares, against the matrix up to its scale.
    rng = np.random.default_rng(1)
    d, horizon = 3, 60
    Q, R = semidefinite(rng, d) + np.eye(d), semidefinite(rng, d) + np.eye(d)
    Lq, Lr = np.linalg.cholesky(Q).T, np.linalg.cholesky(R).T
    ways = []
    for z in rng.standard_normal((6, d)):
        rows, right = [], []
        for t in range(horizon):  # z_t = z + u_0 + … + u_{t−1}
            past = np.kron((np.arange(horizon) < t).astype(float), Lq)
            rows += [past, np.kron(np.eye(horizon)[t], Lr)]
            right += [-Lq @ z, np.zeros(d)]
        rows, right = np.vstack(rows), np.concatenate(right)
        u = np.linalg.lstsq(rows, right, rcond=None)[0]
        ways.append((np.sum((rows @ u - right) ** 2), subjects.from_lqr(Q, R).effort(z)))
    least, efforts = np.array(ways).T
    np.testing.assert_allclose(efforts / efforts[0], least / least[0])


@settings(deadline=None)
@given(sizes, seeds, st.booleans())
def test_scm_is_the_precision_of_the_deviations(d, seed, full):
    rng = np.random.default_rng(seed)
    W = np.tril(rng.standard_normal((d, d)), -1)
    D = semidefinite(rng, d) + 0.2 * np.eye(d) if full else np.diag(rng.uniform(0.5, 2.0, d))
    mixing = np.linalg.inv(np.eye(d) - W)
    expected = np.linalg.inv(mixing @ D @ mixing.T)
    np.testing.assert_allclose(
        subjects.from_scm(W, D if full else np.diag(D)).matrix, unit(expected), atol=1e-6
    )


@settings(deadline=None)
@given(sizes, seeds, st.sampled_from(KINDS))
def test_random_people_have_a_unit_spectrum_and_repeat(d, seed, kind):
    A = subjects.random(d, seed, kind=kind).matrix
    spectrum = np.linalg.eigvalsh(A)
    assert spectrum[-1] == pytest.approx(1.0)
    assert spectrum[0] > -1e-12
    np.testing.assert_array_equal(A, subjects.random(d, np.random.default_rng(seed), kind=kind).matrix)
    assert (np.linalg.matrix_rank(A, tol=1e-10) == 1) or kind != "rank-one"


def test_gaussian_people_are_drawn_as_in_the_paper():
    G = np.random.default_rng(5).standard_normal((4, 4))
    np.testing.assert_allclose(subjects.random(4, 5).matrix, unit(G @ G.T))


@given(seeds, st.integers(1, 4))
def test_effort_is_the_inner_product_with_the_gram_matrix(seed, steps):
    rng = np.random.default_rng(seed)
    person = subjects.random(3, rng)
    V = rng.standard_normal((steps, 3))
    assert person.effort(V) == pytest.approx(np.sum(person.matrix * (V.T @ V)))
    np.testing.assert_allclose(person.efforts(V).sum(), person.effort(V))


def test_a_truthful_person_takes_the_easiest_and_says_same_within_epsilon():
    options = [[2.0, 0.0], [0.0, 1.0], [1.0, 1.0]]
    assert subjects.Mahalanobis(np.eye(2)).answer(options) == 1
    assert subjects.Mahalanobis(np.eye(2)).answer([[1.0, 0.0], [0.0, 1.0]]) == "same"
    assert subjects.Mahalanobis(np.eye(2), epsilon=0.9).answer(options[1:]) == 0
    assert subjects.Mahalanobis(np.eye(2), epsilon=1.0).answer(options[1:]) == "same"
    assert subjects.L1([1.0, 3.0]).answer([[2.0, 0.0], [0.0, 1.0]]) == 0


def test_a_question_with_plans_is_answered_like_its_moves():
    moves = [np.ones((2, 2)), np.ones((1, 2))]
    question = SimpleNamespace(options=[SimpleNamespace(moves=V) for V in moves])
    person = subjects.L1()
    assert person.answer(question) == person.answer(moves) == 1


def test_lapses_are_the_share_of_random_answers():
    person = subjects.Mahalanobis(np.eye(1), lapse=0.4, random_state=0)
    answers = np.array([person.answer([[1.0], [2.0], [3.0], [4.0]]) for _ in range(4000)])
    np.testing.assert_allclose(np.bincount(answers, minlength=4) / 4000, [0.7, 0.1, 0.1, 0.1], atol=0.03)


def test_noise_is_logistic_in_the_relative_difference():
    person = subjects.Mahalanobis(np.eye(1), noise=5.0, random_state=0)
    answers = [person.answer([[1.0], [1.2]]) for _ in range(4000)]
    expected = 1 / (1 + np.exp(-5 * (1.44 - 1) / ((1.44 + 1) / 2)))
    assert np.mean(np.array(answers) == 0) == pytest.approx(expected, abs=0.03)


def test_the_same_seed_gives_the_same_answers_also_after_pickling():
    def talk(person):
        return [person.answer([[1.0, 0.0], [0.9, 0.1]]) for _ in range(30)]

    first, second = (subjects.random(2, 3, lapse=0.5, noise=10.0) for _ in range(2))
    third = pickle.loads(pickle.dumps(first))
    assert talk(first) == talk(second) == talk(third)
    assert len(set(talk(first))) == 2


def test_a_plan_without_steps_costs_nothing():
    assert subjects.random(3, 0).effort(np.empty((0, 3))) == 0.0
    assert subjects.L1().effort(np.empty((0, 3))) == 0.0


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: subjects.Mahalanobis([[1.0, 2.0], [2.0, 1.0]]), "positive semidefinite"),
        (lambda: subjects.Mahalanobis([[1.0, 1.0], [0.0, 1.0]]), "symmetric"),
        (lambda: subjects.Mahalanobis([1.0, 2.0]), "square"),
        (lambda: subjects.Mahalanobis(np.eye(2), lapse=-0.1), "lapse is -0.1"),
        (lambda: subjects.Mahalanobis(np.eye(2), noise=0.0), "sharpness is 0"),
        (lambda: subjects.Mahalanobis(np.eye(2), epsilon=-1.0), "epsilon is -1"),
        (lambda: subjects.Mahalanobis(np.eye(2)).effort([1.0, 2.0, 3.0]), "shape"),
        (lambda: subjects.Mahalanobis(np.eye(2)).answer([[1.0, 2.0]]), "at least 2"),
        (lambda: subjects.L1([-1.0, 2.0]), "at least 0"),
        (lambda: subjects.from_lqr(np.eye(2), np.zeros((2, 2))), "R is singular"),
        (lambda: subjects.from_lqr(np.eye(2), np.eye(3)), "must be equal"),
        (lambda: subjects.from_scm(np.zeros((2, 2)), [1.0, 0.0]), "D is singular"),
        (lambda: subjects.from_scm(np.zeros((2, 2)), [1.0]), "W has shape"),
        (lambda: subjects.random(3, 0, kind="gausian"), "did you mean 'gaussian'"),
        (lambda: subjects.random(0, 0), "dimension is 0"),
    ],
)
def test_bad_input_is_told_in_a_sentence(call, says):
    with pytest.raises(InputError, match=says):
        call()


def test_people_as_they_answered_differ_as_the_belief_expects_and_answer_by_their_own_effort():
    people = [subjects.Curved.as_people_answered(4, seed) for seed in range(200)]
    assert {person.power for person in people} == {0.5, 0.75, 1.0}
    assert 0.4 < np.mean([person.lapse == 0.02 for person in people]) < 0.6
    assert 5 < np.median([person.noise for person in people]) < 20
    sure = subjects.Curved(people[0].weights, people[0].power)
    change = np.array([0.2, 0.0, -0.1, 0.3])
    assert sure.effort(change) == pytest.approx(
        sum(w * abs(v) ** (2 * sure.power) for w, v in zip(sure.weights, change, strict=True))
    )
    assert sure.effort([change / 2, change / 2]) == pytest.approx(sure.effort(change))
    with pytest.raises(InputError, match="power is 0"):
        subjects.Curved([1.0, 1.0], 0.0)
    with pytest.raises(InputError, match="at least 0"):
        subjects.Curved([1.0, -1.0])

"""What a posterior promises: Bayes' rule on a bank of people, the same answers the same state, nobody ruled out."""

from __future__ import annotations

import pickle
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reap._errors import InputError
from reap.belief import Posterior, Sampled
from reap.belief.answers import chances
from reap.belief.prior import POWERS, TYPICAL
from reap.effort import Efforts

seeds = st.integers(0, 999)


def taught(belief, rng, answers=3):
    for _ in range(answers):
        a, b, c = 0.3 * rng.standard_normal((3, belief.dimension))
        belief.update(a, b)
        belief.update(b, [a, c])
        belief.update_same([b, c])
    return belief


def truthful(A, options):
    """The option that is easiest under A, and the others."""
    best = int(np.argmin([V @ A @ V for V in options]))
    return options[best], [V for i, V in enumerate(options) if i != best]


def minds(belief):
    """How likely the person is to mind each of the columns beside at all."""
    beside = np.eye(belief.dimension)[3:]
    return belief.weights @ (belief.efforts(beside) > 0)


# learning ------------------------------------------------------------------------------------------------------


@settings(deadline=None, max_examples=20)
@given(st.integers(1, 5), st.integers(2, 4), seeds)
def test_an_answer_is_bayes_rule_person_by_person(d, k, seed):
    """Against the definition, written out for each of six people."""
    rng = np.random.default_rng(seed)
    belief = Posterior(d, bank=6, random_state=seed)
    people, options = belief._bank, 0.4 * rng.standard_normal((k, d))
    before, expected = belief.shares, np.empty(6)
    dense = 0
    for i in range(6):
        A = np.diag(people.weights[i] + people.liked[i])
        welcome = people.liked[i] > 0
        G = np.zeros((d, 1))
        if people.interaction[i]:
            G, dense = people.factor[:, dense], dense + 1
        sizes, felt = np.empty(k), np.empty(k)
        for j, V in enumerate(options):
            phi = TYPICAL * np.sign(V) * (np.abs(V) / TYPICAL) ** people.powers[i]
            glad = phi[welcome] ** 2 @ np.diag(A)[welcome]
            asked = phi**2 @ np.diag(A) - glad + ((phi @ G) ** 2).sum()
            sizes[j], felt[j] = asked + glad, asked - glad
        powers = np.exp(-people.sharpness[i] * (felt - felt.min()) / sizes.mean())
        eta = people.lapses[i]
        expected[i] = before[i] * (eta / k + (1 - eta) * powers[0] / powers.sum())
    belief.update(options[0], list(options[1:]))
    np.testing.assert_allclose(belief.shares, expected / expected.sum(), rtol=2e-4)


@settings(deadline=None, max_examples=20)
@given(st.integers(2, 6), st.permutations(range(5)), seeds)
def test_the_order_of_answers_does_not_matter_before_a_renewal(d, order, seed):
    rng = np.random.default_rng(seed)
    pairs = 0.3 * rng.standard_normal((5, 2, d))
    one, other = (Posterior(d, bank=200, renew=False) for _ in range(2))
    for i in range(5):
        one.update(*pairs[i])
        other.update(*pairs[order[i]])
    np.testing.assert_allclose(one.shares, other.shares, rtol=1e-9)


@settings(deadline=None, max_examples=20)
@given(st.integers(2, 6), seeds, st.floats(0.05, 20.0))
def test_the_sign_of_a_change_and_the_unit_of_effort_are_accidents(d, seed, size):
    """All options turned round, or each person's efforts in another unit: an answer says the same."""
    rng = np.random.default_rng(seed)
    a, b = 0.3 * rng.standard_normal((2, d))
    one, turned = (Posterior(d, bank=200) for _ in range(2))
    one.update(a, b)
    turned.update(-a, -b)
    np.testing.assert_allclose(one.shares, turned.shares, rtol=1e-9)
    efforts, kind = rng.random((50, 3)) + 0.1, (rng.random(50) * 20, rng.random(50))
    np.testing.assert_allclose(
        chances(efforts, efforts, *kind), chances(size * efforts, size * efforts, *kind)
    )


@pytest.mark.parametrize("answers", [3, 12])
def test_replaying_the_same_answers_gives_the_same_state_to_the_bit(answers):
    """The longer one renews its bank on the way."""
    first, second = (
        taught(Posterior(4, random_state=7), np.random.default_rng(1), answers) for _ in range(2)
    )
    assert (len(first._bank) < 4000) == (answers == 12)
    np.testing.assert_array_equal(first.shares, second.shares)
    np.testing.assert_array_equal(first.sample(9).matrices, second.sample(9).matrices)
    np.testing.assert_array_equal(first.mean, second.mean)
    other = taught(Posterior(4, random_state=8), np.random.default_rng(1))
    assert not np.array_equal(first.mean, other.mean)


def test_a_copy_and_a_pickle_go_their_own_way_and_leave_the_original():
    belief = taught(Posterior(3, bank=300), np.random.default_rng(0), 1)
    before = belief.shares
    twins = [belief.copy(), pickle.loads(pickle.dumps(belief))]
    for twin in twins:
        twin.efforts(np.eye(3))
        taught(twin, np.random.default_rng(5), 1)
    np.testing.assert_array_equal(belief.shares, before)
    assert (len(belief), len(twins[0])) == (3, 6)
    taught(belief, np.random.default_rng(5), 1)
    for twin in twins:
        np.testing.assert_array_equal(belief.shares, twin.shares)
        np.testing.assert_array_equal(belief.efforts(np.eye(3)), twin.efforts(np.eye(3)))


def test_one_other_option_may_come_bare_or_in_a_list():
    bare, listed = Posterior(3), Posterior(3)
    bare.update(np.ones(3), np.eye(3)[0])
    listed.update(np.ones(3), [np.eye(3)[0]])
    np.testing.assert_array_equal(bare.shares, listed.shares)
    bare.update([1.0, 1.0, 1.0], [1.0, 0.0, 0.0])
    assert len(bare) == 2


@pytest.mark.parametrize("kind", ["one by one", "together"])
def test_answers_bring_the_mean_nearer_to_the_truth(kind):
    d, left = 4, []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        G = rng.standard_normal((d, d))
        A = G @ G.T if kind == "together" else np.diag(np.exp(1.25 * rng.standard_normal(d)))
        A *= d / np.trace(A)
        belief = Posterior(d)
        start = np.linalg.norm(belief.mean - A)
        for _ in range(25):
            belief.update(*truthful(A, list(0.3 * rng.standard_normal((4, d)))))
        mean = belief.mean * d / np.trace(belief.mean)
        left.append(np.linalg.norm(mean - A) / start)
    assert np.mean(left) < 0.7


def test_contradictions_without_lapses_stay_finite():
    belief = Posterior(2, lapse=0.0, sharpness=1e4)
    for _ in range(3):
        belief.update([1.0, 0.0], [0.0, 1.0])
        belief.update([0.0, 1.0], [1.0, 0.0])
    assert np.isfinite(belief.mean).all()
    assert belief.shares.sum() == pytest.approx(1.0)


def test_same_pulls_efforts_together():
    belief, options = Posterior(3), np.eye(3)[:2] / 4

    def apart():
        efforts = belief.efforts(options) + 1e-9
        return belief.weights @ (np.abs(efforts[:, 0] - efforts[:, 1]) / efforts.sum(axis=1))

    before = apart()
    for _ in range(3):
        belief.update_same(list(options))
    assert apart() < 0.5 * before


def test_people_may_weigh_only_what_a_question_shows_as_different():
    """One change is in both options: who compares the rest alone says nothing of what it does to the other."""
    both, alone = np.array([0.5, 0.5, 0.0]), np.array([0.5, 0.0, 0.6])
    default = Posterior(3)
    for _ in range(4):
        default.update(alone, both)
    assert default.choice_probabilities([[0.0, 0.5, 0.0], [0.0, 0.0, 0.6]])[1] > 0.7
    # for who looks at what differs, what is shared weighs nothing, however much it is
    narrow = default._bank.narrow
    one, two = Posterior(3), Posterior(3)
    one.update([5.0, 0.0, 0.3], [5.0, 0.3, 0.0])
    two.update([0.0, 0.0, 0.3], [0.0, 0.3, 0.0])
    np.testing.assert_allclose(one._logs[narrow], two._logs[narrow])


def test_what_is_minded_beside_the_changes_is_learnt():
    belief = Posterior(3, beside=2)
    assert minds(belief) == pytest.approx([0.1, 0.1], abs=0.04)
    rng = np.random.default_rng(0)
    for _ in range(8):  # always the plan with one change, though it is the harder one
        few, many = 0.3 * rng.normal(size=(2, 3))
        belief.update(np.r_[2 * few, 1.0, 0.3], [np.r_[0.5 * many, np.sqrt(3), 0.3]])
    counts, waits = minds(belief)
    assert counts > 0.8
    assert waits < 0.4
    people = belief.sample(50)
    assert people.matrices.shape == (50, 3, 3)
    assert (people.per_change > 0).mean() > 0.7
    assert belief.mean.shape == (5, 5)


# renewal ---------------------------------------------------------------------------------------------------------


def long_session(renew, A, answers=40, seed=0):
    """Answers by somebody with matrix A to questions of three changes each, and the chance stated of 60 further answers."""
    d, rng = len(A), np.random.default_rng(seed)
    belief, moves = Posterior(d, renew=renew), np.zeros((2 * (answers + 60), d))
    for V in moves:
        V[rng.choice(d, 3, replace=False)] = 0.25 * rng.standard_normal(3)
    questions = [truthful(A, list(pair)) for pair in moves.reshape(-1, 2, d)]
    for best, rest in questions[:answers]:
        belief.update(best, rest)
    stated = [belief.choice_probabilities([best, *rest])[0] for best, rest in questions[answers:]]
    return belief, -np.log(stated).mean()


def test_a_long_session_is_predicted_better_with_renewal():
    losses = []
    for seed in range(4):
        G = np.random.default_rng(seed).standard_normal((20, 20))
        A = G @ G.T
        (fixed, without), (renewed, with_) = (long_session(renew, A, seed=seed) for renew in (False, True))
        assert renewed.effective_sample_size > fixed.effective_sample_size
        losses.append((without, with_))
    without, with_ = np.mean(losses, axis=0)
    assert with_ < without - 0.05


def test_moves_keep_the_prior_as_it_is():
    """Where nothing was answered, people who moved are as those of the prior: in means, spreads and how columns go together."""
    before = Posterior(5, beside=1, bank=20_000)
    people, rng = before._bank, np.random.default_rng(1)
    for far in (0.5, 0.3, 0.9):
        people = type(people).of(people.moved(before._populations, far, rng))
    assert np.abs(people.latents - before._bank.latents).mean() > 0.3
    for name in ("latents", "normals", "weights", "factor", "beside"):
        new, old = getattr(people, name), getattr(before._bank, name)
        assert new.mean() == pytest.approx(old.mean(), abs=0.03)
        assert new.std() == pytest.approx(old.std(), rel=0.06)
    np.testing.assert_array_equal(people.beside > 0, before._bank.beside > 0)
    shares = np.full(len(people), 1 / len(people))
    np.testing.assert_allclose(people.mean(shares), before._bank.mean(shares), atol=0.05)


# people, as others use them ---------------------------------------------------------------------------------------


def test_it_is_a_sampled_belief_whose_people_stand_for_the_bank():
    belief = taught(Posterior(5), np.random.default_rng(3))
    assert isinstance(belief, Sampled)
    pool = 0.3 * np.random.default_rng(0).standard_normal((30, 5))
    assert belief.weights.sum() == pytest.approx(1.0)
    assert len(belief.weights) <= 1000
    np.testing.assert_allclose(belief.weights @ belief.efforts(pool), belief.expected(pool), rtol=0.06)


@settings(deadline=None, max_examples=15)
@given(st.integers(1, 30), seeds)
def test_a_sample_asks_what_the_belief_says(d, seed):
    """Efforts with a curvature of their own, none below 0, of people drawn by how likely they are."""
    rng = np.random.default_rng(seed)
    belief = taught(Posterior(d, bank=400, random_state=seed), rng, 1)
    people = belief.sample(400)
    assert isinstance(people, Efforts)
    assert set(people.powers) <= set(POWERS)
    assert np.linalg.eigvalsh(people.matrices).min() > -1e-5 * d
    pool = 0.3 * rng.standard_normal((6, d))
    asked = people.ask(pool)
    assert (asked >= 0).all()
    np.testing.assert_allclose(asked.mean(axis=0), belief.expected(pool), rtol=0.3)


def test_the_mean_is_that_of_the_people():
    belief = taught(Posterior(4), np.random.default_rng(0))
    people = belief._bank.efforts(np.arange(4), 4)
    A = people.matrices * (TYPICAL ** (2 * people.powers - 2))[:, None, None]
    np.testing.assert_allclose(belief.mean, np.tensordot(belief.shares, A, 1), atol=1e-5)
    np.testing.assert_array_equal(belief.mean, belief.mean.T)
    assert Posterior(4).mean.trace() == pytest.approx(4, rel=0.1)


def test_a_path_asks_the_sum_over_its_moves():
    belief, moves = Posterior(3), 0.3 * np.random.default_rng(0).standard_normal((4, 3))
    each = belief.efforts(moves)
    np.testing.assert_allclose(
        belief.efforts([moves, moves[:1]]), np.column_stack([each.sum(axis=1), each[:, 0]]), rtol=1e-5
    )


def test_chances_of_answers_are_chances():
    belief = taught(Posterior(3), np.random.default_rng(0))
    options = list(0.3 * np.random.default_rng(1).standard_normal((4, 3)))
    assert belief.choice_probabilities(options).sum() == pytest.approx(1.0)
    efforts = belief.efforts(options)
    likely = belief.answer_probabilities(efforts[:, None])
    assert likely.shape == (len(belief.weights), 1, 4)
    np.testing.assert_allclose(likely.sum(axis=2), 1.0)
    meant = belief.answer_probabilities(efforts[:5, None], np.arange(5), slips=False)
    assert (meant.max(axis=2) >= likely[:5].max(axis=2)).all()


# what is given ------------------------------------------------------------------------------------------------------


def test_columns_that_cannot_move_cost_nothing_and_change_nothing():
    """A posterior on some columns is the posterior of a smaller space, embedded."""
    rng, columns = np.random.default_rng(3), [0, 2, 3]
    small, large = Posterior(3, random_state=5), Posterior(5, columns=columns, random_state=5)
    for _ in range(4):
        moves = 0.3 * rng.normal(size=(2, 3))
        wide = np.zeros((2, 5))
        wide[:, columns] = moves
        small.update(moves[0], [moves[1]])
        large.update(wide[0], [wide[1]])
    inside = np.ix_(columns, columns)
    np.testing.assert_array_equal(large.mean[inside], small.mean)
    np.testing.assert_array_equal(large.efforts(wide), small.efforts(moves))
    assert large.mean[1, 1] == large.mean[4, 4] == 1
    assert len(Posterior(1000, columns=range(5)).mean) == 1000


def test_stated_difficulties_are_believed():
    plain, stated = Posterior(2), Posterior(2, difficulties=["very hard", "neither easy nor hard"])
    assert stated.mean[0, 0] / stated.mean[1, 1] > 3 * plain.mean[0, 0] / plain.mean[1, 1]
    np.testing.assert_array_equal(Posterior(2, difficulties=[10.0, 1.0]).mean, stated.mean)


def test_who_answers_is_as_described():
    belief = Posterior(2, lapse=0.2, sharpness=30.0)
    one = np.array([[[1.0, 1.1]]])
    likely = belief.answer_probabilities(np.repeat(one, len(belief.weights), axis=0))
    np.testing.assert_allclose(likely[:, 0, 0], 0.1 + 0.8 / (1 + np.exp(-30 * 0.1 / 1.05)))
    assert belief.choice_probabilities([[9.0, 9.0], [0.001, 0.0]])[0] == pytest.approx(
        0.1, abs=0.06
    )  # some like both changes


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: Posterior(0), "dimension is 0"),
        (lambda: Posterior(2, bank=1), "bank is 1"),
        (lambda: Posterior(2, beside=-1), "beside is -1"),
        (lambda: Posterior(2, "peple"), "did you mean 'people'"),
        (lambda: Posterior(2, lapse=1.5), "lapse is 1.5"),
        (lambda: Posterior(2, sharpness=0.0), "sharpness is 0"),
        (lambda: Posterior(2, difficulties=[1.0, -1.0]), "positive"),
        (lambda: Posterior(2, difficulties=[1.0]), "each of the 2 columns"),
        (lambda: Posterior(2, difficulties=["hard", "esay"]), "did you mean 'easy'"),
        (lambda: Posterior(2).update([1.0, 2.0], []), "shape"),
        (lambda: Posterior(2).update([1.0, np.nan], [1.0, 0.0]), "finite"),
        (lambda: Posterior(2).update([1.0, 2.0, 3.0], [1.0, 0.0, 0.0]), "shape"),
        (lambda: Posterior(2).update_same([[1.0, 2.0]]), "at least 2"),
        (lambda: Posterior(2).sample(0), "n is 0"),
        (lambda: Posterior(5, columns=[]), "positions from 0 to 4"),
        (lambda: Posterior(5, columns=[5]), "positions from 0 to 4"),
        (lambda: Posterior(5, columns=[-1, 2]), "positions from 0 to 4"),
        (lambda: Posterior(2).expected([]), "no options"),
    ],
)
def test_bad_input_is_told_in_a_sentence(call, says):
    with pytest.raises(InputError, match=says):
        call()


@pytest.mark.parametrize("given", [[0, 1], ["a", "b", "c"], [0.5, 1, 2], [0, np.nan, 1], 3, [0, -5, 1]])
def test_features_are_a_whole_number_for_each_column(given):
    with pytest.raises(InputError, match=r"features is .*; give a whole number for each of the 3 columns"):
        Posterior(3, features=given)


# people of many columns -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("d", "most"), [(20, 0.02), (70, 0.06), (200, 0.2)])
def test_an_answer_takes_milliseconds_whatever_the_columns(d, most):
    """Two milliseconds at 20 columns, on an idle machine; ten times that is a fault."""
    rng, belief, spent = np.random.default_rng(0), Posterior(d), []
    for _ in range(9):
        options = np.zeros((2, d))
        for option in options:
            option[rng.choice(d, 3, replace=False)] = 0.3 * rng.standard_normal(3)
        begin = time.process_time()
        belief.update(*options)
        spent.append(time.process_time() - begin)
    assert np.median(spent) < most


def test_interaction_is_like_that_of_dense_people():
    """Of those who weigh changes together as the paper's people do: off the diagonal 0 on average, and of a size about 1/√d."""
    for d in (4, 40):
        people = Posterior(d, bank=2000)
        who = people._bank.interaction == 1
        A = people._bank.efforts(np.arange(d), d).matrices[who]
        A *= (d / np.trace(A, axis1=1, axis2=2))[:, None, None]
        off = A[:, *np.triu_indices(d, 1)]
        size = np.sqrt(np.diagonal(A, axis1=1, axis2=2).mean() ** 2 / d)
        assert abs(off.mean()) < 0.05 * size
        assert 0.6 < off.std() / size < 2.0

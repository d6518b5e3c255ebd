"""The posterior against other ways to compute it, and against what happens."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit, logsumexp
from scipy.stats import chisquare

from reap.belief.answers import People, choice_probabilities, people
from reap.belief.posterior import Posterior
from reap.belief.prior import Prior
from reap.research.costs import draw


def log_likelihood(A, questions, kappa, eta):
    """Answers scored from the formulas, for matrices (n, d, d); the first option of each question was chosen."""
    total = np.zeros(len(A))
    for options in questions:
        c = np.maximum(np.einsum("ki,nij,kj->nk", options, A, options), 1e-300)
        if len(options) == 2:
            p = expit(kappa * (c[:, 1] - c[:, 0]) / (c[:, 1] + c[:, 0]))
        else:
            p = np.exp(-logsumexp(kappa / 2 * np.log(c[:, :1] / c), axis=1))
        total += np.log(2 * eta / len(options) + (1 - 2 * eta) * p)
    return total


def scaled(A):
    return A * A.shape[1] / A.trace(axis1=1, axis2=2)[:, None, None]


@pytest.mark.parametrize(("d", "k"), [(2, 2), (3, 3)])
def test_mean_equals_a_long_random_walk_metropolis_run(d, k):
    rng = np.random.default_rng(d)
    questions = rng.standard_normal((3, k, d))
    kappa, eta = 12.0, 0.05

    chains, burn, steps = 400, 400, 2000
    G = rng.standard_normal((chains, d, d))

    def target(G):
        return (
            log_likelihood(scaled(G @ G.transpose(0, 2, 1)), questions, kappa, eta)
            - (G**2).sum(axis=(1, 2)) / 2
        )

    now, total = target(G), np.zeros((chains, d, d))
    for step in range(burn + steps):
        proposal = G + 0.6 * rng.standard_normal(G.shape)
        new = target(proposal)
        yes = np.log(rng.random(chains)) < new - now
        G[yes], now[yes] = proposal[yes], new[yes]
        if step >= burn:
            total += scaled(G @ G.transpose(0, 2, 1))
    walk = total / steps

    runs = []
    for seed in range(40):
        belief = Posterior(d, "gaussian", lapse=2 * eta, sharpness=kappa, random_state=seed)
        for first, *rest in questions:
            belief.update(first, rest)
        runs.append(belief.mean)
    error = np.sqrt(np.var(runs, axis=0) / len(runs) + walk.var(axis=0) / chains)
    assert error.max() < 0.02
    shift = np.abs(np.mean(runs, axis=0) - np.eye(d))
    assert shift.max() > 10 * error.max()  # the answers said something
    assert (np.abs(np.mean(runs, axis=0) - walk.mean(axis=0)) < 4 * error + 1e-12).all()


def people_by_hand(n, d, rng):
    """Draw from the mixture, written from its definition."""
    G, u = rng.standard_normal((n, d, d)), rng.standard_normal((n, d))
    family = rng.choice(7, size=n, p=np.array([4, 1, 0.5, 1, 1, 2, 3]) / 12.5)
    A = G.transpose(0, 2, 1) @ G  # 0
    P = np.abs(G) * np.where(u < 0, -1.0, 1.0)[:, None, :]  # all rows share the signs of the columns
    A[family == 1] = (P.transpose(0, 2, 1) @ P)[family == 1]
    A[family == 2] = (G[:, :1].transpose(0, 2, 1) @ G[:, :1])[family == 2]
    A[family == 3] = (np.exp(u)[:, :, None] * np.eye(d))[family == 3]
    F = np.exp(u / 2)[:, None, :] * G
    A[family == 4] = (scaled(F.transpose(0, 2, 1) @ F) + 0.3 * np.eye(d))[family == 4]
    cause = (u[:, :, None] > u[:, None, :]) & (np.abs(G) > 0.6745)  # a change brings later ones about
    C = np.eye(d) - np.where(cause, G, 0.0)
    A[family == 5] = (C.transpose(0, 2, 1) @ C)[family == 5]
    half = scaled(G.transpose(0, 2, 1) @ G) + np.eye(d)  # the other half is the same for every column
    A[family == 6] = half[family == 6]
    return scaled(A)


def test_the_mixture_equals_importance_sampling():
    rng = np.random.default_rng(11)
    d = 3
    questions = list(rng.standard_normal((2, 2, d))) + list(rng.standard_normal((2, 4, d)))
    A = people_by_hand(300_000, d, rng)
    kinds = [(200.0, 0.005), (50.0, 0.05), (20.0, 0.15)]
    usual = np.array([[0.6], [0.3], [0.1]])
    likelihood = usual * np.exp([log_likelihood(A, questions, *kind) for kind in kinds])  # (3, n)
    weights = likelihood.sum(axis=0) / likelihood.sum()
    expected = np.tensordot(weights, A, axes=1)

    runs, shares = [], []
    for seed in range(80):
        belief = Posterior(d, random_state=seed)
        for first, *rest in questions:
            belief.update(first, rest)
        runs.append(belief.mean)
        shares.append(belief.kinds)
    sampling = np.sqrt(np.tensordot(weights**2, (A - expected) ** 2, axes=1))
    error = np.sqrt(np.var(runs, axis=0) / len(runs) + sampling**2)
    assert error.max() < 0.025
    assert (np.abs(np.mean(runs, axis=0) - expected) < 4 * error + 0.005).all()
    np.testing.assert_allclose(np.mean(shares, axis=0), likelihood.sum(axis=1) / likelihood.sum(), atol=0.02)


@pytest.mark.parametrize(("sessions", "loose"), [(250, 2.0), pytest.param(1000, 1.0, marks=pytest.mark.long)])
def test_stated_probabilities_match_what_happens(sessions, loose):
    """With a quarter of the sessions chance is twice as large, and so are the bounds."""
    d, m, k = 3, 12, 3
    who = people()
    stated, hits, ranks, careful = [], [], [], []
    for session in range(sessions):
        rng = np.random.default_rng([2024, session])
        prior = Prior(d)
        A = prior.matrices(*prior.draw(1, rng))[0]
        kind = rng.choice(3, p=who.share)
        person = People(who.sharpness[[kind]], who.slip[[kind]], np.ones(1))
        pool = rng.standard_normal((m, d))
        costs = np.maximum(np.einsum("mi,ij,mj->m", pool, A, pool), 0)
        belief = Posterior(d, particles=300, random_state=session)
        for _ in range(4):
            shown = rng.choice(m, size=k, replace=False)
            chances = choice_probabilities(costs[shown], person)[:, 0]
            chosen = rng.choice(k, p=chances)
            belief.update(pool[shown[chosen]], [pool[j] for j in np.delete(shown, chosen)])
        E = belief.estimate()
        plan = int(np.argmin(np.einsum("mi,ij,mj->m", pool, E, pool)))
        stated.append(belief.probability_best(pool, tolerance=0.05)[plan])
        hits.append(costs[plan] <= 1.05 * costs.min())
        ranks.append(np.mean(belief.matrices[:, 0, 0] < A[0, 0]))
        careful.append((belief.kinds[0], kind == 0))
    stated, hits = np.array(stated), np.array(hits)
    assert np.abs(stated.mean() - hits.mean()) < 0.04 * loose
    for part in np.array_split(
        np.argsort(stated), 4
    ):  # the sure and the unsure are each right as often as stated
        assert np.abs(stated[part].mean() - hits[part].mean()) < 0.09 * loose
    assert np.ptp([stated[part].mean() for part in np.array_split(np.argsort(stated), 4)]) > 0.3
    # The truth is nowhere special among the particles.
    counts = np.histogram(ranks, bins=8, range=(0, 1 + 1e-9))[0]
    assert chisquare(counts).pvalue > 1e-3
    said, were = np.mean(careful, axis=0)
    assert np.abs(said - were) < 0.05 * loose


@pytest.mark.parametrize("kind", ["lqr", "gaussian"])
def test_the_default_is_neither_shy_nor_bold_about_people_it_was_not_made_from(kind):
    """People drawn as the experiments draw them, who never err. Without the family "alike-50" LQR people miss by 10 points."""
    d, m, stated, hits = 6, 10, [], []
    for session in range(150):
        rng = np.random.default_rng([7, session])
        A, pool = draw(d, rng, kind), rng.standard_normal((m, d))
        costs = np.einsum("mi,ij,mj->m", pool, A, pool)
        belief = Posterior(d, particles=300, random_state=session)
        for _ in range(4):
            plan = int(belief.efforts(pool).mean(axis=0).argmin())
            stated.append(belief.probability_best(pool, tolerance=0.05)[plan])
            hits.append(costs[plan] <= 1.05 * costs.min())
            better, worse = sorted(rng.choice(m, size=2, replace=False), key=lambda i: costs[i])
            belief.update(pool[better], [pool[worse]])
    assert np.abs(np.mean(stated) - np.mean(hits)) < 0.07

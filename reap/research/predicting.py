"""What predicts a person's next answer: logits of conjoint analysis, the paper's confidence set, and beliefs.

A predictor takes a ``Respondent`` and returns, for each number of answers in ``seen``, the chances (t, k) of the options of the
questions held out. Logits have the utility ``−xᵀβ``; they are told no directions and must learn them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from scipy.special import logsumexp

from reap._typing import Array, Bools
from reap.belief import Belief, ConfidenceSet, LearnedPrior, Posterior
from reap.belief.learning import Comparison, Past, fit
from reap.effort import of_change
from reap.research.choices import Respondent

#: From a person to the chances (t, k) of what is held out, by number of answers.
Predictor: TypeAlias = Callable[[Respondent], dict[int, Array]]
#: How the centre of a confidence set is taken to answer: sharpness on relative effort, and share of answers at random.
SHARPNESS, LAPSE = 8.0, 0.1


def softmax(utilities: Array, offered: Bools) -> Array:
    """Return the chances (…, k) of options with utilities (…, k), of those that are offered."""
    kept = np.where(offered, utilities, -np.inf)
    powers = np.exp(kept - kept.max(axis=-1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=-1, keepdims=True))


# logits --------------------------------------------------------------------------------------------


def logit(X: Array, offered: Bools, answers: Array, mean: Array, ridge: float) -> Array:
    """Return the coefficients (d,) of a logit with penalty ``ridge/2 |β − mean|²``, by damped Newton steps.

    Parameters
    ----------
    X : (q, k, d) array
    offered : (q, k) array
    answers : (q, k) array
    mean : (d,) array
    ridge : float

    Examples
    --------
    >>> X = np.array([[[1.0], [0.0]], [[1.0], [0.0]], [[1.0], [0.0]], [[1.0], [0.0]]])
    >>> answers = np.array([[0.0, 1.0], [0.0, 1.0], [0.0, 1.0], [1.0, 0.0]])
    >>> logit(X, np.ones((4, 2), bool), answers, np.zeros(1), 1e-9).round(4).tolist()  # log 3
    [1.0986]
    """
    X = -X * offered[..., None]

    def value(b: Array) -> float:
        U = np.where(offered, X @ b, -np.inf)
        logs = np.where(offered, U - logsumexp(U, axis=-1, keepdims=True), 0.0)
        return float((answers * logs).sum() - 0.5 * ridge * ((b - mean) ** 2).sum())

    b = np.array(mean, dtype=float)
    known = value(b)
    for _ in range(30):
        chance = softmax(X @ b, offered)
        slope = np.einsum("qk,qkd->d", answers - chance, X) - ridge * (b - mean)
        middle = np.einsum("qk,qkd->qd", chance, X)
        bend = np.einsum("qk,qkd,qke->de", chance, X, X) - middle.T @ middle
        step, share = np.linalg.solve(bend + (ridge + 1e-9) * np.eye(len(b)), slope), 1.0
        while share > 1e-3 and value(b + share * step) < known:
            share /= 2
        b = b + share * step
        found = value(b)
        if found - known < 1e-7:
            break
        known = found
    return b


def pooled(people: Sequence[Respondent]) -> Array:
    """Return the coefficients (d,) of one logit for everybody."""
    X, offered, answers = _together(people)
    return logit(X, offered, answers, np.zeros(X.shape[2]), 1e-2)


def _together(people: Sequence[Respondent]) -> tuple[Array, Bools, Array]:
    return (
        np.concatenate([who.changes for who in people]),
        np.concatenate([who.offered for who in people]),
        np.concatenate([who.answers for who in people]),
    )


def same_for_all(beta: Array) -> Predictor:
    """Return what predicts everybody by one logit; with zeros, a coin."""

    def predict(who: Respondent) -> dict[int, Array]:
        chance = softmax(-who.changes[who.held_out] @ beta, who.offered[who.held_out])
        return dict.fromkeys(who.seen, chance)

    return predict


def own(mean: Array, ridge: float) -> Predictor:
    """Return what predicts a person by a logit of their own answers, shrunk to a mean (d,)."""

    def predict(who: Respondent) -> dict[int, Array]:
        found = {}
        for k in who.seen:
            beta = logit(who.changes[:k], who.offered[:k], who.answers[:k], mean, ridge) if k else mean
            found[k] = softmax(-who.changes[who.held_out] @ beta, who.offered[who.held_out])
        return found

    return predict


class Normal(NamedTuple):
    """A population of logits: means (s, d) and covariances (s, d, d) of s draws from what is known of it."""

    means: Array
    covariances: Array


def hierarchical(
    people: Sequence[Respondent],
    *,
    rounds: int = 1500,
    kept: int = 40,
    limit: int = 300,
    random_state: int = 0,
) -> Normal:
    """Return what others' answers say of the population of a mixed logit, ``β_n ~ N(b, W)``, full W: hierarchical Bayes.

    Gibbs sampling as in conjoint analysis (Train 2009, chapter 12): b given β and W is normal, W given β and b is inverse
    Wishart (d + 1 degrees of freedom, scale the identity), and each β_n moves by a random-walk Metropolis step whose length
    follows the share accepted (.3).

    Parameters
    ----------
    people : sequence of Respondent
        Who teaches; the first ``limit``.
    rounds, kept : int
        Rounds in all, the first half thrown away, and how many of the others are kept.
    random_state : int
    """
    people, rng = people[:limit], np.random.default_rng(random_state)
    n, d = len(people), people[0].changes.shape[2]
    most = max(len(who.changes) for who in people)
    X = np.zeros((n, most, people[0].changes.shape[1], d))
    offered = np.ones(X.shape[:3], dtype=bool)
    answers = np.zeros(X.shape[:3])
    for i, who in enumerate(people):
        q = len(who.changes)
        X[i, :q], offered[i, :q], answers[i, :q] = -who.changes, who.offered, who.answers

    def value(beta: Array) -> Array:
        U = np.where(offered, np.einsum("nqkd,nd->nqk", X, beta), -np.inf)
        top = U.max(axis=-1, keepdims=True)
        logs = U - top - np.log(np.exp(U - top).sum(axis=-1, keepdims=True))
        return np.asarray(np.where(answers > 0, answers * logs, 0.0).sum(axis=(1, 2)))

    start = pooled(people)
    W: Array = np.eye(d)
    beta, b, step = np.tile(start, (n, 1)), start, 0.5
    level, drawn = value(beta), []
    thin = max(1, rounds // 2 // kept)
    for round_ in range(rounds):
        b = beta.mean(axis=0) + np.linalg.cholesky(W / n) @ rng.standard_normal(d)
        S = np.eye(d) + (beta - b).T @ (beta - b)
        L = np.linalg.cholesky(np.linalg.inv(S))
        G = rng.standard_normal((n + d + 1, d)) @ L.T
        W = np.asarray(np.linalg.inv(G.T @ G), dtype=float)
        root, inverse = np.linalg.cholesky(W), np.linalg.inv(W)
        moved = beta + step * rng.standard_normal((n, d)) @ root.T
        there = value(moved)
        prior = [np.einsum("nd,de,ne->n", each - b, inverse, each - b) / 2 for each in (beta, moved)]
        yes = np.log1p(-rng.random(n)) < there - level + prior[0] - prior[1]
        beta, level = np.where(yes[:, None], moved, beta), np.where(yes, there, level)
        step *= 1.1 if yes.mean() > 0.3 else 0.9
        if round_ >= rounds - thin * kept and (rounds - round_) % thin == 0:
            drawn.append((b, W))
    return Normal(np.stack([each[0] for each in drawn]), np.stack([each[1] for each in drawn]))


def mixed_logit(population: Normal, *, draws: int = 8000, random_state: int = 0) -> Predictor:
    """Return what predicts a new person of a population of logits: many β drawn once, weighed by the answers."""
    rng = np.random.default_rng(random_state)
    s, d = population.means.shape
    each = -(-draws // s)
    roots = np.linalg.cholesky(population.covariances)
    noise = rng.standard_normal((s, each, d))
    beta = (population.means[:, None] + np.einsum("sde,sne->snd", roots, noise)).reshape(-1, d)

    def predict(who: Respondent) -> dict[int, Array]:
        chance = softmax(-np.einsum("nd,qkd->nqk", beta, who.changes), who.offered)
        logs = np.cumsum((who.answers * np.log(np.maximum(chance, 1e-12))).sum(axis=2), axis=1)
        found = {}
        for k in who.seen:
            log = logs[:, k - 1] if k else np.zeros(len(beta))
            weights = np.exp(log - log.max())
            found[k] = np.einsum("n,nqk->qk", weights / weights.sum(), chance[:, who.held_out])
        return found

    return predict


# beliefs -------------------------------------------------------------------------------------------


def taught(belief: Belief, who: Respondent, question: int) -> None:
    """Let a belief learn a person's answer to a question."""
    options, chosen = who.question(question)
    if chosen is None:
        belief.update_same(options)
    else:
        belief.update(options[chosen], [option for i, option in enumerate(options) if i != chosen])


def posterior(belief: Posterior) -> Predictor:
    """Return what predicts people by a belief that has heard nobody yet."""

    def chances(known: Posterior, who: Respondent) -> Array:
        found = np.zeros((len(who.held_out), who.offered.shape[1]))
        for row, question in enumerate(who.held_out):
            found[row, who.offered[question]] = known.choice_probabilities(who.question(question)[0])
        return np.asarray(found / found.sum(axis=1, keepdims=True))

    return _after(belief, chances)


def prior_of(people: Sequence[Respondent], random_state: int = 0) -> LearnedPrior:
    """Return what all answers of other people teach, as ``reap learn`` would of ten each, but with no gate."""
    said = []
    for who in people:
        answers = []
        for question in range(len(who.changes)):
            options, chosen = who.question(question)
            order = [chosen or 0, *(i for i in range(len(options)) if i != (chosen or 0))]
            answers.append(Comparison(tuple(options[i][None] for i in order), chosen is None))
        said.append(answers)
    d = people[0].changes.shape[2]
    past = Past.of(said, d, most=None)
    found = fit(past, seed=random_state)
    names = tuple(map(str, range(d)))
    about = {"people": len(past), "answers": past.answers, "guessing": found.guessing}
    return LearnedPrior.of(
        found.population, "weights", space="", dimension=d, columns=tuple(range(d)), names=names, **about
    )


def confidence_set(dimension: int) -> Predictor:
    """Return what predicts people by the centre of the paper's confidence set.

    The paper's people make no mistakes, and one that was certain would have infinite loss: they are taken to answer as softly as
    the middle of real people, ``η/k + (1−η) softmax(−κ e/ē)`` with κ = 8 and η = .1.
    """

    def chances(known: ConfidenceSet, who: Respondent) -> Array:
        A, X = known.center("published").matrix, who.changes[who.held_out]
        offered = who.offered[who.held_out]
        efforts = np.where(offered, of_change(A, X.reshape(-1, X.shape[2])).reshape(X.shape[:2]), 0.0)
        count = offered.sum(axis=1, keepdims=True)
        relative = efforts / np.maximum(efforts.sum(axis=1, keepdims=True) / count, 1e-12)
        return np.asarray(LAPSE * offered / count + (1 - LAPSE) * softmax(-SHARPNESS * relative, offered))

    return _after(ConfidenceSet(dimension), chances)


def _after(belief: Any, chances: Callable[[Any, Respondent], Array]) -> Predictor:
    """Return what predicts by a belief after each number of answers."""

    def predict(who: Respondent) -> dict[int, Array]:
        known, found = belief.copy(), {}
        for k in range(who.seen[-1] + 1):
            if k in who.seen:
                found[k] = chances(known, who)
            if k < who.seen[-1]:
                taught(known, who, k)
        return found

    return predict

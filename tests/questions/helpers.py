"""What the tests of the strategies share: data, a small belief made of samples, brute force."""

from __future__ import annotations

import numpy as np

from reap.belief.answers import KINDS, by_kinds


class Cloud:
    """A belief of fixed, weighted matrices: the contract of a belief with samples, and nothing more."""

    kinds = KINDS

    def __init__(self, matrices, weights=None):
        self.matrices = np.asarray(matrices, dtype=float)
        n = len(self.matrices)
        self.weights = np.full(n, 1 / n) if weights is None else np.asarray(weights, dtype=float)
        self.dimension = self.matrices.shape[1]

    def efforts(self, options):
        grams = np.array([v.T @ v for v in map(np.atleast_2d, options)])
        return np.einsum("pij,nij->pn", self.matrices, grams)

    def expected(self, options):
        return self.weights @ self.efforts(options)

    def estimate(self):
        return np.einsum("p,pij->ij", self.weights, self.matrices)

    def sample(self, n, random_state=None):
        return np.random.default_rng(random_state).choice(self.matrices, n, p=self.weights)

    def answer_probabilities(self, efforts, people=None, *, slips=True):
        return by_kinds(efforts, self.kinds if slips else [(kappa, 0.0) for kappa, _ in self.kinds])

    def update(self, chosen, others):
        """Learn nothing."""

    def update_same(self, options):
        """Learn nothing."""

    def copy(self):
        return self


def spd(d, rng):
    """A random effort matrix (d, d) of unit largest eigenvalue."""
    G = rng.normal(size=(d, d))
    A = G @ G.T
    return A / np.linalg.eigvalsh(A)[-1]


def cloud(d, rng, n=40):
    return Cloud([spd(d, rng) for _ in range(n)])


def one_hot(n, rng):
    """Deviations of rows of two numbers and two categories of 3 and 4 levels from the first row."""
    levels = [np.eye(3)[rng.integers(0, 3, n)], np.eye(4)[rng.integers(0, 4, n)]]
    rows = np.hstack([rng.integers(0, 5, (n, 2)) / 4, *levels])
    return rows - rows[0]


def plans(n, d, rng, most=4):
    return [rng.normal(size=(rng.integers(1, most + 1), d)) for _ in range(n)]


def distances(A, moves):
    """|⟨A, M⟩| / ‖M‖ of all pairs straight from the definition, inf for equal options; gaps of effort; pairs."""
    grams = np.array([v.T @ v for v in map(np.atleast_2d, moves)]).reshape(len(moves), -1)
    i, j = np.triu_indices(len(moves), 1)
    cuts, sizes = grams[i] - grams[j], np.linalg.norm(grams, axis=1)
    norms, gaps = np.linalg.norm(cuts, axis=1), np.abs(cuts @ A.ravel())
    equal = norms <= 1e-9 * np.hypot(sizes[i], sizes[j])
    return np.where(equal, np.inf, gaps / np.where(equal, 1.0, norms)), gaps, np.column_stack([i, j])


def distance(A, first, second):
    """The same of one pair."""
    return distances(A, [first, second])[0][0]


def brute_force(A, moves, min_gap=0.0, asked=()):
    """The least distance over all pairs; inf where no pair is left."""
    scores, gaps, pairs = distances(A, moves)
    scores[gaps < min_gap - 1e-12] = np.inf
    for pair in asked:
        scores[(pairs == sorted(pair)).all(axis=1)] = np.inf
    return scores.min(initial=np.inf)

"""What the tests of the strategies share: data, a small belief made of samples, brute force."""

from __future__ import annotations

import itertools

import numpy as np


class Cloud:
    """A belief of fixed, weighted matrices: the contract of a belief with samples, and nothing more."""

    def __init__(self, matrices, weights=None):
        self.matrices = np.asarray(matrices, dtype=float)
        n = len(self.matrices)
        self.weights = np.full(n, 1 / n) if weights is None else np.asarray(weights, dtype=float)
        self.dimension = self.matrices.shape[1]

    def efforts(self, options):
        grams = np.array([v.T @ v for v in map(np.atleast_2d, options)])
        return np.einsum("pij,nij->pn", self.matrices, grams)

    def relative_weights(self, pool):
        efforts = self.efforts(pool)
        floor = np.maximum(np.median(efforts, axis=1) / 10, 1e-300)
        weights = self.weights / np.maximum(efforts.min(axis=1), floor)
        return weights / weights.sum()

    def estimate(self, pool=None):
        weights = self.weights if pool is None else self.relative_weights(pool)
        return np.einsum("p,pij->ij", weights, self.matrices)


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


def distance(A, first, second):
    """|⟨A, M⟩| / ‖M‖ straight from the definition; inf for equal options."""
    M = np.atleast_2d(first).T @ np.atleast_2d(first) - np.atleast_2d(second).T @ np.atleast_2d(second)
    size = np.linalg.norm(np.atleast_2d(first)) ** 2 + np.linalg.norm(np.atleast_2d(second)) ** 2
    norm = np.linalg.norm(M)
    return np.inf if norm <= 1e-9 * size else abs((A * M).sum()) / norm


def brute_force(A, moves, min_gap=0.0, asked=()):
    """The least distance over all pairs, one by one; inf where no pair is left."""
    asked = {frozenset(pair) for pair in asked}
    efforts = [(np.atleast_2d(v) @ A * np.atleast_2d(v)).sum() for v in moves]
    return min(
        (
            distance(A, moves[i], moves[j])
            for i, j in itertools.combinations(range(len(moves)), 2)
            if frozenset((i, j)) not in asked and abs(efforts[i] - efforts[j]) >= min_gap - 1e-12
        ),
        default=np.inf,
    )

"""The people of the experiments: the k-th of each kind is the same for every method and subject."""

from __future__ import annotations

import numpy as np

from reap._typing import Array
from reap.research import costs
from reap.research.subjects import L1, Mahalanobis, Person

#: Kinds of people: how their effort is drawn.
KINDS = ("gaussian", "uniform", "rank-one", "diagonal", "lqr", "scm", "l1")


def matrix(kind: str, dimension: int, k: int, seed: int) -> Array:
    """Return the k-th effort matrix (d, d) of a kind; the same whatever else is run.

    Examples
    --------
    >>> np.linalg.eigvalsh(matrix("gaussian", 3, 0, 0))[-1].round(9)
    np.float64(1.0)
    """
    return costs.draw(dimension, _stream(kind, k, seed), kind)


def matrices(kind: str, dimension: int, count: int, seed: int) -> Array:
    """Return the first effort matrices of a kind, (count, d, d)."""
    return np.stack([matrix(kind, dimension, k, seed) for k in range(count)])


def person(kind: str, dimension: int, k: int, seed: int, *, lapse: float = 0.0, subject: int = 0) -> Person:
    """Return the k-th person of a kind, in the place of a subject; lapses have a stream of their own."""
    answers = np.random.default_rng([seed, k, subject, 7])
    if kind == "l1":
        weights = _stream(kind, k, seed).random(dimension)
        return L1(weights, lapse=lapse, random_state=answers)
    return Mahalanobis(matrix(kind, dimension, k, seed), lapse=lapse, random_state=answers)


def _stream(kind: str, k: int, seed: int) -> np.random.Generator:
    return np.random.default_rng([seed, k, KINDS.index(kind)])

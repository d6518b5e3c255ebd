"""What a person with a random matrix answers."""

from __future__ import annotations

import numpy as np

import reap
from reap import effort
from reap.checks.worlds import random_matrices


def told(dimension, count, seed=0):
    """A confidence set after some honest comparisons of random changes."""
    rng = np.random.default_rng(seed)
    known, A = reap.ConfidenceSet(dimension), random_matrices(dimension, 1, seed)[0]
    for _ in range(count):
        pair = rng.normal(size=(2, dimension))
        known.add(*pair[np.argsort(effort.of_change(A, pair))])
    return known

"""Answers under efforts that are given: how likely they are, and how that changes with the efforts."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from reap._typing import Array, Ints
from reap.belief.answers import People
from reap.belief.learning.past import Past
from reap.belief.learning.slopes import both


class Answered:
    """The answers of a part under efforts `(M, o)`: log-likelihoods `(M, a, t)`, and how they change with efforts.

    In single precision, as the efforts are: no probability is below a slip's.
    """

    def __init__(self, past: Past, efforts: Array, who: People) -> None:
        self._past, self._shape = past, efforts.shape
        self.logs = np.empty((len(efforts), past.answers, len(who.share)), dtype=efforts.dtype)
        self._slopes: list[tuple[Ints, Ints, Callable[[Array], Array]]] = []
        for (same, _), (at, options) in past.groups.items():
            self.logs[:, at], by_efforts = both(efforts[:, options], same, who)
            self._slopes.append((at, options, by_efforts))

    def slopes(self, weights: Array) -> Array:
        """Return `Σ_t w_t ∂ log P_t / ∂c` `(M, o)` for weights `(M, n, t)` of the people."""
        found, each = np.empty(self._shape, dtype=self.logs.dtype), weights[:, self._past.person]
        for at, options, by_efforts in self._slopes:
            found[:, options] = by_efforts(each[:, at])
        return found


def single(who: People) -> People:
    """Return kinds of people in single precision."""
    parts: list[Array] = [part.astype(np.float32) for part in who]
    return People(*parts)

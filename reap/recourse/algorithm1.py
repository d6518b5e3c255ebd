"""The paper's Algorithm 1: projected gradient descent on loss plus effort.

``x ← Π(x − α(∇l(f(x), 1) + 2λA*(x − x0)))``, where A* is one fixed matrix or the worst case at x (Danskin).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from reap._arrays import zero_missing
from reap._typing import Array, Ints
from reap.models import Classifier

Loss = Literal["quadratic", "hinge"]
#: The loss aims this far above the threshold: a score of exactly the threshold is no acceptance.
_ABOVE = 1e-3
#: How much λ falls where the last point is not accepted; the paper's appendix B.
_LESS = 0.05


@dataclass(frozen=True)
class Algorithm1:
    """Gradient descent for b matrices at once, each from the subject's own row.

    Parameters
    ----------
    classifier : Classifier
        With a gradient.
    project : callable
        The projection on the feasible set, of points (b, d).
    loss : {"quadratic", "hinge"}
        ``(f − τ)²``, or ``max(0, τ − f)``.
    learning_rate, weight, max_iterations : float, float, int
        α, λ, T. Where x_T is not accepted λ falls by 0.05, down to 0.
    stop_early : bool
        Stop at the first accepted point, as the authors' scripts do.
    """

    classifier: Classifier
    project: Callable[[Array], Array]
    loss: Loss = "quadratic"
    learning_rate: float = 0.01
    weight: float = 1.0
    max_iterations: int = 1000
    stop_early: bool = False

    def run(
        self, z0: Array, matrix: Callable[[Ints, Array], Array], count: int, deadline: float = np.inf
    ) -> tuple[Array, Array]:
        """Return the last points (count, d) and the λ each needed.

        ``matrix(which, moves)`` gives the matrices (k, d, d) of the problems ``which`` (k,) at moves (k, d).
        """
        everybody = np.arange(count)
        weights = np.full(count, float(self.weight))
        points = self._descend(z0, matrix, everybody, weights, deadline)
        todo = everybody[~self.classifier.accepts(points)]
        if self.weight > 0 and len(todo):
            # what is not reached without any pull back is not reached with some: no need to try every λ
            free = self._descend(z0, matrix, todo, np.zeros(len(todo)), deadline)
            reached = self.classifier.accepts(free)
            points[todo], weights[todo] = free, 0.0
            self._lower(z0, matrix, todo[reached], points, weights, deadline)
        return points, weights

    def _lower(
        self,
        z0: Array,
        matrix: Callable[[Ints, Array], Array],
        todo: Ints,
        points: Array,
        weights: Array,
        deadline: float,
    ) -> None:
        """Find the largest λ below the given one, in steps of 0.05, whose last point is accepted."""
        level = float(self.weight)
        while len(todo) and (level := round(level - _LESS, 10)) > 0 and time.monotonic() <= deadline:
            tried = self._descend(z0, matrix, todo, np.full(len(todo), level), deadline)
            fine = self.classifier.accepts(tried)
            points[todo[fine]], weights[todo[fine]] = tried[fine], level
            todo = todo[~fine]

    def _descend(
        self,
        z0: Array,
        matrix: Callable[[Ints, Array], Array],
        which: Ints,
        weights: Array,
        deadline: float,
    ) -> Array:
        Z = np.repeat(z0[None], len(which), axis=0)
        moving = np.arange(len(which))
        for _ in range(self.max_iterations):
            if len(moving) == 0 or time.monotonic() > deadline:
                break
            slope = self._loss_slope(Z[moving])
            if weights.any():
                moves = zero_missing(Z[moving] - z0)
                pull = (matrix(which[moving], moves) @ moves[:, :, None])[:, :, 0]
                slope = slope + 2 * weights[moving, None] * pull
            Z[moving] = self.project(Z[moving] - self.learning_rate * slope)
            if self.stop_early:
                moving = moving[~self.classifier.accepts(Z[moving])]
        return Z

    def _loss_slope(self, Z: Array) -> Array:
        """Return ∇l(f(x), 1), (k, d); ``∇f = f (1 − f) ∇logit``."""
        f = self.classifier.probability(Z)
        goal = self.classifier.threshold + _ABOVE * (1 - self.classifier.threshold)
        outer = 2 * (f - goal) if self.loss == "quadratic" else -(f < goal).astype(float)
        return (outer * f * (1 - f))[:, None] * zero_missing(self.classifier.gradient(Z))

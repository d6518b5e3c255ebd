"""What people share, as one vector of parameters: `R = diag(e^{θ/2})(I + K)`, K symmetric with zero diagonal, or K = 0."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from reap._typing import Array, Ints
from reap.belief.learned_prior import STEEPEST, WIDEST


@dataclass(frozen=True)
class Coordinates:
    """The parameters `p = (θ, K above the diagonal)` of k columns, or θ alone.

    Examples
    --------
    >>> two = Coordinates(2, directions=True)
    >>> two.size, two.root(np.array([0.0, 0.0, 0.5])).tolist()
    (3, [[1.0, 0.5], [0.5, 1.0]])
    """

    columns: int
    directions: bool

    @property
    def size(self) -> int:
        """Number of parameters."""
        k = self.columns
        return k + (k * (k - 1) // 2 if self.directions else 0)

    @property
    def groups(self) -> list[Ints]:
        """The parameters that are shrunk together: scales, then directions."""
        k = self.columns
        return [np.arange(k), np.arange(k, self.size)] if self.directions and k > 1 else [np.arange(k)]

    @property
    def bounds(self) -> list[tuple[float, float]]:
        """The least and the most of each parameter: a prior weighs, it does not rule out."""
        k = self.columns
        return [(-WIDEST, WIDEST)] * k + [(-STEEPEST, STEEPEST)] * (self.size - k)

    def split(self, p: Array) -> tuple[Array, Array]:
        """Return θ `(k,)` and K `(k, k)`."""
        k = self.columns
        return p[:k], self.square(p)

    def square(self, p: Array) -> Array:
        """Return what stands for pairs of columns in a vector of parameters, as a symmetric `(k, k)`."""
        k = self.columns
        K = np.zeros((k, k))
        if self.directions:
            K[np.triu_indices(k, 1)] = p[k:]
        return K + K.T

    def root(self, p: Array) -> Array:
        """Return R `(k, k)`."""
        scales, K = self.split(p)
        root: Array = np.exp(scales / 2)[:, None] * (np.eye(self.columns) + K)
        return root

    def pull(self, p: Array, by_root: Array) -> Array:
        """Turn derivatives by R `(n, k, k)` into derivatives by the parameters `(n, size)`."""
        scales, _ = self.split(p)
        by_scale = 0.5 * (by_root * self.root(p)).sum(axis=2)
        if not self.directions:
            return np.asarray(by_scale)
        by_pair = np.exp(scales / 2)[:, None] * by_root
        rows, columns = np.triu_indices(self.columns, 1)
        return np.hstack([by_scale, by_pair[:, rows, columns] + by_pair[:, columns, rows]])

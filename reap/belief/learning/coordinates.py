"""What people share, as one vector of parameters: `R = diag(e^{θ/2})(I + K)`, K symmetric, zero diagonal, and typical weights.

The weights are of the columns beside the moves: `r_j = e^{μ_j + z}`, z standard normal, for those who mind column j at all.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from reap._typing import Array, Ints
from reap.belief.learned_prior import HEAVIEST, STEEPEST, WIDEST


@dataclass(frozen=True)
class Coordinates:
    """The parameters `p = (θ, K above the diagonal, μ)` of k columns and e beside them; any of the three may be left out.

    Examples
    --------
    >>> two = Coordinates(2, directions=True)
    >>> two.size, two.root(np.array([0.0, 0.0, 0.5])).tolist()
    (3, [[1.0, 0.5], [0.5, 1.0]])
    >>> Coordinates(2, directions=False, scales=False, extra=1).groups
    {'weights': array([0])}
    """

    columns: int
    directions: bool
    scales: bool = True
    extra: int = 0

    @property
    def _scales(self) -> int:
        return self.columns if self.scales else 0

    @property
    def _pairs(self) -> int:
        return self.columns * (self.columns - 1) // 2 if self.directions else 0

    @property
    def size(self) -> int:
        """Number of parameters."""
        return self._scales + self._pairs + self.extra

    @property
    def groups(self) -> dict[str, Ints]:
        """The parameters that are shrunk together: scales, directions, weights."""
        ends = np.cumsum([0, self._scales, self._pairs, self.extra])
        named = zip(("scales", "directions", "weights"), ends[:-1], ends[1:], strict=True)
        return {name: np.arange(begin, end) for name, begin, end in named if end > begin}

    @property
    def bounds(self) -> list[tuple[float, float]]:
        """The least and the most of each parameter: a prior weighs, it does not rule out."""
        counts = {WIDEST: self._scales, STEEPEST: self._pairs, HEAVIEST: self.extra}
        return [(-most, most) for most, count in counts.items() for _ in range(count)]

    def split(self, p: Array) -> tuple[Array, Array, Array]:
        """Return θ `(k,)`, K `(k, k)` and μ `(e,)`."""
        scales = p[: self.columns] if self.scales else np.zeros(self.columns)
        return scales, self.square(p), p[self.size - self.extra :]

    def square(self, p: Array) -> Array:
        """Return what stands for pairs of columns in a vector of parameters, as a symmetric `(k, k)`."""
        k = self.columns
        K = np.zeros((k, k))
        if self.directions:
            K[np.triu_indices(k, 1)] = p[self._scales : self._scales + self._pairs]
        return K + K.T

    def root(self, p: Array) -> Array:
        """Return R `(k, k)`."""
        scales, K, _ = self.split(p)
        root: Array = np.exp(scales / 2)[:, None] * (np.eye(self.columns) + K)
        return root

    def pull(self, p: Array, by_root: Array, by_weight: Array) -> Array:
        """Turn derivatives by R `(n, k, k)` and by μ `(n, e)` into derivatives by the parameters `(n, size)`."""
        scales, _, _ = self.split(p)
        found = []
        if self.scales:
            found.append(0.5 * (by_root * self.root(p)).sum(axis=2))
        if self.directions:
            by_pair = np.exp(scales / 2)[:, None] * by_root
            rows, columns = np.triu_indices(self.columns, 1)
            found.append(by_pair[:, rows, columns] + by_pair[:, columns, rows])
        if self.extra:
            found.append(by_weight)
        return np.hstack(found)

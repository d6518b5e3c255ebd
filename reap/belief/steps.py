"""Displacements of a barrier problem, in the eigenbasis of its matrix.

A row holds `low` = L^-½ dL L^-½, `high` = H^-½ dH H^-½ (p, p) and `cut` = ds/s (k,), the changes relative to the
distance from the boundary, then dA (p, p) and dr. A step is feasible while none of the first three goes under −1,
and the sum of their squares is its length in the barrier's own metric. One array, so that mixing is one product.
"""

from __future__ import annotations

import numpy as np

from reap._arrays import transpose
from reap._typing import Array


class Steps:
    """q displacements for each of B problems.

    Parameters
    ----------
    rows : (B, q, 3p² + k + 1)
    p : size of the matrices
    k : number of cuts
    """

    __slots__ = ("k", "p", "rows")

    def __init__(self, rows: Array, p: int, k: int) -> None:
        self.rows, self.p, self.k = rows, p, k

    @property
    def cut(self) -> Array:
        """(B, q, k)."""
        return self.rows[:, :, 2 * self.p**2 : 2 * self.p**2 + self.k]

    @property
    def A(self) -> Array:
        """(B, q, p, p)."""
        flat = self.rows[:, :, 2 * self.p**2 + self.k : -1]
        return flat.reshape(*flat.shape[:2], self.p, self.p)

    @property
    def r(self) -> Array:
        """(B, q)."""
        return self.rows[:, :, -1]

    def blocks(self) -> Array:
        """`low` and `high` (B, 2, p, p) of the first displacement."""
        return self.rows[:, 0, : 2 * self.p**2].reshape(-1, 2, self.p, self.p)

    def mix(self, weights: Array) -> Steps:
        """Return ``Σ_q weights[:, q] · step_q`` as the only displacement; `weights` (B, q)."""
        return Steps(weights[:, None] @ self.rows, self.p, self.k)

    def inner(self) -> Array:
        """Products (B, q, q) of the displacements in the barrier's metric."""
        flat = self.rows[:, :, : 2 * self.p**2 + self.k]
        out: Array = flat @ transpose(flat)
        return out

    def glance(self) -> Array:
        """Return an estimate from below of `reach`, from the diagonals only (B,)."""
        p, first = self.p, self.rows[:, 0]
        parts = first[:, : p * p : p + 1], first[:, p * p : 2 * p * p : p + 1], self.cut[:, 0]
        out: Array = -np.concatenate(parts, axis=1).min(axis=1)
        return out

    def reach(self) -> Array:
        """How much of the way to the boundary the first displacement goes (B,), 1 touches it; under 0.97 a bound."""
        blocks = self.blocks()
        worst = -np.sqrt((blocks * blocks).sum(axis=(2, 3)))
        # A spectrum is only worth its price where the Frobenius norm does not settle the matter.
        unclear = worst < -0.97
        if unclear.any():
            worst[unclear] = np.linalg.eigvalsh(blocks[unclear])[:, 0]
        out: Array = -np.minimum(worst.min(axis=1), self.cut[:, 0].min(axis=1, initial=0.0))
        return out

"""Families of people: each turns the same standard normals into the effort of one person.

The latents of a person are `(d + 1, d)` standard normals: rows `g_1 … g_d`, then one row `u`. A family makes a factor of them,
`A ∝ FᵀF + ρI`, so that an effort is `|Fv|² + ρ|v|²` and needs no matrix. A Crank–Nicolson step on the latents keeps every
family, and a person can change family without drawing anything anew. No family cares about the sign of a column, which is an
accident of coding: unsigned, a needless change the other way would look like a saving.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from reap._typing import Array, Ints

#: Weight of each family in the mixture "people". People with one single concern are rare here: they are so easily
#: pleased that, at the weight of the others, guarding against them makes plans harder for everybody else (see docs/method.md).
PEOPLE = {
    "gaussian": 4.0,
    "positive": 1.0,
    "rank-one": 0.5,
    "diagonal": 1.0,
    "scaled": 1.0,
    "causal": 2.0,
}
#: Families for people who hardly differ from one another, which only a learnt prior uses: `(1−ρ)B + ρI`, B ``gaussian``.
ALIKE = {"alike-50": 0.5, "alike-80": 0.8, "alike-95": 0.95}
#: The part of the identity added to the matrices of the family "scaled", beside their own trace.
RIDGE = 0.3
#: Half of standard normals are farther from 0.
HALF = 0.6745


class Factor(NamedTuple):
    """`A = FᵀF + ρI` of n people: F `(n, r, d)` with r ≤ d rows, and ρ `(n,)`."""

    rows: Array
    ridge: Array

    def matrices(self) -> Array:
        """Return `A` `(n, d, d)`."""
        A: Array = self.rows.transpose(0, 2, 1) @ self.rows
        np.einsum("nii->ni", A)[:] += self.ridge[:, None]  # a view of the diagonals
        return A

    def trace(self) -> Array:
        """Return `tr A` `(n,)`."""
        return np.asarray(_squares(self.rows) + self.ridge * self.rows.shape[2])

    def efforts(self, V: Array) -> Array:
        """Return `vᵀAv` `(n, m)` of changes `(m, d)`."""
        n, r, d = self.rows.shape
        V = V.astype(self.rows.dtype, copy=False)
        # |Fv|² + ρ|v|² from the factors: the matrices that ``reap.effort`` takes are never made
        seen = (self.rows.reshape(n * r, d) @ V.T).reshape(n, r, len(V))  # one product, not n of them
        return np.asarray(np.einsum("nrm,nrm->nm", seen, seen) + self.ridge[:, None] * (V * V).sum(axis=1))


def _factor(rows: Array) -> Factor:
    return Factor(rows, np.zeros(len(rows)))


def _squares(rows: Array) -> Array:
    """Return `tr FᵀF` `(n,)`."""
    return np.asarray(np.einsum("nrd,nrd->n", rows, rows))  # without a copy of the squares


def _positive(latents: Array) -> Array:
    """Return `|g_i|` with the signs of `u`: features share a direction, whichever way each is coded."""
    return np.asarray(np.copysign(latents[:, :-1], latents[:, -1:]))


def _diagonal(latents: Array) -> Factor:
    return _factor(np.exp(latents[:, -1] / 2)[:, :, None] * np.eye(latents.shape[2]))


def _scaled(latents: Array) -> Factor:
    rows = latents[:, :-1] * np.exp(latents[:, -1:] / 2)
    return Factor(rows, RIDGE / latents.shape[2] * _squares(rows))


def _causal(latents: Array) -> Factor:
    """Return `I − W`: changes bring others about, along the order of `u`, by half of the entries of g, the larger ones."""
    own, order = latents[:, :-1], latents[:, -1]
    later = order[:, :, None] > order[:, None, :]
    rows = own * -(later & (np.abs(own) > HALF)).astype(own.dtype)
    np.einsum("nii->ni", rows)[:] += 1.0  # a view of the diagonals
    return _factor(rows)


def _alike(share: float, latents: Array) -> Factor:
    rows, d = latents[:, :-1], latents.shape[2]
    return Factor(rows * np.sqrt((1 - share) * d / _squares(rows))[:, None, None], np.full(len(rows), share))


#: How each family turns latents `(n, d+1, d)` into effort of any size.
FAMILIES: dict[str, Callable[[Array], Factor]] = {
    "gaussian": lambda latents: _factor(latents[:, :-1]),
    "positive": lambda latents: _factor(_positive(latents)),
    "rank-one": lambda latents: _factor(latents[:, :1]),
    # in files only: without its sign it is "rank-one"
    "rank-one-positive": lambda latents: _factor(latents[:, :1]),
    "diagonal": _diagonal,
    "scaled": _scaled,
    "causal": _causal,
    **{name: partial(_alike, share) for name, share in ALIKE.items()},
}


def mixed(names: Sequence[str], latents: Array, families: Ints) -> Factor:
    """Return the factors of people of several families, by position `(n,)` in their names."""
    rows = latents[:, :-1].copy()  # as "gaussian" has them
    ridge = np.zeros(len(rows))
    for position, name in enumerate(names):
        of = np.flatnonzero(families == position)
        if name != "gaussian" and len(of):
            made = FAMILIES[name](latents[of])
            r = made.rows.shape[1]
            rows[of, :r], rows[of, r:], ridge[of] = made.rows, 0.0, made.ridge
    return Factor(rows, ridge)

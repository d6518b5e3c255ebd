"""Families of people: each turns the same standard normals into the effort of one person.

The latents of a person are `(d + 1, d)` standard normals: rows `g_1 … g_d`, then one row `u`. A family makes a factor of them,
`A ∝ FᵀF + ρI`, so that an effort is `|Fv|² + ρ|v|²` and needs no matrix. A Crank–Nicolson step on the latents keeps every
family, and a person can change family without drawing anything anew. No family cares about the sign of a column, which is an
accident of coding: unsigned, a needless change the other way would look like a saving.

A change of a few columns feels these columns of F alone, so latents may be given for them only. Then the squares of the other
columns, which count in the trace, are taken at what they are on average, given `u`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from reap._typing import Array, Ints

#: Weight of each family in the mixture "people". People with one single concern are rare here: they are so easily
#: pleased that, at the weight of the others, guarding against them makes plans harder for everybody else (see docs/method.md).
#: People to whom columns are nearly alike, such as those of a regulator (LQR), are common: without them the belief is less sure
#: of most plans than it could be.
PEOPLE = {
    "gaussian": 4.0,
    "positive": 1.0,
    "rank-one": 0.5,
    "diagonal": 1.0,
    "scaled": 1.0,
    "causal": 2.0,
    "alike-50": 3.0,
}
#: Families for people who hardly differ from each other: `(1−ρ)B + ρI`, B ``gaussian``; all but the first only for learnt priors.
ALIKE = {"alike-50": 0.5, "alike-80": 0.8, "alike-95": 0.95}
#: The part of the identity added to the matrices of the family "scaled", beside their own trace.
RIDGE = 0.3
#: Half of standard normals are farther from 0, and what their squares are on average, those of the nearer half counted 0.
HALF, LARGER = 0.6745, 0.9287


class Latents(NamedTuple):
    """Standard normals of n people: `g` `(n, d, k)` in k of the d columns, in rising order, and `u` `(n, d)`; None: in all."""

    own: Array
    each: Array
    columns: Ints | None = None

    @classmethod
    def whole(cls, latents: Array) -> Latents:
        """Return latents `(n, d + 1, d)` of all columns."""
        return cls(latents[:, :-1], latents[:, -1])

    def of(self, people: slice) -> Latents:
        """Return those of some people, a view."""
        return Latents(self.own[people], self.each[people], self.columns)

    @property
    def here(self) -> Array:
        """`u` in the columns given, (n, k)."""
        return self.each if self.columns is None else self.each[:, self.columns]

    def elsewhere(self, squares: Array | float) -> Array | None:
        """Return squares (n, d) with 0 in the columns given; None where all are."""
        if self.columns is None:
            return None
        out = np.broadcast_to(np.asarray(squares, dtype=self.each.dtype), self.each.shape).copy()
        out[:, self.columns] = 0.0
        return out


class Factor(NamedTuple):
    """`A = FᵀF + ρI` of n people: F `(n, r, k)` with r ≤ d rows in k columns, ρ `(n,)`, squares `(n, d)` of the others."""

    rows: Array
    ridge: Array
    others: Array | None = None

    def matrices(self) -> Array:
        """Return `A` `(n, k, k)`."""
        A: Array = self.rows.transpose(0, 2, 1) @ self.rows
        np.einsum("nii->ni", A)[:] += self.ridge[:, None]  # a view of the diagonals
        return A

    def trace(self) -> Array:
        """Return `tr A` `(n,)` over all columns."""
        d = self.rows.shape[2] if self.others is None else self.others.shape[1]
        return np.asarray(self.squares() + self.ridge * d)

    def weighted_trace(self, columns: Ints, weights: Array) -> Array:
        """Return `Σ_j w_j A_jj` `(n,)` for weights `(d,)` of all columns, where some of them are given."""
        assert self.others is not None
        own = np.einsum("nrk,nrk->nk", self.rows, self.rows) @ weights[columns]
        return np.asarray(own + self.others @ weights + self.ridge * weights.sum())

    def squares(self) -> Array:
        """Return `tr FᵀF` `(n,)` over all columns."""
        return _squares(self.rows) + (0.0 if self.others is None else self.others.sum(axis=1))

    def efforts(self, V: Array) -> Array:
        """Return `vᵀAv` `(n, m)` of changes `(m, k)`."""
        n, r, d = self.rows.shape
        V = V.astype(self.rows.dtype, copy=False)
        # |Fv|² + ρ|v|² from the factors: the matrices that ``reap.effort`` takes are never made
        seen = (self.rows.reshape(n * r, d) @ V.T).reshape(n, r, len(V))  # one product, not n of them
        return np.asarray(np.einsum("nrm,nrm->nm", seen, seen) + self.ridge[:, None] * (V * V).sum(axis=1))


def _squares(rows: Array) -> Array:
    """Return `tr FᵀF` `(n,)`."""
    return np.asarray(np.einsum("nrd,nrd->n", rows, rows))  # without a copy of the squares


def _factor(rows: Array, others: Array | None) -> Factor:
    return Factor(rows, np.zeros(len(rows)), others)


def _gaussian(latents: Latents) -> Factor:
    return _factor(latents.own, latents.elsewhere(latents.each.shape[1]))


def _positive(latents: Latents) -> Factor:
    """Return `|g_i|` with the signs of `u`: features share a direction, whichever way each is coded."""
    signs = np.copysign(np.ones_like(latents.here), latents.here)
    rows = np.abs(latents.own) * signs[:, None]  # quicker than their signs one by one
    return _factor(rows, latents.elsewhere(latents.each.shape[1]))


def _rank_one(latents: Latents) -> Factor:
    return _factor(latents.own[:, :1], latents.elsewhere(1.0))


def _diagonal(latents: Latents) -> Factor:
    rows = np.exp(latents.here / 2)[:, :, None] * np.eye(latents.here.shape[1])
    return _factor(rows, latents.elsewhere(np.exp(latents.each)))


def _scaled(latents: Latents) -> Factor:
    d = latents.each.shape[1]
    made = _factor(
        latents.own * np.exp(latents.here / 2)[:, None], latents.elsewhere(d * np.exp(latents.each))
    )
    return made._replace(ridge=RIDGE / d * made.squares())


def _causal(latents: Latents) -> Factor:
    """Return `I − W`: changes bring others about, along the order of `u`, by half of the entries of g, the larger ones."""
    own, order = latents.own, latents.each
    later = order[:, :, None] > latents.here[:, None, :]
    rows = own * -(later & (np.abs(own) > HALF)).astype(own.dtype)
    k = np.arange(rows.shape[2])
    rows[:, k if latents.columns is None else latents.columns, k] += 1.0
    if latents.columns is None:
        return _factor(rows, None)
    after = order.shape[1] - 1 - order.argsort(axis=1).argsort(axis=1)
    return _factor(rows, latents.elsewhere(1 + LARGER * after))


def _alike(share: float, latents: Latents) -> Factor:
    d = latents.each.shape[1]
    plain = _gaussian(latents)
    size = (1 - share) * d / plain.squares()
    others = None if plain.others is None else plain.others * size[:, None]
    return Factor(plain.rows * np.sqrt(size)[:, None, None], np.full(len(size), share), others)


#: How each family turns latents into effort of any size.
FAMILIES: dict[str, Callable[[Latents], Factor]] = {
    "gaussian": _gaussian,
    "positive": _positive,
    "rank-one": _rank_one,
    "rank-one-positive": _rank_one,  # in files only: without its sign it is "rank-one"
    "diagonal": _diagonal,
    "scaled": _scaled,
    "causal": _causal,
    **{name: partial(_alike, share) for name, share in ALIKE.items()},
}


def mixed(names: Sequence[str], latents: Latents, families: Ints) -> Factor:
    """Return the factors of people of several families, by ascending position `(n,)` in their names; made in place of `g`."""
    rows = latents.own  # as "gaussian" has them
    ridge, others = np.zeros(len(rows)), latents.elsewhere(latents.each.shape[1])
    ends = np.searchsorted(families, np.arange(len(names)), side="right").tolist()
    for name, begin, end in zip(names, (0, *ends), ends, strict=False):
        if name == "gaussian" or begin == end:
            continue
        own = slice(begin, end)
        made = FAMILIES[name](latents.of(own))
        r = made.rows.shape[1]
        rows[own, :r], rows[own, r:], ridge[own] = made.rows, 0.0, made.ridge
        if others is not None:
            others[own] = made.others
    return Factor(rows, ridge, others)

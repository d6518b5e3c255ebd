"""Rows as one subject would become them, without writing them all out.

Most features are projected one by one: a value that occurs in a thousand rows is projected once and looked up.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from reap._arrays import zero_missing
from reap._typing import Array, Ints
from reap.space import ActionSpace


class ValueTable:
    """Each feature's distinct values, and where each row's value stands among them; made once, for all subjects.

    Parameters
    ----------
    space : ActionSpace
    Z : (n, d) vectors of the rows
    """

    def __init__(self, space: ActionSpace, Z: Array) -> None:
        self.rows = Z
        blocks, self.places = [], []
        for columns in (space.slices[f.name] for f in space.features if f.actionable and f.derived is None):
            block = np.where(np.isnan(Z[:, columns]), np.inf, Z[:, columns])
            values, place = np.unique(block, axis=0, return_inverse=True)
            blocks.append((columns, np.where(np.isinf(values), np.nan, values)))
            self.places.append((columns, place.ravel()))
        #: The values (u, d), each feature's from the top; the last is repeated below.
        self.values = np.repeat(Z[:1], max((len(values) for _, values in blocks), default=1), axis=0)
        for columns, values in blocks:
            self.values[: len(values), columns] = values
            self.values[len(values) :, columns] = values[-1]

    def project(self, space: ActionSpace, z0: Array, one_by_one: bool) -> Projected:
        """Return the rows as the subject ``z0`` would become them, features one by one or each row as a whole."""
        if one_by_one:
            return Projected(space.project(self.values, z0, exact=False), self.places, z0, len(self.rows))
        Z = space.project(self.rows, z0, exact=False)
        every = np.arange(len(Z))
        return Projected(Z, [(slice(c, c + 1), every) for c in space.movable or []], z0, len(Z))


class Projected:
    """Rows as one subject would become them.

    Parameters
    ----------
    values : (u, d) projected values
    places : list of (columns, (n,) the row of ``values`` where each row's value stands)
    z0 : (d,) the subject
    count : int, n
    """

    def __init__(self, values: Array, places: list[tuple[slice, Ints]], z0: Array, count: int) -> None:
        self.values, self.places, self.z0 = values, places, z0
        gap = zero_missing(values - z0) ** 2
        mixed = _hash(zero_missing(values))
        #: A number (n,) for each row, equal for equal rows and, but for a chance of 2⁻⁶⁴ a pair, for no others.
        self.keys = np.zeros(count, dtype=np.uint64)
        #: Squared distance (n,) of each row from the subject.
        self.distances = np.zeros(count)
        for columns, place in places:
            self.keys += mixed[:, columns].sum(axis=1, dtype=np.uint64)[place]
            self.distances += gap[:, columns].sum(axis=1)[place]

    def __getitem__(self, rows: Ints) -> Array:
        """Return some of the rows as vectors (k, d)."""
        Z = np.repeat(self.z0[None], len(rows), axis=0)
        for columns, place in self.places:
            Z[:, columns] = self.values[place[rows], columns]
        return Z


@cache
def _salt(width: int) -> Any:
    return np.random.default_rng(0).integers(2**64, size=width, dtype=np.uint64)


def _hash(Z: Array) -> Any:
    """Return 64 well-mixed bits for each value (n, d), different in each column."""
    bits = np.ascontiguousarray(Z + 0.0).view(np.uint64)  # + 0.0: minus zero is zero
    bits = bits + _salt(Z.shape[1])
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        bits = (bits ^ (bits >> np.uint64(shift))) * np.uint64(factor)
    return bits ^ (bits >> np.uint64(31))

"""The places of a number after which some tree decides otherwise, found by really transforming values.

A guess by the threshold, then halves: never by a formula, since a value that hits a threshold goes where the pipeline sends it.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from reap._typing import Array, Ints
from reap.models.trees.forest import Forest
from reap.models.trees.lattice import Lattice

#: How far off a guess may be, as a share of its bracket, where trees compare in single precision.
_OFF = 2.0**-15


def edges_of(
    forest: Forest,
    columns: list[Ints],
    lattices: dict[int, Lattice],
    packed: Callable[[list[Array]], Array],
) -> dict[int, tuple[Array, Array]]:
    """Return for each number the places after which some tree decides otherwise, and how many splits that are.

    ``columns`` are the transformed columns of each feature; ``packed`` really transforms rows of which row i has the i-th value,
    in units, of every feature.
    """
    inner = ~forest.leaf
    samples = [lattices[k].samples() if k in lattices else np.zeros(0) for k in range(len(columns))]
    T = packed([lattices[k].values(s) if len(s) else s for k, s in enumerate(samples)])
    parts = []  # feature, column, threshold, splits, places before and after, transformed values there
    for k in lattices:
        for j in columns[k]:
            thresholds, splits = np.unique(
                forest.threshold[inner & (forest.feature == j)], return_counts=True
            )
            x = T[: len(samples[k]), j]
            below = x <= thresholds[:, None]
            t, s = np.nonzero(below[:, 1:] != below[:, :-1])
            owner = np.full(len(t), k), np.full(len(t), j)
            ends = samples[k][s], samples[k][s + 1], x[s], x[s + 1]
            parts.append(np.stack([*owner, thresholds[t], splits[t], *ends], axis=1).reshape(-1, 8))
    table = np.concatenate(parts) if parts else np.zeros((0, 8))
    low = _narrowed(table, lattices, packed, len(columns))
    out = {}
    for k in lattices:
        own = table[:, 0] == k
        places, which = np.unique(low[own], return_inverse=True)
        out[k] = places, np.bincount(which.ravel(), table[own, 3], len(places)).astype(float)
    return out


def _narrowed(
    table: Array, lattices: dict[int, Lattice], packed: Callable[[list[Array]], Array], features: int
) -> Array:
    """Close the brackets around every edge down to two neighbouring places: guesses, then halves."""
    owner, column = table[:, 0].astype(np.intp), table[:, 1].astype(np.intp)
    threshold, low, high = table[:, 2], table[:, 4].copy(), table[:, 5].copy()
    side = table[:, 6] <= threshold  # of the lower end
    share = (threshold - table[:, 6]) / (table[:, 7] - table[:, 6])
    guess = np.floor(low + share * (high - low) + 1e-6)
    wide = _OFF * (high - low)
    tries = np.stack([guess, guess + 1, guess - wide, guess + wide])
    for turn in range(80):
        live = np.flatnonzero(high - low > 1.5)
        if len(live) == 0:
            break
        middle = np.floor((low[live] + high[live]) / 2 if turn >= len(tries) else tries[turn][live])
        middle = np.clip(middle, low[live] + 1, high[live] - 1)
        wanted, row = [np.zeros(0)] * features, np.zeros(len(live), dtype=np.intp)
        for k in np.unique(owner[live]):
            own = np.flatnonzero(owner[live] == k)
            places, row[own] = np.unique(middle[own], return_inverse=True)
            wanted[k] = lattices[k].values(places)
        T = packed(wanted)
        before = (T[row, column[live]] <= threshold[live]) == side[live]
        low[live] = np.where(before, middle, low[live])
        high[live] = np.where(before, high[live], middle)
    return low

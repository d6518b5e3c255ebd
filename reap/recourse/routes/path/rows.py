"""What the graph learns from other people's rows: distinct rows, and who is near whom.

Columns that nobody can change take the subject's own values in every node, so they say nothing about how near
two nodes are: rows are told apart, and neighbours found, by the other columns only.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from scipy.sparse import coo_array
from sklearn.cluster import MiniBatchKMeans
from sklearn.neighbors import NearestNeighbors

from reap._arrays import zero_missing
from reap._typing import Array, Ints
from reap.space import ActionSpace

#: Below this many rows a full table of distances is the quickest way to many neighbours, whatever d.
_BRUTE = 50_000
#: Cells looked into for the approximate neighbours of a cell's rows.
_PROBES = 12


class Rows:
    """Distinct rows, and for each the list of its nearest others.

    Parameters
    ----------
    space : ActionSpace
    Z : (n, d) vectors of the rows
    most : int
        Length of the lists: the widest neighbourhood that may be asked for.
    approximate : bool
        Look for neighbours only in the nearest cells of a clustering.
    seed : int
        For the clustering.
    """

    def __init__(self, space: ActionSpace, Z: Array, most: int, approximate: bool, seed: int) -> None:
        self.movable = movable_columns(space)
        self.vectors = Z[_distinct(Z[:, self.movable])]
        near = _known(self.vectors[:, self.movable])
        self.lists = approximate_neighbors(near, most, seed) if approximate else exact_neighbors(near, most)
        self.table, self.places = _values(space, self.vectors)
        self._graphs: dict[int, tuple[Ints, Ints]] = {}

    def __len__(self) -> int:
        return len(self.vectors)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_graphs": {}}

    def graph(self, neighbors: int) -> tuple[Ints, Ints]:
        """Return the symmetric relation "one of the K nearest" as (start of each row's part, rows)."""
        if neighbors not in self._graphs:
            n = len(self.vectors)
            near = self.lists[:, :neighbors]
            i, j = np.repeat(np.arange(n), near.shape[1]), near.ravel()
            i, j = i[j >= 0], j[j >= 0]
            ones = np.ones(2 * len(i), dtype=np.int8)
            pairs = coo_array((ones, (np.r_[i, j], np.r_[j, i])), shape=(n, n)).tocsr()
            self._graphs[neighbors] = pairs.indptr.astype(np.intp), pairs.indices.astype(np.intp)
        return self._graphs[neighbors]

    def project(self, space: ActionSpace, z0: Array, one_by_one: bool) -> Projected:
        """Return the rows as the subject ``z0`` would become them.

        Where features are projected one by one, that is done for their distinct values and looked up.
        """
        if one_by_one:
            return Projected(space.project(self.table, z0, exact=False), self.places, z0, len(self))
        Z = space.project(self.vectors, z0, exact=False)
        return Projected(Z, [(slice(c, c + 1), np.arange(len(Z))) for c in self.movable], z0, len(Z))


class Projected:
    """Rows as one subject would become them, without writing them all out.

    Parameters
    ----------
    table : (u, d) projected values
    places : list of (columns, (n,) the row of the table where each row's value stands)
    z0 : (d,) the subject
    count : int, n
    """

    def __init__(self, table: Array, places: list[tuple[slice, Ints]], z0: Array, count: int) -> None:
        self.table, self.places, self.z0 = table, places, z0
        gap = zero_missing(table - z0) ** 2
        mixed = _hash(zero_missing(table))
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
            Z[:, columns] = self.table[place[rows], columns]
        return Z


def movable_columns(space: ActionSpace) -> Ints:
    """Return the encoded columns that may change for somebody, (m,)."""
    parts = [
        np.arange(space.dimension)[space.slices[f.name]]
        for f in space.features
        if f.actionable or f.derived is not None
    ]
    return np.concatenate(parts) if parts else np.arange(0)


def exact_neighbors(near: Array, most: int) -> Ints:
    """Return the indices (n, most) of each row's nearest others, nearest first."""
    n = len(near)
    most = min(most, n - 1)
    if most < 1 or near.shape[1] == 0:
        return np.empty((n, 0), dtype=np.int32)
    search = NearestNeighbors(n_neighbors=most + 1, algorithm="brute" if n <= _BRUTE else "auto")
    return _without_self(search.fit(near).kneighbors(near, return_distance=False), np.arange(n))


def approximate_neighbors(near: Array, most: int, seed: int) -> Ints:
    """Return about the nearest others, (n, most), −1 where there are fewer.

    √n cells of k-means; the neighbours of a cell's rows are sought in the cells whose centres are nearest: about
    ``_PROBES · n^1.5`` distances instead of n².
    """
    n = len(near)
    most = min(most, n - 1)
    cells = max(1, int(np.sqrt(n)))
    if most < 1 or near.shape[1] == 0 or cells <= _PROBES:
        return exact_neighbors(near, most)
    means = MiniBatchKMeans(cells, batch_size=4096, n_init=1, random_state=seed).fit(near)
    members = [np.flatnonzero(means.labels_ == cell) for cell in range(cells)]
    order = NearestNeighbors(n_neighbors=cells, algorithm="brute").fit(means.cluster_centers_)
    nearest_cells = order.kneighbors(means.cluster_centers_, return_distance=False)
    lists: Ints = np.full((n, most), -1, dtype=np.int32)
    for cell, rows in enumerate(members):
        if len(rows) == 0:
            continue
        sizes = np.cumsum([len(members[c]) for c in nearest_cells[cell]])
        probes = max(_PROBES, int(np.searchsorted(sizes, most + 1)) + 1)
        pool = np.concatenate([members[c] for c in nearest_cells[cell, :probes]])
        search = NearestNeighbors(n_neighbors=min(most + 1, len(pool)), algorithm="brute").fit(near[pool])
        found = pool[search.kneighbors(near[rows], return_distance=False)]
        lists[rows, : found.shape[1] - 1] = _without_self(found, rows)
    return lists


def _without_self(found: Ints, rows: Ints) -> Ints:
    """Return lists (n, k) of neighbours without the row itself (or its last entry), (n, k − 1)."""
    others = found != rows[:, None]
    others[others.all(axis=1), -1] = False
    return np.asarray(found[others].reshape(len(found), -1), dtype=np.int32)


def _distinct(near: Array) -> Ints:
    """Return which rows to keep, in order, so that each combination of values occurs once; missing equals missing."""
    first = np.unique(np.where(np.isnan(near), np.inf, near), axis=0, return_index=True)[1]
    return np.asarray(np.sort(first))


def _known(near: Array) -> Array:
    """Return the rows with missing values at the median of their column, so that distances exist."""
    absent = np.isnan(near)
    if not absent.any():
        return near
    middle = [
        np.median(column[~gap]) if not gap.all() else 0.0
        for column, gap in zip(near.T, absent.T, strict=True)
    ]
    return np.where(absent, middle, near)


def _values(space: ActionSpace, Z: Array) -> tuple[Array, list[tuple[slice, Ints]]]:
    """Return each feature's distinct values in a table (u, d), and where each row's value stands in it."""
    blocks, places = [], []
    for columns in (space.slices[f.name] for f in space.features if f.actionable and f.derived is None):
        block = np.where(np.isnan(Z[:, columns]), np.inf, Z[:, columns])
        values, place = np.unique(block, axis=0, return_inverse=True)
        blocks.append((columns, np.where(np.isinf(values), np.nan, values)))
        places.append((columns, place.ravel()))
    table = np.repeat(Z[:1], max((len(values) for _, values in blocks), default=1), axis=0)
    for columns, values in blocks:
        table[: len(values), columns] = values
        table[len(values) :, columns] = values[-1]
    return table, places


def distinct_rows(Z: Array) -> Ints:
    """Return the first places of the distinct rows of (n, d), in order; quicker than ``np.unique`` over rows.

    Examples
    --------
    >>> distinct_rows(np.array([[1.0, 2.0], [0.0, 2.0], [1.0, 2.0]]))
    array([0, 1])
    """
    keys = _hash(zero_missing(Z.round(12))).sum(axis=1, dtype=np.uint64)
    return np.sort(np.unique(keys, return_index=True)[1])


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

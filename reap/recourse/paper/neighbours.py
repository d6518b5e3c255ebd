"""What the graph learns from other people's rows, once for all subjects: distinct rows, and who is near whom.

Columns that nobody can change take the subject's own values everywhere, so they say nothing about how near two
positions are: rows are told apart, and neighbours found, by the other columns only. For a subject the rows are projected
on what is legal, without writing them all out: most features are projected one by one, so that a value which occurs in a
thousand rows is projected once and looked up.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from scipy.sparse import coo_array
from sklearn.neighbors import NearestNeighbors

from reap._arrays import zero_missing
from reap._errors import InputError
from reap._typing import Array, Ints
from reap.space import ActionSpace

#: Up to this many rows a full table of distances is the quickest way to many neighbours, whatever d.
_BRUTE = 50_000


class NeighbourLists:
    """Distinct rows, and for each the list of its nearest others.

    Parameters
    ----------
    space : ActionSpace
    Z : (n, d) vectors of the rows
    most : int
        Length of the lists: the widest neighbourhood that may be asked for.
    approximate : bool
        Look the neighbours up in an index that finds nearly all of them.
    seed : int
        For that index.
    """

    def __init__(self, space: ActionSpace, Z: Array, most: int, approximate: bool, seed: int) -> None:
        self.movable = np.array(space.legal.movable or [], dtype=np.intp)
        self.vectors = Z[_distinct(Z[:, self.movable])]
        near = _known(self.vectors[:, self.movable])
        self.lists = approximate_neighbors(near, most, seed) if approximate else exact_neighbors(near, most)
        self.table = ValueTable(space, self.vectors)
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
            ones = np.ones(2 * len(i), dtype=np.int8)
            pairs = coo_array((ones, (np.r_[i, j], np.r_[j, i])), shape=(n, n)).tocsr()
            self._graphs[neighbors] = pairs.indptr.astype(np.intp), pairs.indices.astype(np.intp)
        return self._graphs[neighbors]


def exact_neighbors(near: Array, most: int) -> Ints:
    """Return the indices (n, most) of each row's nearest others, nearest first."""
    n = len(near)
    most = min(most, n - 1)
    if most < 1 or near.shape[1] == 0:
        return np.empty((n, 0), dtype=np.int32)
    search = NearestNeighbors(n_neighbors=most + 1, algorithm="brute" if n <= _BRUTE else "auto")
    return _without_self(search.fit(near).kneighbors(near, return_distance=False))


def approximate_neighbors(near: Array, most: int, seed: int) -> Ints:
    """Return nearly the nearest others (n, most), nearest first, in about n log n steps.

    The index is a hierarchical navigable small world (Malkov and Yashunin 2018), from the package ``voyager``.
    """
    try:
        from voyager import Index, Space
    except ImportError:
        raise InputError(
            "approximate=True needs the package voyager, which is not installed; "
            "run pip install 'reap-recourse[neighbors]', or leave approximate=False"
        ) from None
    n = len(near)
    most = min(most, n - 1)
    if most < 1 or near.shape[1] == 0:
        return np.empty((n, 0), dtype=np.int32)
    rows = np.ascontiguousarray(near, dtype=np.float32)  # the index reads any other layout wrongly
    index = Index(Space.Euclidean, rows.shape[1], random_seed=seed, max_elements=n)
    index.add_items(rows, ids=np.arange(n), num_threads=1)  # with more threads two fits would differ
    found, _ = index.query(rows, k=most + 1, query_ef=max(100, 2 * most))
    return _without_self(found.astype(np.int64))


def _without_self(found: Ints) -> Ints:
    """Return lists (n, k) of neighbours without the row itself (or its last entry), (n, k − 1)."""
    others = found != np.arange(len(found))[:, None]
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


# rows as one subject would become them -------------------------------------------------------------------


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
        for columns in (space.slices[f.name] for f in space.features if f.is_action):
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
        moving = {*(space.legal.movable or []), *space.encoding.starts[space.legal.derived.moved].tolist()}
        return Projected(Z, [(slice(c, c + 1), every) for c in sorted(moving)], z0, len(Z))


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

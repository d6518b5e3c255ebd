"""What the graph learns from other people's rows: distinct rows, and who is near whom.

Columns that nobody can change take the subject's own values everywhere, so they say nothing about how near two
positions are: rows are told apart, and neighbours found, by the other columns only.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import coo_array
from sklearn.neighbors import NearestNeighbors

from reap._errors import InputError
from reap._typing import Array, Ints
from reap.recourse.routes.path.projected import ValueTable
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
        self.movable = np.array(space.movable or [], dtype=np.intp)
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
            "run pip install 'reap[neighbors]', or leave approximate=False"
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

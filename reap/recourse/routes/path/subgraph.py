"""The part of a subject's graph that searches have seen, grown as they need it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_array

from reap import effort
from reap._typing import Array, Ints

if TYPE_CHECKING:
    from reap.recourse.routes.path.positions import Positions

#: Efforts (n, b) of edges (n,), under b matrices or under anything else.
EdgeEfforts = Callable[[Ints], Array]
#: Positions expanded to begin with.
_AHEAD = 16


class Subgraph:
    """The part of the graph that searches have seen; vertex 0 is the subject.

    The edges of an expanded vertex ``i`` are ``begin[i] … begin[i] + count[i]``; ``begin`` is −1 where it is not expanded.
    """

    def __init__(self, positions: Positions, neighbors: int) -> None:
        self.positions, self.neighbors = positions, neighbors
        self.position = np.array([positions.origin])  # of each vertex
        self._vertex = np.full(len(positions), -1, dtype=np.intp)  # of each position
        self._vertex[positions.origin] = 0
        self.begin = np.full(1, -1, dtype=np.intp)
        self.count = np.zeros(1, dtype=np.intp)
        self.accepted = np.zeros(1, dtype=bool)
        self.vectors = positions.z0[None]
        self._short = positions.short(positions.z0[None])
        self.source = np.empty(0, dtype=np.intp)
        self.target = np.empty(0, dtype=np.intp)
        self.moves = np.empty((0, len(positions.movable)))
        self.tie = np.empty(0)
        self.judged, self.banned = np.empty((2, 0), dtype=bool)
        #: Paths found before, as tuples of edges: their effort under another matrix bounds its search.
        self.paths: set[tuple[int, ...]] = set()
        self._matrix: Any = None

    def __len__(self) -> int:
        return len(self.position)

    def efforts(self, matrices: Array) -> EdgeEfforts:
        """Return the function that gives the efforts (n, b) of edges under matrices (b, d, d)."""
        columns = self.positions.movable
        small = matrices[:, columns[:, None], columns]
        return lambda edges: effort.of_changes(small, self.moves[edges]).T

    def matrix(self) -> Any:
        """Return the edges in order of their sources, and the sparse matrix they make, to be filled with efforts."""
        if self._matrix is None:
            order = np.argsort(self.source, kind="stable")
            indptr = np.zeros(len(self) + 1, dtype=np.int32)
            np.cumsum(self.count, out=indptr[1:])
            indices = self.target[order].astype(np.int32)
            shape = (len(self), len(self))
            self._matrix = order, csr_array((np.ones(len(order)), indices, indptr), shape=shape)
        return self._matrix

    def edge(self, source: int, target: int) -> int:
        """Return the edge between two vertices."""
        begin = self.begin[source]
        return int(begin + np.argmax(self.target[begin : begin + self.count[source]] == target))

    def path(self, edges: Ints) -> Array:
        """Return the rows (s + 1, d) that a path of s edges passes, from the subject on."""
        return np.asarray(self.vectors[np.append(0, self.target[edges])])

    def scores(self, edges: Ints) -> Array:
        """Return the model's scores (s + 1,) of the rows that a path of s edges passes."""
        return np.asarray(self.positions.scores[self.position[np.append(0, self.target[edges])]])

    def full_moves(self, edges: Ints) -> Array:
        """Return the moves (k, d) of edges in all encoded columns."""
        moves = np.zeros((len(edges), self.vectors.shape[1]))
        moves[:, self.positions.movable] = self.moves[edges]
        return moves

    def all_legal(self, edges: Ints) -> bool:
        """Judge edges exactly, each once; take out those that prove illegal, and return whether there was none."""
        new = edges[~self.judged[edges]]
        if len(new):
            self.judged[new] = True
            ends = self.vectors[self.source[new]], self.vectors[self.target[new]]
            self.banned[new] = ~self.positions.legal(*ends)
            if self.banned[new].any():
                self.paths = {path for path in self.paths if not self.banned[list(path)].any()}
        return not self.banned[edges].any()

    def grow(self, needed: Ints) -> None:
        """Find the edges of some vertices; the first time, positions near the subject come along, to save rounds."""
        fresh = needed[self.begin[needed] < 0]
        if len(fresh) and len(self.source) == 0 and not self.positions.tied:
            near = self.positions.nearest(_AHEAD)
            rejected = ~self.positions.accepts(self.positions.score(near))
            fresh = np.union1d(fresh, self._vertices(near[rejected]))
        if len(fresh):
            self._expand(np.sort(fresh))

    def _vertices(self, positions: Ints) -> Ints:
        """Return the vertices of positions; new ones are made, and scored, where they have none."""
        unseen = distinct(positions[self._vertex[positions] < 0])
        self._vertex[unseen] = len(self) + np.arange(len(unseen))
        self.position = np.append(self.position, unseen)
        self.begin = np.append(self.begin, np.full(len(unseen), -1))
        self.count = np.append(self.count, np.zeros(len(unseen), dtype=np.intp))
        self.accepted = np.append(self.accepted, self.positions.accepts(self.positions.score(unseen)))
        rows = self.positions.vectors(unseen)
        self.vectors = np.vstack([self.vectors, rows])
        self._short = np.vstack([self._short, self.positions.short(rows)])
        return self._vertex[positions]

    def _expand(self, fresh: Ints) -> None:
        start, end = self._pairs(fresh)
        stop = self._vertices(end)
        moves = self._short[stop] - self._short[start]
        fine = self.positions.may_move(moves)
        if self.positions.tied:
            fine[fine] = self.positions.space.allows(self.vectors[start[fine]], self.vectors[stop[fine]])
        start, end, stop, moves = start[fine], end[fine], stop[fine], moves[fine]
        tie = (0.6180339887498949 * self.position[start] + 0.7548776662466927 * end) % 1.0 + 1.0
        sizes = np.bincount(np.searchsorted(fresh, start), minlength=len(fresh))
        self.begin[fresh] = len(self.source) + np.cumsum(sizes) - sizes
        self.count[fresh] = sizes
        self.source, self.target = np.append(self.source, start), np.append(self.target, stop)
        self.moves = np.vstack([self.moves, moves])
        self.tie = np.append(self.tie, effort.size(moves) * tie)
        none = np.zeros(len(start), dtype=bool)
        self.judged, self.banned = np.append(self.judged, none), np.append(self.banned, none)
        self._matrix = None

    def _pairs(self, fresh: Ints) -> tuple[Ints, Ints]:
        """Return the raw edges of vertices (sorted): their start, and the position they end at; each once, in order."""
        positions = self.positions
        begin, rows = positions.neighbours.graph(self.neighbors)
        first = positions.begins[self.position[fresh]]
        mine, owner = ragged(first, positions.begins[self.position[fresh] + 1] - first)
        members = positions.members[mine]
        near, of_member = ragged(begin[members], begin[members + 1] - begin[members])
        start, end = fresh[owner[of_member]], positions.of_row[rows[near]]
        if fresh[0] == 0:
            own = positions.nearest(self.neighbors)
            start, end = np.append(start, np.zeros(len(own), dtype=np.intp)), np.append(end, own)
        keep = (end >= 0) & (end != positions.origin) & (end != self.position[start])
        keys = distinct(start[keep] * len(positions) + end[keep])
        return keys // len(positions), keys % len(positions)


def distinct(keys: Ints) -> Ints:
    """Return the sorted distinct numbers; quicker than ``np.unique`` for some thousands."""
    keys = np.sort(keys)
    fresh = np.ones(len(keys), dtype=bool)
    np.not_equal(keys[1:], keys[:-1], out=fresh[1:])
    return np.asarray(keys[fresh])


def ragged(begin: Ints, count: Ints) -> tuple[Ints, Ints]:
    """Return the indices of many ranges one after the other, and which range each belongs to.

    Examples
    --------
    >>> ragged(np.array([5, 0]), np.array([2, 3]))
    (array([5, 6, 0, 1, 2]), array([0, 0, 1, 1, 1]))
    """
    owner = np.repeat(np.arange(len(count)), count)
    offset = np.cumsum(count) - count
    return np.arange(len(owner)) - offset[owner] + begin[owner], owner

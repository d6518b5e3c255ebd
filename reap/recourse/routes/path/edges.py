"""The part of a subject's graph that searches have seen, grown as they need it."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_array

from reap._typing import Array, Ints

if TYPE_CHECKING:
    from reap.recourse.routes.path.nodes import View

#: Nodes expanded to begin with.
_AHEAD = 16


class Region:
    """The part of the graph that searches have seen; place 0 is the subject.

    The edges of an expanded place ``i`` are ``begin[i] … begin[i] + count[i]``; ``begin`` is −1 where it is not expanded.

    Parameters
    ----------
    view : View
    neighbors : int
    """

    def __init__(self, view: View, neighbors: int) -> None:
        self.view, self.neighbors = view, neighbors
        self.ids = np.array([view.origin])  # place -> node
        self.place = np.full(len(view), -1, dtype=np.intp)  # node -> place
        self.place[view.origin] = 0
        self.begin = np.full(1, -1, dtype=np.intp)
        self.count = np.zeros(1, dtype=np.intp)
        self.accepted = np.zeros(1, dtype=bool)
        self.vectors = view.z0[None]
        self._short = view.short(view.z0[None])
        self.source = np.empty(0, dtype=np.intp)
        self.target = np.empty(0, dtype=np.intp)
        self.moves = np.empty((0, len(view.movable)))
        self.tie = np.empty(0)
        self.banned = np.empty(0, dtype=bool)
        #: Paths found before, as tuples of edges: what they cost under another matrix bounds its search.
        self.paths: set[tuple[int, ...]] = set()
        self._matrix: Any = None
        self._reaches: bool | None = None

    def __len__(self) -> int:
        return len(self.ids)

    def matrix(self) -> Any:
        """Return the edges in order of their sources, and the sparse matrix they make, to be filled with weights."""
        if self._matrix is None:
            order = np.argsort(self.source, kind="stable")
            indptr = np.zeros(len(self) + 1, dtype=np.int32)
            np.cumsum(self.count, out=indptr[1:])
            indices = self.target[order].astype(np.int32)
            self._matrix = (
                order,
                csr_array((np.ones(len(order)), indices, indptr), shape=(len(self), len(self))),
            )
        return self._matrix

    def edge(self, source: int, target: int) -> int:
        """Return the edge between two places."""
        begin = self.begin[source]
        return int(begin + np.argmax(self.target[begin : begin + self.count[source]] == target))

    def path(self, edges: Ints) -> Array:
        """Return the rows (s + 1, d) that a path of s edges passes, from the subject on."""
        return np.asarray(self.vectors[np.append(0, self.target[edges])])

    def ban(self, edges: Ints) -> None:
        """Take edges out that proved illegal."""
        self.banned[edges] = True
        self.paths = {path for path in self.paths if not self.banned[list(path)].any()}

    def grow(self, needed: Ints) -> None:
        """Find the edges of some places; the first time, nodes near the subject come along, to save rounds."""
        fresh = needed[self.begin[needed] < 0]
        if len(fresh) and len(self.source) == 0 and self.view.simple:
            near = self.view.nearest(_AHEAD)
            fresh = np.union1d(fresh, self._places(near[~self.view.accepts(self.view.score(near))]))
        if len(fresh):
            self._expand(np.sort(fresh))

    def reaches(self, deadline: float = np.inf) -> bool:
        """Return whether an accepted place is linked to the subject, by any number of steps."""
        if self._reaches is None and self.view.simple:
            near = self.view.nearest(self.neighbors)  # the subject's own links, which keep all directions
            self._reaches = bool(self.view.accepts(self.view.score(near)).any()) or None
        if self._reaches is None:
            frontier, seen = np.zeros(1, dtype=np.intp), np.ones(1, dtype=bool)
            while len(frontier) and time.monotonic() <= deadline:
                self.grow(frontier)
                edges, _ = ragged(self.begin[frontier], self.count[frontier])
                linked = distinct(self.target[edges[~self.banned[edges]]])
                if self.accepted[linked].any():
                    self._reaches = True
                    return True
                seen = np.append(seen, np.zeros(len(self) - len(seen), dtype=bool))
                frontier = linked[~seen[linked]]
                seen[frontier] = True
            if len(frontier):
                return False  # time is up: nothing is known
            self._reaches = False
        return self._reaches

    def _places(self, nodes: Ints) -> Ints:
        """Return the places of nodes; new ones are made, and scored, where they have none."""
        unseen = distinct(nodes[self.place[nodes] < 0])
        self.place[unseen] = len(self) + np.arange(len(unseen))
        self.ids = np.append(self.ids, unseen)
        self.begin = np.append(self.begin, np.full(len(unseen), -1))
        self.count = np.append(self.count, np.zeros(len(unseen), dtype=np.intp))
        self.accepted = np.append(self.accepted, self.view.accepts(self.view.score(unseen)))
        rows = self.view.vectors(unseen)
        self.vectors = np.vstack([self.vectors, rows])
        self._short = np.vstack([self._short, self.view.short(rows)])
        return self.place[nodes]

    def _expand(self, fresh: Ints) -> None:
        view = self.view
        start, end = self._pairs(fresh)
        stop = self._places(end)
        moves = self._short[stop] - self._short[start]
        fine = view.may_move(moves)
        if not view.simple:
            fine[fine] = view.space.allows(self.vectors[start[fine]], self.vectors[stop[fine]])
        start, end, stop, moves = start[fine], end[fine], stop[fine], moves[fine]
        tie = (0.6180339887498949 * self.ids[start] + 0.7548776662466927 * end) % 1.0 + 1.0
        sizes = np.bincount(np.searchsorted(fresh, start), minlength=len(fresh))
        self.begin[fresh] = len(self.source) + np.cumsum(sizes) - sizes
        self.count[fresh] = sizes
        self.source, self.target = np.append(self.source, start), np.append(self.target, stop)
        self.moves = np.vstack([self.moves, moves])
        self.tie = np.append(self.tie, (moves**2).sum(axis=1) * tie)
        self.banned = np.append(self.banned, np.zeros(len(start), dtype=bool))
        self._matrix = None

    def _pairs(self, fresh: Ints) -> tuple[Ints, Ints]:
        """Return the raw edges of places (sorted): place of the start, node of the end; each once, in order."""
        view = self.view
        begin, rows = view.rows.graph(self.neighbors)
        nodes = self.ids[fresh]
        mine, owner = ragged(view.begins[nodes], view.begins[nodes + 1] - view.begins[nodes])
        members = view.members[mine]
        near, of_member = ragged(begin[members], begin[members + 1] - begin[members])
        start, end = fresh[owner[of_member]], view.node_of[rows[near]]
        if fresh[0] == 0:
            first = view.nearest(self.neighbors)
            start, end = np.append(start, np.zeros(len(first), dtype=np.intp)), np.append(end, first)
        keep = (end >= 0) & (end != view.origin) & (end != self.ids[start])
        keys = distinct(start[keep] * len(view) + end[keep])
        return keys // len(view), keys % len(view)


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

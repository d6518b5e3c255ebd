"""Shortest paths of one subject through rows of other people, on as little graph as needed.

*Rows* are learned once for all subjects: the distinct ones, and who is near whom. Columns that nobody can change take the
subject's own values everywhere, so they neither tell rows apart nor say how near they are.

*Positions* are what the subject could become: rows projected on what is legal for this person, and scored again. A position is
scored, and its edges are looked up, only when a search comes by. The *subgraph* is the part that searches have seen.

*Search*: Dijkstra's algorithm runs on the part of the graph that is known. If a vertex that was never expanded is nearer
than the best accepted one, it might lead to something easier: such vertices are expanded, and the search is run again. When
there is none left, nothing outside can be easier: the answer is that of the whole graph. Accepted vertices have no edges out.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import dijkstra
from sklearn.neighbors import NearestNeighbors

from reap import effort
from reap._arrays import zero_missing
from reap._typing import Array, Bools, Ints
from reap.effort import Efforts
from reap.recourse.acceptance import Acceptance
from reap.recourse.engine import Subject
from reap.space import ActionSpace

#: Efforts (n, b) of edges (n,), under b matrices or under anything else.
EdgeEfforts = Callable[[Ints], Array]
#: Efforts (n,) of steps, from their starts (n, d) and ends (n, d).
StepEffort = Callable[[Array, Array], Array]
#: Up to this many rows a full table of distances is the quickest way to many neighbours, whatever d.
_BRUTE = 50_000
#: A score must pass the threshold by this much, so that the row is accepted on its own, too.
_CLEAR = 1e-9
#: Encoded values this near are the same.
_SAME = 1e-9
#: Added to every effort, times |v|² and a number from 1 to 2 that depends on the edge: equally easy paths are told
#: apart in the same way whatever was searched before, and no edge is free.
_TIE = 1e-11


# rows of other people --------------------------------------------------------------------------------------


class OtherRows:
    """Distinct rows of other people, and for each the list of its nearest others.

    Parameters
    ----------
    space : ActionSpace
    Z : (n, d) vectors of the rows
    most : int
        Length of the lists: the widest neighbourhood that may be asked for.
    """

    def __init__(self, space: ActionSpace, Z: Array, most: int) -> None:
        self.movable = np.array(space.legal.movable or [], dtype=np.intp)
        near = np.where(np.isnan(Z), np.inf, Z)[:, self.movable]  # missing equals missing
        self.vectors = Z[np.sort(np.unique(near, axis=0, return_index=True)[1])]
        self.lists = exact_neighbors(_filled(self.vectors[:, self.movable]), most)
        self._graphs: dict[int, tuple[Ints, Ints]] = {}

    def __len__(self) -> int:
        return len(self.vectors)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_graphs": {}}

    def graph(self, neighbors: int) -> tuple[Ints, Ints]:
        """Return the symmetric relation "one of the K nearest" as (start of each row's part, rows)."""
        if neighbors not in self._graphs:
            n, near = len(self), self.lists[:, :neighbors]
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
    found = search.fit(near).kneighbors(near, return_distance=False)
    others = found != np.arange(n)[:, None]  # without the row itself, or the last of many that equal it
    others[others.all(axis=1), -1] = False
    return np.asarray(found[others].reshape(n, -1), dtype=np.int32)


def _filled(near: Array) -> Array:
    """Return the rows with missing values at the median of their column, so that distances exist."""
    near = near.copy()
    for column in near.T:
        gap = np.isnan(column)
        column[gap] = 0.0 if gap.all() else np.median(column[~gap])
    return near


# what a subject could become -------------------------------------------------------------------------------


class Positions:
    """The nodes of the graph for one subject; rows that come to the same are one position.

    Parameters
    ----------
    subject : Subject
    rows : OtherRows
    acceptance : Acceptance
        Who decides which rows will do.

    Attributes
    ----------
    origin : int
        The position where the subject is now.
    of_row : (n,) position of each row, −1 where the subject may not become it
    members, begins : the rows of position i are ``members[begins[i] : begins[i + 1]]``
    distances : (N,) squared distance of each position from the subject
    scores, logits : (N,) what today's model says, and what decides; ``nan`` where nobody asked yet
    """

    def __init__(self, subject: Subject, rows: OtherRows, acceptance: Acceptance) -> None:
        self.subject, self.rows, self.acceptance = subject, rows, acceptance
        self.space, self.z0, self.movable = subject.space, subject.z, rows.movable
        self._projected = self.space.project(rows.vectors, self.z0, exact=False)
        derived = self.space.encoding.starts[self.space.legal.derived.moved].tolist()
        keys, away = np.zeros(len(rows), dtype=np.uint64), np.zeros(len(rows))
        for column in sorted({*(self.space.legal.movable or []), *derived}):
            values = self._projected[:, column]
            away += zero_missing(values - self.z0[column]) ** 2
            keys += _hash(zero_missing(values), column)
        self._merge(keys, away, np.flatnonzero(self.space.allows(self.z0, self._projected)))

    def _merge(self, keys: Any, away: Array, usable: Ints) -> None:
        """Make one position of all usable rows with the same key; the subject has one too."""
        order = usable[np.argsort(keys[usable])]
        fresh = np.ones(len(order), dtype=bool)
        fresh[1:] = keys[order[1:]] != keys[order[:-1]]
        begins = np.flatnonzero(fresh)
        self.of_row = np.full(len(keys), -1, dtype=np.intp)
        self.of_row[order] = np.cumsum(fresh) - 1
        self.members, self.begins = order, np.append(begins, len(order))
        self._first = order[begins]
        self.distances = away[self._first]
        here = np.flatnonzero(self.distances <= _SAME**2)
        if len(here) == 0:
            self.begins = np.append(self.begins, len(order))
            self.distances = np.append(self.distances, 0.0)
            self._first = np.append(self._first, 0)  # any row: ``vectors`` puts the subject's values there
            here = np.array([len(begins)])
        self.origin = int(here[0])
        self.scores, self.logits = np.full(len(self), np.nan), np.full(len(self), np.nan)
        self.scores[self.origin] = self.subject.score
        self.logits[self.origin] = -np.inf  # the subject is refused, or would need no plan

    def __len__(self) -> int:
        return len(self.distances)

    def vectors(self, positions: Ints) -> Array:
        """Return the rows (k, d) that positions stand for."""
        Z = self._projected[self._first[positions]]
        Z[positions == self.origin] = self.z0
        return Z

    @cached_property
    def nearest(self) -> Ints:
        """All other positions, the nearest to the subject first; equally near ones by number."""
        order = np.argsort(self.distances, kind="stable")
        return np.asarray(order[order != self.origin])

    def accepted(self, positions: Ints) -> Bools:
        """Return which positions are accepted, and would be in any batch: the last digits of a score depend on its size."""
        unknown = distinct(positions[np.isnan(self.logits[positions])])
        if len(unknown):
            Z, today = self.vectors(unknown), self.acceptance.today
            self.scores[unknown] = today.score(Z)
            self.logits[unknown] = (
                today.linked(self.scores[unknown])
                if self.acceptance.exact
                else self.acceptance.classifier.logit(Z)
            )
        return np.asarray(self.logits[positions] > self.acceptance.classifier.boundary + _CLEAR)


@cache
def _salt() -> Any:
    return np.random.default_rng(0).integers(2**64, size=1 << 12, dtype=np.uint64)


def _hash(values: Array, column: int) -> Any:
    """Return 64 well-mixed bits for each value (n,), different in each column: equal sums of them are equal rows."""
    bits = np.ascontiguousarray(values + 0.0).view(np.uint64)  # + 0.0: minus zero is zero
    bits = bits + _salt()[column]
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        bits = (bits ^ (bits >> np.uint64(shift))) * np.uint64(factor)
    return bits ^ (bits >> np.uint64(31))


# the part of the graph that was seen -----------------------------------------------------------------------


class Subgraph:
    """The part of the graph that searches have seen, legal steps alone; vertex 0 is the subject.

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
        self.source = np.empty(0, dtype=np.intp)
        self.target = np.empty(0, dtype=np.intp)
        self.moves = np.empty((0, len(positions.movable)))
        self.tie = np.empty(0)
        self._matrix: Any = None

    def __len__(self) -> int:
        return len(self.position)

    def efforts(self, matrices: Array | Efforts) -> EdgeEfforts:
        """Return the function that gives the efforts (n, b) of edges under matrices (b, d, d), curved where people's are."""
        small = Efforts.of(matrices).within(self.positions.movable)
        return lambda edges: small.ask(self.moves[edges]).T

    def efforts_by(self, effort_of: StepEffort) -> EdgeEfforts:
        """Return the function that gives the efforts (n, 1) of edges as a function of steps measures them."""

        def efforts(edges: Ints) -> Array:
            done = self._done(self.vectors)
            return effort_of(done[self.source[edges]], done[self.target[edges]])[:, None]

        return efforts

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

    def _done(self, rows: Array) -> Array:
        return self.positions.space.legal.done(rows, self.positions.z0)

    def done(self, edges: Ints) -> Array:
        """Return the rows (s + 1, d) of a path of s edges without what effects bring: what effort is of."""
        return self._done(self.path(edges))

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

    def grow(self, needed: Ints) -> None:
        """Find the edges of some vertices, where they are not known."""
        fresh = np.sort(needed[self.begin[needed] < 0])
        if len(fresh) == 0:
            return
        start, end = self._pairs(fresh)
        stop = self._vertices(end)
        before, after = self.vectors[start], self.vectors[stop]
        fine = self.positions.space.allows(before, after)
        start, end, stop = start[fine], end[fine], stop[fine]
        # a value that is missing stays so
        moves = zero_missing(self._done(after[fine])[:, self.positions.movable])
        moves -= zero_missing(self._done(before[fine])[:, self.positions.movable])
        tie = (0.6180339887498949 * self.position[start] + 0.7548776662466927 * end) % 1.0 + 1.0
        sizes = np.bincount(np.searchsorted(fresh, start), minlength=len(fresh))
        self.begin[fresh] = len(self.source) + np.cumsum(sizes) - sizes
        self.count[fresh] = sizes
        self.source, self.target = np.append(self.source, start), np.append(self.target, stop)
        self.moves = np.vstack([self.moves, moves])
        self.tie = np.append(self.tie, effort.size(moves) * tie)
        self._matrix = None

    def _vertices(self, positions: Ints) -> Ints:
        """Return the vertices of positions; new ones are made, and scored, where they have none."""
        unseen = distinct(positions[self._vertex[positions] < 0])
        self._vertex[unseen] = len(self) + np.arange(len(unseen))
        self.position = np.append(self.position, unseen)
        self.begin = np.append(self.begin, np.full(len(unseen), -1))
        self.count = np.append(self.count, np.zeros(len(unseen), dtype=np.intp))
        self.accepted = np.append(self.accepted, self.positions.accepted(unseen))
        self.vectors = np.vstack([self.vectors, self.positions.vectors(unseen)])
        return self._vertex[positions]

    def _pairs(self, fresh: Ints) -> tuple[Ints, Ints]:
        """Return the raw edges of vertices (sorted): their start, and the position they end at; each once, in order."""
        positions = self.positions
        begin, rows = positions.rows.graph(self.neighbors)
        first = positions.begins[self.position[fresh]]
        mine, owner = ragged(first, positions.begins[self.position[fresh] + 1] - first)
        members = positions.members[mine]
        near, of_member = ragged(begin[members], begin[members + 1] - begin[members])
        start, end = fresh[owner[of_member]], positions.of_row[rows[near]]
        if fresh[0] == 0:
            own = positions.nearest[: self.neighbors]
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


# search -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ShortestPaths:
    """Paths as edges, one for each matrix (None: nothing accepted was reached), and whether time was up."""

    edges: Sequence[Ints | None]
    timed_out: bool


def shortest(subgraph: Subgraph, efforts: EdgeEfforts, width: int, deadline: float = np.inf) -> ShortestPaths:
    """Return the path of least effort to an accepted position under each of ``width`` matrices."""
    paths: list[Ints | None] = [None] * width
    subgraph.grow(np.zeros(1, dtype=np.intp))
    weights, timed_out = _weights(subgraph, efforts, np.empty((0, width))), False
    for k in range(width):
        while not timed_out:
            order, graph = subgraph.matrix()
            graph.data = weights[order, k]
            away, back = dijkstra(graph, indices=0, return_predecessors=True)
            best = np.where(subgraph.accepted, away, np.inf)
            goal = int(best.argmin())
            reached = bool(np.isfinite(best[goal]))
            beyond = np.flatnonzero((away < best[goal]) & (subgraph.begin < 0) & ~subgraph.accepted)
            timed_out = time.monotonic() > deadline
            if reached and (timed_out or len(beyond) == 0):
                paths[k] = _trace(subgraph, back, goal)
            if len(beyond) == 0:
                break
            subgraph.grow(beyond)
            weights = _weights(subgraph, efforts, weights)
    return ShortestPaths(paths, timed_out)


def _trace(subgraph: Subgraph, back: Ints, goal: int) -> Ints:
    path = []
    while goal != 0:
        path.append(subgraph.edge(int(back[goal]), goal))
        goal = int(back[goal])
    return np.array(path[::-1], dtype=np.intp)


def _weights(subgraph: Subgraph, efforts: EdgeEfforts, known: Array) -> Array:
    """Return the weights (e, b) of all edges; those of the first ones are known."""
    edges = np.arange(len(known), len(subgraph.source))
    return np.vstack([known, efforts(edges) + (_TIE * subgraph.tie[edges])[:, None]]) if len(edges) else known

"""Shortest paths of one subject through rows of other people, on as little graph as needed.

*Positions* are what the subject could become: rows projected on what is legal for this person, and scored again. Nothing is
done ahead: rows are projected once, but a position is scored, and its edges are looked up, only when a search comes by. The
*subgraph* is the part that searches have seen.

*Search*: Dijkstra's algorithm runs on the part of the graph that is known. If a vertex that was never expanded is nearer
than the best accepted one, it might lead to something easier: such vertices are expanded, and the search is run again. When
there is none left, nothing outside can be easier: the answer is that of the whole graph. Accepted vertices have no edges out.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from reap import effort
from reap._arrays import zero_missing
from reap._typing import Array, Bools, Ints
from reap.effort import Efforts
from reap.recourse.acceptance import Acceptance
from reap.recourse.engine import Subject
from reap.recourse.paper.neighbours import NeighbourLists

#: Efforts (n, b) of edges (n,), under b matrices or under anything else.
EdgeEfforts = Callable[[Ints], Array]
#: Positions scored at least in one call of the model: the nearest ones come along.
_BATCH = 256
#: A score must pass the threshold by this much, so that the row is accepted on its own, too.
_CLEAR = 1e-9
#: Encoded values this near are the same.
_SAME = 1e-9
#: Positions expanded to begin with.
_AHEAD = 16
#: Added to every effort, times |v|² and a number from 1 to 2 that depends on the edge: equally easy paths are told
#: apart in the same way whatever was searched before, and no edge is free.
_TIE = 1e-11
#: Relative room above a known effort, for the rounding of sums.
_SLACK = 1e-9


class Positions:
    """The nodes of the graph for one subject; rows that come to the same are one position.

    Parameters
    ----------
    subject : Subject
    neighbours : NeighbourLists
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

    def __init__(self, subject: Subject, neighbours: NeighbourLists, acceptance: Acceptance) -> None:
        self.subject, self.neighbours, self.acceptance = subject, neighbours, acceptance
        self.space, self.z0, self.movable = subject.space, subject.z, neighbours.movable
        features = self.space.features
        derived = bool(self.space.legal.derived.names)
        counted = self.space.legal.most_changes is not None
        ruled = derived or self.space.timed or bool(self.space.rules)
        #: Whether a step between two positions can break more than a direction.
        self.tied = counted or ruled or any(f.forbidden for f in features)
        self._projected = neighbours.table.project(
            self.space, self.z0, one_by_one=not (counted or derived or self.space.timed)
        )
        every = np.arange(len(neighbours))
        self._merge(every[self.space.allows(self.z0, self._projected[every])] if ruled else every)
        sides = {self.space.slices[f.name].start: f.direction for f in features if f.derived is None}
        self._up, self._down = (
            np.flatnonzero([sides.get(int(column)) == side for column in self.movable])
            for side in ("up", "down")
        )

    def _merge(self, usable: Ints) -> None:
        """Make one position of all usable rows that come to the same; the subject has one too."""
        keys, distances = self._projected.keys, self._projected.distances
        order = usable[np.argsort(keys[usable])]
        fresh = np.ones(len(order), dtype=bool)
        fresh[1:] = keys[order[1:]] != keys[order[:-1]]
        begins = np.flatnonzero(fresh)
        self.of_row = np.full(len(keys), -1, dtype=np.intp)
        self.of_row[order] = np.cumsum(fresh) - 1
        self.members, self.begins = order, np.append(begins, len(order))
        self._first = order[begins]
        self.distances = distances[self._first]
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
        self._scored, self._queue = 1, np.arange(0)

    def __len__(self) -> int:
        return len(self.distances)

    def vectors(self, positions: Ints) -> Array:
        """Return the rows (k, d) that positions stand for."""
        Z = self._projected[self._first[positions]]
        Z[positions == self.origin] = self.z0
        return Z

    def nearest(self, count: int) -> Ints:
        """Return the positions nearest to the subject, (count,); equally near ones by number."""
        count = min(count + 1, len(self))
        if len(self._queue) < count:
            most = min(len(self), max(8 * _BATCH, 4 * count))
            limit = np.partition(self.distances, most - 1)[most - 1]
            near = np.flatnonzero(self.distances <= limit)
            self._queue = near[np.argsort(self.distances[near], kind="stable")]
        first = self._queue[:count]
        return np.asarray(first[first != self.origin][: count - 1])

    def score(self, positions: Ints) -> Array:
        """Return the logits of positions; others near the subject are scored along, so that calls are few."""
        unknown = positions[np.isnan(self.logits[positions])]
        if len(unknown):
            more = max(_BATCH, self._scored)
            near = self.nearest(self._scored + more)
            near = near[np.isnan(self.logits[near])]
            batch = distinct(np.concatenate([unknown, near[:more]]))
            Z, today = self.vectors(batch), self.acceptance.today
            self.scores[batch] = today.score(Z)
            exact = self.acceptance.exact
            self.logits[batch] = (
                today.linked(self.scores[batch]) if exact else self.acceptance.classifier.logit(Z)
            )
            self._scored += len(batch)
        return np.asarray(self.logits[positions])

    def accepts(self, logits: Array) -> Bools:
        """Return which logits are enough, and would be in any batch: the last digits depend on its size."""
        return np.asarray(logits > self.acceptance.classifier.boundary + _CLEAR)

    def short(self, Z: Array) -> Array:
        """Return the columns (n, m) of rows that people change, with 0 where a value is missing: it stays so."""
        return zero_missing(self.space.legal.done(Z, self.z0)[:, self.movable])

    def may_move(self, moves: Array) -> Bools:
        """Return which steps (n, m) between positions, in the columns that can change, keep all directions.

        Much cheaper than ``legal``, which every step of a plan has to pass before the plan is shown.
        """
        wrong = (moves[:, self._up] < -_SAME).any(axis=1) | (moves[:, self._down] > _SAME).any(axis=1)
        return np.asarray(~wrong)

    def legal(self, before: Array, after: Array) -> Bools:
        """Return which steps are legal, exactly: from their start, and as a position for the subject."""
        return np.asarray(self.space.allows(before, after) & self.space.allows(self.z0, after))


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

    def efforts(self, matrices: Array | Efforts) -> EdgeEfforts:
        """Return the function that gives the efforts (n, b) of edges under matrices (b, d, d), curved where people's are."""
        small = Efforts.of(matrices).within(self.positions.movable)
        return lambda edges: small.ask(self.moves[edges]).T

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

    def done(self, edges: Ints) -> Array:
        """Return the rows (s + 1, d) of a path of s edges without what effects bring: what effort is of."""
        return self.positions.space.legal.done(self.path(edges), self.positions.z0)

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


# search -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ShortestPaths:
    """Paths as edges, one for each matrix (None: nothing accepted was reached), and whether time was up."""

    edges: Sequence[Ints | None]
    timed_out: bool


def shortest(subgraph: Subgraph, efforts: EdgeEfforts, width: int, deadline: float = np.inf) -> ShortestPaths:
    """Return the path of least effort to an accepted position under each of ``width`` matrices, every step legal.

    Edges are judged exactly only where a shortest path uses them; where one proves illegal, the search is run again.
    """
    while True:
        found = _paths(subgraph, efforts, width, deadline)
        paths = [edges for edges in found.edges if edges is not None]
        if not paths or subgraph.all_legal(np.unique(np.concatenate(paths))):
            subgraph.paths.update(tuple(edges.tolist()) for edges in paths)
            return found


def _paths(subgraph: Subgraph, efforts: EdgeEfforts, width: int, deadline: float) -> ShortestPaths:
    paths: list[Ints | None] = [None] * width
    bound = np.full(width, np.inf)
    for known in subgraph.paths:
        _tighten(bound, subgraph, efforts, np.array(known))
    subgraph.grow(np.zeros(1, dtype=np.intp))
    weights = _weights(subgraph, efforts, np.empty((0, width)))
    timed_out = False
    for k in range(width):
        while not timed_out:
            away, back, goal = _search(subgraph, weights[:, k], bound[k])
            best = np.inf if goal is None else away[goal]
            beyond = np.flatnonzero((away < best) & (subgraph.begin < 0) & ~subgraph.accepted)
            timed_out = time.monotonic() > deadline
            if goal is not None and (timed_out or len(beyond) == 0):
                paths[k] = path = _trace(subgraph, back, goal)
                _tighten(bound, subgraph, efforts, path)
            if len(beyond) == 0:
                break
            subgraph.grow(beyond)
            weights = _weights(subgraph, efforts, weights)
    return ShortestPaths(paths, timed_out)


def _search(subgraph: Subgraph, weights: Array, bound: float) -> tuple[Array, Ints, int | None]:
    """Return efforts and predecessors (n,) in the known part, and the easiest accepted vertex, if one is reached."""
    order, graph = subgraph.matrix()
    graph.data = weights[order]
    away, back = dijkstra(graph, indices=0, return_predecessors=True, limit=bound)
    goals = np.flatnonzero(subgraph.accepted)
    goal = int(goals[away[goals].argmin()]) if len(goals) else 0
    return away, back, goal if len(goals) and np.isfinite(away[goal]) else None


def _trace(subgraph: Subgraph, back: Ints, goal: int) -> Ints:
    path = []
    while goal != 0:
        path.append(subgraph.edge(int(back[goal]), goal))
        goal = int(back[goal])
    return np.array(path[::-1], dtype=np.intp)


def _tighten(bound: Array, subgraph: Subgraph, efforts: EdgeEfforts, edges: Ints) -> None:
    """Lower the bounds (b,) to the effort of a path that exists; the path itself stays within."""
    np.minimum(bound, _weighted(subgraph, efforts, edges).sum(axis=0) * (1 + _SLACK), out=bound)


def _weights(subgraph: Subgraph, efforts: EdgeEfforts, known: Array) -> Array:
    """Return the weights (e, b) of all edges; those of the first ones are known."""
    edges = np.arange(len(known), len(subgraph.source))
    return np.vstack([known, _weighted(subgraph, efforts, edges)]) if len(edges) else known


def _weighted(subgraph: Subgraph, efforts: EdgeEfforts, edges: Ints) -> Array:
    weights = efforts(edges) + (_TIE * subgraph.tie[edges])[:, None]
    weights[subgraph.banned[edges]] = np.inf
    return weights

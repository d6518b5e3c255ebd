"""Paths that are good whatever the person's matrix is, among those that fit the answers.

Two objectives. *Worst case* is the paper's relaxation: every edge at its own worst matrix, ``w̄(v) = max_A vᵀAv``, and
the shortest path. *Minimax* is the problem itself, ``min_path max_A Σ vᵀAv``, one matrix for the whole path: a game of paths
against matrices, then enumeration up to a proof. Both are exact: edges are solved for only where a lower bound cannot
decide, and a path is ruled out only by a proof.
"""

from __future__ import annotations

import heapq
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import linprog
from scipy.sparse.csgraph import dijkstra

from reap import effort
from reap._typing import Array, Ints
from reap.belief import ConfidenceSet
from reap.recourse.paper.paths import EdgeEfforts, ShortestPaths, Subgraph

#: Runs a search on the subgraph under one kind of effort.
PathSearch = Callable[[EdgeEfforts], ShortestPaths]
#: Relative gap at which a bound counts as reached; worst cases are solved to a tenth of it.
GAP = 1e-6
#: Rounds of the saddle point; its bound only grows with them, and enumeration closes what is left.
_ROUNDS = 40
#: Partial paths looked at before the enumeration is given up, with what it has proved by then.
_PREFIXES = 200_000


@dataclass(frozen=True)
class RobustPath:
    """A path as edges, its worst-case effort, and a proven lower bound of what any path asks at worst."""

    edges: Ints
    effort: float
    bound: float


def worst_case(subgraph: Subgraph, beliefs: ConfidenceSet, search: PathSearch) -> RobustPath | None:
    """Return the path of least effort under ``w̄``; None if time was up before any was found."""
    edges = _shortest(subgraph, beliefs, search)
    if edges is None:
        return None
    moves = effort.moves(subgraph.done(edges))
    # the matrix that is worst for this path bounds all others from below
    under = subgraph.efforts(beliefs.worst_case_plan(moves).matrix[None])
    other = search(under).edges[0]
    bound = 0.0 if other is None else float(under(other).sum())
    worst = float(beliefs.worst_case(moves).costs.sum())
    return RobustPath(edges, worst, min(bound, worst))


class WorstCaseEdges:
    """Efforts ``w̄`` of edges, from below: the most that any matrix met so far asks, until an edge is solved for."""

    def __init__(self, subgraph: Subgraph, beliefs: ConfidenceSet) -> None:
        self.subgraph, self.beliefs = subgraph, beliefs
        self.low, self.exact = np.empty(0), np.empty(0, dtype=bool)
        whole = effort.identity(beliefs.dimension)
        self.matrices = [whole if beliefs.contains(whole) else beliefs.center().matrix]

    def efforts(self, edges: Ints) -> Array:
        """Return what is known of the efforts (n, 1)."""
        fresh = np.arange(len(self.low), len(self.subgraph.source))
        if len(fresh):
            self.low = np.append(self.low, self._most(self.matrices, fresh))
            self.exact = np.append(self.exact, np.zeros(len(fresh), dtype=bool))
            self._settle(fresh)
        return self.low[edges][:, None]

    def solve(self, edges: Ints) -> bool:
        """Find the worst cases of edges; return whether there was anything to find."""
        edges = edges[~self.exact[edges]]
        if len(edges) == 0:
            return False
        found = self.beliefs.worst_case(self.subgraph.full_moves(edges))
        fresh = [found.matrix(i) for i in range(len(edges))]
        every = np.arange(len(self.low))
        self.matrices += fresh
        self.low = np.maximum(self.low, self._most(fresh, every))
        self.low[edges], self.exact[edges] = found.costs, True
        self._settle(every)
        return True

    def _most(self, matrices: list[Array], edges: Ints) -> Array:
        """Return the largest effort (n,) that one of the matrices gives to each edge."""
        return np.asarray(self.subgraph.efforts(np.array(matrices))(edges).max(axis=1))

    def _settle(self, edges: Ints) -> None:
        # no matrix of 0 ⪯ A ⪯ I asks more than |v|²
        self.exact[edges] |= self.low[edges] >= effort.size(self.subgraph.moves[edges]) * (1 - GAP / 10)


def _shortest(subgraph: Subgraph, beliefs: ConfidenceSet, search: PathSearch) -> Ints | None:
    """Return the edges of the path of least effort under ``w̄``.

    Search under lower bounds, solve for the edges of the best path, search again: when the best path holds no bound
    any more, no other path can be easier.
    """
    worst = WorstCaseEdges(subgraph, beliefs)
    while True:
        found = search(worst.efforts)
        edges = found.edges[0]
        if edges is None or not worst.solve(edges) or found.timed_out:
            return edges


# minimax ----------------------------------------------------------------------------------------------------


def minimax(
    subgraph: Subgraph, beliefs: ConfidenceSet, search: PathSearch, deadline: float
) -> RobustPath | None:
    """Return the path whose worst case ``max_A ⟨A, VᵀV⟩`` is least, with the proof in ``bound``."""
    game = _Game(subgraph, beliefs, search)
    if not game.saddle(deadline):
        return None
    if game.effort > game.bound * (1 + GAP) and time.monotonic() < deadline:
        game.enumerate(deadline)
    return RobustPath(game.edges, game.effort, min(game.bound, game.effort))


class _Game:
    """Paths against matrices: the first player picks a path, the second a matrix that makes it hard.

    In mixed strategies the game has a saddle point, and its matrix bounds every path from below by one search. Both
    sides start with one strategy and gain their best answer to the other's mixture (double oracle); the mixtures come
    from a small linear programme.
    """

    def __init__(self, subgraph: Subgraph, beliefs: ConfidenceSet, search: PathSearch) -> None:
        self.subgraph, self.beliefs, self.search = subgraph, beliefs, search
        self.effort, self.bound = np.inf, 0.0
        self.edges = np.arange(0)
        self.matrices: list[Array] = [beliefs.center().matrix]
        self.matrix = self.matrices[0]  # the one with the best bound
        self._paths: dict[tuple[int, ...], Array] = {}  # edges -> Gram matrix of the moves

    def saddle(self, deadline: float) -> bool:
        """Raise the bound as far as mixtures go; return whether any path was found."""
        mixed = self.matrices[0]
        for _ in range(_ROUNDS):
            fresh = self._best_path(mixed)
            if fresh is None:
                return False
            if self.effort <= self.bound * (1 + GAP) or time.monotonic() > deadline:
                break
            shares, mixed, value = self._mixtures()
            answer = self._worst_mixture(shares)
            if answer is not None:
                self.matrices.append(answer)
                _, mixed, _ = self._mixtures()
            elif not fresh and value <= self.bound * (1 + GAP):
                break
        return True

    def consider(self, edges: Ints) -> bool:
        """Find what a path asks at worst; return whether it is new."""
        key = tuple(edges.tolist())
        if key in self._paths:
            return False
        moves = self.subgraph.full_moves(edges)
        self._paths[key] = effort.gram(moves)
        worst = self.beliefs.worst_case_plan(moves)
        self.matrices.append(worst.matrix)
        if worst.cost < self.effort:
            self.effort, self.edges = worst.cost, edges
        return True

    def _best_path(self, matrix: Array) -> bool | None:
        """Answer a matrix with its shortest path, which is a bound; None where there is no path."""
        found = self.search(self.subgraph.efforts(matrix[None]))
        edges = found.edges[0]
        if edges is None:
            return None
        if not found.timed_out:
            lower = effort.of_moves(matrix, self.subgraph.full_moves(edges)) * (1 - 1e-9)
            if lower > self.bound:
                self.bound, self.matrix = lower, matrix
        return self.consider(edges)

    def _mixtures(self) -> tuple[Array, Array, float]:
        """Return the paths' shares (p,), the mixed matrix (d, d) and the value of the game so far.

        ``min t`` with ``Σ_p y_p ⟨A_k, G_p⟩ ≤ t`` for every matrix k, y on the simplex; the multipliers mix the matrices.
        """
        payoff = np.array([[np.vdot(A, G) for G in self._paths.values()] for A in self.matrices])
        size = payoff.max() or 1.0
        k, p = payoff.shape
        solved = linprog(
            np.append(np.zeros(p), 1.0),
            A_ub=np.column_stack([payoff / size, -np.ones(k)]),
            b_ub=np.zeros(k),
            A_eq=[np.append(np.ones(p), 0.0)],
            b_eq=[1.0],
            bounds=[(0, None)] * p + [(None, None)],
        )
        weights = np.maximum(-solved.ineqlin.marginals, 0.0)
        mixed = np.tensordot(weights / weights.sum(), np.array(self.matrices), axes=1)
        return np.maximum(solved.x[:-1], 0.0), mixed, float(solved.fun * size)

    def _worst_mixture(self, shares: Array) -> Array | None:
        """Answer a mixture of paths with its worst matrix; None where none is worse than those at hand."""
        used = [(edges, share) for edges, share in zip(self._paths, shares, strict=True) if share > 1e-9]
        if len(used) < 2:
            return None  # a single path: its worst matrix is at hand
        moves = [np.sqrt(share) * self.subgraph.full_moves(np.array(edges)) for edges, share in used]
        whole = np.concatenate(moves)
        worst = self.beliefs.worst_case_plan(whole)
        gram = effort.gram(whole)
        known = max(float(np.vdot(A, gram)) for A in self.matrices)
        return worst.matrix if worst.cost > known * (1 + GAP) else None

    # enumeration ------------------------------------------------------------------------------------------

    def enumerate(self, deadline: float) -> None:
        """Look at paths in order of their bound under the saddle's matrix, until the bound passes the best path.

        Best first over partial paths, with the exact distance to the goal as what is still to come. A partial path is
        dropped when any matrix at hand proves that all its ends ask too much.
        """
        self._cover()
        best_last = [A for A in self.matrices if A is not self.matrix][-15:]
        every = np.arange(len(self.subgraph.source))
        weights = self.subgraph.efforts(np.array([self.matrix, *best_last]))(every)
        ahead = np.stack([self._to_goal(column) for column in weights.T], axis=1)
        for bound, edges in self._in_order(weights, ahead, deadline):
            self.bound = max(self.bound, min(bound, self.effort))
            if edges is None:
                return
            self.consider(edges)
        self.bound = max(self.bound, self.effort * (1 - GAP))

    def _cover(self) -> None:
        """Expand every vertex that a path easier than the best could visit."""
        subgraph = self.subgraph
        while True:
            weights = self.subgraph.efforts(self.matrix[None])(np.arange(len(subgraph.source)))[:, 0]
            away = dijkstra(self._graph(weights), indices=0, limit=self.effort)
            beyond = np.flatnonzero((away < self.effort) & (subgraph.begin < 0) & ~subgraph.accepted)
            if len(beyond) == 0:
                return
            subgraph.grow(beyond)

    def _graph(self, weights: Array) -> Any:
        order, graph = self.subgraph.matrix()
        graph.data = np.maximum(weights[order], 1e-300)  # an edge of no effort is an edge
        return graph

    def _to_goal(self, weights: Array) -> Array:
        """Return the distance (n,) of every vertex to the nearest accepted one."""
        goals = np.flatnonzero(self.subgraph.accepted)
        return np.asarray(dijkstra(self._graph(weights).T.tocsr(), indices=goals, min_only=True))

    def _in_order(self, weights: Array, ahead: Array, deadline: float) -> Iterator[tuple[float, Ints | None]]:
        """Yield (bound, path) with growing bounds; a path of None says that time or room was up."""
        subgraph = self.subgraph
        heap: list[tuple[float, tuple[int, ...]]] = [(float(ahead[0, 0]), ())]
        spent: dict[tuple[int, ...], Array] = {(): np.zeros(weights.shape[1])}
        for _ in range(_PREFIXES):
            if not heap or heap[0][0] >= self.effort * (1 - GAP):
                return
            bound, path = heapq.heappop(heap)
            so_far = spent.pop(path)
            vertex = int(subgraph.target[path[-1]]) if path else 0
            if subgraph.accepted[vertex]:
                yield bound, np.array(path, dtype=np.intp)
                continue
            seen = {0, *subgraph.target[list(path)].tolist()} if path else {0}
            for edge in range(subgraph.begin[vertex], subgraph.begin[vertex] + subgraph.count[vertex]):
                end = int(subgraph.target[edge])
                if end in seen:
                    continue
                reached = so_far + weights[edge]
                total = reached + ahead[end]
                if (total < self.effort * (1 - GAP)).all():
                    longer = (*path, edge)
                    spent[longer] = reached
                    heapq.heappush(heap, (float(max(bound, total[0])), longer))
            if time.monotonic() > deadline:
                break
        yield (heap[0][0] if heap else self.effort), None

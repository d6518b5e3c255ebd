"""The path whose worst case is least, exactly: a game of paths against matrices, then enumeration up to a proof."""

from __future__ import annotations

import heapq
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.optimize import linprog
from scipy.sparse.csgraph import dijkstra

from reap import effort
from reap._typing import Array, Ints
from reap.belief import ConfidenceSet
from reap.recourse.robust.path_worst_case import GAP, RobustPath, Search
from reap.recourse.routes.path.subgraph import Subgraph

#: Rounds of the saddle point; its bound only grows with them, and enumeration closes what is left.
_ROUNDS = 40
#: Partial paths looked at before the enumeration is given up, with what it has proved by then.
_PREFIXES = 200_000


def minimax(subgraph: Subgraph, beliefs: ConfidenceSet, search: Search, deadline: float) -> RobustPath | None:
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

    def __init__(self, subgraph: Subgraph, beliefs: ConfidenceSet, search: Search) -> None:
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
        weights[self.subgraph.banned] = np.inf
        ahead = np.stack([self._to_goal(column) for column in weights.T], axis=1)
        for bound, edges in self._in_order(weights, ahead, deadline):
            self.bound = max(self.bound, min(bound, self.effort))
            if edges is None:
                return
            if self._legal(edges, weights):
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

    def _legal(self, edges: Ints, weights: Array) -> bool:
        legal = self.subgraph.all_legal(edges)
        weights[edges[self.subgraph.banned[edges]]] = np.inf
        return legal

"""Plans that are good whatever the person's cost matrix is, among those that fit the answers.

Two objectives. *Worst case* is the paper's relaxation: every edge at its own worst matrix, ``w̄(v) = max_A vᵀAv``, and
the shortest path. *Minimax* (``_graph_minimax``) is the problem itself, ``min_path max_A Σ vᵀAv``, one matrix for the
whole path. Both are exact: edges are solved for only where a lower bound cannot decide, and a path is ruled out only
by a proof.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from reap._arrays import zero_missing
from reap._typing import Array, Ints
from reap.belief import ConfidenceSet
from reap.recourse._graph_tidy import Price
from reap.recourse.routes.path.edges import Region
from reap.recourse.routes.path.search import Found, Weigh, efforts

#: Runs a search on the region for so many weightings, every step of its paths checked.
Search = Callable[[Weigh, int], Found]
#: Tidies a path (s + 1, d) under a price.
Tidied = Callable[[Array, Price], Array]
#: Relative gap at which a bound counts as reached; worst cases are solved to a tenth of it.
GAP = 1e-6


@dataclass(frozen=True)
class Robust:
    """A path (s + 1, d), its worst-case cost, and a proven lower bound of what any path costs at worst."""

    path: Array
    cost: float
    bound: float


def worst_case(
    region: Region, beliefs: ConfidenceSet, search: Search, tidied: Tidied | None
) -> Robust | None:
    """Return the cheapest path under ``w̄``; None if time was up before any was found."""
    edges = cheapest_worst_edges(region, beliefs, search)
    if edges is None:
        return None
    # the matrix that is worst for this path bounds all others from below
    weigh = matrix_weigh(region, beliefs.worst_case_plan(full_moves(region, edges)).matrix[None])
    other = search(weigh, 1).edges[0]
    bound = 0.0 if other is None else float(weigh(region.moves[other], other).sum())

    def price(moves: Array) -> Array:
        return beliefs.worst_case(moves).costs

    path = region.path(edges) if tidied is None else tidied(region.path(edges), price)
    cost = float(price(moves_of(path)).sum())
    return Robust(path, cost, min(bound, cost))


def full_moves(region: Region, edges: Ints) -> Array:
    """Return the moves (k, d) of edges in all encoded columns."""
    moves = np.zeros((len(edges), region.vectors.shape[1]))
    moves[:, region.view.movable] = region.moves[edges]
    return moves


def moves_of(path: Array) -> Array:
    """Return the steps (s, d) of a path (s + 1, d)."""
    return zero_missing(np.diff(path, axis=0))


def matrix_weigh(region: Region, matrices: Array) -> Weigh:
    """Return the function that weighs the region's edges by matrices (b, d, d)."""
    columns = region.view.movable
    return efforts(matrices[:, columns[:, None], columns])


class WorstCaseEdges:
    """Edge costs ``w̄``, from below: the most that any matrix met so far asks, until an edge is solved for.

    Parameters
    ----------
    region : Region
    beliefs : ConfidenceSet
    """

    def __init__(self, region: Region, beliefs: ConfidenceSet) -> None:
        self.region, self.beliefs = region, beliefs
        self.low, self.exact = np.empty(0), np.empty(0, dtype=bool)
        whole = np.eye(beliefs.dimension)
        self.matrices = [whole if beliefs.contains(whole) else beliefs.center().matrix]

    def weigh(self, moves: Array, edges: Ints) -> Array:
        """Return what is known of the costs (n, 1)."""
        fresh = np.arange(len(self.low), len(self.region.source))
        if len(fresh):
            self.low = np.append(self.low, self._at(np.array(self.matrices), fresh))
            self.exact = np.append(self.exact, np.zeros(len(fresh), dtype=bool))
            self._settle(fresh)
        return self.low[edges][:, None]

    def solve(self, edges: Ints) -> bool:
        """Find the worst cases of edges; return whether there was anything to find."""
        edges = edges[~self.exact[edges]]
        if len(edges) == 0:
            return False
        found = self.beliefs.worst_case(full_moves(self.region, edges))
        fresh = [found.matrix(i) for i in range(len(edges))]
        self.matrices += fresh
        self.low = np.maximum(self.low, self._at(np.array(fresh), np.arange(len(self.low))))
        self.low[edges], self.exact[edges] = found.costs, True
        self._settle(np.arange(len(self.low)))
        return True

    def _at(self, matrices: Array, edges: Ints) -> Array:
        return np.asarray(matrix_weigh(self.region, matrices)(self.region.moves[edges], edges).max(axis=1))

    def _settle(self, edges: Ints) -> None:
        # no matrix of 0 ⪯ A ⪯ I asks more than |v|²
        most = (self.region.moves[edges] ** 2).sum(axis=1)
        self.exact[edges] |= self.low[edges] >= most * (1 - GAP / 10)


def cheapest_worst_edges(region: Region, beliefs: ConfidenceSet, search: Search) -> Ints | None:
    """Return the edges of the cheapest path under ``w̄``.

    Search under lower bounds, solve for the edges of the best path, search again: when the best path holds no bound
    any more, no other path can be cheaper.
    """
    costs = WorstCaseEdges(region, beliefs)
    while True:
        found = search(costs.weigh, 1)
        path = found.edges[0]
        if path is None or not costs.solve(path) or found.timed_out:
            return path

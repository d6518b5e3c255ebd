"""Paths that are good whatever the person's matrix is, among those that fit the answers.

Two objectives. *Worst case* is the paper's relaxation: every edge at its own worst matrix, ``w̄(v) = max_A vᵀAv``, and
the shortest path. *Minimax* (``robust.minimax``) is the problem itself, ``min_path max_A Σ vᵀAv``, one matrix for the
whole path. Both are exact: edges are solved for only where a lower bound cannot decide, and a path is ruled out only
by a proof.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from reap import effort
from reap._typing import Array, Ints
from reap.belief import ConfidenceSet
from reap.recourse.routes.path.search import Found
from reap.recourse.routes.path.subgraph import EdgeEfforts, Subgraph

#: Runs a search on the subgraph under one kind of effort, every step of its path legal.
Search = Callable[[EdgeEfforts], Found]
#: Relative gap at which a bound counts as reached; worst cases are solved to a tenth of it.
GAP = 1e-6


@dataclass(frozen=True)
class RobustPath:
    """A path as edges, its worst-case effort, and a proven lower bound of what any path asks at worst."""

    edges: Ints
    effort: float
    bound: float


def worst_case(subgraph: Subgraph, beliefs: ConfidenceSet, search: Search) -> RobustPath | None:
    """Return the path of least effort under ``w̄``; None if time was up before any was found."""
    edges = _shortest(subgraph, beliefs, search)
    if edges is None:
        return None
    moves = effort.moves(subgraph.path(edges))
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


def _shortest(subgraph: Subgraph, beliefs: ConfidenceSet, search: Search) -> Ints | None:
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

"""Shortest paths from the subject to the first accepted position, for many matrices, on as little graph as needed.

Dijkstra's algorithm runs on the part of the graph that is known. If a vertex that was never expanded is nearer than the
best accepted one, it might lead to something easier: such vertices are expanded, and the search is run again. When there
is none left, nothing outside can be easier: the answer is that of the whole graph. Accepted vertices have no edges out.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse.csgraph import dijkstra

from reap._typing import Array, Ints
from reap.recourse.routes.path.subgraph import EdgeEfforts, Subgraph

#: Added to every effort, times |v|² and a number from 1 to 2 that depends on the edge: equally easy paths are told
#: apart in the same way whatever was searched before, and no edge is free.
_TIE = 1e-11
#: Relative room above a known effort, for the rounding of sums.
_SLACK = 1e-9


@dataclass(frozen=True)
class Found:
    """Paths as edges, one for each matrix (None: nothing accepted was reached), and whether time was up."""

    edges: Sequence[Ints | None]
    timed_out: bool


def shortest(subgraph: Subgraph, efforts: EdgeEfforts, width: int, deadline: float = np.inf) -> Found:
    """Return the path of least effort to an accepted position under each of ``width`` matrices, every step legal.

    Edges are judged exactly only where a shortest path uses them; where one proves illegal, the search is run again.
    """
    while True:
        found = _paths(subgraph, efforts, width, deadline)
        paths = [edges for edges in found.edges if edges is not None]
        if not paths or subgraph.all_legal(np.unique(np.concatenate(paths))):
            subgraph.paths.update(tuple(edges.tolist()) for edges in paths)
            return found


def _paths(subgraph: Subgraph, efforts: EdgeEfforts, width: int, deadline: float) -> Found:
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
    return Found(paths, timed_out)


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

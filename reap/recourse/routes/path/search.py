"""Cheapest paths from the subject to the first accepted node, for many cost matrices, on as little graph as needed.

Dijkstra's algorithm runs on the part of the graph that is known. If a node that was never expanded is nearer than the
best accepted one, it might lead to something cheaper: such nodes are expanded, and the search is run again. When there
is none left, nothing outside can be cheaper: the answer is that of the whole graph. Accepted nodes have no edges out.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse.csgraph import dijkstra

from reap._typing import Array, Ints
from reap.recourse.routes.path.edges import Region

#: Edge efforts (n, b) of moves (n, m) under b matrices; the second argument says which edges they are.
Weigh = Callable[[Array, Ints], Array]
#: Up to this many products of two columns, efforts of all matrices are one matrix product.
_PRODUCTS = 700
#: Added to every effort, times |v|² and a number from 1 to 2 that depends on the edge: equally cheap paths are told
#: apart in the same way whatever was searched before, and no edge is free.
_TIE = 1e-11
#: Relative room above a known cost, for the rounding of sums.
_SLACK = 1e-9


@dataclass(frozen=True)
class Found:
    """Paths as edges, one for each matrix (None: nothing accepted was reached), and whether time was up."""

    edges: Sequence[Ints | None]
    timed_out: bool


def efforts(matrices: Array) -> Weigh:
    """Return the function that weighs moves (n, m) by ``vᵀAv``, (n, b), for matrices (b, m, m).

    ``vᵀAv = Σ_{i≤j} v_i v_j (A_ij + A_ji)(1 − ½[i=j])``: one matrix product for all edges and matrices.

    Examples
    --------
    >>> efforts(np.array([[[2.0, 1.0], [1.0, 3.0]]]))(np.array([[1.0, 1.0], [1.0, 0.0]]), np.arange(2))
    array([[7.],
           [2.]])
    """
    m = matrices.shape[1]
    i, j = np.triu_indices(m)
    if len(i) <= _PRODUCTS:
        weights = (matrices + matrices.transpose(0, 2, 1))[:, i, j] * np.where(i == j, 0.5, 1.0)
        return lambda moves, edges: np.maximum((moves[:, i] * moves[:, j]) @ weights.T, 0.0)
    return lambda moves, edges: np.maximum(
        np.stack([np.einsum("ni,ni->n", moves @ A, moves) for A in matrices], axis=1), 0.0
    )


def shortest(
    region: Region, weigh: Weigh, width: int, deadline: float = np.inf, most: Array | None = None
) -> Found:
    """Return the cheapest path to an accepted node for each of ``width`` weightings; dearer than ``most`` (width,): none."""
    paths: list[Ints | None] = [None] * width
    bound = np.full(width, np.inf) if most is None else most.copy()
    for known in region.paths:
        _tighten(bound, region, weigh, np.array(known))
    region.grow(np.zeros(1, dtype=np.intp))
    weights = _weights(region, weigh, np.empty((0, width)))
    timed_out = False
    for k in range(width):
        while not timed_out:
            cost, back, goal = _search(region, weights[:, k], bound[k])
            best = np.inf if goal is None else cost[goal]
            beyond = np.flatnonzero((cost < best) & (region.begin < 0) & ~region.accepted)
            timed_out = time.monotonic() > deadline
            if goal is not None and (timed_out or len(beyond) == 0):
                paths[k] = path = _trace(region, back, goal)
                _tighten(bound, region, weigh, path)
            if len(beyond) == 0:
                break
            region.grow(beyond)
            weights = _weights(region, weigh, weights)
    return Found(paths, timed_out)


def _search(region: Region, weights: Array, bound: float) -> tuple[Array, Ints, int | None]:
    """Return costs and predecessors (n,) in the known part, and the cheapest accepted place, if one is reached."""
    order, graph = region.matrix()
    graph.data = weights[order]
    cost, back = dijkstra(graph, indices=0, return_predecessors=True, limit=bound)
    goals = np.flatnonzero(region.accepted)
    goal = int(goals[cost[goals].argmin()]) if len(goals) else 0
    return cost, back, goal if len(goals) and np.isfinite(cost[goal]) else None


def _trace(region: Region, back: Ints, goal: int) -> Ints:
    path = []
    while goal != 0:
        path.append(region.edge(int(back[goal]), goal))
        goal = int(back[goal])
    return np.array(path[::-1], dtype=np.intp)


def _tighten(bound: Array, region: Region, weigh: Weigh, edges: Ints) -> None:
    """Lower the bounds (b,) to what a path that exists costs; the path itself stays within."""
    np.minimum(bound, _priced(region, weigh, edges).sum(axis=0) * (1 + _SLACK), out=bound)


def _weights(region: Region, weigh: Weigh, known: Array) -> Array:
    """Return the weights (e, b) of all edges; those of the first ones are known."""
    edges = np.arange(len(known), len(region.source))
    return np.vstack([known, _priced(region, weigh, edges)]) if len(edges) else known


def _priced(region: Region, weigh: Weigh, edges: Ints) -> Array:
    weights = weigh(region.moves[edges], edges) + (_TIE * region.tie[edges])[:, None]
    weights[region.banned[edges]] = np.inf
    return weights

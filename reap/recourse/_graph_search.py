"""Cheapest paths from the subject to the first accepted node, for many cost matrices at once.

Label correcting on the part of the graph that matters: each round relaxes the edges of all nodes that improved
and are still cheaper than the best accepted node, for every matrix in the same array operations. It ends when no
such node is left, so nothing outside the explored part can be cheaper: the answer is that of Dijkstra's algorithm
on the whole graph. Accepted nodes have no edges out.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from reap._typing import Array, Bools, Ints
from reap.recourse._graph_view import Region

#: Edge efforts (n, b) of moves (n, m) under b matrices; the second argument says which edges they are.
Weigh = Callable[[Array, Ints], Array]
#: Up to this many products of two columns, efforts of all matrices are one matrix product.
_PRODUCTS = 700


@dataclass(frozen=True)
class Found:
    """Paths as lists of edges, one for each matrix (None: nothing accepted was reached), and whether time was up."""

    edges: list[Ints | None]
    costs: Array
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


def shortest(region: Region, weigh: Weigh, width: int, deadline: float = np.inf) -> Found:
    """Return the cheapest path to an accepted node for each of ``width`` weightings."""
    cost = np.full((len(region), width), np.inf)
    cost[0] = 0.0
    entry = np.full((len(region), width), -1, dtype=np.intp)  # the edge by which the cheapest path comes in
    weights = _weights(region, weigh, np.empty((0, width)))
    best, goal = np.full(width, np.inf), np.full(width, -1, dtype=np.intp)
    active, timed_out = np.zeros(1, dtype=np.intp), False
    while len(active) and not timed_out:
        edges = region.edges(active)
        if len(edges) == 0:
            break
        if len(region) > len(cost):
            more = len(region) - len(cost)
            cost = np.vstack([cost, np.full((more, width), np.inf)])
            entry = np.vstack([entry, np.full((more, width), -1, dtype=np.intp)])
        if len(region.source) > len(weights):
            weights = _weights(region, weigh, weights)
        nodes, better = _relax(region, edges, weights, cost, entry, best)
        nodes, better = nodes[better.any(axis=1)], better[better.any(axis=1)]
        done = region.accepted(nodes)
        if done.any():
            ends = nodes[done]
            least = cost[ends].min(axis=0)
            closer = least < best
            best[closer], goal[closer] = least[closer], ends[cost[ends].argmin(axis=0)[closer]]
        active = np.sort(nodes[~done & (better & (cost[nodes] < best)).any(axis=1)])
        timed_out = time.monotonic() > deadline
    return Found(_trace(region, entry, goal), best, timed_out)


def _weights(region: Region, weigh: Weigh, known: Array) -> Array:
    edges = np.arange(len(known), len(region.source))
    fresh = weigh(region.moves[edges], edges) if len(edges) else np.empty((0, known.shape[1]))
    fresh[region.banned[edges]] = np.inf
    return np.vstack([known, fresh])


def _relax(
    region: Region, edges: Ints, weights: Array, cost: Array, entry: Ints, best: Array
) -> tuple[Ints, Bools]:
    """Lower the costs at the ends of edges; return the ends (k,) and where they were lowered (k, b)."""
    edges = edges[np.argsort(region.target[edges], kind="stable")]
    ends = region.target[edges]
    begins = np.flatnonzero(np.r_[True, ends[1:] != ends[:-1]])
    offered = cost[region.source[edges]] + weights[edges]
    offered[offered >= best] = np.inf  # no path through here can be the cheapest
    least = np.minimum.reduceat(offered, begins, axis=0)
    nodes = ends[begins]
    better = least < cost[nodes]
    cost[nodes] = np.where(better, least, cost[nodes])
    owner = np.repeat(np.arange(len(nodes)), np.diff(np.r_[begins, len(edges)]))
    which, matrix = np.nonzero((offered == least[owner]) & better[owner])
    entry[ends[which], matrix] = edges[which]
    return nodes, better


def _trace(region: Region, entry: Ints, goal: Ints) -> list[Ints | None]:
    """Return the edges of each path, from the subject on; None where there is no goal."""
    paths: list[Ints | None] = []
    for matrix, place in enumerate(goal):
        if place < 0:
            paths.append(None)
            continue
        edges = []
        while place != 0:
            edges.append(int(entry[place, matrix]))
            place = region.source[edges[-1]]
        paths.append(np.array(edges[::-1], dtype=np.intp))
    return paths

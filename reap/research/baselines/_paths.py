"""Shortest paths of the shared graph under any effort of an edge, not only a quadratic one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from reap._typing import Array
from reap.plan import Plan
from reap.recourse.graph import GraphRecourse
from reap.recourse.routes.path.edges import Region
from reap.recourse.routes.path.search import Found
from reap.space import Limits

#: Effort (n,) of edges, from their starts (n, d) and ends (n, d).
EdgeCost = Callable[[Array, Array], Array]


def cheapest(graph: GraphRecourse, x: Any, cost: EdgeCost, limits: Limits | None = None) -> Plan:
    """Return the raw path of least effort to an accepted row, K doubling as in ``GraphRecourse``; its cost is that effort.

    Examples
    --------
    >>> import pandas as pd, reap
    >>> X = pd.DataFrame({"a": [0.0, 0.4, 0.8, 1.0], "b": [0.0, 0.2, 0.1, 1.0]})
    >>> model = lambda rows: (rows["a"] > 0.7) * 0.9
    >>> graph = reap.GraphRecourse(model, reap.ActionSpace.from_frame(X), n_neighbors=1).fit(X)
    >>> plan = cheapest(graph, X.iloc[0], lambda before, after: np.abs(after - before).sum(axis=1))
    >>> round(plan.cost, 6)
    1.1
    """
    subject = graph._subject(x, limits)
    if subject.verdict is not None:
        return subject.verdict
    view = graph._view(subject, limits)
    with view.lock:
        neighbors = min(graph.n_neighbors, graph.max_neighbors)
        while True:
            region = view.region(neighbors)
            found = _search(graph, region, cost)
            wider = min(2 * neighbors, graph.max_neighbors)
            if found.edges[0] is not None or wider == neighbors or neighbors >= len(graph.rows_):
                break
            neighbors = wider
    edges = found.edges[0]
    if edges is None:
        return graph._nothing(view, False)
    path = region.path(edges)
    return Plan(
        view.space,
        path,
        view.score_rows(path),
        cost=float(cost(path[:-1], path[1:]).sum()),
        threshold=graph.threshold,
        note=graph._note(neighbors, False),
        neighbors=neighbors,
    )


def _search(graph: GraphRecourse, region: Region, cost: EdgeCost) -> Found:
    def weigh(moves: Array, edges: Any) -> Array:
        ends = (region.view.vectors(region.ids[side[edges]]) for side in (region.source, region.target))
        return cost(*ends)[:, None]

    return graph._legal_search(region, weigh, 1, np.inf)

"""One subject's paths, told as plans: least effort for matrices, for any effort of a step, in the worst case."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from reap import effort
from reap._typing import Array, Ints
from reap.belief import ConfidenceSet
from reap.language import _
from reap.plan import Plan, Status
from reap.recourse.robust.minimax import minimax
from reap.recourse.robust.path_worst_case import worst_case
from reap.recourse.robust.worst_case import Objective
from reap.recourse.routes.path.positions import Positions
from reap.recourse.routes.path.search import Found, shortest
from reap.recourse.routes.path.subgraph import EdgeEfforts, Subgraph
from reap.recourse.subject import Candidates

#: Efforts (n,) of steps, from their starts (n, d) and ends (n, d).
StepEffort = Callable[[Array, Array], Array]


class Paths:
    """What one subject is asked along the graph; hold ``lock`` while asking.

    Parameters
    ----------
    positions : Positions
    neighbors : int
        Neighbours of each row, K.
    max_neighbors : int
        K doubles up to this where nothing accepted is in reach.
    """

    def __init__(self, positions: Positions, neighbors: int, max_neighbors: int) -> None:
        self.positions, self.neighbors, self.max_neighbors = positions, neighbors, max_neighbors
        self.lock = threading.RLock()
        self._subgraphs: dict[int, Subgraph] = {}

    def least(self, matrices: Array, deadline: float) -> list[Plan]:
        """Return the path of least effort for each matrix of (b, d, d)."""
        if len(matrices) > 1:  # a first path bounds the search of all others
            mean = matrices.mean(axis=0, keepdims=True)
            self._search(lambda graph: graph.efforts(mean), 1, deadline)
        graph, found = self._search(lambda graph: graph.efforts(matrices), len(matrices), deadline)
        return [
            self._nothing(found.timed_out)
            if edges is None
            else self._plan(graph, edges, effort.of_moves(A, _moves(graph, edges)), found.timed_out)
            for edges, A in zip(found.edges, matrices, strict=True)
        ]

    def least_by(self, effort_of: StepEffort, deadline: float) -> Plan:
        """Return the path of least effort where steps are measured by a function."""

        def efforts_in(graph: Subgraph) -> EdgeEfforts:
            def efforts(edges: Ints) -> Array:
                return effort_of(graph.vectors[graph.source[edges]], graph.vectors[graph.target[edges]])[
                    :, None
                ]

            return efforts

        graph, found = self._search(efforts_in, 1, deadline)
        edges = found.edges[0]
        if edges is None:
            return self._nothing(found.timed_out)
        rows = graph.path(edges)
        return self._plan(graph, edges, float(effort_of(rows[:-1], rows[1:]).sum()), found.timed_out)

    def robust(self, beliefs: ConfidenceSet, objective: Objective, deadline: float) -> Plan:
        """Return the path whose worst-case effort over a confidence set is least."""
        identity = effort.identity(beliefs.dimension)[None]
        graph, first = self._search(lambda graph: graph.efforts(identity), 1, deadline)
        if first.edges[0] is None:
            return self._nothing(first.timed_out)

        def search(efforts: EdgeEfforts) -> Found:
            return shortest(graph, efforts, 1, deadline)

        if objective == "minimax":
            found = minimax(graph, beliefs, search, deadline)
        else:
            found = worst_case(graph, beliefs, search)
        if found is None:
            return self._nothing(timed_out=True)
        return self._plan(graph, found.edges, found.effort, time.monotonic() > deadline, found.bound)

    def candidates(self) -> Candidates:
        """Return the accepted positions, nearest first."""
        nearest = self.positions.nearest(len(self.positions))
        fine = nearest[self.positions.accepts(self.positions.score(nearest))]
        return Candidates(self.positions.subject, self.positions.vectors(fine), self.positions.scores[fine])

    def _search(
        self, efforts_in: Callable[[Subgraph], EdgeEfforts], width: int, deadline: float
    ) -> tuple[Subgraph, Found]:
        """Search with K neighbours, and twice as many while nothing accepted is in reach."""
        neighbors = self.neighbors
        while True:
            if neighbors not in self._subgraphs:
                self._subgraphs[neighbors] = Subgraph(self.positions, neighbors)
            graph = self._subgraphs[neighbors]
            found = shortest(graph, efforts_in(graph), width, deadline)
            wider = max(neighbors, min(2 * neighbors, self.max_neighbors))
            reached = any(edges is not None for edges in found.edges)
            everybody = neighbors >= len(self.positions.neighbours)
            if reached or found.timed_out or wider == neighbors or everybody:
                return graph, found
            neighbors = wider

    def _plan(
        self, graph: Subgraph, edges: Ints, total: float, timed_out: bool, bound: float | None = None
    ) -> Plan:
        said = []
        if graph.neighbors > self.neighbors:
            wider = _(
                "Nothing accepted was within reach of {few} neighbours a step; this plan needed {many}."
            )
            said.append(wider.format(few=self.neighbors, many=graph.neighbors))
        if timed_out:
            said.append(_("The search was stopped at its time limit; an easier plan may exist."))
        return Plan(
            self.positions.space,
            graph.path(edges),
            graph.scores(edges),
            effort=total,
            scale=self.positions.subject.scale,
            note=" ".join(said),
            bound=bound,
            neighbors=graph.neighbors,
            along=True,
        )

    def _nothing(self, timed_out: bool) -> Plan:
        status: Status = "time_limit" if timed_out else "unreachable"
        said = _("No accepted row is linked to yours, even with {count} neighbours a step.")
        note = said.format(count=self.max_neighbors)
        return self.positions.subject.refused(status, "" if timed_out else note)


def _moves(graph: Subgraph, edges: Ints) -> Array:
    return effort.moves(graph.path(edges))

"""The plan to show: a path of the graph, tidied, or a direct way that is cheaper still.

Once a subject the nearest accepted rows give targets (``_graph_shortcuts``), and these the ways to them
(``_graph_ways``); both are the same for every cost matrix. A matrix takes the cheapest of them unless its own path,
tidied, costs less; what it finds is offered to the other matrices of the call.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from reap._arrays import zero_missing
from reap._typing import Array
from reap.recourse._graph_shortcuts import shortcuts
from reap.recourse._graph_tidy import Price, quadratic, tidy
from reap.recourse._graph_ways import Ways, nearer, ways
from reap.recourse.robust.path_worst_case import moves_of
from reap.recourse.routes.path.nodes import View
from reap.recourse.routes.path.rows import distinct_rows
from reap.recourse.routes.path.search import efforts

#: Ways whose price is asked for where a price is dear itself.
_SHORTLIST = 12


class Neat:
    """Direct ways of one subject, and the choice between them and paths.

    Parameters
    ----------
    view : View
    count : int
        Rows that ways are made of.
    max_steps : int, optional
    seed : int
    """

    def __init__(self, view: View, count: int, max_steps: int | None, seed: int) -> None:
        self.view, self.max_steps = view, max_steps
        self.ways = self._to(shortcuts(view, count, seed))

    def _to(self, targets: Array) -> Ways:
        targets = nearer(self.view, targets)
        targets = targets[distinct_rows(targets)]
        return ways(self.view, targets, self.max_steps)

    def costs(self, matrices: Array) -> Array:
        """Return what the direct ways cost (b, m) under matrices (b, d, d)."""
        return self._priced(self.ways, matrices)

    def _priced(self, some: Ways, matrices: Array) -> Array:
        columns = self.view.movable
        moves = some.moves[:, :, columns].reshape(-1, len(columns))
        each = efforts(matrices[:, columns[:, None], columns])(moves, np.arange(0))
        return np.asarray(each.reshape(*some.moves.shape[:2], len(matrices)).sum(axis=1).T)

    def choose(self, paths: Sequence[Array | None], matrices: Array, costs: Array) -> list[Array | None]:
        """Return the cheapest plan (s + 1, d) for each matrix; ``costs`` are those of the direct ways."""
        which = [k for k, path in enumerate(paths) if path is not None]
        prices = [quadratic(A) for A in matrices]
        tidied = tidy(
            [path for path in paths if path is not None],
            [prices[k] for k in which],
            self.view,
            self.max_steps,
        )
        own = dict(zip(which, tidied, strict=True))
        offered = self.ways
        least = costs.min(axis=1, initial=np.inf)
        better = [own[k][-1] for k in which if prices[k](moves_of(own[k])).sum() < least[k]]
        if better:
            more = self._to(np.stack(better))
            offered = offered.join(more)
            costs = np.concatenate([costs, self._priced(more, matrices)], axis=1)
        return [
            self._best(own.get(k), prices[k], offered, cost)
            for k, cost in enumerate(costs)
        ]  # fmt: skip

    def robust(self, path: Array, price: Price, guide: Array) -> Array:
        """Return the cheapest plan under a price that takes long to ask; a matrix (d, d) tells which are worth asking."""
        (own,) = tidy([path], [price], self.view, self.max_steps)
        first = np.argsort(self.costs(guide[None])[0], kind="stable")[:_SHORTLIST]
        offered = Ways(self.ways.paths[first])
        moves = offered.moves
        costs = price(moves.reshape(-1, moves.shape[2])).reshape(moves.shape[:2]).sum(axis=1)
        best = self._best(own, price, offered, costs)
        return own if best is None else best

    def _best(self, own: Array | None, price: Price, offered: Ways, costs: Array) -> Array | None:
        least = np.inf if own is None else float(price(moves_of(own)).sum())
        for k in np.argsort(costs, kind="stable"):
            if costs[k] >= least:
                break
            path = self._walked(offered.paths[k])
            if self.view.steps_legal(path[:-1], path[1:]).all():
                return path
        return own

    def _walked(self, path: Array) -> Array:
        """Return a way without rests, up to its first accepted stage."""
        moved = np.abs(zero_missing(np.diff(path, axis=0))).max(axis=1) > 1e-9
        path = path[np.append(True, moved)]
        fine = self.view.accepts(self.view.score_rows(path[1:]))
        return np.asarray(path[: fine.argmax() + 2])

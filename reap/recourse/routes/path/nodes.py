"""The graph as one subject sees it: rows become what this person would become, and are scored again.

Nothing is done ahead: rows are projected once, but a node is scored, and its edges are looked up, only when a
search comes by.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import numpy as np

from reap._arrays import zero_missing
from reap._typing import Array, Bools, Ints
from reap.models import Classifier
from reap.recourse.engine import Subject
from reap.recourse.routes.path.edges import Region, distinct
from reap.recourse.routes.path.rows import Rows

if TYPE_CHECKING:
    from reap.recourse._graph_neat import Neat

#: Nodes scored at least in one call of the model: the nearest ones come along.
_BATCH = 256
#: A score must pass the threshold by this much, so that the row is accepted on its own, too.
_CLEAR = 1e-9
#: Encoded values this near are the same.
_SAME = 1e-9


class View:
    """The nodes of the graph for one subject.

    Parameters
    ----------
    subject : Subject
    rows : Rows
    classifier : Classifier
    counted : bool
        Whether the number of changes is limited, so that features cannot be projected one by one.
    """

    def __init__(self, subject: Subject, rows: Rows, classifier: Classifier, counted: bool) -> None:
        self.subject, self.rows, self.classifier = subject, rows, classifier
        self.space, self.z0 = subject.space, subject.z
        self.movable = rows.movable
        self.lock = threading.RLock()
        derived = any(f.derived is not None for f in self.space.features)
        self.derives = derived
        #: Whether directions are all that can forbid a step between two nodes.
        self.simple = not (
            counted or derived or self.space.rules or any(f.forbidden for f in self.space.features)
        )
        self._projected = rows.project(self.space, self.z0, one_by_one=not (counted or derived))
        usable = None
        if self.space.rules or derived:
            usable = self.space.allows(self.z0, self._projected[np.arange(len(rows))])
        self._scored = 1
        self._merge(usable)
        columns = self.space.slices
        sides = [(columns[f.name].start, f.direction) for f in self.space.features if f.derived is None]
        self._up, self._down = (
            np.flatnonzero(np.isin(self.movable, [c for c, side in sides if side == way]))
            for way in ("up", "down")
        )
        self._tried: dict[bytes, float] = {}
        self._judged: dict[bytes, bool] = {}
        self.regions: dict[int, Region] = {}
        #: Direct ways, worked out when first asked for.
        self.neat: Neat | None = None

    def _merge(self, usable: Bools | None) -> None:
        """Make one node of all rows that come to the same; the subject is a node too."""
        keys, distances = self._projected.keys, self._projected.distances
        order = np.argsort(keys)
        if usable is not None:
            order = order[usable[order]]
        fresh = np.ones(len(order), dtype=bool)
        fresh[1:] = keys[order[1:]] != keys[order[:-1]]
        begins = np.flatnonzero(fresh)
        #: Node of each row, −1 where the subject may not become it.
        self.node_of = np.full(len(keys), -1, dtype=np.intp)
        self.node_of[order] = np.cumsum(fresh) - 1
        self.members, self.begins = order, np.append(begins, len(order))
        self._first = order[begins]
        self.distances = distances[self._first]
        here = np.flatnonzero(self.distances <= _SAME**2)
        if len(here) == 0:
            self.begins = np.append(self.begins, len(order))
            self.distances = np.append(self.distances, 0.0)
            self._first = np.append(
                self._first, 0
            )  # any row: ``vectors`` puts the subject's own values there
            here = np.array([len(begins)])
        self.origin = int(here[0])
        self.probability = np.full(len(self), np.nan)
        self.probability[self.origin] = self.subject.probability
        self._queue = np.arange(0)

    def __len__(self) -> int:
        return len(self.distances)

    def vectors(self, nodes: Ints) -> Array:
        """Return the rows (k, d) that nodes stand for."""
        Z = self._projected[self._first[nodes]]
        Z[nodes == self.origin] = self.z0
        return Z

    def nearest(self, count: int) -> Ints:
        """Return the nodes nearest to the subject, (count,); equally near ones by number."""
        count = min(count + 1, len(self))
        if len(self._queue) < count:
            most = self._few(count)
            limit = np.partition(self.distances, most - 1)[most - 1]
            near = np.flatnonzero(self.distances <= limit)
            self._queue = near[np.argsort(self.distances[near], kind="stable")]
        first = self._queue[:count]
        return np.asarray(first[first != self.origin][: count - 1])

    def _few(self, count: int) -> int:
        return min(len(self), max(8 * _BATCH, 4 * count))

    def score(self, nodes: Ints) -> Array:
        """Return the model's scores of nodes; others near the subject are scored along, so that calls are few."""
        unknown = nodes[np.isnan(self.probability[nodes])]
        if len(unknown):
            more = max(_BATCH, self._scored)
            near = self.nearest(self._scored + more)
            near = near[np.isnan(self.probability[near])]
            batch = distinct(np.concatenate([unknown, near[:more]]))
            self.probability[batch] = self.classifier.probability(self.vectors(batch))
            self._scored += len(batch)
        return np.asarray(self.probability[nodes])

    def score_rows(self, Z: Array) -> Array:
        """Return the model's scores of any rows (n, d); what was asked before is remembered."""
        keys = [z.tobytes() for z in Z]
        fresh = {key: i for i, key in enumerate(keys) if key not in self._tried}
        if fresh:
            scores = self.classifier.probability(Z[list(fresh.values())])
            self._tried.update(zip(fresh, scores.tolist(), strict=True))
        return np.array([self._tried[key] for key in keys], dtype=float)

    def accepts(self, probabilities: Array) -> Bools:
        """Return which scores are enough, and would be in any batch: the last digits depend on its size."""
        return np.asarray(probabilities > self.classifier.threshold + _CLEAR)

    def short(self, Z: Array) -> Array:
        """Return the columns (n, m) of rows that can change, with 0 where a value is missing: it stays so."""
        return zero_missing(Z[:, self.movable])

    def may_move(self, moves: Array) -> Bools:
        """Return which steps (n, m) between nodes, in the columns that can change, keep all directions.

        Much cheaper than ``allows``, which every step of a plan has to pass before the plan is shown.
        """
        wrong = (moves[:, self._up] < -_SAME).any(axis=1) | (moves[:, self._down] > _SAME).any(axis=1)
        return np.asarray(~wrong)

    def steps_legal(self, before: Array, after: Array) -> Bools:
        """Return which steps are legal, exactly: from their start, and as a place for the subject to be."""
        keys = [a.tobytes() + b.tobytes() for a, b in zip(before, after, strict=True)]
        fresh = {key: i for i, key in enumerate(keys) if key not in self._judged}
        if fresh:
            rows = list(fresh.values())
            legal = self.space.allows(before[rows], after[rows]) & self.space.allows(self.z0, after[rows])
            self._judged.update(zip(fresh, legal.tolist(), strict=True))
        return np.array([self._judged[key] for key in keys], dtype=bool)

    def region(self, neighbors: int) -> Region:
        """Return what is known of the graph with K neighbours."""
        if neighbors not in self.regions:
            self.regions[neighbors] = Region(self, neighbors)
        return self.regions[neighbors]

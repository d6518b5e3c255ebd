"""The graph as one subject sees it: rows become what this person would become, and are scored again.

Nothing is done ahead: rows are projected once, but a node is scored, and its edges are looked up, only when a
search comes by.
"""

from __future__ import annotations

import threading

import numpy as np

from reap._typing import Array, Bools, Ints
from reap.models import Classifier
from reap.recourse._engine import Subject
from reap.recourse._graph_rows import Rows

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
        Z = rows.project(self.space, self.z0, one_by_one=not (counted or derived))
        usable = np.ones(len(Z), dtype=bool)
        if self.space.rules or derived:
            usable = self.space.allows(self.z0, Z)
        self._merge(Z, usable)
        columns = self.space.slices
        sides = [(columns[f.name].start, f.direction) for f in self.space.features if f.derived is None]
        self._up = np.array([c for c, side in sides if side == "up"], dtype=np.intp)
        self._down = np.array([c for c, side in sides if side == "down"], dtype=np.intp)
        self._tried: dict[bytes, float] = {}
        self.regions: dict[int, Region] = {}

    def _merge(self, Z: Array, usable: Bools) -> None:
        """Make one node of all rows that come to the same; the subject is a node too."""
        keys = _hash(np.nan_to_num(Z[:, self.movable]))
        order = np.argsort(keys, kind="stable")
        order = order[usable[order]]
        fresh = np.r_[True, keys[order][1:] != keys[order][:-1]][: len(order)]
        begins = np.flatnonzero(fresh)
        #: Node of each row, −1 where the subject may not become it.
        self.node_of = np.full(len(Z), -1, dtype=np.intp)
        self.node_of[order] = np.cumsum(fresh) - 1
        self.members, self.begins = order, np.r_[begins, len(order)]
        self.nodes = Z[order[begins]]
        self.distances = (np.nan_to_num(self.nodes - self.z0)[:, self.movable] ** 2).sum(axis=1)
        here = np.flatnonzero(self.distances <= _SAME**2)
        if len(here) == 0:
            self.nodes = np.vstack([self.nodes, self.z0])
            self.begins = np.r_[self.begins, len(order)]
            self.distances = np.r_[self.distances, 0.0]
            here = np.array([len(self.nodes) - 1])
        self.origin = int(here[0])
        self.nodes[self.origin] = self.z0
        self.probability = np.full(len(self.nodes), np.nan)
        self.probability[self.origin] = self.subject.probability
        self._queue = np.argsort(self.distances, kind="stable")

    def nearest(self, count: int) -> Ints:
        """Return the nodes nearest to the subject, (count,)."""
        first = self._queue[: count + 1]
        return np.asarray(first[first != self.origin][:count])

    def score(self, nodes: Ints) -> Array:
        """Return the model's scores of nodes; others near the subject are scored along, so that calls are few."""
        unknown = nodes[np.isnan(self.probability[nodes])]
        if len(unknown):
            waiting = self._queue[np.isnan(self.probability[self._queue])]
            known = len(self.nodes) - len(waiting)
            batch = np.union1d(unknown, waiting[: max(_BATCH, known)])
            self.probability[batch] = self.classifier.probability(self.nodes[batch])
        return self.probability[nodes]

    def score_rows(self, Z: Array) -> Array:
        """Return the model's scores of any rows (n, d); what was asked before is remembered."""
        keys = [z.tobytes() for z in Z]
        fresh = {key: i for i, key in enumerate(keys) if key not in self._tried}
        if fresh:
            scores = self.classifier.probability(Z[list(fresh.values())])
            self._tried.update(zip(fresh, scores.tolist(), strict=True))
        return np.array([self._tried[key] for key in keys])

    def accepts(self, probabilities: Array) -> Bools:
        """Return which scores are enough, and would be in any batch: the last digits depend on its size."""
        return np.asarray(probabilities > self.classifier.threshold + _CLEAR)

    def may_step(self, before: Array, after: Array) -> Bools:
        """Return which steps (n, d) → (n, d) between nodes are not plainly illegal: directions are kept.

        Much cheaper than ``allows``, which every step of a plan has to pass before the plan is shown.
        """
        wrong = (after[:, self._up] < before[:, self._up] - _SAME).any(axis=1)
        wrong |= (after[:, self._down] > before[:, self._down] + _SAME).any(axis=1)
        return np.asarray(~wrong)

    def steps_legal(self, before: Array, after: Array) -> Bools:
        """Return which steps are legal, exactly: from their start, and as a place for the subject to be."""
        return self.space.allows(before, after) & self.space.allows(self.z0, after)

    def region(self, neighbors: int) -> Region:
        """Return what is known of the graph with K neighbours."""
        if neighbors not in self.regions:
            self.regions[neighbors] = Region(self, neighbors)
        return self.regions[neighbors]


class Region:
    """The part of the graph that searches have seen; node 0 is the subject.

    Edges lie in the order in which their starts were expanded: those of node ``i`` are
    ``begin[i] … begin[i] + count[i]``.

    Parameters
    ----------
    view : View
    neighbors : int
    """

    def __init__(self, view: View, neighbors: int) -> None:
        self.view, self.neighbors = view, neighbors
        self.ids = np.array([view.origin])
        self.place = np.full(len(view.nodes), -1, dtype=np.intp)
        self.place[view.origin] = 0
        self.begin = np.full(1, -1, dtype=np.intp)
        self.count = np.zeros(1, dtype=np.intp)
        self.source = np.empty(0, dtype=np.intp)
        self.target = np.empty(0, dtype=np.intp)
        self.moves = np.empty((0, len(view.movable)))
        self.banned = np.empty(0, dtype=bool)

    def __len__(self) -> int:
        return len(self.ids)

    def edges(self, active: Ints) -> Ints:
        """Return the edges that leave nodes, looked up where they are not known yet."""
        fresh = active[self.begin[active] < 0]
        if len(fresh):
            self._expand(fresh)
        return ragged(self.begin[active], self.count[active])[0]

    def accepted(self, places: Ints) -> Bools:
        """Return which nodes the model accepts."""
        return self.view.accepts(self.view.score(self.ids[places]))

    def ban(self, edges: Ints) -> None:
        """Take edges out that proved illegal."""
        self.banned[edges] = True

    def _expand(self, fresh: Ints) -> None:
        view = self.view
        start, end = self._pairs(fresh)
        before, after = view.nodes[self.ids[start]], view.nodes[end]
        fine = view.may_step(before, after)
        if not view.simple:
            fine[fine] = view.space.allows(before[fine], after[fine])
        start, end = start[fine], end[fine]
        moves = np.nan_to_num((after - before)[fine][:, view.movable])
        unseen = np.unique(end[self.place[end] < 0])
        self.place[unseen] = len(self.ids) + np.arange(len(unseen))
        self.ids = np.r_[self.ids, unseen]
        self.begin = np.r_[self.begin, np.full(len(unseen), -1)]
        self.count = np.r_[self.count, np.zeros(len(unseen), dtype=np.intp)]
        sizes = np.bincount(np.searchsorted(fresh, start), minlength=len(fresh))
        self.begin[fresh] = len(self.source) + np.r_[0, np.cumsum(sizes)[:-1]]
        self.count[fresh] = sizes
        self.source = np.r_[self.source, start]
        self.target = np.r_[self.target, self.place[end]]
        self.moves = np.vstack([self.moves, moves])
        self.banned = np.r_[self.banned, np.zeros(len(start), dtype=bool)]

    def _pairs(self, fresh: Ints) -> tuple[Ints, Ints]:
        """Return the raw edges of nodes (sorted): place of the start, node of the end; each once, in order."""
        view = self.view
        begin, rows = view.rows.graph(self.neighbors)
        nodes = self.ids[fresh]
        mine, owner = ragged(view.begins[nodes], view.begins[nodes + 1] - view.begins[nodes])
        members = view.members[mine]
        near, of_member = ragged(begin[members], begin[members + 1] - begin[members])
        start, end = fresh[owner[of_member]], view.node_of[rows[near]]
        if fresh[0] == 0:
            first = view.nearest(self.neighbors)
            start, end = np.r_[np.zeros(len(first), dtype=np.intp), start], np.r_[first, end]
        keep = (end >= 0) & (end != view.origin) & (end != self.ids[start])
        keys = np.unique(start[keep] * len(view.nodes) + end[keep])
        return keys // len(view.nodes), keys % len(view.nodes)


def ragged(begin: Ints, count: Ints) -> tuple[Ints, Ints]:
    """Return the indices of many ranges one after the other, and which range each belongs to.

    Examples
    --------
    >>> ragged(np.array([5, 0]), np.array([2, 3]))
    (array([5, 6, 0, 1, 2]), array([0, 0, 1, 1, 1]))
    """
    owner = np.repeat(np.arange(len(count)), count)
    offset = np.cumsum(count) - count
    return np.arange(len(owner)) - offset[owner] + begin[owner], owner


def _hash(Z: Array) -> Ints:
    """Return one 64-bit number a row (n,), equal for equal rows and for hardly any others."""
    bits = np.ascontiguousarray(Z + 0.0).view(np.uint64)
    with np.errstate(over="ignore"):
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
            bits = (bits ^ (bits >> np.uint64(shift))) * np.uint64(factor)
        odd = np.random.default_rng(0).integers(2**63, size=Z.shape[1], dtype=np.uint64) * np.uint64(
            2
        ) + np.uint64(1)
        mixed = (bits ^ (bits >> np.uint64(31))) * odd
        return np.asarray(mixed.sum(axis=1, dtype=np.uint64))

"""What one subject could become: other people's rows, projected on what is legal for this person, and scored again.

Nothing is done ahead: rows are projected once, but a position is scored, and its edges are looked up, only when a
search comes by.
"""

from __future__ import annotations

import numpy as np

from reap._arrays import zero_missing
from reap._typing import Array, Bools, Ints
from reap.recourse.acceptance import Acceptance
from reap.recourse.routes.path.neighbours import NeighbourLists
from reap.recourse.routes.path.subgraph import distinct
from reap.recourse.subject import Subject

#: Positions scored at least in one call of the model: the nearest ones come along.
_BATCH = 256
#: A score must pass the threshold by this much, so that the row is accepted on its own, too.
_CLEAR = 1e-9
#: Encoded values this near are the same.
_SAME = 1e-9


class Positions:
    """The nodes of the graph for one subject; rows that come to the same are one position.

    Parameters
    ----------
    subject : Subject
    neighbours : NeighbourLists
    acceptance : Acceptance
        Who decides which rows will do.

    Attributes
    ----------
    origin : int
        The position where the subject is now.
    of_row : (n,) position of each row, −1 where the subject may not become it
    members, begins : the rows of position i are ``members[begins[i] : begins[i + 1]]``
    distances : (N,) squared distance of each position from the subject
    scores, logits : (N,) what today's model says, and what decides; ``nan`` where nobody asked yet
    """

    def __init__(self, subject: Subject, neighbours: NeighbourLists, acceptance: Acceptance) -> None:
        self.subject, self.neighbours, self.acceptance = subject, neighbours, acceptance
        self.space, self.z0, self.movable = subject.space, subject.z, neighbours.movable
        features = self.space.features
        derived = any(f.derived is not None for f in features)
        counted = self.space.most_changes is not None
        ruled = derived or self.space.timed or bool(self.space.rules)
        #: Whether a step between two positions can break more than a direction.
        self.tied = counted or ruled or any(f.forbidden for f in features)
        self._projected = neighbours.table.project(
            self.space, self.z0, one_by_one=not (counted or derived or self.space.timed)
        )
        every = np.arange(len(neighbours))
        self._merge(every[self.space.allows(self.z0, self._projected[every])] if ruled else every)
        sides = {self.space.slices[f.name].start: f.direction for f in features if f.derived is None}
        self._up, self._down = (
            np.flatnonzero([sides.get(int(column)) == side for column in self.movable])
            for side in ("up", "down")
        )

    def _merge(self, usable: Ints) -> None:
        """Make one position of all usable rows that come to the same; the subject has one too."""
        keys, distances = self._projected.keys, self._projected.distances
        order = usable[np.argsort(keys[usable])]
        fresh = np.ones(len(order), dtype=bool)
        fresh[1:] = keys[order[1:]] != keys[order[:-1]]
        begins = np.flatnonzero(fresh)
        self.of_row = np.full(len(keys), -1, dtype=np.intp)
        self.of_row[order] = np.cumsum(fresh) - 1
        self.members, self.begins = order, np.append(begins, len(order))
        self._first = order[begins]
        self.distances = distances[self._first]
        here = np.flatnonzero(self.distances <= _SAME**2)
        if len(here) == 0:
            self.begins = np.append(self.begins, len(order))
            self.distances = np.append(self.distances, 0.0)
            self._first = np.append(self._first, 0)  # any row: ``vectors`` puts the subject's values there
            here = np.array([len(begins)])
        self.origin = int(here[0])
        self.scores, self.logits = np.full(len(self), np.nan), np.full(len(self), np.nan)
        self.scores[self.origin] = self.subject.score
        self.logits[self.origin] = -np.inf  # the subject is refused, or would need no plan
        self._scored, self._queue = 1, np.arange(0)

    def __len__(self) -> int:
        return len(self.distances)

    def vectors(self, positions: Ints) -> Array:
        """Return the rows (k, d) that positions stand for."""
        Z = self._projected[self._first[positions]]
        Z[positions == self.origin] = self.z0
        return Z

    def nearest(self, count: int) -> Ints:
        """Return the positions nearest to the subject, (count,); equally near ones by number."""
        count = min(count + 1, len(self))
        if len(self._queue) < count:
            most = min(len(self), max(8 * _BATCH, 4 * count))
            limit = np.partition(self.distances, most - 1)[most - 1]
            near = np.flatnonzero(self.distances <= limit)
            self._queue = near[np.argsort(self.distances[near], kind="stable")]
        first = self._queue[:count]
        return np.asarray(first[first != self.origin][: count - 1])

    def score(self, positions: Ints) -> Array:
        """Return the logits of positions; others near the subject are scored along, so that calls are few."""
        unknown = positions[np.isnan(self.logits[positions])]
        if len(unknown):
            more = max(_BATCH, self._scored)
            near = self.nearest(self._scored + more)
            near = near[np.isnan(self.logits[near])]
            batch = distinct(np.concatenate([unknown, near[:more]]))
            Z, today = self.vectors(batch), self.acceptance.today
            self.scores[batch] = today.score(Z)
            exact = self.acceptance.exact
            self.logits[batch] = (
                today.linked(self.scores[batch]) if exact else self.acceptance.classifier.logit(Z)
            )
            self._scored += len(batch)
        return np.asarray(self.logits[positions])

    def accepts(self, logits: Array) -> Bools:
        """Return which logits are enough, and would be in any batch: the last digits depend on its size."""
        return np.asarray(logits > self.acceptance.classifier.boundary + _CLEAR)

    def short(self, Z: Array) -> Array:
        """Return the columns (n, m) of rows that can change, with 0 where a value is missing: it stays so."""
        return zero_missing(Z[:, self.movable])

    def may_move(self, moves: Array) -> Bools:
        """Return which steps (n, m) between positions, in the columns that can change, keep all directions.

        Much cheaper than ``legal``, which every step of a plan has to pass before the plan is shown.
        """
        wrong = (moves[:, self._up] < -_SAME).any(axis=1) | (moves[:, self._down] > _SAME).any(axis=1)
        return np.asarray(~wrong)

    def legal(self, before: Array, after: Array) -> Bools:
        """Return which steps are legal, exactly: from their start, and as a position for the subject."""
        return np.asarray(self.space.allows(before, after) & self.space.allows(self.z0, after))

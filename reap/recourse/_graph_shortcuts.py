"""Direct changes to part of what an accepted row has: the least that is enough.

A row that lies far away may, with its needless changes undone, ask for very little. So, once a subject and for any
cost matrix, the nearest accepted rows are stripped of the changes that the decision does not need, each in an order of
its own, until none can be undone. What remains, and what a row was just before, are targets of plans.
"""

from __future__ import annotations

import numpy as np

from reap._arrays import zero_missing
from reap._typing import Array, Bools, Ints
from reap.recourse.routes.path.nodes import View
from reap.recourse.routes.path.rows import distinct_rows
from reap.space import ActionSpace, Feature

#: The nearest of the rows are undone longest change first; the others favour features at random.
_PLAIN = 64
#: How many of the nearest rows are scored to find accepted ones, as multiples of how many are wanted.
_LOOK = (2, 8, 32)
#: Rows on the way that change so few features are targets too: under some matrices two changes cost less than one.
_FEW = 3


def shortcuts(view: View, count: int, seed: int) -> Array:
    """Return the targets (m, d) of direct plans, made of so many rows: accepted, legal, each once."""
    nodes = _accepted(view, count)
    rows = view.vectors(nodes)
    if not view.simple:  # else what a row was projected to is legal
        rows = rows[view.space.allows(view.z0, rows)]
    if len(rows) == 0:
        return np.empty((0, view.space.dimension))
    taste = np.random.default_rng(seed).exponential(size=(len(rows), len(view.space.features)))
    taste[:_PLAIN] = 1.0
    targets = _strip(rows, taste, view)
    return np.asarray(targets[distinct_rows(targets)])


def _accepted(view: View, most: int) -> Ints:
    """Return the nearest accepted nodes, at most so many."""
    found: Ints = np.empty(0, dtype=np.intp)
    for times in _LOOK:
        nodes = view.nearest(times * most)
        found = nodes[view.accepts(view.score(nodes))][:most]
        if len(found) == most or len(nodes) < times * most:
            break
    return found


def _strip(rows: Array, taste: Array, view: View) -> Array:
    """Undo the changes of each row one after the other, longest first, where the decision does not need them.

    Rounds are repeated until nothing more can be undone. Also returned is what a row was on the way, once few changes
    are left.
    """
    z0, space = view.z0, view.space
    rows = rows.copy()
    of_column = np.repeat(np.arange(len(space.features)), [_width(space, f) for f in space.features])
    starts = np.searchsorted(of_column, np.arange(len(space.features)))
    length = np.add.reduceat(zero_missing(rows - z0) ** 2, starts, axis=1)
    length[:, [f.derived is not None for f in space.features]] = 0.0
    order = np.argsort(-length * taste, axis=1, kind="stable")
    changed = length > 0.0
    enough = [rows[changed.sum(axis=1) <= _FEW]]
    work = np.arange(len(rows))
    while len(work):
        undone = np.zeros(len(rows), dtype=bool)
        for feature in order.T:
            # the last change cannot be undone: the subject is rejected
            some = work[changed[work, feature[work]] & (changed[work].sum(axis=1) > 1)]
            if len(some) == 0:
                continue
            trials = np.where(of_column == feature[some, None], z0, rows[some])
            fine = _good(trials, view)
            some = some[fine]
            rows[some], changed[some, feature[some]], undone[some] = trials[fine], False, True
            enough.append(rows[some[changed[some].sum(axis=1) <= _FEW]])
        work = np.flatnonzero(undone)
    return np.concatenate([rows, *enough])


def _width(space: ActionSpace, feature: Feature) -> int:
    columns = space.slices[feature.name]
    return int(columns.stop - columns.start)


def _good(trials: Array, view: View) -> Bools:
    """Return which rows are accepted and, where rules tie features together, legal."""
    if view.derives:
        trials[:] = view.space.project(trials, view.z0, exact=False)
    fine = view.accepts(view.classifier.probability(trials))
    if not view.simple:
        fine[fine] = view.space.allows(view.z0, trials[fine])
    return fine

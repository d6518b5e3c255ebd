"""Direct changes to part of what an accepted row has: the least that is enough.

The cheapest path is cheapest among paths through rows, and stops being so once plans are tidied: a row that lies
farther away may, with its needless changes undone, ask for much less. So, once a subject and for any cost matrix,
the nearest accepted rows are stripped of the changes that the decision does not need, in a few orders, until none
can be undone. What remains are direct plans, offered to every matrix beside its own path.
"""

from __future__ import annotations

import numpy as np

from reap._typing import Array, Bools, Ints
from reap.recourse._graph_view import View

#: Accepted rows that are stripped, nearest first, and the orders in which each is.
_ROWS, _ORDERS = 48, 3
#: How many of the nearest rows are scored to find them: more where few are accepted.
_LOOK = (200, 800, 3200)


def shortcuts(view: View, seed: int) -> Array:
    """Return the targets (m, d) of direct plans: accepted, legal, each once."""
    nodes = _accepted(view)
    if len(nodes) == 0:
        return np.empty((0, view.space.dimension))
    rows = view.vectors(nodes)
    rows = rows[view.space.allows(view.z0, rows)]
    free = [i for i, f in enumerate(view.space.features) if f.derived is None]
    rng = np.random.default_rng(seed)
    # The first order undoes the longest change first; the others favour features at random.
    taste = np.concatenate([np.ones((1, len(free))), rng.exponential(size=(_ORDERS - 1, len(free)))])
    rows, taste = np.repeat(rows, _ORDERS, axis=0), np.tile(taste, (len(rows), 1))
    targets = _strip(rows, taste, free, view)
    targets = targets[np.unique(targets.round(12), axis=0, return_index=True)[1]]
    fine = view.accepts(view.score_rows(targets)) & view.space.allows(view.z0, targets)
    return np.asarray(targets[fine])


def _accepted(view: View) -> Ints:
    """Return the nearest accepted nodes, at most as many as are stripped."""
    found: Ints = np.empty(0, dtype=np.intp)
    for count in _LOOK:
        nodes = view.nearest(count)
        found = nodes[view.accepts(view.score(nodes))][:_ROWS]
        if len(found) == _ROWS or len(nodes) < count:
            break
    return found


def _strip(rows: Array, taste: Array, free: list[int], view: View) -> Array:
    """Undo one change a row at a time, the favourite that the decision does not need, until none is left."""
    blocks = [view.space.slices[view.space.features[i].name] for i in free]
    rows = rows.copy()
    open_rows = np.arange(len(rows))
    while len(open_rows):
        part = rows[open_rows]
        changed = view.space.changed(part, np.broadcast_to(view.z0, part.shape))[:, free]
        lone = changed.sum(axis=1) < 2  # the last change cannot be undone: the subject is rejected
        which, feature = np.nonzero(changed & ~lone[:, None])
        if len(which) == 0:
            break
        trials = part[which]
        for k, block in enumerate(blocks):
            trials[feature == k, block] = view.z0[block]
        fine = _good(trials, view)
        moves = np.nan_to_num(part - view.z0) ** 2
        length = np.stack([moves[:, block].sum(axis=1) for block in blocks], axis=1) * taste[open_rows]
        worth = np.full(changed.shape, -np.inf)
        worth[which[fine], feature[fine]] = length[which[fine], feature[fine]]
        pick = worth.argmax(axis=1)
        able = np.isfinite(worth[np.arange(len(part)), pick])
        index = np.full(changed.shape, -1)
        index[which, feature] = np.arange(len(which))
        chosen = index[np.flatnonzero(able), pick[able]]
        rows[open_rows[able]] = trials[chosen]
        open_rows = open_rows[able]
    return rows


def _good(trials: Array, view: View) -> Bools:
    """Return which rows are accepted and, where rules tie features together, legal."""
    if view.derives:
        trials[:] = view.space.project(trials, view.z0, exact=False)
    fine = view.accepts(view.score_rows(trials))
    if not view.simple:
        fine[fine] = view.space.allows(view.z0, trials[fine])
    return fine

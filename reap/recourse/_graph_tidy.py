"""Plans a person would draw up: no needless steps, no needless changes, never dearer.

A cheapest path visits rows of other people, so it zigzags and touches everything. Two corrections, until neither
helps: steps are merged where the direct step is legal and not dearer, and a change that the decision does not need
is undone, one feature at a time.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np

from reap._typing import Array, Bools
from reap.recourse._graph_view import View

#: Relative difference of efforts that counts as none.
_EQUAL = 1e-12


@dataclass
class Draft:
    """A path (s + 1, d) on its way to a plan, and the matrix (d, d) it is for."""

    path: Array
    matrix: Array
    open: bool = True

    @property
    def cost(self) -> float:
        """Effort of all steps."""
        return float(_costs(self.path[None], self.matrix)[0])


def tidy(paths: list[Array], matrices: Array, view: View) -> list[Array]:
    """Return the paths corrected, each under its own matrix; all are scored together."""
    drafts = [Draft(path, A) for path, A in zip(paths, matrices, strict=True)]
    while any(draft.open for draft in drafts):
        work = [draft for draft in drafts if draft.open]
        for draft in work:
            draft.path = merge(draft.path, draft.matrix, view)
            draft.open = False
        _undo(work, view)
        _stop_early(work, view)
    return [draft.path for draft in drafts]


def merge(path: Array, matrix: Array, view: View) -> Array:
    """Return the cheapest way along some of the path's nodes, (r + 1, d); among equals the one with fewest steps."""
    size = len(path)
    if size < 3:
        return path
    before, after = np.triu_indices(size, 1)
    moves = np.nan_to_num(path[after] - path[before])
    price = np.full((size, size), np.inf)
    price[before, after] = np.maximum(np.einsum("ni,ij,nj->n", moves, matrix, moves), 0.0)
    direct = after == before + 1
    price[before, after] = np.where(
        direct | view.may_step(path[before], path[after]), price[before, after], np.inf
    )
    while True:
        kept = _cheapest_chain(price)
        longer = [(a, b) for a, b in itertools.pairwise(kept) if b > a + 1]
        if not longer:
            break
        a, b = np.array(longer).T
        legal = view.steps_legal(path[a], path[b])
        if legal.all():
            break
        price[a[~legal], b[~legal]] = np.inf
    return path[kept]


def _cheapest_chain(price: Array) -> list[int]:
    """Return the nodes of the cheapest chain from the first to the last, by dynamic programming."""
    size = len(price)
    cost, steps, back = np.zeros(size), np.zeros(size, dtype=int), np.zeros(size, dtype=int)
    for end in range(1, size):
        offers = cost[:end] + price[:end, end]
        ties = np.flatnonzero(offers <= offers.min() * (1 + _EQUAL))
        pick = ties[steps[ties].argmin()]
        cost[end], steps[end], back[end] = offers[pick], steps[pick] + 1, pick
    chain = [size - 1]
    while chain[-1] != 0:
        chain.append(int(back[chain[-1]]))
    return chain[::-1]


def _undo(drafts: list[Draft], view: View) -> None:
    """In each draft, undo the change whose undoing saves most, if the last row stays accepted."""
    trials = [_without_each_feature(draft, view) for draft in drafts]
    ends = [paths[:, -1] for paths in trials]
    scores = view.score_rows(np.concatenate(ends)) if sum(map(len, ends)) else np.empty(0)
    accepted = np.split(view.accepts(scores), np.cumsum([len(rows) for rows in ends])[:-1])
    for draft, paths, fine in zip(drafts, trials, accepted, strict=True):
        for path in paths[fine]:
            path = _without_rests(path)
            if len(path) > 1 and view.steps_legal(path[:-1], path[1:]).all():
                draft.path, draft.open = path, True
                break


def _without_each_feature(draft: Draft, view: View) -> Array:
    """Return the paths (k, s + 1, d) that leave one feature as it is, none dearer, cheapest first."""
    space, path = view.space, draft.path
    features = np.flatnonzero(space.changed(path[1:], path[:-1]).any(axis=0))
    free = [space.slices[space.features[i].name] for i in features if space.features[i].derived is None]
    trials = np.repeat(path[None], len(free), axis=0)
    for trial, columns in zip(trials, free, strict=True):
        trial[:, columns] = view.z0[columns]
    if view.derives and len(trials):
        flat = space.project(trials.reshape(-1, trials.shape[2]), view.z0, exact=False)
        trials = flat.reshape(trials.shape)
        trials[:, 0] = view.z0
    costs = _costs(trials, draft.matrix)
    order = np.argsort(costs, kind="stable")
    return trials[order[costs[order] <= draft.cost]]


def _stop_early(drafts: list[Draft], view: View) -> None:
    """Cut each path at its first accepted node."""
    inner = [draft.path[1:-1] for draft in drafts]
    scores = view.score_rows(np.concatenate(inner)) if sum(map(len, inner)) else np.empty(0)
    accepted = np.split(view.accepts(scores), np.cumsum([len(rows) for rows in inner])[:-1])
    for draft, fine in zip(drafts, accepted, strict=True):
        if fine.any():
            draft.path, draft.open = draft.path[: fine.argmax() + 2], True


def _costs(paths: Array, matrix: Array) -> Array:
    """Return the efforts (k,) of paths (k, s + 1, d)."""
    moves = np.nan_to_num(np.diff(paths, axis=1))
    return np.asarray(np.maximum(np.einsum("ksi,ij,ksj->ks", moves, matrix, moves), 0.0).sum(axis=1))


def _without_rests(path: Array) -> Array:
    """Return the path without steps in which nothing changes."""
    moved: Bools = np.abs(np.nan_to_num(np.diff(path, axis=0))).max(axis=1) > 1e-9
    return path[np.r_[True, moved]]

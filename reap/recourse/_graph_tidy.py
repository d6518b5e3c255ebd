"""Plans a person would draw up: no needless steps, no needless changes, never dearer.

A cheapest path visits rows of other people, so it zigzags and touches everything. Two corrections, until neither
helps: steps are merged where the direct step is legal and not dearer, and a change that the decision does not need
is undone, one feature at a time. Many drafts are corrected side by side, so that calls of the model are few.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from reap._arrays import zero_missing
from reap._typing import Array, Bools
from reap.recourse.routes.path.nodes import View

#: Relative difference of efforts that counts as none.
_EQUAL = 1e-12


#: Efforts (n,) of steps (n, d).
Price = Callable[[Array], Array]


@dataclass
class Draft:
    """A path (s + 1, d) on its way to a plan, and what steps cost the person it is for."""

    path: Array
    price: Price
    open: bool = True

    def efforts(self, moves: Array) -> Array:
        """Return the efforts (…) of steps (…, d)."""
        return self.price(zero_missing(moves).reshape(-1, moves.shape[-1])).reshape(moves.shape[:-1])


def quadratic(matrix: Array) -> Price:
    """Return the price ``vᵀAv``.

    Examples
    --------
    >>> quadratic(np.diag([1.0, 3.0]))(np.array([[2.0, 0.0], [1.0, 1.0]]))
    array([4., 4.])
    """
    return lambda moves: np.maximum(((moves @ matrix) * moves).sum(axis=1), 0.0)


def tidy(
    paths: Sequence[Array], prices: Sequence[Price], view: View, max_steps: int | None = None
) -> list[Array]:
    """Return the paths corrected, each under its own price, with at most ``max_steps`` where legal steps allow it."""
    drafts = [Draft(path, price) for path, price in zip(paths, prices, strict=True)]
    while work := [draft for draft in drafts if draft.open]:
        for draft in work:
            draft.open = False
        merge(work, view, max_steps)
        undo(work, view)
        stop_early(work, view)
    return [draft.path for draft in drafts]


# merging ----------------------------------------------------------------------------------------------


def merge(drafts: list[Draft], view: View, max_steps: int | None = None) -> None:
    """Take in each draft the cheapest way along some of its nodes; among equals the one with fewest steps.

    Effort is the square of a step, so where rows lie close together the cheapest path creeps: an hour a week more,
    sixty times. Nobody follows that; ``max_steps`` takes the cheapest way of so many steps, dearer or not.
    """
    prices = [(draft, _prices(draft, view)) for draft in drafts if len(draft.path) > 2]
    most = np.inf if max_steps is None else max_steps
    waiting = [(draft, price) for draft, price in prices if len(price) - 1 > most or _worth_merging(price)]
    while waiting:
        chains = [
            _cheapest_chain(price) if len(price) - 1 <= most else _short_chain(price, max_steps)
            for _, price in waiting
        ]
        longer = [[(a, b) for a, b in itertools.pairwise(chain) if b > a + 1] for chain in chains]
        before = [draft.path[a] for (draft, _), pairs in zip(waiting, longer, strict=True) for a, _ in pairs]
        after = [draft.path[b] for (draft, _), pairs in zip(waiting, longer, strict=True) for _, b in pairs]
        legal = iter(view.steps_legal(np.array(before), np.array(after)) if before else ())
        again = []
        for (draft, price), chain, pairs in zip(waiting, chains, longer, strict=True):
            wrong = [pair for pair in pairs if not next(legal)]
            if wrong:
                price[tuple(np.array(wrong).T)] = np.inf
                again.append((draft, price))
            else:
                draft.path = draft.path[chain]
        waiting = again


def _prices(draft: Draft, view: View) -> Array:
    """Return the effort of the direct step between each two nodes of a path, infinite where it is plainly illegal."""
    size = len(draft.path)
    before, after = np.triu_indices(size, 1)
    start, end = draft.path[before], draft.path[after]
    fine = (after == before + 1) | view.may_move(view.short(end) - view.short(start))
    price = np.full((size, size), np.inf)
    price[before, after] = np.where(fine, draft.efforts(end - start), np.inf)
    return price


def _worth_merging(price: Array) -> bool:
    """Return whether some direct step is not dearer than the steps it would replace."""
    along = np.append(0.0, np.cumsum(np.diagonal(price, 1)))
    before, after = np.triu_indices(len(price), 2)
    return bool((price[before, after] <= (along[after] - along[before]) * (1 + _EQUAL)).any())


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


def _short_chain(price: Array, most: int | None) -> list[int]:
    """Return the cheapest chain of at most so many steps, or of the fewest more that can be had."""
    cost = np.full(len(price), np.inf)
    cost[0] = 0.0
    layers, best = [], (np.inf, 0)
    for step in range(1, len(price)):
        offers = cost[:, None] + price
        layers.append(offers.argmin(axis=0))
        cost = offers.min(axis=0)
        best = min(best, (float(cost[-1]), step))
        if step >= (most or 1) and best[0] < np.inf:
            break
    chain = [len(price) - 1]
    for layer in reversed(layers[: best[1]]):
        chain.append(int(layer[chain[-1]]))
    return chain[::-1]


# undoing ----------------------------------------------------------------------------------------------


def undo(drafts: list[Draft], view: View) -> None:
    """In each draft, undo the change whose undoing saves most, if the last row stays accepted."""
    trials = [_without_each_feature(draft, view) for draft in drafts]
    fine = _accepted([paths[:, -1] for paths in trials], view)
    waiting = [
        (draft, [_without_rests(path) for path in paths[ok]])
        for draft, paths, ok in zip(drafts, trials, fine, strict=True)
    ]
    while waiting := [(draft, paths) for draft, paths in waiting if paths]:
        first = [paths.pop(0) for _, paths in waiting]
        legal = view.steps_legal(
            np.concatenate([path[:-1] for path in first]), np.concatenate([path[1:] for path in first])
        )
        parts = np.split(legal, np.cumsum([len(path) - 1 for path in first])[:-1])
        again = []
        for (draft, paths), path, part in zip(waiting, first, parts, strict=True):
            if len(path) > 1 and part.all():
                draft.path, draft.open = path, True
            else:
                again.append((draft, paths))
        waiting = again


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
    costs = draft.efforts(np.diff(trials, axis=1)).sum(axis=1)
    order = np.argsort(costs, kind="stable")
    allowed = draft.efforts(np.diff(path, axis=0)).sum()
    return np.asarray(trials[order[costs[order] <= allowed]])


def stop_early(drafts: list[Draft], view: View) -> None:
    """Cut each path at its first accepted node."""
    for draft, fine in zip(drafts, _accepted([draft.path[1:-1] for draft in drafts], view), strict=True):
        if fine.any():
            draft.path, draft.open = draft.path[: fine.argmax() + 2], True


def _accepted(rows: list[Array], view: View) -> list[Bools]:
    """Return which rows the model accepts, list by list, with one call."""
    fine = view.accepts(view.score_rows(np.concatenate(rows)))
    return list(np.split(fine, np.cumsum([len(part) for part in rows])[:-1]))


def _without_rests(path: Array) -> Array:
    """Return the path without steps in which nothing changes."""
    moved = np.abs(zero_missing(np.diff(path, axis=0))).max(axis=1) > 1e-9
    return np.asarray(path[np.append(True, moved)])

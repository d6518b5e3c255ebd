"""Ways to targets in a few steps: numbers go evenly, what can only switch goes at once.

Effort is the square of a step, so for a given target and any cost matrix equal steps of the numbers cost least. Where
a category switches is another matter: beside the numbers, before them, or all in one step, whichever a matrix favours;
so each target has up to three ways.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from reap._arrays import zero_missing
from reap._typing import Array, Bools, Ints
from reap.recourse.routes.path.nodes import View
from reap.space import ActionSpace

#: Steps of a way where their number is not limited: finer division asks for less effort, but nobody follows it.
_STEPS = 4
#: Kinds of features that cannot go half the way.
_SUDDEN = ("categorical", "binary")
#: Rounds in which numbers are taken back, and parts that are tried in each.
_ROUNDS, _PARTS = 2, 8


@dataclass(frozen=True)
class Ways:
    """Ways (m, s + 1, d) from a subject to targets; one that arrives early stays there."""

    paths: Array

    def __len__(self) -> int:
        return len(self.paths)

    @cached_property
    def moves(self) -> Array:
        """The steps (m, s, d); 0 where a value is missing or nothing changes."""
        return zero_missing(np.diff(self.paths, axis=1))

    def join(self, other: Ways) -> Ways:
        """Return these ways and others."""
        return Ways(np.concatenate([self.paths, other.paths]))


def ways(view: View, targets: Array, most: int | None) -> Ways:
    """Return ways of at most so many steps to targets (m, d), every step legal where rules tie features together."""
    count = _STEPS if most is None else min(most, _STEPS)
    switched = _switched(view, targets)
    some = switched.any(axis=1)
    plain = np.zeros(switched.shape, dtype=np.intp)  # switches in the first step
    apart = np.where(switched, np.cumsum(switched, axis=1) - 1, 0)  # one after the other, before the numbers
    apart = np.minimum(apart, max(count - 2, 0))
    waits = np.where(some, np.where(switched, apart + 1, 0).max(axis=1), 0)
    paths = [_paths(view, targets, plain, np.zeros(len(targets), dtype=np.intp), count)]
    if some.any() and count > 1:
        paths += [
            _paths(view, targets[some], apart[some], waits[some], count),
            np.repeat(targets[some, None], count + 1, axis=1),
        ]
        paths[-1][:, 0] = view.z0
    made = np.concatenate(paths)
    return Ways(made if view.simple else made[_legal(view, made)])


def nearer(view: View, targets: Array) -> Array:
    """Return targets (m, d) with their numbers taken back towards the subject's as far as they stay accepted.

    All numbers of a target by the same share: the least one that is enough lies between two eighths, then between two
    parts of 64.
    """
    z0, space = view.z0, view.space
    sudden = _sudden_columns(space)
    best = targets.copy()
    goes = np.flatnonzero((np.abs(zero_missing(targets - z0)) > 1e-9)[:, ~sudden].any(axis=1))
    ends = targets[goes]
    begin, width = np.zeros(len(goes)), 1.0
    for _ in range(_ROUNDS if len(goes) else 0):
        width /= _PARTS
        shares = begin[:, None] + width * np.arange(1, _PARTS)  # (m, parts − 1)
        between = np.where(sudden, ends[:, None], z0 + shares[:, :, None] * (ends - z0)[:, None])
        between = _rows(view, between, ends).reshape(-1, space.dimension)
        fine = view.accepts(view.classifier.probability(between))
        if not view.simple:
            fine[fine] = space.allows(z0, between[fine])
        fine, between = fine.reshape(shares.shape), between.reshape(*shares.shape, -1)
        won = fine.any(axis=1)
        first = np.where(won, fine.argmax(axis=1), _PARTS - 1)
        best[goes[won]] = between[won, first[won]]
        begin = begin + width * first
    return best


def _rows(view: View, between: Array, ends: Array) -> Array:
    """Return points (m, s, d) between the subject and ends (m, d) as rows (m, s, d): at their steps, derived features too."""
    flat = between.reshape(-1, between.shape[2])
    if view.derives:
        return np.asarray(view.space.project(flat, view.z0, exact=False).reshape(between.shape))
    snapped = view.space.snap(flat).reshape(between.shape)
    # what a person has now need not be at a step: what stays stays, and nothing goes back
    low, high = np.minimum(view.z0, ends)[:, None], np.maximum(view.z0, ends)[:, None]
    return np.where(np.isnan(snapped), snapped, np.clip(snapped, low, high))


def _sudden_columns(space: ActionSpace) -> Bools:
    sudden = np.zeros(space.dimension, dtype=bool)
    for feature in space.features:
        sudden[space.slices[feature.name]] = feature.kind in _SUDDEN
    return sudden


def _switched(view: View, targets: Array) -> Bools:
    """Return which features change at once, (m, f): categories, and what has two values."""
    space = view.space
    sudden = np.array([f.kind in _SUDDEN for f in space.features])
    return np.asarray(space.changed(targets, np.broadcast_to(view.z0, targets.shape)) & sudden)


def _paths(view: View, targets: Array, at: Ints, waits: Ints, count: int) -> Array:
    """Return paths (m, count + 1, d): features switch in step ``at`` (m, f), numbers go evenly after ``waits`` (m,) steps."""
    space, z0 = view.space, view.z0
    step = np.arange(1, count)
    share = np.clip((step - waits[:, None]) / (count - waits[:, None]), 0.0, 1.0)  # (m, s)
    paths = np.repeat(targets[:, None], count + 1, axis=1)
    paths[:, 0] = z0
    if count == 1 or len(targets) == 0:
        return paths
    between = z0 + share[:, :, None] * (targets - z0)[:, None]
    for i, feature in enumerate(space.features):
        if feature.kind in _SUDDEN:
            columns = space.slices[feature.name]
            done = step - 1 >= at[:, i, None]
            between[:, :, columns] = np.where(done[:, :, None], targets[:, None, columns], z0[columns])
    paths[:, 1:-1] = _rows(view, between, targets)
    return paths


def _legal(view: View, paths: Array) -> Bools:
    """Return which paths (m, s + 1, d) have legal steps only."""
    m, stages, d = paths.shape
    before, after = paths[:, :-1].reshape(-1, d), paths[:, 1:].reshape(-1, d)
    fine = view.space.allows(before, after) & view.space.allows(view.z0, after)
    return np.asarray(fine.reshape(m, stages - 1).all(axis=1))

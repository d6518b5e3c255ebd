"""Accepted cells before which no accepted cell lies: what nobody would ask more than."""

from __future__ import annotations

import numpy as np

from reap._typing import Bools, Ints
from reap.recourse.targets.trees.ladders import DOWN, LEVEL, UP


def minimal(accepted: Bools, sides: list[Ints]) -> Bools:
    """Return which accepted cells have no other accepted cell on the way to them.

    On the way are the nearer values on the same side of a number and of ordered levels, and the value each axis
    starts from.

    Parameters
    ----------
    accepted : (…, n_1, …, n_r)
        The last r axes are rungs of ladders.
    sides : list of (n_i,)
        The sides of these rungs.

    Examples
    --------
    >>> sides = [np.array([0, 1, 1]), np.array([0, 1, 1])]
    >>> minimal(np.array([[False, False, True], [False, True, True], [True, True, True]]), sides).astype(int)
    array([[0, 0, 1],
           [0, 1, 0],
           [1, 0, 0]])
    """
    out = np.zeros_like(accepted)
    begin = accepted.ndim - len(sides)
    # where nothing is accepted nothing is on the way either: only the other slices are looked at
    kept = [_with_any(accepted, begin + i) for i in range(len(sides))]
    if any(len(places) == 0 for places in kept):
        return out
    places = np.ix_(*(np.arange(n) for n in accepted.shape[:begin]), *kept)
    inside = accepted[places]
    covered = inside
    axes = [(begin + i, side[some]) for i, (side, some) in enumerate(zip(sides, kept, strict=True))]
    for axis, side in axes:
        covered = spread(covered, side, axis)
    for axis, side in axes:
        view, before = np.moveaxis(covered, axis, 0), np.moveaxis(inside, axis, 0)
        for way in (UP, DOWN):
            chain = np.concatenate([[0], np.flatnonzero(side == way)])
            before[chain[1:]] &= ~view[chain[:-1]]
        before[side == LEVEL] &= ~view[0]
    out[places] = inside
    return out


def spread(accepted: Bools, side: Ints, axis: int) -> Bools:
    """Return which cells are accepted or have an accepted one on the way to them along one axis; ``side``: of its rungs."""
    out = accepted.copy()
    view = np.moveaxis(out, axis, 0)
    for way in (UP, DOWN):
        chain = np.concatenate([[0], np.flatnonzero(side == way)])
        if len(chain) > 1:
            view[chain] = np.logical_or.accumulate(view[chain], axis=0)
    view[side == LEVEL] |= view[0]
    return out


def least_of(group: Ints, cells: Ints, sides: list[Ints]) -> Bools:
    """Return which accepted cells (n, r), in groups (n,), have no other of their group on the way to them, (n,).

    The same as ``minimal`` of one array a group, where all else is refused: for few cells of many groups.
    """
    names, group = np.unique(group, return_inverse=True)
    covered = np.zeros((*(len(side) for side in sides), len(names)), dtype=bool)
    covered[(*cells.T, group)] = True
    for axis, side in enumerate(sides):
        view = np.moveaxis(covered, axis, 0)
        for way in (UP, DOWN):
            last = view[0]
            for place in np.flatnonzero(side == way):  # groups lie side by side: whole slices at once
                last = np.logical_or(view[place], last, out=view[place])
        view[side == LEVEL] |= view[0]
    out = np.ones(len(cells), dtype=bool)
    for axis, side in enumerate(sides):
        before = np.full(len(side), -1)
        for way in (UP, DOWN):
            chain = np.concatenate([[0], np.flatnonzero(side == way)])
            before[chain[1:]] = chain[:-1]
        before[side == LEVEL] = 0
        nearer = cells.copy()
        nearer[:, axis] = before[cells[:, axis]]
        out &= (nearer[:, axis] < 0) | ~covered[(*nearer.T, group)]
    return out


def _with_any(accepted: Bools, axis: int) -> Ints:
    """Return the places on an axis with an accepted cell, and the first, from which ways begin; none where there is no cell."""
    some = np.asarray(accepted.any(axis=tuple(i for i in range(accepted.ndim) if i != axis)))
    if not some.any():
        return np.zeros(0, dtype=np.intp)
    some[0] = True
    return np.flatnonzero(some)

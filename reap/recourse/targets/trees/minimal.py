"""Accepted cells before which no accepted cell lies: what nobody would ask more than."""

from __future__ import annotations

from typing import Any

import numpy as np

from reap._typing import Bools, Ints
from reap.recourse.targets.trees.ladders import DOWN, FORCED, LEVEL, UP


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
    out = np.zeros((1, *accepted.shape), dtype=bool)
    for chain in _chains(sides[-1]):
        part = accepted[None, ..., chain]
        # of one chain only the first accepted cell can be minimal, so it is enough to know how far that is
        first = np.where(part.any(axis=-1), part.argmax(axis=-1), len(chain))
        nearest = first
        axes = list(enumerate(sides[:-1], first.ndim - len(sides) + 1))
        for axis, side in axes:
            nearest = _lowest(nearest, side, axis)
        least = first < len(chain)
        for axis, side in axes:
            before = _before(side)
            view = np.moveaxis(least, axis, 0)
            ahead = np.moveaxis(first, axis, 0) < np.moveaxis(nearest, axis, 0)[before]
            view &= ahead | (before < 0).reshape(-1, *[1] * (view.ndim - 1))
        at = np.nonzero(least)
        out[(*at, chain[first[at]])] = True
    return np.asarray(out[0])


def _chains(side: Ints) -> list[Ints]:
    """Return the ways along an axis, near to far: the places of each; ``side``: of its rungs."""
    ways = [np.concatenate([[0], np.flatnonzero(side == way)]) for way in (UP, DOWN)]
    ways = [way for way in ways if len(way) > 1] + [np.array([0, i]) for i in np.flatnonzero(side == LEVEL)]
    return (ways or [np.zeros(1, dtype=np.intp)]) + [np.array([i]) for i in np.flatnonzero(side == FORCED)]


def _before(side: Ints) -> Ints:
    """Return the place before each on its way along an axis, −1 for none."""
    before = np.full(len(side), -1)
    for way in (UP, DOWN):
        chain = np.concatenate([[0], np.flatnonzero(side == way)])
        before[chain[1:]] = chain[:-1]
    before[side == LEVEL] = 0
    return before


def _lowest(values: Any, side: Ints, axis: int) -> Any:
    """Return the least of the values on the way to each place along one axis, its own included."""
    out = values.copy()
    view = np.moveaxis(out, axis, 0)
    for way in (UP, DOWN):
        chain = np.concatenate([[0], np.flatnonzero(side == way)])
        if len(chain) > 1:
            view[chain] = np.minimum.accumulate(view[chain], axis=0)
    level = side == LEVEL
    if level.any():
        view[level] = np.minimum(view[level], view[0])
    return out


def spread(accepted: Bools, side: Ints, axis: int) -> Bools:
    """Return which cells are accepted or have an accepted one on the way to them along one axis; ``side``: of its rungs."""
    return np.asarray(~_lowest(~accepted, side, axis))


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
        nearer = cells.copy()
        nearer[:, axis] = _before(side)[cells[:, axis]]
        out &= (nearer[:, axis] < 0) | ~covered[(*nearer.T, group)]
    return out

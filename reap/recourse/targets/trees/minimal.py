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
    covered = accepted.copy()
    axes = range(accepted.ndim - len(sides), accepted.ndim)
    for axis, side in zip(axes, sides, strict=True):
        view = np.moveaxis(covered, axis, 0)
        for chain in _chains(side):
            view[chain] = np.logical_or.accumulate(view[chain], axis=0)
        view[side == LEVEL] |= view[0]
    out = accepted.copy()
    for axis, side in zip(axes, sides, strict=True):
        view, before = np.moveaxis(covered, axis, 0), np.moveaxis(out, axis, 0)
        for chain in _chains(side):
            before[chain[1:]] &= ~view[chain[:-1]]
        before[side == LEVEL] &= ~view[0]
    return out


def _chains(side: Ints) -> list[Ints]:
    return [np.concatenate([[0], np.flatnonzero(side == way)]) for way in (UP, DOWN)]

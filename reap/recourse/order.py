"""Which changes ask for less than which others, whatever effort means to the person.

Reducing the loan alone asks for less than reducing it and waiting a year: everybody who can do the second can do the first.
"""

from __future__ import annotations

import numpy as np

from reap._typing import Array, Bools

#: Encoded changes smaller than this are rounding.
_RESOLUTION = 1e-9
#: Entries (rows × rows, or pairs of rows × columns) of one comparison; larger sets are compared in parts.
_ENTRIES = 4_000_000


def asks_no_more(changes: Array, others: Array) -> Bools:
    """Return which changes (n, d) ask for no more than which others (m, d) in any column; (n, m).

    Every column moves no farther, and to the same side. A level of a category is a move of its columns, so either
    both take the same level or the first keeps its own. Two that ask for no more than each other end in the same row.

    Examples
    --------
    >>> amount, both, age = np.array([[-0.5, 0.0], [-0.5, 0.2], [0.0, 0.1]])
    >>> asks_no_more(np.array([amount, age]), np.array([both, amount])).tolist()
    [[True, True], [True, False]]
    """
    # most pairs move different columns, or to different sides: one product of zeros and ones tells, the rest is compared
    moved = ~(np.abs(changes) <= _RESOLUTION)
    out = np.asarray(_sides(changes, moved) @ _sides(others).T == moved.sum(axis=1)[:, None])
    size, limit = np.abs(changes), np.abs(others) + _RESOLUTION
    i, j = np.nonzero(out)
    part = max(1, _ENTRIES // max(1, changes.shape[1]))
    for begin in range(0, len(i), part):
        a, b = i[begin : begin + part], j[begin : begin + part]
        out[a, b] = (size[a] <= limit[b]).all(axis=1)
    return out


def _sides(changes: Array, moved: Bools | None = None) -> Array:
    """Return zeros and ones (n, 2 d): which columns rise, and which fall."""
    up, down = changes > 0, changes < 0
    if moved is not None:
        up, down = up & moved, down & moved
    return np.concatenate([up, down], axis=1).astype(np.float32)


def undominated(changes: Array) -> Bools:
    """Return which of a set of changes (n, d) are worth offering; (n,).

    One that asks for all that another asks for, and more, is not. Of equal ones the first is.

    Examples
    --------
    >>> undominated(np.array([[-0.5, 0.2], [-0.5, 0.0], [0.0, 0.3], [-0.5, 0.0]])).tolist()
    [False, True, True, False]
    """
    count = len(changes)
    changes = changes[:, (np.abs(changes) > _RESOLUTION).any(axis=0)]
    kept = np.ones(count, dtype=bool)
    part = max(1, _ENTRIES // max(1, count))
    earlier = np.arange(count)
    for begin in range(0, count, part):
        mine = changes[begin : begin + part]
        below = asks_no_more(changes, mine)
        above = below.T if len(mine) == count else asks_no_more(mine, changes).T
        first = earlier[:, None] < earlier[None, begin : begin + part]
        kept[begin : begin + part] = ~(below & (~above | first)).any(axis=0)
    return kept

"""Small things that arrays are asked for everywhere."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from reap._typing import Array, Ints


def zero_missing(values: Array) -> Array:
    """Return a copy with 0 where a value is missing; ``np.nan_to_num`` does more and takes ten times as long.

    Examples
    --------
    >>> zero_missing(np.array([1.5, np.nan]))
    array([1.5, 0. ])
    """
    return np.where(np.isnan(values), 0.0, values)


def transpose(X: Array) -> Array:
    """Swap the last two axes."""
    return np.swapaxes(X, -1, -2)


def symmetric(X: Array) -> Array:
    """Return the symmetric part of each matrix (…, d, d)."""
    return np.asarray(0.5 * (X + transpose(X)))


#: Numbers from here on are no 64-bit integers any more, with room to spare.
_INTEGERS = 2.0**62


def row_keys(rows: Array) -> Ints:
    """Return a number for each row (n, d): the same for rows that agree to 1e-9, and, but for chance, for no others.

    Examples
    --------
    >>> a, b, c = row_keys(np.array([[0.3, 1.0], [0.1 + 0.2, 1.0], [1.0, 0.3]]))
    >>> bool(a == b), bool(a == c)
    (True, False)
    """
    scaled = np.rint(np.where(np.isnan(rows), -1.0, rows) * 1e9)
    if max(scaled.max(initial=0.0), -scaled.min(initial=0.0)) < _INTEGERS:
        whole = scaled.astype(np.int64)
    else:  # what is so far out goes by all its digits
        far = np.abs(scaled) >= _INTEGERS
        whole = np.where(far, 0.0, scaled).astype(np.int64)
        whole[far] = scaled[far].view(np.int64)
    return np.asarray(whole @ _odd(rows.shape[1]))


@lru_cache(maxsize=64)
def _odd(width: int) -> Ints:
    return np.random.default_rng(0).integers(2**62, size=width, dtype=np.int64) * 2 + 1


def unique_rows(rows: Array) -> Ints:
    """Return the indices of the first of each set of equal rows (n, d), in order."""
    return np.sort(np.unique(row_keys(rows), return_index=True)[1])


def some_rows(rows: Array, most: int, seed: int) -> Array:
    """Return the distinct ones of rows (n, d), in order; where they are more than ``most``, that many drawn at random.

    Examples
    --------
    >>> some_rows(np.array([[1.0], [2.0], [1.0]]), 5, seed=0).tolist()
    [[1.0], [2.0]]
    """
    rows = rows[unique_rows(rows)] if len(rows) else rows
    if len(rows) > most:
        rows = rows[np.sort(np.random.default_rng(seed).choice(len(rows), most, replace=False))]
    return rows

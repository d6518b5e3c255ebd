"""Kernels on rows: their efforts, and which are the same."""

from __future__ import annotations

import numpy as np

from reap._typing import Array, Ints


def efforts(A: Array, V: Array) -> Array:
    """Return ``vᵀAv`` for every matrix (b, d, d) and direction (N, d), as (b, N)."""
    b, d = A.shape[:2]
    product = (V @ A.transpose(1, 0, 2).reshape(d, b * d)).reshape(len(V), b, d)  # one product, not b of them
    return np.asarray(np.maximum(np.einsum("nbd,nd->bn", product, V), 0.0))


def efforts_each(A: Array, V: Array) -> Array:
    """Return ``vᵀAv`` for matrices (n, d, d) and directions (n, …, d), one by one, as (n, …)."""
    flat = V.reshape(len(V), -1, V.shape[-1])
    return np.asarray(np.maximum(((flat @ A) * flat).sum(axis=-1), 0.0).reshape(V.shape[:-1]))


def keys(rows: Array) -> Ints:
    """Return a number for each row (n, d), the same for the same row: a hash in whole numbers, so it is exact.

    Examples
    --------
    >>> a, b, c = keys(np.array([[0.3, 1.0], [0.1 + 0.2, 1.0], [1.0, 0.3]]))
    >>> bool(a == b), bool(a == c)
    (True, False)
    """
    whole = np.rint(np.nan_to_num(rows, nan=-1.0) * 1e9).astype(np.int64)
    odd = np.random.default_rng(0).integers(2**62, size=rows.shape[1], dtype=np.int64) * 2 + 1
    return np.asarray((whole * odd).sum(axis=1))


def unique_rows(rows: Array) -> Ints:
    """Return the indices of the first of each set of equal rows (n, d), in order."""
    return np.sort(np.unique(keys(rows), return_index=True)[1])

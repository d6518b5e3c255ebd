"""Efforts of one-step plans, in batches."""

from __future__ import annotations

import numpy as np

from reap._typing import Array


def efforts(A: Array, V: Array) -> Array:
    """Return ``vᵀAv`` for every matrix (b, d, d) and direction (N, d), as (b, N)."""
    b, d = A.shape[:2]
    product = (V @ A.transpose(1, 0, 2).reshape(d, b * d)).reshape(len(V), b, d)  # one product, not b of them
    return np.asarray(np.maximum(np.einsum("nbd,nd->bn", product, V), 0.0))


def efforts_each(A: Array, V: Array) -> Array:
    """Return ``vᵀAv`` for matrices (n, d, d) and directions (n, …, d), one by one, as (n, …)."""
    flat = V.reshape(len(V), -1, V.shape[-1])
    return np.asarray(np.maximum(((flat @ A) * flat).sum(axis=-1), 0.0).reshape(V.shape[:-1]))

"""The nearest points of plain sets: of a simplex, of a polyhedron."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import nnls

from reap._typing import Array


def simplex(block: Array, allowed: Any) -> Array:
    """Return the projection of rows (n, k) on the simplex over the allowed columns.

    Subtract the one threshold that makes the positive parts sum to one; it is found by sorting.

    Examples
    --------
    >>> simplex(np.array([[0.9, 0.5, 0.4]]), np.array([True, True, False])).round(2)
    array([[0.7, 0.3, 0. ]])
    """
    part = block[:, allowed]
    ordered = -np.sort(-part, axis=1)
    excess = np.cumsum(ordered, axis=1) - 1.0
    count = np.arange(1, part.shape[1] + 1)
    active = (ordered - excess / count > 0).sum(axis=1)
    threshold = excess[np.arange(len(part)), active - 1] / active
    out = np.zeros_like(block)
    out[:, allowed] = np.maximum(part - threshold[:, None], 0.0)
    return out


def least_distance(A: Array, b: Array) -> Array | None:
    """Return the shortest ``y`` with ``A y ≥ b``, or None where there is none (Lawson and Hanson, chapter 23).

    The multipliers say which rows bind; on those the shortest ``y`` with equality is computed once more, to
    the last digits.

    Examples
    --------
    >>> least_distance(np.array([[1.0, 1.0]]), np.array([2.0])).round(6)
    array([1., 1.])
    """
    E = np.vstack([A.T, b])
    f = np.zeros(len(E))
    f[-1] = 1.0
    weights, _ = nnls(E, f, maxiter=50 * E.shape[1])
    rest = f - E @ weights
    if rest[-1] <= 1e-12:
        return None
    rough = -rest[:-1] / rest[-1]
    binding = weights > 0
    if not binding.any():
        return np.asarray(rough)
    fine = np.linalg.lstsq(A[binding], b[binding], rcond=None)[0]
    return np.asarray(fine if np.abs(fine - rough).max() <= 1e-5 * (1 + np.abs(rough).max()) else rough)

"""Where a quadratic effort comes from: control, causality, or a draw at random. Every matrix has largest eigenvalue 1."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.linalg import LinAlgError, eigh

from reap._errors import InputError, unknown
from reap._typing import Array


def lqr(Q: Array, R: Array) -> Array:
    """Return the effort matrix `(d, d)` of the linear quadratic regulator `min Σ zᵀQz + uᵀRu`, `z ← z + u`.

    What is left to do from z, `zᵀAz`, solves `Q = A(R+A)⁻¹A`. In the basis `WᵀRW = I`, `WᵀQW = diag σ` this falls apart into
    `x²/(1+x) = σ`, so `A = (RW) diag((σ + √(σ²+4σ))/2) (RW)ᵀ`, for singular Q too.

    Examples
    --------
    >>> lqr([[4.0, 0.0], [0.0, 0.0]], [[1.0, 0.0], [0.0, 1.0]]).tolist()
    [[1.0, 0.0], [0.0, 0.0]]
    """
    Q, R = semidefinite("Q", Q), semidefinite("R", R)
    if Q.shape != R.shape:
        raise InputError(f"Q has shape {Q.shape} and R {R.shape}; they must be equal.")
    try:
        sigma, W = eigh(Q, R)
    except LinAlgError:
        raise InputError("R is singular; it must be positive definite, so that no step is free.") from None
    sigma[sigma < 1e-14 * len(Q) * sigma[-1]] = 0.0  # rounding of a zero, of which a root would be taken
    x = (sigma + np.sqrt(sigma**2 + 4 * sigma)) / 2
    return unit((R @ W * x) @ (R @ W).T)


def scm(W: Array, D: Array) -> Array:
    """Return `A = (I−W)ᵀD⁻¹(I−W)` `(d, d)`, the precision of deviations `δ = Wδ + e` with `e ~ N(0, D)`.

    Examples
    --------
    >>> scm([[0.0, 0.0], [0.0, 0.0]], [1.0, 4.0]).tolist()
    [[1.0, 0.0], [0.0, 0.25]]
    """
    W, D = np.asarray(W, dtype=float), np.asarray(D, dtype=float)
    D = semidefinite("D", np.diag(D) if D.ndim == 1 else D)
    if W.shape != D.shape:
        raise InputError(
            f"W has shape {W.shape} and D {D.shape}; both must be (d, d), or D a vector of d variances."
        )
    own = np.eye(len(W)) - W
    try:
        return unit(own.T @ np.linalg.solve(D, own))
    except np.linalg.LinAlgError:
        raise InputError("D is singular; every variance must be positive.") from None


def draw(dimension: int, rng: np.random.Generator, kind: str = "gaussian") -> Array:
    """Return a random effort matrix `(d, d)` of one of the `KINDS`.

    Examples
    --------
    >>> draw(3, np.random.default_rng(0), "diagonal").round(2).max()
    np.float64(1.0)
    """
    if dimension < 1:
        raise InputError(f"dimension is {dimension}; it must be at least 1.")
    if kind not in KINDS:
        raise unknown("kind of people", kind, KINDS)
    return unit(KINDS[kind](dimension, rng))


def _gaussian(d: int, rng: np.random.Generator) -> Array:
    G = rng.standard_normal((d, d))
    return unit(G @ G.T)


def _uniform(d: int, rng: np.random.Generator) -> Array:
    G = rng.random((d, d))
    return G @ G.T


def _rank_one(d: int, rng: np.random.Generator) -> Array:
    g = np.abs(rng.standard_normal(d))
    return np.outer(g, g)


def _scm(d: int, rng: np.random.Generator) -> Array:
    edges = np.tril(rng.standard_normal((d, d)) * (rng.random((d, d)) < 0.5), -1)
    order = rng.permutation(d)
    return scm(edges[np.ix_(order, order)], rng.uniform(0.5, 1.5, d))


KINDS: dict[str, Callable[[int, np.random.Generator], Array]] = {
    "gaussian": _gaussian,
    "uniform": _uniform,
    "rank-one": _rank_one,
    "diagonal": lambda d, rng: np.diag(rng.random(d)),
    "lqr": lambda d, rng: lqr(_gaussian(d, rng), _gaussian(d, rng) + np.eye(d)),
    "scm": _scm,
}


def unit(A: Array) -> Array:
    """Return A divided by its largest eigenvalue; 0 stays."""
    top = np.linalg.eigvalsh(A)[-1]
    return A / top if top > 0 else A


def semidefinite(name: str, matrix: Array) -> Array:
    """Return the matrix as a symmetric array, checked to be positive semidefinite up to rounding."""
    A = np.asarray(matrix, dtype=float)
    if A.ndim != 2 or A.shape[0] != A.shape[1] or not np.isfinite(A).all():
        raise InputError(f"{name} has shape {A.shape}; it must be a finite square matrix.")
    size = np.abs(A).max(initial=0.0)
    if (
        np.abs(A - A.T).max(initial=0.0) > 1e-8 * size
        or np.linalg.eigvalsh(A).min(initial=0.0) < -1e-8 * size
    ):
        raise InputError(
            f"{name} must be symmetric and positive semidefinite, so that no effort is negative."
        )
    symmetric: Array = (A + A.T) / 2
    return symmetric

"""How much of what was found to believe: the evidence sets how far parameters may be from zero.

With `p_g ~ N(0, τ_g²)` for each group g (scales, directions), MacKay's fixed point is `τ_g² = |p_g|²/γ_g`, where
`γ_g = |g| − tr(H⁻¹)_g/τ_g²` counts the parameters that the answers determine. H is the curvature `Σ_n g_n g_nᵀ + diag(1/τ²)`, g_n
each person's slope. With fewer people than parameters its inverse is taken in the people's space (Woodbury).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from reap._typing import Array, Ints

#: Standard deviations before anything is known: of scales, of directions.
START = (0.7, 0.15)
_LEAST, _MOST = (0.05, 0.02), (2.0, 0.5)
_ROUNDS = 10


def penalty(groups: Sequence[Ints], taus: Sequence[float]) -> Array:
    """Return `1/τ²` of each parameter.

    Examples
    --------
    >>> penalty([np.arange(2), np.arange(2, 3)], [0.5, 1.0]).tolist()
    [4.0, 4.0, 1.0]
    """
    return np.concatenate([np.full(len(g), 1 / tau**2) for g, tau in zip(groups, taus, strict=True)])


def variances(slopes: Array, precision: Array) -> Array:
    """Return the diagonal of `(Σ_n g_n g_nᵀ + diag(precision))⁻¹` `(p,)` of slopes `(n, p)`.

    Examples
    --------
    >>> variances(np.array([[1.0, 0.0]]), np.array([1.0, 4.0])).tolist()
    [0.5, 0.25]
    """
    n, p = slopes.shape
    if p <= n:
        return np.asarray(np.diag(np.linalg.inv(slopes.T @ slopes + np.diag(precision))))
    spread = slopes / precision  # G P⁻¹
    inner = np.linalg.solve(np.eye(n) + spread @ slopes.T, spread)
    return np.asarray(1 / precision - (spread * inner).sum(axis=0))


def covariance(slopes: Array, precision: Array, first: int) -> Array:
    """Return the block of the first parameters of `(Σ_n g_n g_nᵀ + diag(precision))⁻¹` `(first, first)`."""
    n, p = slopes.shape
    if p <= n:
        whole = np.linalg.inv(slopes.T @ slopes + np.diag(precision))
        return np.asarray(whole[:first, :first])
    spread = slopes / precision
    inner = np.linalg.solve(np.eye(n) + spread @ slopes.T, spread[:, :first])
    return np.asarray(np.diag(1 / precision[:first]) - spread[:, :first].T @ inner)


def evidence(p: Array, slopes: Array, groups: Sequence[Ints], taus: Sequence[float]) -> list[float]:
    """Return the standard deviations τ of each group that the answers of all people support."""
    found = list(taus)
    for _ in range(_ROUNDS):
        spread = variances(slopes, penalty(groups, found))
        for i, group in enumerate(groups):
            determined = max(len(group) - spread[group].sum() / found[i] ** 2, 0.5)
            found[i] = float(np.clip(np.sqrt(p[group] @ p[group] / determined), _LEAST[i], _MOST[i]))
    return found

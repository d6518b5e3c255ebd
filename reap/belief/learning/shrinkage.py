"""How much of what was found to believe: the evidence sets how far parameters may be from zero.

With `p_g ~ N(0, τ_g²)` for each group g (scales, directions, weights), MacKay's fixed point is `τ_g² = |p_g|²/γ_g`, where
`γ_g = |g| − tr(H⁻¹)_g/τ_g²` counts the parameters that the answers determine. H is the curvature `Σ_n g_n g_nᵀ + diag(1/τ²)`, g_n
each person's slope. With fewer people than parameters its inverse is taken in the people's space (Woodbury).
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from reap._typing import Array, Ints

#: Standard deviations before anything is known: of scales, of directions, of typical weights.
START = {"scales": 0.7, "directions": 0.15, "weights": 0.7}
#: How far the evidence may go; one or two weights say nothing about how far weights go, so theirs stays.
_LEAST = {"scales": 0.05, "directions": 0.02, "weights": START["weights"]}
_MOST = {"scales": 2.0, "directions": 0.5, "weights": START["weights"]}
_ROUNDS = 10


def penalty(groups: Mapping[str, Ints], taus: Mapping[str, float]) -> Array:
    """Return `1/τ²` of each parameter.

    Examples
    --------
    >>> groups = {"scales": np.arange(2), "directions": np.arange(2, 3)}
    >>> penalty(groups, {"scales": 0.5, "directions": 1.0}).tolist()
    [4.0, 4.0, 1.0]
    """
    return np.concatenate([np.full(len(group), 1 / taus[name] ** 2) for name, group in groups.items()])


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


def evidence(
    p: Array, slopes: Array, groups: Mapping[str, Ints], taus: Mapping[str, float]
) -> dict[str, float]:
    """Return the standard deviations τ of each group that the answers of all people support."""
    found = dict(taus)
    for _ in range(_ROUNDS):
        spread = variances(slopes, penalty(groups, found))
        for name, group in groups.items():
            determined = max(len(group) - spread[group].sum() / found[name] ** 2, 0.5)
            far = np.sqrt(p[group] @ p[group] / determined)
            found[name] = float(np.clip(far, _LEAST[name], _MOST[name]))
    return found

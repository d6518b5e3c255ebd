"""The most likely parameters under a normal prior of mean zero, by L-BFGS within bounds."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from scipy.optimize import minimize

from reap._typing import Array
from reap.belief.learning.coordinates import Coordinates
from reap.belief.learning.shrinkage import penalty


def climb(
    value: Callable[[Array], tuple[Array, Array]],
    start: Array,
    shape: Coordinates,
    taus: Mapping[str, float],
    steps: int,
) -> tuple[Array, Array]:
    """Return the parameters `(p,)` of largest `Σ_n log p_n − ½ Σ p²/τ²`, and each person's slope there `(n, p)`.

    Parameters
    ----------
    value : callable
        Parameters to log-likelihoods `(n,)` and slopes `(n, p)`.
    start : (p,) array
    shape : Coordinates
    taus : mapping of str to float
        Standard deviation of each group of parameters.
    steps : int
        Iterations at most.
    """
    precision = penalty(shape.groups, taus)

    def loss(p: Array) -> tuple[float, Array]:
        logs, slopes = value(p)
        return -(logs.sum() - 0.5 * (precision * p**2).sum()), -(slopes.sum(axis=0) - precision * p)

    found = minimize(
        loss,
        np.clip(start, *np.array(shape.bounds).T),
        jac=True,
        method="L-BFGS-B",
        bounds=shape.bounds,
        options={"maxiter": steps, "maxfun": 2 * steps, "ftol": 1e-6},
    )
    return np.asarray(found.x), value(found.x)[1]

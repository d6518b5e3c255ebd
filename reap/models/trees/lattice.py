"""The values at which a number is tried, and the cells into which they fall."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from reap._typing import Array, Ints
from reap.space import Feature

#: Numbers that are not whole are read to so many digits of their range: people's values need not be at its steps, and where
#: a range runs to 50,000 a tree may still tell 0.9999999 from 1. Doubles hold 15.
_DIGITS = 12
#: Values of a number at which edges are first looked for.
_SAMPLES = 257


@dataclass(frozen=True)
class Lattice:
    """The values of a number among which edges are looked for: places times a unit, as people write them."""

    first: float
    last: float
    unit: float
    power: float  # 10 to the decimals

    @classmethod
    def of(cls, feature: Feature, low: float, high: float) -> Lattice:
        """Return the lattice of a feature over an interval in units."""
        low, high = min(low, *(feature.range or ())), max(high, *(feature.range or ()))
        low, high = min(low, *(feature.bounds or (low,))), max(high, *(feature.bounds or (high,)))
        digits = _DIGITS - int(np.floor(np.log10((high - low) or 1.0)))
        unit, power = (1.0, 1.0) if feature.kind == "integer" else (10.0**-digits, 10.0**digits)
        return cls(np.floor(low / unit), np.ceil(high / unit), unit, power)

    def values(self, places: Array) -> Array:
        """Return places as values in units."""
        return np.rint(places * self.unit * self.power) / self.power

    def samples(self) -> Array:
        """Return places from end to end, all of them where they are few."""
        return np.unique(np.rint(np.linspace(self.first, self.last, _SAMPLES)))


@dataclass(frozen=True)
class Cells:
    """What the trees can tell apart of one feature.

    Parameters
    ----------
    columns : (c,)
        Its transformed columns.
    edges : (r,)
        Of a number, in units and rising: cell i holds the values above edge i − 1 and up to edge i. Empty for levels.
    weights : (r,)
        How many splits each edge stands for.
    rows : (r + 1, c) or (levels, c)
        The transformed columns in each cell, or of each level; then, where a value may be missing, of a missing one.
    """

    columns: Ints
    edges: Array
    weights: Array
    rows: Array

    def of(self, values: Array) -> Ints:
        """Return the cells (n,) of values of a number in units."""
        return np.asarray(np.searchsorted(self.edges, values))

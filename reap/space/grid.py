"""The one grid to which values snap: what each feature may become for one person, in units as they are shown."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from reap._typing import Array, Bools, Ints
from reap.space.encoding import Encoding
from reap.space.feature import Feature
from reap.space.reach import Room


@dataclass(frozen=True)
class Numbers:
    """The m movable columns that hold grids: numbers, ordered levels, and the leading clock, for waiting. All arrays (m,).

    A grid point k is ``k · unit`` in the person's units, and ``(k · unit − base) / scale`` encoded.
    """

    columns: Ints
    feature: Ints  # which feature each column belongs to
    start: Array  # encoded
    stays: Bools  # whether the start itself may be kept
    first: Array  # least and greatest grid point
    last: Array
    unit: Array
    power: Array  # 10 to the decimals of the unit: 0.3 is 3 / 10, not 3 · 0.1
    base: Array
    scale: Array

    @cached_property
    def step(self) -> Array:
        """The encoded distance of two grid points."""
        return self.unit / self.scale

    @cached_property
    def lower(self) -> Array:
        """The least encoded value."""
        return self.encoded(self.first)

    @cached_property
    def upper(self) -> Array:
        """The greatest encoded value."""
        return self.encoded(self.last)

    def encoded(self, place: Array, of: Ints | slice = slice(None)) -> Array:
        """Return the encoded values of grid points, whose last axis is that of the m columns, or of those named by ``of``."""
        units = np.rint(place * self.unit[of] * self.power[of]) / self.power[of]
        return (units - self.base[of]) / self.scale[of]

    def snap(self, U: Array, of: Ints | slice = slice(None)) -> Array:
        """Return values moved to the nearest grid point; the start counts as one.

        ``U`` ends with the axis of the m columns, or with that of the columns named by ``of``.
        """
        start, value = self.start[of], self.on_grid(U, of)
        keep = self.stays[of] & (np.abs(U - start) <= np.abs(U - value) + 1e-12)
        return np.where(keep, start, value)

    def on_grid(self, U: Array, of: Ints | slice = slice(None)) -> Array:
        """Return values moved to the nearest grid point."""
        place = np.rint((U * self.scale[of] + self.base[of]) / self.unit[of])
        return self.encoded(np.clip(place, self.first[of], self.last[of]), of)

    def values(self, j: int) -> Array:
        """Return all encoded values of one column."""
        places = np.arange(self.first[j], self.last[j] + 1)
        values = self.encoded(places, np.full(len(places), j))
        if self.stays[j] and np.abs(values - self.start[j]).min() > 1e-9:
            values = np.append(values, self.start[j])
        return values


@dataclass(frozen=True)
class Levels:
    """A feature whose levels are not on a ladder: its columns, and the blocks (k, width) it may take."""

    feature: int
    columns: Ints
    options: Array
    own: int  # which option is the subject's own; −1 where limits exclude it


def grid(
    encoding: Encoding, room: Room, z0: Array, lower: Array, upper: Array
) -> tuple[Numbers, list[Levels]]:
    """Return what a person (d,) may become: numbers and ordered levels on ladders, other levels as they are.

    Parameters
    ----------
    encoding : Encoding
    room : Room
        What is open to every feature.
    z0 : (d,)
    lower, upper : (d,)
        The person's box.
    """
    rows: list[tuple[float, ...]] = []
    choices = []
    for i, feature in enumerate(encoding.features):
        start, width = int(encoding.starts[i]), feature.width
        columns = np.arange(start, start + width)
        known = not np.isnan(z0[start]) and (feature.kind != "categorical" or z0[columns].any())
        if feature.derived is not None or not known:
            continue
        if feature.is_number:
            layout = encoding.origin[i], encoding.scale[i]
            row = _grid(feature, lower[start], upper[start], z0[start], *layout)
            if row is not None:
                rows.append((start, i, z0[start], *row))
            continue
        levels = room.open[i].tolist()
        even = levels == list(range(levels[0], levels[-1] + 1))
        if feature.kind == "ordinal" and even and len(levels) > 1:
            top = len(feature.levels) - 1
            stays = round(z0[start] * top) in levels
            rows.append((start, i, z0[start], stays, levels[0], levels[-1], 1, 1, 0, top))
            continue
        count = len(feature.levels)
        table = np.eye(count) if feature.kind == "categorical" else np.linspace(0.0, 1.0, count)[:, None]
        options = table[levels]
        own = np.flatnonzero((np.abs(options - z0[columns]) < 1e-9).all(axis=1))
        if len(levels) > 1 or len(own) == 0:
            choices.append(Levels(i, columns, options, int(own[0]) if len(own) else -1))
    column, index, begin, kept, *ends = np.array(rows, dtype=float).reshape(-1, 10).T
    numbers = Numbers(column.astype(np.intp), index.astype(np.intp), begin, kept.astype(bool), *ends)
    return numbers, choices


def _grid(
    feature: Feature, low: float, high: float, start: float, base: float, scale: float
) -> tuple[float, ...] | None:
    """Return (stays, first, last, unit, power, base, scale) of a number's grid; None where it can only stay."""
    unit = feature.step or shown_step(feature)
    decimals = feature.decimals if feature.decimals is not None else max(0, -round(np.log10(unit)))
    first = np.ceil((base + low * scale) / unit - 1e-6)
    last = np.floor((base + high * scale) / unit + 1e-6)
    stays = low - 1e-9 <= start <= high + 1e-9
    if first > last or (stays and high - low <= 1e-9):
        return None
    return stays, first, last, unit, 10.0**decimals, base, scale


def shown_step(feature: Feature) -> float:
    """Return the step in which a number without one is shown: four digits, whole from 1,000.

    Examples
    --------
    >>> shown_step(Feature("share", range=(0, 1))), shown_step(Feature("amount", range=(0, 20000)))
    (0.0001, 1.0)
    """
    low, high = feature.range or (0.0, 1.0)
    top = max(abs(low), abs(high), 1e-12)
    step = min(10.0 ** (np.floor(np.log10(top * (1 - 1e-9))) - 3), 1.0)
    finest = 10.0 ** np.floor(np.log10(((high - low) or 1.0) / 200))
    return float(min(step, finest))

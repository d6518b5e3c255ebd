"""How far each feature may go on its own, for one person or for many changes at once.

Everything here is judged feature by feature; rules across features stand in ``rules.py`` and the search they
need in ``nearest.py``. Work is done on codes (n, f), see ``encoding.py``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from reap._typing import Array, Bools, Ints
from reap.space.encoding import Encoding
from reap.space.feature import Feature
from reap.space.limits import Limits
from reap.space.rules import SAME, Domain

_NONE = np.zeros(0, dtype=np.intp)


@dataclass(frozen=True)
class Room:
    """What is open to every feature: an interval of values for a number, a set of levels otherwise.

    Parameters
    ----------
    low, high : (f,)
        The ends for numbers; not read for features with levels.
    levels : tuple of (levels,) bool or None
        Which levels are open, None for a number.
    """

    low: Array
    high: Array
    levels: tuple[Bools | None, ...]

    @cached_property
    def open(self) -> list[Ints]:
        """The indices of the levels open to each feature; none for a number."""
        return [np.flatnonzero(levels) if levels is not None else _NONE for levels in self.levels]

    def meet(self, i: int, domain: Domain) -> Room:
        """Return the room with feature ``i`` also restricted to a domain."""
        low, high, levels = self.low.copy(), self.high.copy(), list(self.levels)
        low[i], high[i] = max(low[i], domain.low), min(high[i], domain.high)
        own = levels[i]
        if own is not None and domain.levels is not None:
            levels[i] = own & np.isin(np.arange(len(own)), list(domain.levels))
        return Room(low, high, tuple(levels))


class Reach:
    """What every feature may become, given where it starts.

    Parameters
    ----------
    encoding : Encoding
    limits : Limits
        A person's own limits; unlike the space's bounds they must hold even where nothing changes.
    months : float
        Time there is for any action: a feature with a pace goes no farther than it gets in it.

    Examples
    --------
    >>> age = Feature("age", "integer", range=(18, 80), direction="up")
    >>> reach = Reach(Encoding([age]), Limits(at_most={"age": 40}))
    >>> reach.allows(np.array([[30.0]]), np.array([[29.0], [35.0], [41.0]]))
    array([False,  True, False])
    """

    def __init__(self, encoding: Encoding, limits: Limits, months: float = np.inf) -> None:
        self.encoding, self.limits, self.months = encoding, limits, months
        self.features = encoding.features
        self.free = [i for i, f in enumerate(self.features) if f.derived is None and f.clock is None]
        self.numbers = np.array([i for i in self.free if self.features[i].is_number], dtype=np.intp)
        self.graded = [i for i in self.free if not self.features[i].is_number]
        self.tables = {i: _transitions(self.features[i], limits, months) for i in self.graded}
        self._lookup()
        numbers = [self.features[i] for i in self.numbers]
        self.scale = encoding.scale[self.numbers]
        self.tolerance = SAME * self.scale
        self.declared = np.array([f.bounds is not None for f in numbers], dtype=bool)
        ends = np.array([f.bounds or f.range for f in numbers], dtype=float).reshape(-1, 2)
        self.least, self.most = ends.T
        self.fixed = np.array([not f.actionable or f.name in limits.fixed for f in numbers], dtype=bool)
        self.up = np.array([f.direction == "up" for f in numbers], dtype=bool)
        self.down = np.array([f.direction == "down" for f in numbers], dtype=bool)
        self.far = np.array([_far(f, months) for f in numbers], dtype=float)
        self.hard_low = np.array([limits.at_least.get(f.name, -np.inf) for f in numbers], dtype=float)
        self.hard_high = np.array([limits.at_most.get(f.name, np.inf) for f in numbers], dtype=float)
        self.stepped = np.array([f.step is not None for f in numbers], dtype=bool)
        self.step = np.array([f.step or 1.0 for f in numbers])
        self._power = 10.0 ** np.array([f.decimals or 0 for f in numbers], dtype=float)

    def _lookup(self) -> None:
        """Lay every transition table, with one more level for "missing", end to end for one look-up."""
        parts, offsets, sizes, start = [np.zeros(0, dtype=bool)], [], [], 0
        for table in self.tables.values():
            size = len(table) + 1
            wide = np.zeros((size, size), dtype=bool)
            wide[:-1, :-1], wide[-1, -1] = table, True  # what is missing stays missing
            parts.append(wide.ravel())
            offsets.append(start)
            sizes.append(size)
            start += size * size
        self._flat = np.concatenate(parts)
        self._offsets, self._sizes = np.array(offsets, dtype=np.intp), np.array(sizes, dtype=np.intp)

    # many changes -------------------------------------------------------------------------------------

    def allows(self, before: Array, after: Array) -> Bools:
        """Return whether each feature's change is legal on its own, for codes (n or 1, f) and (n, f)."""
        legal = np.ones(len(after), dtype=bool)
        if len(self.numbers):
            legal &= self._numbers_allow(before[:, self.numbers], after[:, self.numbers]).all(axis=1)
        if self.graded:
            last = self._sizes - 1.0
            old, new = before[:, self.graded], after[:, self.graded]
            old, new = np.where(np.isnan(old), last, old), np.where(np.isnan(new), last, new)
            legal &= self._flat[self._offsets + (old * self._sizes + new).astype(np.intp)].all(axis=1)
        return legal

    def _numbers_allow(self, old: Array, new: Array) -> Bools:
        low, high = self.interval(old)
        inside = (new >= low - self.tolerance) & (new <= high + self.tolerance)
        # float32 rounds more than 1e-6
        inside &= ~self.stepped | (np.abs(new / self.step - np.rint(new / self.step)) <= 1e-4)
        legal = inside & ~self.fixed | (np.abs(new - old) <= self.tolerance)
        legal &= (new >= self.hard_low - self.tolerance) & (new <= self.hard_high + self.tolerance)
        return np.where(np.isnan(old), np.isnan(new), legal)

    def interval(self, start: Array) -> tuple[Array, Array]:
        """Return the lowest and highest value (n, m) that the numbers may move to from ``start`` (n, m).

        Without declared bounds that is the range seen in data, stretched to where the person stands now.
        """
        low = np.where(self.declared, self.least, np.minimum(start, self.least))
        high = np.where(self.declared, self.most, np.maximum(start, self.most))
        low, high = np.maximum(low, start - self.far), np.minimum(high, start + self.far)
        low = np.where(self.fixed, start, np.where(self.up, np.maximum(low, start), low))
        high = np.where(self.fixed, start, np.where(self.down, np.minimum(high, start), high))
        return np.maximum(low, self.hard_low), np.minimum(high, self.hard_high)

    # one person ---------------------------------------------------------------------------------------

    def room(self, start: Array) -> Room:
        """Return all that is open to a person with codes (f,): what may be moved to, and staying.

        The interval of a number is the hull of both: a person outside the bounds may stay there or move inside.
        """
        low, high = np.full(len(self.features), np.nan), np.full(len(self.features), np.nan)
        own = start[self.numbers]
        first, last = self.interval(own)
        empty = ~(first <= last)
        first, last = np.where(empty, np.inf, first), np.where(empty, -np.inf, last)
        stays = (own >= self.hard_low - self.tolerance) & (own <= self.hard_high + self.tolerance)
        low[self.numbers] = np.where(stays, np.minimum(first, own), first)
        high[self.numbers] = np.where(stays, np.maximum(last, own), last)
        levels: list[Bools | None] = [None] * len(self.features)
        for i, table in self.tables.items():
            levels[i] = np.zeros(len(table), dtype=bool) if np.isnan(start[i]) else table[int(start[i])]
        return Room(low, high, tuple(levels))

    def tidy(self, grid: Array) -> Array:
        """Return steps (…, m) times their length as the numbers people write (0.3, not 0.30000000000000004)."""
        return np.asarray(np.rint(grid * self.step * self._power) / self._power)

    def closed(self, room: Room, start: Array) -> Iterator[Feature]:
        """Yield the features for which nothing is open, not even staying."""
        for i in self.free:
            levels = room.levels[i]
            shut = not levels.any() if levels is not None else not room.low[i] <= room.high[i]
            if shut and not np.isnan(start[i]):
                yield self.features[i]


def _far(feature: Feature, months: float) -> float:
    """Return how far a number (in units) or an ordered level may move in a time."""
    far = np.inf if feature.max_change is None else feature.max_change
    if feature.pace is None:
        return far
    pace = float(feature.pace)
    return min(far, pace * months if feature.is_number else np.floor(months / pace + 1e-6))


def _transitions(feature: Feature, limits: Limits, months: float) -> Bools:
    """Return whether level ``a`` may become level ``b`` in a time, (levels, levels)."""
    count = len(feature.levels)
    table = np.ones((count, count), dtype=bool)
    if feature.direction == "up":
        table = np.triu(table)
    elif feature.direction == "down":
        table = np.tril(table)
    far, place = _far(feature, months), np.arange(count)
    if feature.kind == "ordinal":
        table &= np.abs(place[:, None] - place) <= far
    elif far < 1:  # any other change takes as long as one level
        table[:] = False
    for a, b in feature.forbidden:
        table[feature.levels.index(a), feature.levels.index(b)] = False
    if not feature.actionable or feature.name in limits.fixed:
        table[:] = False
    np.fill_diagonal(table, True)
    for level in limits.exclude.get(feature.name, ()):
        table[:, feature.levels.index(level)] = False
    if feature.name in limits.at_least:
        table[:, : feature.levels.index(limits.at_least[feature.name])] = False
    if feature.name in limits.at_most:
        table[:, feature.levels.index(limits.at_most[feature.name]) + 1 :] = False
    return table

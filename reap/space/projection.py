"""One person's nearest legal rows: what is open to every feature, and the nearest of it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from reap._errors import InputError
from reap._typing import Array, Bools, Ints
from reap.space.clocks import Clocks
from reap.space.grid import Levels, Numbers
from reap.space.nearest import NearestRow
from reap.space.reach import Reach, Room
from reap.space.relaxation import Relaxation
from reap.space.rules import Rule


class Projection:
    """The legal rows of one person, and the nearest of them to any vector.

    Made once for each person and kept: engines ask it hundreds of times a second.

    Parameters
    ----------
    reach : Reach
    rules : sequence of Rule
    max_changes : int, optional
    clocks : Clocks
    z0 : (d,) the person's vector
    """

    def __init__(
        self, reach: Reach, rules: Sequence[Rule], max_changes: int | None, clocks: Clocks, z0: Array
    ) -> None:
        self.rules, self.max_changes, self.clocks = rules, max_changes, clocks
        self.z0 = z0
        self.start = reach.encoding.codes_of(z0[None])[0]
        self.first, self.last = clocks.window(self.start, reach.limits)
        if self.last < reach.months:  # a limit on a clock leaves less time than the horizon
            reach = Reach(reach.encoding, reach.limits, self.last)
        self.reach = reach
        self.room = reach.room(self.start)
        #: What this person may become on the one grid, once somebody has asked for it.
        self.grid: tuple[Numbers, list[Levels]] | None = None
        #: Whether somebody has found a legal row.
        self.has_rows = False

    # the nearest legal row ----------------------------------------------------------------------------

    def codes(self, Z: Array, exact: bool) -> Array:
        """Return the codes (n, f) of the legal rows nearest to vectors (n, d); derived features not yet."""
        self.check_open()
        Z = np.where(np.isnan(Z), self.z0, Z)
        codes = self._separable(Z)
        if exact and self.rules:
            legal = np.logical_and.reduce([rule.allows(self.start[None], codes) for rule in self.rules])
            for row in np.flatnonzero(~legal):
                codes[row] = self._search(Z[row])
        return self.passed(codes, Z)

    def passed(self, codes: Array, Z: Array) -> Array:
        """Return codes (n, f) with the clocks where the actions' time, or the wait that vectors (n, d) ask, puts them."""
        which = self.clocks.which
        if self.clocks.on and len(which):
            months = np.maximum(self.clocks.needed(self.start[None], codes), self._waits(Z))
            there = self.clocks.advance(self.start[None], np.clip(months, self.first, self.last))
            codes[:, which] = there[:, which]
        return codes

    def lengths(self, Z: Array, waiting: bool) -> Array:
        """Return the months (n,) that the actions of vectors (n, d) on the grid take, or the wait that they ask, if open."""
        took = self.clocks.longest(self.gaps(Z))
        return np.maximum(took, self._waits(Z)) if waiting else took

    @cached_property
    def _calendar(self) -> Array:
        """The codes (months, c) of the clocks after every number of months up to the last."""
        months = np.arange(self.last + 1.0)
        return self.clocks.advance(self.start[None], np.maximum(months, self.first))[:, self.clocks.which]

    @cached_property
    def _paces(self) -> tuple[Ints, Array]:
        """The column that tells how far each paced feature goes, and its length in codes, (p,) both."""
        encoding, paced = self.reach.encoding, self.clocks.paced
        hot = np.array([encoding.features[i].kind == "categorical" for i in paced], dtype=bool)
        own = np.where(hot, np.nan_to_num(self.start[paced]), 0)  # a category has left its own level, or not
        return encoding.starts[paced] + own.astype(np.intp), np.where(hot, 1.0, encoding.scale[paced])

    def gaps(self, Z: Array) -> Array:
        """Return how far vectors (n, d) on the grid move the codes of paced features, (n, p)."""
        columns, scale = self._paces
        return np.asarray((Z[:, columns] - self.z0[columns]) * scale)

    def ticked(self, Z: Array, waiting: bool) -> Array:
        """Return the codes (n, c) of the clocks of vectors (n, d) on the grid after their ``lengths``."""
        months = np.minimum(self.lengths(Z, waiting), self.last)
        return np.asarray(self._calendar[months.astype(np.intp)])

    @cached_property
    def leading(self) -> tuple[int, int, int] | None:
        """The leading clock: its place among the clocks, its feature and its column; None where there is none."""
        place = self.clocks.leading(self.start)
        if place is None:
            return None
        feature = int(self.clocks.which[place])
        return place, feature, int(self.reach.encoding.starts[feature])

    def _waits(self, Z: Array) -> Array:
        """Return the months (n,) that vectors (n, d) ask to wait: what their clocks agree on, else what the leading one says."""
        if self.leading is None:
            return np.zeros(len(Z))
        encoding, which = self.reach.encoding, self.clocks.which
        shown = encoding.origin[which] + Z[:, encoding.starts[which]] * encoding.scale[which]
        agreed = self.clocks.agreed(self.start[None, which], shown, np.zeros(len(Z)))
        if np.isnan(agreed).any():
            asked = self.clocks.waited(self.start, shown[:, self.leading[0]])
            agreed = np.where(np.isnan(agreed), asked, agreed)
        return agreed

    def check_open(self) -> None:
        """Refuse limits that leave a feature no value at all."""
        for feature in self.reach.closed(self.room, self.start):
            raise InputError(
                f"no value of {feature.label!r} is left to choose: the limits exclude all; relax one"
            )

    def _separable(self, Z: Array) -> Array:
        """Return nearest codes by the features' own room and the count of changes."""
        codes, distance = self.nearest(Z, self.room)
        if self.max_changes is None or self.max_changes >= len(self.reach.free):
            return codes
        chosen, forced = self._choices
        if forced.sum() > self.max_changes:
            raise InputError("the limits force more changes than are allowed; relax one of them")
        gain = np.where(chosen, self._staying(Z) - distance, -np.inf)
        gain[:, forced] = np.inf
        dropped = np.argsort(-gain, axis=1, kind="stable")[:, self.max_changes :]
        np.put_along_axis(codes, dropped, self.start[dropped], axis=1)
        return codes

    def _search(self, z: Array) -> Array:
        found = self._rows(z)
        if found is None:
            raise InputError(
                "no row is legal for this person: the rules contradict the limits; relax one of them"
            )
        return found

    @cached_property
    def _rows(self) -> NearestRow:
        return NearestRow(self, self.rules, self.max_changes)

    @cached_property
    def relaxation(self) -> Relaxation:
        """The continuous relaxation of what is legal."""
        return Relaxation(self)

    @cached_property
    def _choices(self) -> tuple[Bools, Bools]:
        """Which features the person sets, and which of them cannot stay, (f,) both."""
        chosen, forced = np.zeros((2, len(self.start)), dtype=bool)
        for i in self.reach.free:
            chosen[i] = not np.isnan(self.start[i])
            forced[i] = chosen[i] and not self.stays(i, self.room)
        return chosen, forced

    def stays(self, i: int, room: Room) -> bool:
        """Whether feature ``i`` may stay as it is."""
        levels = room.levels[i]
        if levels is not None:
            return bool(levels[int(self.start[i])])
        return bool(room.low[i] <= self.start[i] <= room.high[i])

    def _staying(self, Z: Array) -> Array:
        """Return the squared distance of every feature's own value, (n, f)."""
        gap = (Z - np.where(np.isnan(self.z0), Z, self.z0)) ** 2
        return np.asarray(np.add.reduceat(gap, self.reach.encoding.starts, axis=1))

    # feature by feature -------------------------------------------------------------------------------

    def nearest(self, Z: Array, room: Room) -> tuple[Array, Array]:
        """Return, for vectors (n, d), the nearest codes in a room and their squared distances, (n, f) both.

        The distance is infinite where nothing is open. Where the start is equally near, it wins.
        """
        codes = np.repeat(self.start[None], len(Z), axis=0)
        distance = np.zeros_like(codes)
        numbers = self.reach.numbers
        if len(numbers):
            wanted = self.wanted(Z)
            value = self._nearest_numbers(wanted, room)
            known = ~np.isnan(self.start[numbers])
            codes[:, numbers] = np.where(known, value, np.nan)
            gap = ((value - wanted) / self.reach.scale) ** 2
            distance[:, numbers] = np.where(known, np.where(np.isnan(gap), np.inf, gap), 0.0)
        for i in self.reach.graded:
            if not np.isnan(self.start[i]):
                codes[:, i], distance[:, i] = self._nearest_level(i, Z, room)
        return codes, distance

    def wanted(self, Z: Array) -> Array:
        """Return what vectors (n, d) ask of the numbers, (n, m), in units."""
        encoding, numbers = self.reach.encoding, self.reach.numbers
        return np.asarray(encoding.origin[numbers] + Z[:, encoding.starts[numbers]] * encoding.scale[numbers])

    def _nearest_numbers(self, wanted: Array, room: Room) -> Array:
        reach, own = self.reach, self.start[self.reach.numbers]
        low, high, first, last, stays = self.ends(room)
        steps = np.clip(np.rint(wanted / reach.step), first, last)
        value = np.where(reach.stepped, reach.tidy(steps), np.clip(wanted, low, high))
        value = np.where(np.where(reach.stepped, first <= last, low <= high), value, np.nan)
        nearer = np.abs(value - wanted) < np.abs(own - wanted) - 1e-12 * reach.scale
        return np.where(stays & ~nearer, own, value)

    def ends(self, room: Room) -> tuple[Array, Array, Array, Array, Array]:
        """Return where moves of the numbers may end, (m,) each: low, high, first and last step, and who may stay."""
        return self._own_ends if room is self.room else self._ends(room)

    @cached_property
    def _own_ends(self) -> tuple[Array, Array, Array, Array, Array]:
        return self._ends(self.room)

    def _ends(self, room: Room) -> tuple[Array, Array, Array, Array, Array]:
        reach, numbers = self.reach, self.reach.numbers
        low, high = (
            np.maximum(self._moves[0], room.low[numbers]),
            np.minimum(self._moves[1], room.high[numbers]),
        )
        first = np.ceil((low - reach.tolerance) / reach.step)
        last = np.floor((high + reach.tolerance) / reach.step)
        own = self.start[numbers]
        stays = (room.low[numbers] <= own) & (own <= room.high[numbers])
        last = np.where(reach.fixed, first - 1, last)  # what is fixed stays, on the grid or not
        return low, high, first, last, stays

    @cached_property
    def _moves(self) -> tuple[Array, Array]:
        return self.reach.interval(self.start[self.reach.numbers])

    def _nearest_level(self, i: int, Z: Array, room: Room) -> tuple[Array, Array]:
        encoding = self.reach.encoding
        allowed = room.open[i]
        if len(allowed) == 0:
            return np.full(len(Z), np.nan), np.full(len(Z), np.inf)
        start = encoding.starts[i]
        if self.reach.features[i].kind == "categorical":  # to vertex l: |z|² − 2 z_l + 1
            block = Z[:, start : start + len(self.reach.features[i].levels)]
            distance = (block**2).sum(axis=1)[:, None] - 2 * block[:, allowed] + 1.0
        else:
            distance = (Z[:, start, None] - allowed / encoding.scale[i]) ** 2
        if len(allowed) == 1:
            return np.full(len(Z), float(allowed[0])), distance[:, 0]
        best = (distance - 1e-12 * (allowed == self.start[i])).argmin(axis=1)
        return allowed[best].astype(float), distance[np.arange(len(Z)), best]

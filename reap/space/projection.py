"""One person's nearest legal rows: what is open to every feature, and the nearest of it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from reap._errors import InputError
from reap._typing import Array, Bools, Ints
from reap.space.clocks import Clocks
from reap.space.nearest import NearestRow
from reap.space.reach import Reach, Room
from reap.space.rules import Rule


class Projection:
    """The legal rows of one person, and the nearest of them to any vector.

    Made once a person and kept: engines ask it hundreds of times a second.

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

    # the nearest legal row ----------------------------------------------------------------------------

    def codes(self, Z: Array, exact: bool) -> Array:
        """Return the codes (n, f) of the legal rows nearest to vectors (n, d); derived features not yet."""
        self._check_open()
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

    def ticked(self, Z: Array) -> Array:
        """Return the codes (n, c) of the clocks of vectors (n, d) on the grid that wait no longer than their actions take."""
        months = np.minimum(self.clocks.longest(self.gaps(Z)), self.last)
        return np.asarray(self._calendar[months.astype(np.intp)])

    @cached_property
    def _leading(self) -> tuple[int, int, int] | None:
        """The leading clock: its place among the clocks, its feature and its column; None where there is none."""
        place = self.clocks.leading(self.start)
        if place is None:
            return None
        feature = int(self.clocks.which[place])
        return place, feature, int(self.reach.encoding.starts[feature])

    def _waits(self, Z: Array) -> Array:
        """Return the months (n,) that vectors (n, d) ask to wait: what their clocks agree on, else what the leading one says."""
        if self._leading is None:
            return np.zeros(len(Z))
        i = self._leading[1]
        encoding, which = self.reach.encoding, self.clocks.which
        shown = np.repeat(self.start[None], len(Z), axis=0)
        shown[:, which] = encoding.origin[which] + Z[:, encoding.starts[which]] * encoding.scale[which]
        agreed = self.clocks.months(self.start[None], shown)
        return np.where(np.isnan(agreed), self.clocks.waited(self.start, shown[:, i]), agreed)

    def _check_open(self) -> None:
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

    # the continuous relaxation ------------------------------------------------------------------------

    @cached_property
    def box(self) -> tuple[Array, Array]:
        """Least and greatest value of every encoded column, (d,) and (d,)."""
        self._check_open()
        encoding = self.reach.encoding
        lower, upper = self.z0.copy(), self.z0.copy()
        for i in self.reach.free:
            columns, open_ = encoding.slices[self.reach.features[i].name], self.room.levels[i]
            if np.isnan(self.start[i]):
                continue
            if open_ is None:
                ends = np.array([self.room.low[i], self.room.high[i]])
                lower[columns], upper[columns] = (ends - encoding.origin[i]) / encoding.scale[i]
            elif self.reach.features[i].kind == "categorical":
                lower[columns], upper[columns] = 0.0, open_
            else:
                lower[columns], upper[columns] = self.room.open[i][[0, -1]] / encoding.scale[i]
        if self._leading is not None:
            _, i, column = self._leading
            ends = self.clocks.advance(self.start[None], np.array([self.first, self.last]))[:, i]
            lower[column], upper[column] = (ends - encoding.origin[i]) / encoding.scale[i]
        return lower, upper

    def relax(self, Z: Array) -> Array:
        """Return the nearest points (n, d) of the box and of every categorical feature's simplex."""
        lower, upper = self.box
        out = np.clip(np.where(np.isnan(Z), self.z0, Z), lower, upper)
        for i, columns in self.reach.encoding.hot:
            if np.isnan(self.start[i]):
                out[:, columns] = self.z0[columns]
            else:
                wanted = np.where(np.isnan(Z[:, columns]), self.z0[columns], Z[:, columns])
                out[:, columns] = simplex(wanted, self.room.levels[i])
        if self._leading is not None:
            self._let_go(out)
        return out

    def _let_go(self, Z: Array) -> None:
        """Put the clocks of relaxed vectors (n, d) where the actions' time, or the leading clock if later, puts them."""
        encoding, (place, _, column) = self.reach.encoding, self._leading or (0, 0, 0)
        away = np.abs(np.nan_to_num(Z - self.z0))
        flow = [
            self.clocks.flow(k) / encoding.scale[i] for k, i in enumerate(self.clocks.which)
        ]  # encoded, a month
        months = away[:, column] / flow[place]
        for i in self.reach.free:
            first = encoding.starts[i]  # of a category: half of what moves leaves its own level
            moved = away[:, first] * encoding.scale[i]
            if self.reach.features[i].kind == "categorical":
                moved = away[:, encoding.slices[self.reach.features[i].name]].sum(axis=1) / 2
            months = np.maximum(months, moved * self.clocks.pace(i))
        for k, i in enumerate(self.clocks.which):
            to = encoding.starts[i]
            stop = (self.clocks.stop(k) - encoding.origin[i]) / encoding.scale[i]
            Z[:, to] = np.maximum(self.z0[to], np.minimum(self.z0[to] + months * flow[k], stop))


def simplex(block: Array, allowed: Any) -> Array:
    """Return the projection of rows (n, k) on the simplex over the allowed columns.

    Subtract the one threshold that makes the positive parts sum to one; it is found by sorting.

    Examples
    --------
    >>> simplex(np.array([[0.9, 0.5, 0.4]]), np.array([True, True, False])).round(2)
    array([[0.7, 0.3, 0. ]])
    """
    part = block[:, allowed]
    ordered = -np.sort(-part, axis=1)
    excess = np.cumsum(ordered, axis=1) - 1.0
    count = np.arange(1, part.shape[1] + 1)
    active = (ordered - excess / count > 0).sum(axis=1)
    threshold = excess[np.arange(len(part)), active - 1] / active
    out = np.zeros_like(block)
    out[:, allowed] = np.maximum(part - threshold[:, None], 0.0)
    return out

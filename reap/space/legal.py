"""What is legal: whether a change may be made, what one person could become, and the legal row nearest to a wish.

What each feature may do on its own stands in ``reach.py``, what must hold across them in ``rules.py``, time in ``time.py``.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from reap._errors import InputError, unknown
from reap._typing import Array, Bools, Ints
from reap.space.encoding import Encoding
from reap.space.grid import Levels, Numbers, grid
from reap.space.limits import Limits
from reap.space.nearest import NearestRow
from reap.space.reach import Reach, Room
from reap.space.rules import SAME, Derived, Implication, Rule
from reap.space.time import Clocks

#: People for whom it is known what is legal: those whose sessions a server holds at the same time, in a batch a chunk of them.
_PEOPLE = 256


class Legal:
    """What may be done within a space and a person's limits: ``space.legal``.

    Parameters
    ----------
    encoding : Encoding
    rules : sequence of Rule
    derived : Derived
    clocks : Clocks
    limits : Limits
    max_changes : int, optional
        The space's own; the person's is in the limits.
    """

    def __init__(
        self,
        encoding: Encoding,
        rules: Sequence[Rule],
        derived: Derived,
        clocks: Clocks,
        limits: Limits,
        max_changes: int | None,
    ) -> None:
        self.encoding, self.features = encoding, encoding.features
        self.rules, self.derived, self.clocks, self.limits = tuple(rules), derived, clocks, limits
        self._space_changes = max_changes
        counts = [k for k in (max_changes, limits.max_changes) if k is not None]
        #: How many features may change at most, by the space and by the person's limits; None: any number.
        self.most_changes = min(counts, default=None)
        self.reach = Reach(encoding, limits, clocks.until(limits))
        self._people: dict[bytes, OnePerson] = {}
        #: The encoded columns that nobody sets and that move all the same: of derived features and, with paces, of clocks. An
        #: engine that puts rows together itself sets them by ``follow``.
        self.following: list[int] = [
            encoding.slices[f.name].start
            for f in self.features
            if f.derived is not None or (f.clock is not None and clocks.on)
        ]

    def within(self, limits: Limits) -> Legal:
        """Return what is legal within further limits, which have been checked."""
        met = self.limits.meet(limits, self.features)
        return Legal(self.encoding, self.rules, self.derived, self.clocks, met, self._space_changes)

    def at(self, encoding: Encoding) -> Legal:
        """Return what is legal where rows are read by one person's encoding."""
        made = copy.copy(self)
        made.encoding = encoding
        return made

    @property
    def movable(self) -> list[int] | None:
        """The encoded columns that some plan may move: nothing can be learnt about the others. None if there are none."""
        able = {i for i, feature in enumerate(self.features) if feature.is_action}
        own = [column for column, i in enumerate(self.encoding.owner.tolist()) if i in able]
        return sorted([*self.following, *own]) or None

    # judging ------------------------------------------------------------------------------------------

    def allows(self, before: Any, after: Any) -> Bools:
        """Return whether each change is legal, (n,): frames, or vectors (d,) or (n, d); one side may serve all.

        A vector that is not the vector of a row (half a step, two halves of a one-hot group) is not legal.
        Stages of one plan run side by side, so each is judged against the start, not against the stage before it.
        """
        old = self.encoding.nearest(before)
        new, sound = self.encoding.exact(after)
        if len(old) != len(new):
            if 1 not in (len(old), len(new)):
                raise InputError(f"{len(old)} rows before and {len(new)} after; give as many, or one for all")
            if len(new) == 1:
                new = np.broadcast_to(new, old.shape)
        legal = self.reach.allows(old, new) & sound
        for rule in self.rules:
            legal &= rule.allows(old, new)
        if self.most_changes is not None:
            moved = np.abs(new - old) > SAME * self.encoding.scale
            legal &= moved[:, self.reach.free].sum(axis=1) <= self.most_changes
        old = np.broadcast_to(old, new.shape)
        if self.clocks.on or len(self.clocks.which):
            legal &= self.clocks.within(old, new, self.limits)
        return legal & self.derived.holds(old, new)

    def entailed(self, z0: Array, Z: Array) -> Bools:
        """Return which features of vectors (n, d) change only because a rule asks for it, and just as far as it asks; (n, f).

        Whoever takes an offer talks to the bank: the talk is nothing to think about beside the offer. Where two changes ask
        for each other, the one named first in the rules stays.

        Examples
        --------
        >>> import pandas as pd, reap
        >>> X = pd.DataFrame({"offer": ["no", "yes"], "talks": [0, 3]})
        >>> rule = "if offer becomes yes then talks is at least 1"
        >>> space = reap.ActionSpace.from_frame(X, rules=[rule])
        >>> ends = space.encode(pd.DataFrame({"offer": ["yes", "yes", "no"], "talks": [1, 2, 1]}))
        >>> space.legal.entailed(space.encode(X)[0], ends).tolist()
        [[False, True], [False, False], [False, False]]
        """
        return self.entailing(z0, Z) >= 0

    def entailing(self, z0: Array, Z: Array) -> Ints:
        """Return, for what is ``entailed``, the place of the feature whose change asks for it, (n, f); −1 for all else."""
        old, new = self.encoding.nearest(z0), self.encoding.nearest(Z)
        found = np.full((len(new), len(self.features)), -1)
        asking = np.zeros(found.shape, dtype=bool)
        for rule in self.rules:
            if isinstance(rule, Implication):
                when, then = rule.when.index, rule.then.index
                some = rule.entails(old, new) & (found[:, when] < 0) & ~asking[:, then]
                found[some, then] = when
                asking[:, when] |= some
        return found

    def derives(self, z0: Array, Z: Array) -> Bools:
        """Return whether derived features of vectors (n, d) are known and what the rest of each row says, (n,).

        Of rows put together from the grid by ``follow`` that is all that ``allows`` has to say, but for rules and counts.
        """
        if not self.derived.names:
            return np.ones(len(Z), dtype=bool)
        new = self.encoding.nearest(Z)
        return self.derived.holds(np.broadcast_to(self._person(z0).start, new.shape), new)

    def obstacle(self, z0: Array) -> str | None:
        """Return why no row at all is legal for a subject, in a sentence; None where one is."""
        try:
            person = self._person(z0)
            if not (self.rules or self.derived.names or self.most_changes is not None):
                person.check_open()  # each feature has room by itself, or nothing has
            elif not person.has_rows:
                self.project(z0, z0)
                person.has_rows = True
        except InputError as error:
            return str(error)
        return None

    # what a person may become -------------------------------------------------------------------------

    def _person(self, z0: Array) -> OnePerson:
        """Return what is legal for one person, made once: engines ask again and again, for as many people as are served."""
        z0 = self.encoding.checked(z0)[0]
        name = z0.tobytes()
        made = self._people.get(name)
        if made is None:
            made = OnePerson(self.reach, self.rules, self.most_changes, self.clocks, z0.copy())
            if len(self._people) >= _PEOPLE:
                self._people = {}  # another thread goes on with the one it has
            self._people[name] = made
        return made

    def grid(self, z0: Array) -> tuple[Numbers, list[Levels]]:
        """Return what a person (d,) may become: numbers and ordered levels on ladders, other levels as they are."""
        return self._person(z0).grid

    def reachable(self, name: str, z0: Array) -> list[Any]:
        """Return the levels a subject may choose for a feature with levels, in units."""
        names = list(self.encoding.slices)
        if name not in names:
            raise unknown("feature", name, names)
        i = names.index(name)
        if self.features[i].is_number:
            raise InputError(f"{name!r} is a number and has no levels; ask for its box")
        return [self.features[i].levels[k] for k in self._person(z0).room.open[i]]

    def box(self, z0: Array) -> tuple[Array, Array]:
        """Return the least and greatest value of every encoded column (d,), (d,) the subject may reach.

        One-hot columns: 0 and 1 for a level that can be reached, 0 and 0 for one that cannot. Derived columns and
        clocks stay where they are: nobody sets them; only the leading clock is open, for waiting (see ``time.py``).
        """
        lower, upper = self._person(z0).box
        return lower.copy(), upper.copy()

    def relax(self, Z: Array, z0: Array) -> Array:
        """Return the projection of ``Z`` on the continuous relaxation, (n, d): box, direction, one-hot simplex, clocks."""
        return self._person(z0).relax(self.encoding.checked(Z))

    def project(self, Z: Array, z0: Array, *, exact: bool = True) -> Array:
        """Return the legal rows nearest to ``Z`` for the subject ``z0``, as vectors (n, d).

        Nearest in Euclidean distance over the columns that a person sets; clocks go as far as the actions take, or as the
        leading clock of ``Z`` asks if that is longer (see ``time.py``); derived features follow, and where one cannot
        be computed (a ratio to nothing) what it follows from stays. With ``exact=False`` linear rules
        and implications are not searched (rows may then break them: ask ``allows``). Raises InputError where
        no row at all is legal.
        """
        Z, person = self.encoding.checked(Z), self._person(z0)
        codes = self.derived.recompute(person.codes(Z, exact), person.start[None])
        known = self.derived.defined(codes, person.start[None])
        out = self.encoding.vectors(codes)
        if not known.all():
            held = self.within(Limits(fixed=self.derived.sources))
            out[~known] = held.project(Z[~known], z0, exact=exact)
        return out

    # rows put together from the grid ------------------------------------------------------------------

    def follow(self, Z: Array, z0: Array, *, waiting: bool = True) -> Array:
        """Return vectors (n, d) with clocks and derived features where the rest of each row puts them; the rest stays.

        Quicker than ``project``, for rows that are put together from the grid. What cannot be computed keeps the subject's
        own value, and ``allows`` refuses it. With ``waiting=False`` nobody waits longer than the actions take, whatever
        the clocks of ``Z`` say.
        """
        if not self.following or not len(Z):
            return Z
        Z, person = np.array(self.encoding.checked(Z)), self._person(z0)
        encoding, which = self.encoding, self.clocks.which
        if self.clocks.on and len(which) and not (waiting and self.derived.names):
            clocks = person.clocks_after(Z, waiting)
            Z[:, encoding.starts[which]] = (clocks - encoding.origin[which]) / encoding.scale[which]
            if not self.derived.names:
                return Z
            codes = encoding.codes_of(Z)
            codes[:, which] = clocks
        else:
            codes = person.with_clocks(encoding.codes_of(Z), Z)
        codes = self.derived.recompute(codes, person.start[None])
        codes = np.where(np.isfinite(codes), codes, person.start)
        some = encoding.owner[self.following]
        Z[:, self.following] = (codes[:, some] - encoding.origin[some]) / encoding.scale[some]
        return Z

    def lengths(self, z0: Array, Z: Array, *, waiting: bool = True) -> Array:
        """Return the whole months (n,) after which ``follow`` puts the clocks of vectors (n, d) on the grid.

        The longest of the actions' times, or of the wait that the clocks of ``Z`` ask for where that is open: what several
        actions take together follows from what each takes alone.
        """
        return self._person(z0).lengths(self.encoding.checked(Z), waiting)

    def slowest(self, z0: Array, Z: Array) -> Bools:
        """Return, for vectors (n, d) on the grid, the actions (n, f) whose time all of the change takes."""
        return self.clocks.slowest(self._person(z0).gaps(self.encoding.checked(Z)))


class OnePerson:
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
        #: Whether somebody has found a legal row.
        self.has_rows = False

    @cached_property
    def grid(self) -> tuple[Numbers, list[Levels]]:
        """What this person may become on the one grid."""
        return grid(self.reach.encoding, self.room, self.z0, *self.box)

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
        return self.with_clocks(codes, Z)

    def with_clocks(self, codes: Array, Z: Array) -> Array:
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
        """The codes (months, c) of the clocks after every number of months up to the last.

        A table of them spares a sixth of a first session on German (0.18 of 1.07 s).
        """
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

    def clocks_after(self, Z: Array, waiting: bool) -> Array:
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

    # the continuous relaxation: numbers need no steps, and levels may be mixed ------------------------

    @cached_property
    def box(self) -> tuple[Array, Array]:
        """Least and greatest value of every encoded column, (d,) and (d,)."""
        self.check_open()
        reach, encoding = self.reach, self.reach.encoding
        lower, upper = self.z0.copy(), self.z0.copy()
        for i in reach.free:
            columns, levels = encoding.slices[reach.features[i].name], self.room.levels[i]
            if np.isnan(self.start[i]):
                continue
            if levels is None:
                ends = np.array([self.room.low[i], self.room.high[i]])
                lower[columns], upper[columns] = (ends - encoding.origin[i]) / encoding.scale[i]
            elif reach.features[i].kind == "categorical":
                lower[columns], upper[columns] = 0.0, levels
            else:
                lower[columns], upper[columns] = self.room.open[i][[0, -1]] / encoding.scale[i]
        if self.leading is not None:
            _, i, column = self.leading
            ends = self.clocks.advance(self.start[None], np.array([self.first, self.last]))[:, i]
            lower[column], upper[column] = (ends - encoding.origin[i]) / encoding.scale[i]
        return lower, upper

    def relax(self, Z: Array) -> Array:
        """Return the nearest points (n, d) of the box and of every categorical feature's simplex."""
        Z = np.where(np.isnan(Z), self.z0, Z)
        out = np.clip(Z, *self.box)
        for i, columns in self.reach.encoding.hot:
            missing = np.isnan(self.start[i])
            out[:, columns] = self.z0[columns] if missing else simplex(Z[:, columns], self.room.levels[i])
        if self.leading is not None:
            self._set_clocks(out, *self.leading)
        return out

    def _set_clocks(self, Z: Array, place: int, _: int, column: int) -> None:
        """Put the clocks of relaxed vectors (n, d) where the actions' time, or the leading clock if later, puts them."""
        reach, clocks, z0, encoding = self.reach, self.clocks, self.z0, self.reach.encoding
        away = np.abs(np.nan_to_num(Z - z0))
        flow = 1.0 / clocks.unit / encoding.scale[clocks.which]  # encoded, a month
        months = away[:, column] / flow[place]
        for i in reach.free:
            moved = away[:, encoding.starts[i]] * encoding.scale[i]
            if reach.features[i].kind == "categorical":  # half of what moves leaves its own level
                moved = away[:, encoding.slices[reach.features[i].name]].sum(axis=1) / 2
            months = np.maximum(months, moved * clocks.pace(i))
        for k, i in enumerate(clocks.which):
            to = encoding.starts[i]
            stop = (clocks.stop[k] - encoding.origin[i]) / encoding.scale[i]
            Z[:, to] = np.maximum(z0[to], np.minimum(z0[to] + months * flow[k], stop))


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

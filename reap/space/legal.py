"""What is legal: whether a change may be made, what one person could become, and the legal row nearest to a wish.

Three views of the same: each feature on its own (``Reach``), one person with all that follows (``OnePerson``), and the
space for everybody (``Legal``). What must hold across features stands in ``rules.py``, time in ``time.py``. Work is done on
codes (n, f), see ``encoding.py``.
"""

from __future__ import annotations

import copy
import heapq
import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.optimize import nnls

from reap._arrays import zero_missing
from reap._errors import InputError, unknown
from reap._typing import Array, Bools, Ints
from reap.space.encoding import Encoding
from reap.space.feature import Feature
from reap.space.limits import Limits
from reap.space.rules import SAME, Derived, Domain, Implication, LinearRule, RatioRule, Rule
from reap.space.time import Clocks

#: People for whom it is known what is legal: those whose sessions a server holds at the same time, in a batch a chunk of them.
_PEOPLE = 256
#: How much of what a person does is kept where a row is not legal with all that follows, tried from most to least.
_SHARES = (1.0, 0.9, 0.75, 0.6, 0.45, 0.3, 0.15, 0.05, 0.0)


class Legal:
    """What may be done within a space and a person's limits: ``space.legal``. ``max_changes`` is the space's own."""

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
        moved = [self.features[i] for i in derived.moved]
        #: Where what effects move has to end: the least and the most, whether that is declared, and the person's limits.
        self._ends = np.array([f.bounds or f.range for f in moved], dtype=float).reshape(-1, 2).T
        self._declared = np.array([f.bounds is not None for f in moved], dtype=bool)
        self._hard = np.array(
            [(limits.at_least.get(f.name, -np.inf), limits.at_most.get(f.name, np.inf)) for f in moved]
        )
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
        Directions, steps, counts and times are of what the person does; bounds and rules hold for that and where it ends.
        """
        old = self.encoding.nearest(before)
        new, sound = self.encoding.exact(after)
        if len(old) != len(new):
            if 1 not in (len(old), len(new)):
                raise InputError(f"{len(old)} rows before and {len(new)} after; give as many, or one for all")
            if len(new) == 1:
                new = np.broadcast_to(new, old.shape)
        return self._allows(old, new) & sound

    def _allows(self, old: Array, new: Array) -> Bools:
        """Return whether changes from codes (n or 1, f) to (n, f) are legal."""
        done = self.derived.undone(new, old)
        legal = self.reach.allows(old, done)
        for rule in self.rules:
            legal &= rule.allows(old, new)
        if self.most_changes is not None:
            moved = np.abs(done - old) > SAME * self.encoding.scale
            legal &= moved[:, self.reach.free].sum(axis=1) <= self.most_changes
        old = np.broadcast_to(old, new.shape)
        if self.clocks.on or len(self.clocks.which):
            legal &= self.clocks.within(old, done, self.limits)
        return legal & self.derived.holds(old, new) & self._ends_well(old, new)

    def _ends_well(self, old: Array, new: Array) -> Bools:
        """Return whether what effects move ends within its bounds, or what was seen, and the person's limits, (n,)."""
        if not len(self.derived.moved):
            return np.ones(len(new), dtype=bool)
        moved, (least, most) = self.derived.moved, self._ends
        own, value, slack = old[:, moved], new[:, moved], SAME * self.encoding.scale[moved]
        low = np.where(self._declared, least, np.minimum(own, least))
        high = np.where(self._declared, most, np.maximum(own, most))
        inside = (value >= low - slack) & (value <= high + slack) | (np.abs(value - own) <= slack)
        inside &= (value >= self._hard[:, 0] - slack) & (value <= self._hard[:, 1] + slack)
        return np.asarray((inside | np.isnan(own)).all(axis=1))

    def entailing(self, z0: Array, Z: Array) -> Ints:
        """Return, of features of vectors (n, d) that change only because a rule asks for it, whose change asks, (n, f).

        That is the place of the other feature; −1 for all that does not change, or changes farther than it is asked to. Whoever
        takes an offer talks to the bank: the talk is nothing to think about beside the offer. Where two changes ask for each
        other, the one named first in the rules stays.

        Examples
        --------
        >>> import pandas as pd, reap
        >>> X = pd.DataFrame({"offer": ["no", "yes"], "talks": [0, 3]})
        >>> rule = "if offer becomes yes then talks is at least 1"
        >>> space = reap.ActionSpace.from_frame(X, rules=[rule])
        >>> ends = space.encode(pd.DataFrame({"offer": ["yes", "yes", "no"], "talks": [1, 2, 1]}))
        >>> space.legal.entailing(space.encode(X)[0], ends).tolist()
        [[-1, 0], [-1, -1], [-1, -1]]
        """
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
        """Return whether what vectors (n, d) of what a person does lead to is known and within its bounds, (n,).

        Of rows put together from the grid by ``follow`` that is all that ``allows`` says, but for rules and counts.
        """
        if not self.derived.names:
            return np.ones(len(Z), dtype=bool)
        new, start = self.encoding.nearest(Z), self._person(z0).start[None]
        if not len(self.derived.moved):
            return self.derived.holds(np.broadcast_to(start, new.shape), new)
        new = self.derived.recompute(new, start)
        return self.derived.defined(new, start) & self._ends_well(start, new)

    def obstacle(self, z0: Array) -> str | None:
        """Return why no row at all is legal for a subject, in a sentence; None where one is."""
        try:
            person = self._person(z0)
            free = not (self.rules or self.derived.names or self.most_changes is not None)
            if free or len(self.derived.moved):  # with effects nobody proves that there is no row
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
        no row at all is legal. Where features move others, rows are near and not always nearest: what the person does is
        taken back, all of it alike, until the row is legal with all that follows.
        """
        Z, person = self.encoding.checked(Z), self._person(z0)
        if len(self.derived.moved):
            return self._near(Z, person, exact)
        codes = self.derived.recompute(person.codes(Z, exact), person.start[None])
        known = self.derived.defined(codes, person.start[None])
        out = self.encoding.vectors(codes)
        if not known.all():
            held = self.within(Limits(fixed=self.derived.sources))
            out[~known] = held.project(Z[~known], z0, exact=exact)
        return out

    def _near(self, Z: Array, person: OnePerson, exact: bool) -> Array:
        wished, start = self.done(np.where(np.isnan(Z), person.z0, Z), person.z0), person.start[None]
        out, open_ = np.repeat(start, len(Z), axis=0), np.arange(len(Z))
        for share in _SHARES if exact else _SHARES[:1]:
            codes = person.codes(person.z0 + share * (wished[open_] - person.z0), exact=False)
            out[open_] = self.derived.recompute(codes, start)
            open_ = open_[~self._allows(start, out[open_])]
            if not len(open_):
                break
        if exact and len(open_):
            raise InputError(
                "no legal row was found for this person: the rules, or what follows from others, contradict the limits; "
                "relax one of them"
            )
        out = np.where(np.isnan(out) & ~np.isnan(start), start, out)
        return self.encoding.vectors(out)

    # what a person does, and what that brings ---------------------------------------------------------

    def done(self, rows: Any, z0: Any) -> Array:
        """Return rows as vectors (n, d) with only what the person does, from ``z0`` (d,) or (n, d): without what effects bring.

        Effort, times and counts are of these. Undoes ``brought``; where no feature moves another, rows are what they were.

        Examples
        --------
        >>> import reap
        >>> income = Feature("income", range=(0.0, 1.0))
        >>> space = reap.ActionSpace([income, Feature("savings", range=(0.0, 1.0), effect="0.5 * income")])
        >>> space.legal.brought(np.array([[0.6, 0.3]]), np.array([0.2, 0.3]))
        array([[0.6, 0.5]])
        >>> space.legal.done(np.array([[0.6, 0.5]]), np.array([0.2, 0.3]))
        array([[0.6, 0.3]])
        """
        vectors = isinstance(rows, np.ndarray)
        if vectors and not len(self.derived.moved):
            return self.encoding.checked(rows)
        codes = self.encoding.nearest(rows)
        Z = self.encoding.checked(rows) if vectors else self.encoding.vectors(codes)
        return self._with(Z, codes, self.derived.undone(codes, self.encoding.nearest(z0)))

    def brought(self, Z: Array, z0: Array) -> Array:
        """Return vectors (n, d) of what a person (d,) does, as ``follow`` leaves them, with what effects bring.

        What cannot be computed keeps the subject's own value, and ``allows`` refuses it.
        """
        if not len(self.derived.moved) or not len(Z):
            return Z
        codes, start = self.encoding.codes_of(Z), self._person(z0).start
        then = self.derived.recompute(codes, start[None])
        return self._with(Z, codes, np.where(np.isfinite(then), then, start))

    def moves(self, rows: Any, z0: Array) -> Array:
        """Return the whole changes (n, d) that effort is of: what the person does; what is missing does not change."""
        return zero_missing(self.done(rows, z0) - z0)

    def slopes(self, z0: Array) -> Array:
        """Return by how much each encoded column moves where a person (d,) moves another, or it, by one, (d, d)."""
        out, starts = np.eye(self.encoding.dimension), self.encoding.starts
        for child, cause, gained in self.derived.slopes(self._person(z0).start):
            columns = starts[cause] + np.arange(len(gained))
            out[starts[child]] += gained / self.encoding.scale[child] @ out[columns]
        return out

    def _with(self, Z: Array, old: Array, new: Array) -> Array:
        """Return vectors (n, d) of codes (n, f) with new codes of what follows; what stays stays to the bit."""
        Z, some = np.array(Z), self.derived.follows
        stays = (new[:, some] == old[:, some]) | (np.isnan(new[:, some]) & np.isnan(old[:, some]))
        columns = self.encoding.starts[some]
        Z[:, columns] = np.where(stays, Z[:, columns], self.encoding.scaled(new[:, some], some))
        return Z

    # rows put together from the grid ------------------------------------------------------------------

    def follow(self, Z: Array, z0: Array, *, waiting: bool = True) -> Array:
        """Return vectors (n, d) with clocks and derived features where the rest of each row puts them; the rest stays.

        Rows are of what the person does: what effects bring is added by ``brought``.

        Quicker than ``project``, for rows that are put together from the grid. What cannot be computed keeps the subject's
        own value, and ``allows`` refuses it. With ``waiting=False`` nobody waits longer than the actions take, whatever
        the clocks of ``Z`` say.
        """
        if not self.following or not len(Z):
            return Z
        Z, person = np.array(self.encoding.checked(Z)), self._person(z0)
        encoding, which = self.encoding, self.clocks.which
        if self.clocks.on:
            clocks = person.clocks_after(person.lengths(Z, waiting))
            Z[:, encoding.starts[which]] = encoding.scaled(clocks, which)
        if not self.derived.exact:
            return Z
        codes = encoding.codes_of(Z)
        if self.clocks.on:
            codes[:, which] = clocks
        codes = self.derived.recompute(codes, person.start[None], effects=False)
        codes = np.where(np.isfinite(codes), codes, person.start)
        some = encoding.owner[self.following]
        Z[:, self.following] = encoding.scaled(codes[:, some], some)
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


# each feature on its own ---------------------------------------------------------------------------

_NONE = np.zeros(0, dtype=np.intp)


@dataclass(frozen=True)
class Room:
    """What is open to every feature: an interval of values for a number, a set of levels otherwise."""

    low: Array  # (f,), of numbers
    high: Array
    levels: tuple[Bools | None, ...]  # which levels are open; None for a number

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
    """What every feature may become by itself, given where it starts.

    A person's limits, unlike the space's bounds, must hold even where nothing changes. A feature with a pace goes no farther
    than it gets in so many ``months``.

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
        self.free = [i for i, f in enumerate(self.features) if f.is_set]
        self.numbers = np.array([i for i in self.free if self.features[i].is_number], dtype=np.intp)
        self.graded = [i for i in self.free if not self.features[i].is_number]
        self.tables = {i: _transitions(self.features[i], limits, months) for i in self.graded}
        numbers = [self.features[i] for i in self.numbers]
        self.scale = encoding.scale[self.numbers]
        self.tolerance = SAME * self.scale
        self.declared = np.array([f.bounds is not None for f in numbers], dtype=bool)
        ends = np.array([f.bounds or f.range for f in numbers], dtype=float).reshape(-1, 2)
        self.least, self.most = ends.T
        stay = [not f.actionable or f.name in limits.fixed for f in numbers]
        far = [0.0 if stays else _far(f, months) for f, stays in zip(numbers, stay, strict=True)]
        self.fall = np.where([f.direction == "up" for f in numbers], 0.0, far)
        self.rise = np.where([f.direction == "down" for f in numbers], 0.0, far)
        self.hard_low = np.array([limits.at_least.get(f.name, -np.inf) for f in numbers], dtype=float)
        self.hard_high = np.array([limits.at_most.get(f.name, np.inf) for f in numbers], dtype=float)
        self.stepped = np.array([f.step is not None for f in numbers], dtype=bool)
        self.step = np.array([f.step or 1.0 for f in numbers])
        self._power = 10.0 ** np.array([f.decimals or 0 for f in numbers], dtype=float)

    # many changes -------------------------------------------------------------------------------------

    def allows(self, before: Array, after: Array) -> Bools:
        """Return whether each feature's change is legal on its own, for codes (n or 1, f) and (n, f)."""
        legal = np.ones(len(after), dtype=bool)
        if len(self.numbers):
            legal &= self._numbers_allow(before[:, self.numbers], after[:, self.numbers]).all(axis=1)
        if self.graded:
            both = before[:, self.graded], after[:, self.graded]
            old, new = (np.where(np.isnan(codes), -1, codes).astype(np.intp).T for codes in both)
            for k, table in enumerate(self.tables.values()):
                legal &= table[old[k], new[k]]
        return legal

    def _numbers_allow(self, old: Array, new: Array) -> Bools:
        low, high = self.interval(old)
        inside = (new >= low - self.tolerance) & (new <= high + self.tolerance)
        # float32 rounds more than 1e-6
        inside &= ~self.stepped | (np.abs(new / self.step - np.rint(new / self.step)) <= 1e-4)
        legal = inside | (np.abs(new - old) <= self.tolerance)
        legal &= (new >= self.hard_low - self.tolerance) & (new <= self.hard_high + self.tolerance)
        return np.where(np.isnan(old), np.isnan(new), legal)

    def interval(self, start: Array) -> tuple[Array, Array]:
        """Return the lowest and highest value (n, m) that the numbers may move to from ``start`` (n, m).

        Without declared bounds that is the range seen in data, stretched to where the person stands now.
        """
        low = np.where(self.declared, self.least, np.minimum(start, self.least))
        high = np.where(self.declared, self.most, np.maximum(start, self.most))
        low, high = np.maximum(low, start - self.fall), np.minimum(high, start + self.rise)
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
            levels[i] = table[-1 if np.isnan(start[i]) else int(start[i]), :-1]
        return Room(low, high, tuple(levels))

    def tidy(self, grid: Array) -> Array:
        """Return steps (…, m) times their length as the numbers people write (0.3, not 0.30000000000000004)."""
        return np.asarray(np.rint(grid * self.step * self._power) / self._power)


def _far(feature: Feature, months: float) -> float:
    """Return how far a number (in units) or an ordered level may move in a time."""
    far = np.inf if feature.max_change is None else feature.max_change
    if feature.pace is None:
        return far
    pace = float(feature.pace)
    return min(far, pace * months if feature.is_number else np.floor(months / pace + 1e-6))


def _transitions(feature: Feature, limits: Limits, months: float) -> Bools:
    """Return whether level ``a`` may become level ``b`` in a time; the last row and column are what is missing, and stays."""
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
    wide = np.zeros((count + 1, count + 1), dtype=bool)
    wide[:-1, :-1], wide[-1, -1] = table, True
    return wide


# the grid --------------------------------------------------------------------------------


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

    def encoded(self, place: Array, of: Ints | slice = slice(None)) -> Array:
        """Return the encoded values of grid points, whose last axis is that of the m columns, or of those named by ``of``."""
        units = np.rint(place * self.unit[of] * self.power[of]) / self.power[of]
        return (units - self.base[of]) / self.scale[of]

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


# one person --------------------------------------------------------------------------------


class OnePerson:
    """The legal rows of one person with vector ``z0`` (d,), and the nearest of them to any vector.

    Made once for each person and kept: engines ask it hundreds of times a second.
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
        """What this person may become: numbers and ordered levels on ladders, other levels as they are."""
        encoding, z0, (lower, upper) = self.reach.encoding, self.z0, self.box
        rows, choices = list[tuple[float, ...]](), list[Levels]()
        for i, feature in enumerate(encoding.features):
            columns = np.arange(start := int(encoding.starts[i]), start + feature.width)
            if feature.derived is not None or feature.only_moved or np.isnan(self.start[i]):
                continue
            if feature.is_number:
                layout = encoding.origin[i], encoding.scale[i]
                row = _grid(feature, lower[start], upper[start], z0[start], *layout)
                if row is not None:
                    rows.append((start, i, z0[start], *row))
                continue
            levels, own, top = self.room.open[i], int(self.start[i]), len(feature.levels) - 1
            even = len(levels) > 1 and levels[-1] - levels[0] == len(levels) - 1
            if feature.kind == "ordinal" and even:
                rows.append((start, i, z0[start], own in levels, levels[0], levels[-1], 1, 1, 0, top))
            elif len(levels) > 1 or own not in levels:
                nominal = feature.kind == "categorical"
                table = np.eye(top + 1) if nominal else np.linspace(0.0, 1.0, top + 1)[:, None]
                place = levels.tolist().index(own) if own in levels else -1
                choices.append(Levels(i, columns, table[levels], place))
        column, index, begin, kept, *ends = np.array(rows, dtype=float).reshape(-1, 10).T
        numbers = Numbers(column.astype(np.intp), index.astype(np.intp), begin, kept.astype(bool), *ends)
        return numbers, choices

    # the nearest legal row ----------------------------------------------------------------------------

    def codes(self, Z: Array, exact: bool) -> Array:
        """Return the codes (n, f) of the legal rows nearest to vectors (n, d); derived features not yet."""
        self.check_open()
        Z = np.where(np.isnan(Z), self.z0, Z)
        codes = self._separable(Z)
        if exact and self.rules:
            legal = np.logical_and.reduce([rule.allows(self.start[None], codes) for rule in self.rules])
            for row in np.flatnonzero(~legal):
                codes[row] = self._rows(Z[row])
        if self.clocks.on:
            paced = self.clocks.paced
            months = np.maximum(self.clocks.longest(codes[:, paced] - self.start[paced]), self._waits(Z))
            codes[:, self.clocks.which] = self.clocks_after(months)
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

    def clocks_after(self, months: Array) -> Array:
        """Return the codes (n, c) of the clocks after so many months (n,), in the time that is left."""
        return np.asarray(self._calendar[np.minimum(months, self.last).astype(np.intp)])

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
        shown = encoding.units(Z, which)
        agreed = self.clocks.agreed(self.start[None, which], shown, np.zeros(len(Z)))
        if np.isnan(agreed).any():
            asked = self.clocks.waited(self.start, shown[:, self.leading[0]])
            agreed = np.where(np.isnan(agreed), asked, agreed)
        return agreed

    def check_open(self) -> None:
        """Refuse limits that leave a feature no value at all, not even its own."""
        room = self.room
        for i in self.reach.free:
            levels, label = room.levels[i], self.reach.features[i].label
            shut = not levels.any() if levels is not None else not room.low[i] <= room.high[i]
            if shut and not np.isnan(self.start[i]):
                raise InputError(
                    f"no value of {label!r} is left to choose: the limits exclude all; relax one"
                )

    def _separable(self, Z: Array) -> Array:
        """Return nearest codes by the features' own room and the count of changes."""
        codes, distance = self.nearest(Z, self.room)
        if self.max_changes is None or self.max_changes >= len(self.reach.free):
            return codes
        chosen, forced = self._choices
        if forced.sum() > self.max_changes:
            raise InputError("the limits force more changes than are allowed; relax one of them")
        gap = (Z - np.where(np.isnan(self.z0), Z, self.z0)) ** 2
        staying = np.add.reduceat(
            gap, self.reach.encoding.starts, axis=1
        )  # of every feature's own value, (n, f)
        gain = np.where(chosen, staying - distance, -np.inf)
        gain[:, forced] = np.inf
        dropped = np.argsort(-gain, axis=1, kind="stable")[:, self.max_changes :]
        np.put_along_axis(codes, dropped, self.start[dropped], axis=1)
        return codes

    @cached_property
    def _rows(self) -> NearestRow:
        return NearestRow(self, self.rules, self.max_changes)

    @cached_property
    def _choices(self) -> tuple[Bools, Bools]:
        """Which features the person sets, and which of them cannot stay, (f,) both."""
        chosen, forced = np.zeros((2, len(self.start)), dtype=bool)
        for i in self.reach.free:
            levels, own = self.room.levels[i], self.start[i]
            if not np.isnan(own):
                chosen[i] = True
                inside = self.room.low[i] <= own <= self.room.high[i] if levels is None else levels[int(own)]
                forced[i] = not inside
        return chosen, forced

    # feature by feature -------------------------------------------------------------------------------

    def nearest(self, Z: Array, room: Room) -> tuple[Array, Array]:
        """Return, for vectors (n, d), the nearest codes in a room and their squared distances, (n, f) both.

        The distance is infinite where nothing is open. Where the start is equally near, it wins.
        """
        codes = np.repeat(self.start[None], len(Z), axis=0)
        distance = np.zeros_like(codes)
        numbers = self.reach.numbers
        if len(numbers):
            wanted = self.reach.encoding.units(Z, numbers)
            value = self._nearest_numbers(wanted, room)
            known = ~np.isnan(self.start[numbers])
            codes[:, numbers] = np.where(known, value, np.nan)
            gap = ((value - wanted) / self.reach.scale) ** 2
            distance[:, numbers] = np.where(known, np.where(np.isnan(gap), np.inf, gap), 0.0)
        for i in self.reach.graded:
            if not np.isnan(self.start[i]):
                codes[:, i], distance[:, i] = self._nearest_level(i, Z, room)
        return codes, distance

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
        reach, numbers = self.reach, self.reach.numbers
        low, high = self._moves
        low, high = np.maximum(low, room.low[numbers]), np.minimum(high, room.high[numbers])
        first = np.ceil((low - reach.tolerance) / reach.step)
        last = np.floor((high + reach.tolerance) / reach.step)
        own = self.start[numbers]
        stays = (room.low[numbers] <= own) & (own <= room.high[numbers])
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
            if reach.features[i].kind == "categorical":
                lower[columns], upper[columns] = 0.0, levels
            else:
                ends = [self.room.low[i], self.room.high[i]] if levels is None else self.room.open[i][[0, -1]]
                lower[columns], upper[columns] = encoding.scaled(np.array(ends), i)
        if self.leading is not None:
            place, i, column = self.leading
            first, last = self.clocks_after(np.array([self.first, self.last]))[:, place]
            lower[column], upper[column] = encoding.scaled(np.array([first, last]), i)
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
            stop = encoding.scaled(clocks.stop[k], i)
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


# the nearest legal row where rules tie features together ---------------------------------------------

#: Nodes looked at in order of their bound; after that we dive for any legal row, and at last give up.
_NODES, _DIVE = 5_000, 5_000
#: A value this near to a step (in steps) may be meant to be on it.
_NEAR = 1e-7


@dataclass(frozen=True)
class _Branch:
    room: Room
    moving: frozenset[int] = frozenset()  # features already counted as changed


class NearestRow:
    """Search for the legal row nearest to a wanted one, for one person: branch and bound over what is open."""

    def __init__(self, person: OnePerson, rules: Sequence[Rule], max_changes: int | None) -> None:
        self.person, self.max_changes = person, max_changes
        self.reach, self.start = person.reach, person.start
        self.implications = [rule for rule in rules if isinstance(rule, Implication)]
        # a rule on something unknown is not held against anybody
        each = [rule.at(self.start) if isinstance(rule, RatioRule) else rule for rule in rules]
        self.linear = [
            rule
            for rule in each
            if isinstance(rule, LinearRule)
            and not any(np.isnan(self.start[i]) or np.isnan(weight) for i, weight in rule.weights)
        ]
        self.tied = sorted({i for rule in self.linear for i, _ in rule.weights})
        self._scale = self.reach.encoding.scale[self.tied]
        self._place = {int(i): k for k, i in enumerate(self.reach.numbers)}
        self._G = np.zeros((len(self.linear), len(self.tied)))
        for row, rule in zip(self._G, self.linear, strict=True):
            for i, weight in rule.weights:
                row[self.tied.index(i)] += weight
        self._h = np.array([rule.limit for rule in self.linear])

    def __call__(self, z: Array) -> Array:
        """Return the codes (f,) nearest to vector ``z`` (d,); an error where no row is legal."""
        counter = itertools.count()  # keeps the heap from comparing nodes
        heap: list[tuple[float, int, _Branch, Array]] = []
        push, pop = heapq.heappush, heapq.heappop
        fresh: Iterable[_Branch] = [_Branch(self.person.room)]
        for tried in range(_NODES + _DIVE):
            for node in fresh:
                found = self._bound(node, z)
                if found is not None:
                    push(heap, (found[0], next(counter), node, found[1]))
            if not heap:
                raise InputError(
                    "no row is legal for this person: the rules contradict the limits; relax one of them"
                )
            # past the limit the newest node first: a legal row soon, if not the nearest
            newest = None if tried < _NODES else max(range(len(heap)), key=lambda k: heap[k][1])
            _, _, node, codes = pop(heap) if newest is None else heap.pop(newest)
            answer = self._branch(node, codes)
            if isinstance(answer, np.ndarray):
                return answer
            fresh = answer
        raise InputError(
            "no legal row was found in a long search: the rules leave very few; relax one of them"
        )

    # bound --------------------------------------------------------------------------------------------

    def _bound(self, node: _Branch, z: Array) -> tuple[float, Array] | None:
        codes, distance = self.person.nearest(z[None], node.room)
        codes, distance = codes[0], distance[0]
        if np.isinf(distance).any():
            return None
        if self.tied:
            wanted = self.reach.encoding.units(z, self.tied)
            values = self._project(node, wanted)
            if values is None:
                return None
            codes[self.tied] = values
            distance[self.tied] = ((values - wanted) / self._scale) ** 2
        return float(distance.sum()), codes

    def _project(self, node: _Branch, wanted: Array) -> Array | None:
        """Project the tied features on their intervals and the linear rules, in encoded units."""
        low, high = self._hull(node.room)
        clipped: Array = np.clip(wanted, low, high)
        if (self._G @ clipped <= self._h).all():
            return clipped
        # in y = (value − wanted)/scale: min |y| with A y ≥ b, the least-distance problem
        eye = np.diag(self._scale)
        A = np.vstack([-self._G * self._scale, eye, -eye])
        b = np.concatenate([self._G @ wanted - self._h, low - wanted, wanted - high])
        size = np.linalg.norm(A, axis=1)
        if (b[size == 0] > SAME).any():
            return None
        y = least_distance(A[size > 0] / size[size > 0, None], b[size > 0] / size[size > 0])
        if y is None:
            return None
        value = np.clip(wanted + self._scale * y, low, high)
        return value if self._obeys(value, 1e-7) else None

    def _obeys(self, value: Array, tolerance: float = SAME) -> bool:
        slack = tolerance * (1 + np.abs(self._h) + np.abs(self._G) @ np.abs(value))
        return bool((self._G @ value <= self._h + slack).all())

    def _hull(self, room: Room) -> tuple[Array, Array]:
        """Return the least and greatest value open to each tied feature, steps included."""
        low, high, first, last, stays = self.person.ends(room)
        stepped, own = self.reach.stepped, self.start[self.reach.numbers]
        shut = np.where(stepped, first > last, low > high)
        low, high = np.where(stepped, [self.reach.tidy(first), self.reach.tidy(last)], [low, high])
        low, high = np.where(shut, np.inf, low), np.where(shut, -np.inf, high)
        low, high = np.where(stays, np.minimum(low, own), low), np.where(stays, np.maximum(high, own), high)
        ends = [
            (low[k], high[k]) if (k := self._place.get(i)) is not None else room.open[i][[0, -1]]
            for i in self.tied
        ]
        return tuple(np.array(ends, dtype=float).T)

    def _value(self, i: int, steps: float) -> float:
        return float(self.reach.tidy(np.full(len(self.reach.numbers), steps))[self._place[i]])

    # branch -------------------------------------------------------------------------------------------

    def _branch(self, node: _Branch, codes: Array) -> Array | Iterable[_Branch]:
        """Return the children that exclude what is wrong with the bound's answer, or the answer if nothing is."""
        settled = codes.copy()
        for i in self.tied:
            value = self._settle(node.room, i, codes[i])
            if value is None:
                return self._split_step(node, i, codes[i])
            settled[i] = value
        if not self._obeys(settled[self.tied]):  # what was nearly on a step was not meant to be
            off = [abs(codes[i] - settled[i]) / s for i, s in zip(self.tied, self._scale, strict=True)]
            worst = int(np.argmax(off))
            return self._split_step(node, self.tied[worst], codes[self.tied[worst]]) if off[worst] > 0 else ()
        for rule in self.implications:
            if not rule.allows(self.start[None], settled[None])[0]:
                return [
                    _Branch(node.room.meet(i, domain), node.moving)
                    for i, domain in rule.alternatives(self.start)
                ]
        if self.max_changes is not None:
            changed = [i for i in self.reach.free if self._moves(i, settled[i])]
            if len(changed) > self.max_changes:
                return self._split_count(node, changed, settled)
        return settled

    def _moves(self, i: int, value: float) -> bool:
        return bool(abs(value - self.start[i]) > SAME * self.reach.encoding.scale[i])

    def _settle(self, room: Room, i: int, value: float) -> float | None:
        """Return the legal value of a tied feature that the bound's answer stands for, or None."""
        levels = room.levels[i]
        if levels is not None:
            level = round(value)
            return float(level) if abs(value - level) <= _NEAR and levels[level] else None
        low, high, first, last, stays = (ends[self._place[i]] for ends in self.person.ends(room))
        if stays and not self._moves(i, value):
            return float(self.start[i])
        step = self.reach.features[i].step
        if step is None:
            return value if low <= value <= high else None
        steps = float(np.rint(value / step))
        near = abs(value / step - steps) <= _NEAR and first <= steps <= last
        return self._value(i, steps) if near else None

    def _split_step(self, node: _Branch, i: int, value: float) -> list[_Branch]:
        """Return children below and above a value that cannot be; the person's own may lie between two steps."""
        step = self.reach.features[i].step
        if node.room.levels[i] is not None:
            whole = range(len(self.reach.features[i].levels))
            parts = [k for k in whole if k <= value], [k for k in whole if k > value]
            sides = [Domain(levels=frozenset(part)) for part in parts]
        else:
            below = above = value
            if step is not None:
                below, above = self._value(i, np.floor(value / step)), self._value(i, np.ceil(value / step))
            sides = [Domain(high=below), Domain(low=above)]
            sides += [self._here(i)] if below < self.start[i] < above else []
        return [_Branch(node.room.meet(i, side), node.moving) for side in sides]

    def _split_count(self, node: _Branch, changed: list[int], codes: Array) -> list[_Branch]:
        """Return children in which the largest change is undone, and in which it is one of those made."""
        undecided = [i for i in changed if i not in node.moving]
        scale = self.reach.encoding.scale
        pick = max(undecided, key=lambda i: abs(codes[i] - self.start[i]) / scale[i])
        children = [_Branch(node.room.meet(pick, self._here(pick)), node.moving)]
        moving, room = node.moving | {pick}, node.room
        if len(moving) == self.max_changes:
            for i in self.reach.free:
                if i not in moving and not np.isnan(self.start[i]):
                    room = room.meet(i, self._here(i))
        return [*children, _Branch(room, moving)]

    def _here(self, i: int) -> Domain:
        if i in self.reach.tables:
            return Domain(levels=frozenset({int(self.start[i])}))
        return Domain(self.start[i], self.start[i])


def least_distance(A: Array, b: Array) -> Array | None:
    """Return the shortest ``y`` with ``A y ≥ b``, or None where there is none (Lawson and Hanson, chapter 23).

    The multipliers say which rows bind; on those the shortest ``y`` with equality is computed once more, to
    the last digits.

    Examples
    --------
    >>> least_distance(np.array([[1.0, 1.0]]), np.array([2.0])).round(6)
    array([1., 1.])
    """
    E = np.vstack([A.T, b])
    f = np.zeros(len(E))
    f[-1] = 1.0
    weights, _ = nnls(E, f, maxiter=50 * E.shape[1])
    rest = f - E @ weights
    if rest[-1] <= 1e-12:
        return None
    rough = -rest[:-1] / rest[-1]
    binding = weights > 0
    if not binding.any():
        return np.asarray(rough)
    fine = np.linalg.lstsq(A[binding], b[binding], rcond=None)[0]
    return np.asarray(fine if np.abs(fine - rough).max() <= 1e-5 * (1 + np.abs(rough).max()) else rough)

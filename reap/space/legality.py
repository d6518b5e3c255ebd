"""What is legal: a person's limits, whether a change may be made, and the legal row nearest to a wish."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Self

import numpy as np

from reap._errors import InputError
from reap._typing import Array, Bools, Ints
from reap.space.derived import Derived
from reap.space.grid import Levels, Numbers, grid
from reap.space.inputs import names_of
from reap.space.limits import Limits, checked
from reap.space.projection import Projection
from reap.space.reach import Reach
from reap.space.rules import SAME, Implication
from reap.space.timing import Timing

#: People for whom it is known what is legal: those whose sessions a server holds at the same time, in a batch a chunk of them.
_PEOPLE = 256


class Legality(Timing):
    """What an ``ActionSpace`` knows of changes that may be made; ``reach.py``, ``rules.py`` and ``projection.py`` judge them."""

    max_changes: int | None
    _derived: Derived
    _limits: Limits
    _parsed: list[Any]

    # limits ------------------------------------------------------------------------------------------

    def limits(
        self,
        *,
        fixed: Iterable[str] = (),
        at_least: Mapping[str, Any] | None = None,
        at_most: Mapping[str, Any] | None = None,
        exclude: Mapping[str, Sequence[Any]] | None = None,
        max_changes: int | None = None,
        within_months: int | None = None,
    ) -> Limits:
        """Return a person's limits, checked against the space; apply them with ``tighten``."""
        made = Limits(
            fixed=names_of(fixed),
            at_least=dict(at_least or {}),
            at_most=dict(at_most or {}),
            exclude={
                name: (levels,) if isinstance(levels, str) else tuple(levels)
                for name, levels in (exclude or {}).items()
            },
            max_changes=max_changes,
            within_months=within_months,
        )
        return checked(made, self.features)

    def tighten(self, limits: Limits | None) -> Self:
        """Return this space within a person's limits; vectors keep their meaning."""
        if not limits:
            return self
        made = type(self).__new__(type(self))
        made.__dict__.update(self.__dict__)  # all but the limits is shared, not parsed again
        made._set_limits(self._limits.meet(checked(limits, self.features), self.features))
        return made

    def _set_limits(self, limits: Limits) -> None:
        self._limits = limits
        self._reach = Reach(self._encoding, limits, self._clocks.until(limits))
        counts = [k for k in (self.max_changes, limits.max_changes) if k is not None]
        self._count = min(counts) if counts else None
        self._legal: dict[bytes, Projection] = {}

    @property
    def most_changes(self) -> int | None:
        """How many features may change at most, by the space and by the person's limits; None: any number."""
        return self._count

    # judging -----------------------------------------------------------------------------------------

    def allows(self, before: Any, after: Any) -> Bools:
        """Return whether each change is legal, (n,): frames, or vectors (d,) or (n, d); one side may serve all.

        A vector that is not the vector of a row (half a step, two halves of a one-hot group) is not legal.
        Stages of one plan run side by side, so each is judged against the start, not against the stage before it.
        """
        old = self._nearest_codes(before)
        new, sound = self._codes(after)
        if len(old) != len(new):
            if 1 not in (len(old), len(new)):
                raise InputError(f"{len(old)} rows before and {len(new)} after; give as many, or one for all")
            if len(new) == 1:
                new = np.broadcast_to(new, old.shape)
        legal = self._reach.allows(old, new) & sound
        for rule in self._parsed:
            legal &= rule.allows(old, new)
        if self._count is not None:
            moved = np.abs(new - old) > SAME * self._encoding.scale
            legal &= moved[:, self._reach.free].sum(axis=1) <= self._count
        if self.timed or len(self._clocks.which):
            legal &= self._clocks.within(np.broadcast_to(old, new.shape), new, self._limits)
        return legal & self._derived.holds(np.broadcast_to(old, new.shape), new)

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
        >>> space.entailed(space.encode(X)[0], ends).tolist()
        [[False, True], [False, False], [False, False]]
        """
        return self.entailing(z0, Z) >= 0

    def entailing(self, z0: Array, Z: Array) -> Ints:
        """Return, for what is ``entailed``, the place of the feature whose change asks for it, (n, f); −1 for all else."""
        old, new = self._encoding.codes_of(self._vectors(z0)), self._encoding.codes_of(self._vectors(Z))
        found = np.full((len(new), len(self.features)), -1)
        asking = np.zeros(found.shape, dtype=bool)
        for rule in self._parsed:
            if isinstance(rule, Implication):
                when, then = rule.when.index, rule.then.index
                some = rule.entails(old, new) & (found[:, when] < 0) & ~asking[:, then]
                found[some, then] = when
                asking[:, when] |= some
        return found

    def _of(self, z0: Array) -> Projection:
        """Return what is legal for one person, made once: engines ask again and again, for as many people as are served."""
        z0 = self._vectors(z0)[0]
        name = z0.tobytes()
        made = self._legal.get(name)
        if made is None:
            made = Projection(self._reach, self._parsed, self._count, self._clocks, z0.copy())
            if len(self._legal) >= _PEOPLE:
                self._legal = {}  # another thread goes on with the one it has
            self._legal[name] = made
        return made

    def grid(self, z0: Array) -> tuple[Numbers, list[Levels]]:
        """Return what a person (d,) may become: numbers and ordered levels on ladders, other levels as they are."""
        person = self._of(z0)
        if person.grid is None:
            person.grid = grid(self, z0)
        return person.grid

    def project(self, Z: Array, z0: Array, *, exact: bool = True) -> Array:
        """Return the legal rows nearest to ``Z`` for the subject ``z0``, as vectors (n, d).

        Nearest in Euclidean distance over the columns that a person sets; clocks go as far as the actions take, or as the
        leading clock of ``Z`` asks if that is longer (see ``clocks.py``); derived features follow, and where one cannot
        be computed (a ratio to nothing) what it follows from stays. With ``exact=False`` linear rules
        and implications are not searched (rows may then break them: ask ``allows``). Raises InputError where
        no row at all is legal.
        """
        Z, person = self._vectors(Z), self._of(z0)
        codes = self._derived.recompute(person.codes(Z, exact), person.start[None])
        known = self._derived.defined(codes, person.start[None])
        out = self._encoding.vectors(codes)
        if not known.all():
            held = self.tighten(Limits(fixed=self._derived.sources))
            out[~known] = held.project(Z[~known], z0, exact=exact)
        return out

    def follow(self, Z: Array, z0: Array, *, waiting: bool = True) -> Array:
        """Return vectors (n, d) with clocks and derived features where the rest of each row puts them; the rest stays.

        Quicker than ``project``, for rows that are put together from the grid. What cannot be computed keeps the subject's
        own value, and ``allows`` refuses it. With ``waiting=False`` nobody waits longer than the actions take, whatever
        the clocks of ``Z`` say.
        """
        if not self.following or not len(Z):
            return Z
        Z, person = np.array(self._vectors(Z)), self._of(z0)
        encoding, which = self._encoding, self._clocks.which
        if self.timed and len(which) and not (waiting and self._derived.names):
            ticked = person.ticked(Z, waiting)
            Z[:, encoding.starts[which]] = (ticked - encoding.origin[which]) / encoding.scale[which]
            if not self._derived.names:
                return Z
            codes = encoding.codes_of(Z)
            codes[:, which] = ticked
        else:
            codes = person.passed(encoding.codes_of(Z), Z)
        codes = self._derived.recompute(codes, person.start[None])
        codes = np.where(np.isfinite(codes), codes, person.start)
        some = encoding.owner[self.following]
        Z[:, self.following] = (codes[:, some] - encoding.origin[some]) / encoding.scale[some]
        return Z

    def slowest(self, z0: Array, Z: Array) -> Bools:
        """Return, for vectors (n, d) on the grid, the actions (n, f) whose time all of the change takes."""
        return self._clocks.slowest(self._of(z0).gaps(self._vectors(Z)))

    def lengths(self, z0: Array, Z: Array, *, waiting: bool = True) -> Array:
        """Return the whole months (n,) after which ``follow`` puts the clocks of vectors (n, d) on the grid.

        The longest of the actions' times, or of the wait that the clocks of ``Z`` ask for where that is open: what several
        actions take together follows from what each takes alone.
        """
        return self._of(z0).lengths(self._vectors(Z), waiting)

    def derives(self, z0: Array, Z: Array) -> Bools:
        """Return whether derived features of vectors (n, d) are known and what the rest of each row says, (n,).

        Of rows put together from the grid by ``follow`` that is all that ``allows`` has to say, but for rules and counts.
        """
        if not self._derived.names:
            return np.ones(len(Z), dtype=bool)
        new = self._encoding.codes_of(self._vectors(Z))
        return self._derived.holds(np.broadcast_to(self._of(z0).start, new.shape), new)

    def relax(self, Z: Array, z0: Array) -> Array:
        """Return the projection of ``Z`` on the continuous relaxation, (n, d): box, direction, one-hot simplex, clocks."""
        return self._of(z0).relaxation.relax(self._vectors(Z))

    def box(self, z0: Array) -> tuple[Array, Array]:
        """Return the least and greatest value of every encoded column (d,), (d,) the subject may reach.

        One-hot columns: 0 and 1 for a level that can be reached, 0 and 0 for one that cannot. Derived columns and
        clocks stay where they are: nobody sets them; only the leading clock is open, for waiting (see ``clocks.py``).
        """
        lower, upper = self._of(z0).relaxation.box
        return lower.copy(), upper.copy()

    def reachable(self, name: str, z0: Array) -> list[Any]:
        """Return the levels a subject may choose for a feature with levels, in units."""
        feature = self.feature(name)
        if feature.is_number:
            raise InputError(f"{name!r} is a number and has no levels; ask for its box")
        return [feature.levels[k] for k in self._of(z0).room.open[self.names.index(name)]]

    def obstacle(self, z0: Array) -> str | None:
        """Return why no row at all is legal for a subject, in a sentence; None where one is."""
        try:
            person = self._of(z0)
            if not (self._parsed or self._derived.names or self._count is not None):
                person.check_open()  # each feature has room by itself, or nothing has
            elif not person.has_rows:
                self.project(z0, z0)
                person.has_rows = True
        except InputError as error:
            return str(error)
        return None

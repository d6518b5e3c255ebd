"""What may change: the features of a table, the rules between them, and a person's limits."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from reap._errors import InputError, unknown
from reap._typing import Array, Bools, Frame
from reap.space import files, infer
from reap.space.clocks import Clocks
from reap.space.derived import Derived
from reap.space.encoder import SpaceEncoder
from reap.space.encoding import Encoding
from reap.space.feature import Clock, Feature
from reap.space.inputs import as_frame, from_array, names_of, one_row
from reap.space.limits import Limits, checked, whole
from reap.space.projection import Projection
from reap.space.reach import Reach
from reap.space.review import Finding, review
from reap.space.rules import SAME, parse
from reap.space.words import Change, date_in_words, table

#: What of a feature gives vectors and rules their meaning; the rest is words.
_MEANING = (
    *("name", "kind", "range", "span", "levels", "actionable", "direction", "bounds", "max_change", "step"),
    *("pace", "clock", "when", "missing", "derived", "forbidden"),
)
#: Nobody plans farther ahead than this, in months.
_FARTHEST = 1200
#: A vector farther than this from its row's is no row.
_OFF = 1e-6


class ActionSpace:
    """Which rows a person could become, and how rows turn into vectors.

    Immutable. ``from_frame`` infers one from a table, ``load`` reads one from a TOML file.

    Parameters
    ----------
    features : sequence of Feature
    rules : sequence of str
        Sentences across features: ``"existing + 2 * new <= 5"``, ``"if education increases then age increases
        by at least 2"``. Names that are not single words stand in backticks.
    max_changes : int, optional
        How many features a plan may change at most.
    horizon : int
        Months within which a plan must be done. It counts where features have a pace; without any, nothing is dated and
        clocks stay as they are.
    title : str

    Examples
    --------
    >>> X = pd.DataFrame({"age": [20, 35, 60], "amount": [900, 4000, 12000]})
    >>> space = ActionSpace.from_frame(X, increasing=["age"], units={"amount": "DM"})
    >>> [str(change) for change in space.changes(space.vector(X.iloc[1]), space.vector(X.iloc[0]))][1]
    'Reduce amount from 4,000 to 900 DM'
    >>> space.allows(X.iloc[[1, 1]], X.iloc[[0, 2]])  # age may only rise
    array([False,  True])
    """

    def __init__(
        self,
        features: Sequence[Feature],
        *,
        rules: Sequence[str] = (),
        max_changes: int | None = None,
        horizon: int = 24,
        title: str = "",
        limits: Limits | None = None,
        encoded: bool = False,
    ) -> None:
        self.features = tuple(features)
        if not self.features:
            raise InputError("an action space needs at least one feature")
        names = [feature.name for feature in self.features]
        if len(set(names)) != len(names):
            raise InputError(
                f"the feature {next(n for n in names if names.count(n) > 1)!r} is declared twice"
            )
        if not isinstance(title, str) or not isinstance(encoded, bool | np.bool_):
            raise InputError(
                f"the title is {title!r} and encoded is {encoded!r}; give text, and true or false"
            )
        self.rules = (rules,) if isinstance(rules, str) else _texts(rules)
        limits = checked(limits or Limits(), self.features)
        self.max_changes = checked(Limits(max_changes=max_changes), self.features).max_changes
        self.horizon = whole("horizon", horizon, 1) or 24
        if self.horizon > _FARTHEST:
            raise InputError(f"horizon is {horizon!r} months; give at most {_FARTHEST:,}")
        self.title = title
        self.encoded = bool(encoded)
        self.names = tuple(names)
        self._parsed = [rule for text in self.rules for rule in parse(text, self.features)]
        self._encoding = Encoding(self.features, encoded)
        self._derived = Derived(self.features, self._encoding.scale)
        self._clocks = Clocks(self.features, self.horizon)
        self._set_limits(limits)

    # making ------------------------------------------------------------------------------------------

    @classmethod
    def from_frame(
        cls,
        X: Frame,
        *,
        immutable: Iterable[str] = (),
        increasing: Iterable[str] = (),
        decreasing: Iterable[str] = (),
        bounds: Mapping[str, tuple[float, float]] | None = None,
        steps: Mapping[str, float] | None = None,
        max_change: Mapping[str, float] | None = None,
        ordinal: Mapping[str, Sequence[Any]] | None = None,
        categorical: Iterable[str] = (),
        labels: Mapping[str, str] | None = None,
        units: Mapping[str, str] | None = None,
        missing: Iterable[str] = (),
        derived: Mapping[str, Any] | None = None,
        forbidden: Mapping[str, Sequence[tuple[Any, Any]]] | None = None,
        groups: Mapping[str, Sequence[str]] | None = None,
        spans: Mapping[str, tuple[float, float]] | None = None,
        paces: Mapping[str, float | str] | None = None,
        clocks: Mapping[str, Clock] | None = None,
        at_application: Iterable[str] = (),
        notice: Mapping[str, float] | None = None,
        rules: Sequence[str] = (),
        max_changes: int | None = None,
        horizon: int = 24,
        title: str = "",
    ) -> ActionSpace:
        """Return a space inferred from a table; what is said here by name goes before what is inferred.

        Parameters
        ----------
        X : DataFrame, or an array (n, d) where ``groups`` is given
        immutable, increasing, decreasing : names of features that stay, only rise, only fall
        bounds, steps : limits and step of actions by feature, in units
        max_change : how far a feature may move from where the person stands, in units (levels of an ordinal one)
        ordinal : levels in order, by feature
        categorical : names of features whose numbers are codes
        labels, units : words by feature
        missing : names of features that may be missing
        derived : a formula (or a function, see Feature) by feature
        forbidden : transitions (from, to) that cannot be made, by feature
        groups : for a table that is encoded already, the columns of each one-hot group (``{}`` if none)
        spans : what effort is scaled by, by feature; by default the 1st to the 99th percentile
        paces : how fast a feature moves ("200 EUR a month", "6 months a level"), by feature
        clocks : features that go by themselves, "months" or "years" by feature
        at_application : names of features that are chosen on the day of the application
        notice : the smallest difference worth a question, by feature
        horizon : months within which a plan must be done
        """
        features = infer.features(
            X,
            immutable=names_of(immutable),
            increasing=names_of(increasing),
            decreasing=names_of(decreasing),
            bounds=dict(bounds or {}),
            steps=dict(steps or {}),
            max_change=dict(max_change or {}),
            ordinal=dict(ordinal or {}),
            categorical=names_of(categorical),
            labels=dict(labels or {}),
            units=dict(units or {}),
            missing=names_of(missing),
            derived=dict(derived or {}),
            forbidden=dict(forbidden or {}),
            groups=None if groups is None else dict(groups),
            spans=dict(spans or {}),
            paces=dict(paces or {}),
            clocks=dict(clocks or {}),
            at_application=names_of(at_application),
            notice=dict(notice or {}),
        )
        return cls(
            features,
            rules=rules,
            max_changes=max_changes,
            horizon=horizon,
            title=title,
            encoded=groups is not None,
        )

    @classmethod
    def load(cls, path: str | Path) -> ActionSpace:
        """Read a space from a TOML file."""
        if not Path(path).is_file():
            raise InputError(f"there is no space file {str(path)!r}; `reap space data.csv` drafts one")
        return cls.from_toml(Path(path).read_text(encoding="utf-8"), source=str(path))

    @classmethod
    def from_toml(cls, text: str, source: str = "the text") -> ActionSpace:
        """Read a space from TOML text."""
        return cls(**files.read(text, source))

    def to_toml(self, comments: bool = False) -> str:
        """Return the space as TOML; ``comments`` adds what to check, for a first draft."""
        return files.write(self, comments)

    def save(self, path: str | Path, comments: bool = False) -> None:
        """Write the space to a TOML file."""
        Path(path).write_text(self.to_toml(comments), encoding="utf-8")

    @cached_property
    def digest(self) -> str:
        """A hash of everything that gives vectors and rules their meaning; words and dtypes are no part of it."""
        said = [{key: _said(getattr(feature, key)) for key in _MEANING} for feature in self.features]
        text = json.dumps([said, list(self.rules), self.max_changes, self.horizon, self.encoded])
        return hashlib.sha256(text.encode()).hexdigest()

    def __getstate__(self) -> dict[str, Any]:
        said = {
            name: getattr(self, name)
            for name in ("features", "rules", "max_changes", "horizon", "title", "encoded")
        }
        return {**said, "limits": self._limits}

    def __setstate__(self, state: dict[str, Any]) -> None:
        ActionSpace.__init__(self, **state)

    def __deepcopy__(self, memo: Any) -> ActionSpace:
        return self  # immutable

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ActionSpace):
            return NotImplemented
        return (self.digest, self.features, self._limits) == (other.digest, other.features, other._limits)

    def __hash__(self) -> int:
        return hash(self.digest)

    # layout ------------------------------------------------------------------------------------------

    @property
    def dimension(self) -> int:
        """Number of encoded columns, d."""
        return self._encoding.dimension

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the encoded columns, d of them."""
        return self._encoding.columns

    @property
    def slices(self) -> dict[str, slice]:
        """Which encoded columns belong to each feature."""
        return self._encoding.slices

    def feature(self, name: str) -> Feature:
        """Return one feature; a misspelt name suggests the right one."""
        for feature in self.features:
            if feature.name == name:
                return feature
        raise unknown("feature", name, self.names)

    @cached_property
    def movable(self) -> list[int] | None:
        """The encoded columns that some plan may move: nothing can be learnt about the others. None if there are none."""
        moving = self.following
        for feature in self.features:
            columns = self.slices[feature.name]
            moving = [*moving, *(range(columns.start, columns.stop) if feature.is_action else ())]
        return sorted(moving) or None

    @cached_property
    def following(self) -> list[int]:
        """The encoded columns that nobody sets and that move all the same: of derived features and, with paces, of clocks.

        An engine that puts rows together itself sets them by ``follow``.
        """
        return [
            self.slices[f.name].start
            for f in self.features
            if f.derived is not None or (f.clock is not None and self.timed)
        ]

    @property
    def timed(self) -> bool:
        """Whether some action takes time; otherwise nothing is dated and clocks stay as they are."""
        return self._clocks.on

    def is_action(self, name: str) -> bool:
        """Return whether a person can do it: not fixed, not derived, not a clock."""
        return self.feature(name).is_action

    @property
    def origins(self) -> Array:
        """The value of each feature that is encoded as 0, (f,): units, or the index of a level."""
        return self._encoding.origin

    @property
    def scales(self) -> Array:
        """The change of each feature that is encoded as 1, (f,)."""
        return self._encoding.scale

    @cached_property
    def steps(self) -> Array:
        """Step of each encoded column (d,): 0 where any value may occur, and for one-hot columns."""
        steps = np.zeros(self.dimension)
        for i, feature in enumerate(self.features):
            if feature.is_number:
                steps[self.slices[feature.name]] = (feature.step or 0.0) / self._encoding.scale[i]
            elif feature.kind != "categorical":
                steps[self.slices[feature.name]] = 1.0 / self._encoding.scale[i]
        return steps

    # rows and vectors --------------------------------------------------------------------------------

    def encode(self, X: Frame) -> Array:
        """Return the vectors (n, d) of a frame (or of an array in encoder columns, for an encoded space)."""
        if self.encoded and isinstance(X, np.ndarray):
            X = from_array(X, self.columns)
        return self._encoding.vectors(self._encoding.codes(as_frame(X)))

    def decode(self, Z: Array, like: Frame | None = None, index: Any = None) -> Frame:
        """Return the rows of vectors (n, d), with the dtypes of ``like`` where it is given."""
        return self._encoding.frame(self._encoding.codes_of(self._vectors(Z)), like, index)

    def _vectors(self, given: Any) -> Array:
        Z: Array = np.atleast_2d(np.asarray(given, dtype=float))
        if Z.ndim != 2 or Z.shape[1] != self.dimension:
            raise InputError(
                f"the vectors have shape {Z.shape}; the space has {self.dimension} encoded columns"
            )
        return Z

    def values(self, z: Array) -> dict[str, Any]:
        """Return one vector (d,) as a dict of plain values in units, by feature."""
        codes = self._encoding.codes_of(self._vectors(z))[0]
        return {f.name: f.value(code) for f, code in zip(self.features, codes, strict=True)}

    def vector(self, x: Any) -> Array:
        """Return one subject as a vector (d,), checked: a Series, a one-row frame, a dict, or for an encoded space an array."""
        codes = self._encoding.codes(one_row(x, self.columns if self.encoded else None))
        for feature, code in zip(self.features, codes[0], strict=True):
            if feature.bounds is not None and not np.isnan(code):
                low, high = feature.bounds
                if not low <= code <= high:
                    raise InputError(
                        f"{feature.name!r} is {feature.show(code, unit=False)}; the action space allows "
                        f"{feature.show(low, unit=False)} to {feature.show(high)}"
                    )
        return np.asarray(self._encoding.vectors(codes)[0])

    def doubts(self, x: Any) -> list[str]:
        """Return what to ask back about a subject: every number outside what was seen, as a question.

        Values outside ``bounds`` are an error already; what is merely unusual may be true.

        Examples
        --------
        >>> space = ActionSpace([Feature("age", "integer", range=(19, 75), label="Age", unit="years")])
        >>> space.doubts({"age": 150})
        ['Age is 150 years? In the table it runs from 19 to 75 years.']
        """
        values = self.values(self.vector(x))
        asked = []
        for f in self.features:
            value = values[f.name]
            if f.range is None or value is None or f.derived is not None:
                continue
            low, high = f.range
            if not low - SAME * f.scale <= value <= high + SAME * f.scale:
                runs = f"{f.show(low, unit=False)} to {f.show(high)}"
                asked.append(f"{f.label} is {f.show(value)}? In the table it runs from {runs}.")
        return asked

    def encoder(self) -> SpaceEncoder:
        """Return a scikit-learn transformer from rows to vectors."""
        return SpaceEncoder(self)

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

    def tighten(self, limits: Limits | None) -> ActionSpace:
        """Return this space within a person's limits; vectors keep their meaning."""
        if not limits:
            return self
        made = ActionSpace.__new__(ActionSpace)
        made.__dict__.update(self.__dict__)  # all but the limits is shared, not parsed again
        made._set_limits(self._limits.meet(checked(limits, self.features), self.features))
        return made

    def _set_limits(self, limits: Limits) -> None:
        self._limits = limits
        self._reach = Reach(self._encoding, limits, self._clocks.until(limits))
        counts = [k for k in (self.max_changes, limits.max_changes) if k is not None]
        self._count = min(counts) if counts else None
        self._last: Projection | None = None

    @property
    def most_changes(self) -> int | None:
        """How many features may change at most, by the space and by the person's limits; None: any number."""
        return self._count

    # legality ----------------------------------------------------------------------------------------

    def allows(self, before: Any, after: Any) -> Bools:
        """Return whether each change is legal, (n,): frames, or vectors (d,) or (n, d); one side may serve all.

        A vector that is not the vector of a row (half a step, two halves of a one-hot group) is not legal.
        Stages of one plan run side by side, so each is judged against the start, not against the stage before it.
        """
        old, _ = self._codes(before)
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

    def _codes(self, rows: Any) -> tuple[Array, Bools]:
        """Return codes (n, f), and which rows of vectors stand for a row, (n,)."""
        if isinstance(rows, np.ndarray):
            Z = self._vectors(rows)
            codes = self._encoding.codes_of(Z)
            away = np.abs(self._encoding.vectors(codes) - Z) > _OFF
            return codes, np.asarray(~away.any(axis=1))
        codes = self._encoding.codes(one_row(rows, None) if isinstance(rows, pd.Series) else as_frame(rows))
        return codes, np.ones(len(codes), dtype=bool)

    def _of(self, z0: Array) -> Projection:
        """Return what is legal for one person, made once: engines ask again and again."""
        if self._last is None or not np.array_equal(self._last.z0, z0, equal_nan=True):
            z0 = np.array(self._vectors(z0)[0], dtype=float)
            self._last = Projection(self._reach, self._parsed, self._count, self._clocks, z0)
        return self._last

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

    def follow(self, Z: Array, z0: Array) -> Array:
        """Return vectors (n, d) with clocks and derived features where the rest of each row puts them; the rest stays.

        Quicker than ``project``, for rows that are put together from the grid. What cannot be computed keeps the subject's
        own value, and ``allows`` refuses it.
        """
        if not self.following or not len(Z):
            return Z
        Z, person = np.array(self._vectors(Z)), self._of(z0)
        codes = person.passed(self._encoding.codes_of(Z), Z)
        codes = self._derived.recompute(codes, person.start[None])
        codes = np.where(np.isfinite(codes), codes, person.start)
        Z[:, self.following] = self._encoding.vectors(codes)[:, self.following]
        return Z

    def snap(self, Z: Array) -> Array:
        """Return vectors (n, d) with numbers at their steps: enough, and quick, for rows between two legal ones."""
        return self._encoding.snap(self._vectors(Z))

    def relax(self, Z: Array, z0: Array) -> Array:
        """Return the projection of ``Z`` on the continuous relaxation, (n, d): box, direction, one-hot simplex, clocks."""
        return self._of(z0).relax(self._vectors(Z))

    def box(self, z0: Array) -> tuple[Array, Array]:
        """Return the least and greatest value of every encoded column (d,), (d,) the subject may reach.

        One-hot columns: 0 and 1 for a level that can be reached, 0 and 0 for one that cannot. Derived columns and
        clocks stay where they are: nobody sets them; only the leading clock is open, for waiting (see ``clocks.py``).
        """
        lower, upper = self._of(z0).box
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
            self.project(z0, z0)
        except InputError as error:
            return str(error)
        return None

    # time ---------------------------------------------------------------------------------------------

    def months(self, z0: Any, Z: Any) -> Array:
        """Return the whole months (n,) that changes from ``z0`` to ``Z`` take: frames, or vectors (d,) or (n, d).

        The largest of the actions' times, or longer where the clocks say that the person waits; 0 for what has no pace;
        NaN where the clocks of a row disagree.

        Examples
        --------
        >>> debt = Feature("debt", range=(0, 9000), pace="200 EUR a month")
        >>> space = ActionSpace([debt, Feature("age", "integer", range=(18, 80), clock="years")])
        >>> now = pd.DataFrame({"debt": [5000.0], "age": [30]})
        >>> space.months(now, pd.DataFrame({"debt": [2000.0, 2000.0, 5000.0], "age": [31, 30, 32]}))
        array([15., nan, 24.])
        """
        old, new = self._codes(z0)[0], self._codes(Z)[0]
        return self._clocks.months(np.broadcast_to(old, new.shape), new)

    def action_months(self, z0: Array, z: Array) -> dict[str, int]:
        """Return the whole months that each action between two vectors (d,) takes, by feature."""
        old, new = self._codes(np.asarray(z0))[0], self._codes(np.asarray(z))[0]
        took = {}
        for i, feature in enumerate(self.features):
            if feature.is_action and self.changed(z0, z)[0][i]:
                alone = old.copy()
                alone[:, i] = new[:, i]
                took[feature.name] = int(self._clocks.needed(old, alone)[0])
        return took

    def slowest(self, z0: Array, Z: Array) -> Bools:
        """Return, for vectors (n, d), the actions (n, f) whose time all of the change takes."""
        return self._clocks.slowest(self._codes(np.asarray(z0))[0], self._codes(np.asarray(Z))[0])

    def when(self, months: float, start: Any = None) -> str:
        """Return a time in words: "in month 5", or "by March 2027" where the day to count from is given.

        Examples
        --------
        >>> space = ActionSpace([Feature("x", range=(0, 1))])
        >>> space.when(5), space.when(5, start="2026-10-16"), space.when(0)
        ('in month 5', 'by March 2027', 'at once')
        """
        return date_in_words(months, start)

    def review(self, model: Any = None, X: Frame | None = None) -> list[Finding]:
        """Return what a careful lender would question, see ``review.py``; with a table and a model also what those show."""
        return review(self, model, X)

    # differences -------------------------------------------------------------------------------------

    def changed(self, Z1: Array, Z2: Array) -> Bools:
        """Return which features differ, (n, f)."""
        return self._encoding.changed(Z1, Z2)

    def changes(self, before: Array, after: Array) -> list[Change]:
        """Return what changes between two vectors (d,), in units and words."""
        old, new = self.values(before), self.values(after)
        differs = zip(self.features, self.changed(before, after)[0], strict=True)
        return [
            Change.of(feature, old[feature.name], new[feature.name]) for feature, moved in differs if moved
        ]

    def describe(self) -> str:
        """Return a table of the features and rules, in plain words."""
        title = (
            f"{self.title or 'Action space'}: {len(self.features)} features, {self.dimension} encoded columns"
        )
        rules = list(dict.fromkeys(rule.describe() for rule in self._parsed))
        if self.max_changes is not None:
            plural = "s" if self.max_changes != 1 else ""
            rules.append(f"at most {self.max_changes} feature{plural} may change")
        if self.timed:
            rules.append(f"plans are done within {self.horizon} months")
        return table(title, self.features, rules, self._limits)

    def __repr__(self) -> str:
        fixed = sum(not f.actionable for f in self.features)
        return f"ActionSpace({len(self.features)} features, {fixed} fixed, {len(self.rules)} rules, d={self.dimension})"


def _texts(rules: Any) -> tuple[str, ...]:
    if not hasattr(rules, "__iter__") or not all(isinstance(rule, str) for rule in rules):
        raise InputError(f"the rules are {rules!r}; give a list of sentences")
    return tuple(rules)


def _said(value: Any) -> Any:
    """Return a fact for the digest; a function by its name, since its address means nothing elsewhere."""
    if not callable(value):
        return value
    value = getattr(value, "func", value)  # functools.partial
    name = getattr(value, "__qualname__", type(value).__qualname__)
    return f"{getattr(value, '__module__', '')}:{name}"

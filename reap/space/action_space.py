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
from reap.space.derived import Derived
from reap.space.encoder import SpaceEncoder
from reap.space.encoding import Encoding
from reap.space.feature import Feature
from reap.space.limits import Limits
from reap.space.nearest import NearestRow
from reap.space.reach import Reach, simplex
from reap.space.rules import parse
from reap.space.words import Change


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
        if max_changes is not None and (int(max_changes) != max_changes or max_changes < 1):
            raise InputError(f"max_changes is {max_changes!r}; give a whole number of at least 1")
        self.rules = tuple(rules)
        self.max_changes = max_changes
        self.title = title
        self.encoded = encoded
        self._limits = limits or Limits()
        self._parsed = [rule for text in self.rules for rule in parse(text, self.features)]
        self._encoding = Encoding(self.features)
        self._reach = Reach(self._encoding, self._limits)
        self._derived = Derived(self.features)

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
        ordinal: Mapping[str, Sequence[Any]] | None = None,
        categorical: Iterable[str] = (),
        labels: Mapping[str, str] | None = None,
        units: Mapping[str, str] | None = None,
        missing: Iterable[str] = (),
        derived: Mapping[str, Any] | None = None,
        forbidden: Mapping[str, Sequence[tuple[Any, Any]]] | None = None,
        groups: Mapping[str, Sequence[str]] | None = None,
        rules: Sequence[str] = (),
        max_changes: int | None = None,
        title: str = "",
    ) -> ActionSpace:
        """Return a space inferred from a table; what is said here by name goes before what is inferred.

        Parameters
        ----------
        X : DataFrame, or an array (n, d) where ``groups`` is given
        immutable, increasing, decreasing : names of features that stay, only rise, only fall
        bounds, steps : limits and step of actions by feature, in units
        ordinal : levels in order, by feature
        categorical : names of features whose numbers are codes
        labels, units : words by feature
        missing : names of features that may be missing
        derived : a formula (or a function of the frame) by feature
        forbidden : transitions (from, to) that cannot be made, by feature
        groups : for a table that is encoded already, the columns of each one-hot group (``{}`` if none)
        """
        features = infer.features(
            X,
            immutable=tuple(immutable),
            increasing=tuple(increasing),
            decreasing=tuple(decreasing),
            bounds=dict(bounds or {}),
            steps=dict(steps or {}),
            ordinal=dict(ordinal or {}),
            categorical=tuple(categorical),
            labels=dict(labels or {}),
            units=dict(units or {}),
            missing=tuple(missing),
            derived=dict(derived or {}),
            forbidden=dict(forbidden or {}),
            groups=None if groups is None else dict(groups),
        )
        return cls(features, rules=rules, max_changes=max_changes, title=title, encoded=groups is not None)

    @classmethod
    def load(cls, path: str | Path) -> ActionSpace:
        """Read a space from a TOML file."""
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
        """A hash of everything that gives vectors and rules their meaning."""
        said = [repr(feature) for feature in self.features]
        text = json.dumps([said, list(self.rules), self.max_changes, self.encoded])
        return hashlib.sha256(text.encode()).hexdigest()

    def __deepcopy__(self, memo: Any) -> ActionSpace:
        return self  # immutable

    def __getstate__(self) -> dict[str, Any]:
        # What it was made from and nothing else: saved models stay small and readable by later releases.
        said = ("features", "rules", "max_changes", "title", "encoded")
        return {name: getattr(self, name) for name in said} | {"limits": self._limits}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(**state)  # type: ignore[misc]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ActionSpace):
            return NotImplemented
        return self.digest == other.digest and self._limits == other._limits

    def __hash__(self) -> int:
        return hash(self.digest)

    # layout ------------------------------------------------------------------------------------------

    @property
    def names(self) -> tuple[str, ...]:
        """The features' names, in order."""
        return tuple(feature.name for feature in self.features)

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
            X = self._as_frame(X)
        return self._encoding.vectors(self._encoding.codes(X))

    def _as_frame(self, X: Any) -> Frame:
        if X.ndim != 2 or X.shape[1] != self.dimension:
            raise InputError(f"the array has shape {X.shape}; the space has {self.dimension} encoded columns")
        return pd.DataFrame(X, columns=list(self.columns))

    def decode(self, Z: Array, like: Frame | None = None, index: Any = None) -> Frame:
        """Return the rows of vectors (n, d), with the dtypes of ``like`` where it is given."""
        return self._encoding.frame(self._encoding.codes_of(np.atleast_2d(Z)), like, index)

    def values(self, z: Array) -> dict[str, Any]:
        """Return one vector (d,) as a dict of plain values in units, by feature."""
        codes = self._encoding.codes_of(np.atleast_2d(z))[0]
        return {f.name: f.value(code) for f, code in zip(self.features, codes, strict=True)}

    def vector(self, x: Any) -> Array:
        """Return one subject as a vector (d,), checked: a Series, a one-row frame, a dict, or for an encoded space an array."""
        if isinstance(x, Mapping):
            x = pd.DataFrame([dict(x)], dtype=object).infer_objects()
        elif isinstance(x, pd.Series):
            x = pd.DataFrame([x.to_dict()], index=[x.name], dtype=object).infer_objects()
        elif isinstance(x, np.ndarray):
            if not self.encoded:
                raise InputError(
                    "give the subject as a pandas Series or a one-row DataFrame; arrays need a space made with groups="
                )
            x = self._as_frame(np.atleast_2d(x).astype(float))
        if not isinstance(x, pd.DataFrame):
            raise InputError(
                f"give the subject as a pandas Series or a one-row DataFrame, not {type(x).__name__}"
            )
        if len(x) != 1:
            raise InputError(
                f"one subject is needed, but the table has {len(x)} rows; pick one, for example X.iloc[0]"
            )
        codes = self._encoding.codes(x)
        self._check_bounds(codes[0])
        return np.asarray(self._encoding.vectors(codes)[0])

    def _check_bounds(self, codes: Array) -> None:
        for feature, code in zip(self.features, codes, strict=True):
            if feature.bounds is not None and not np.isnan(code) and feature.derived is None:
                low, high = feature.bounds
                if not low <= code <= high:
                    raise InputError(
                        f"{feature.name!r} is {feature.show(code, unit=False)}; the action space allows "
                        f"{feature.show(low, unit=False)} to {feature.show(high)}"
                    )

    def encoder(self) -> SpaceEncoder:
        """Return a scikit-learn transformer from rows to vectors."""
        return SpaceEncoder(self)

    # legality ----------------------------------------------------------------------------------------

    def limits(
        self,
        *,
        fixed: Iterable[str] = (),
        at_least: Mapping[str, Any] | None = None,
        at_most: Mapping[str, Any] | None = None,
        exclude: Mapping[str, Sequence[Any]] | None = None,
        max_changes: int | None = None,
    ) -> Limits:
        """Return a person's limits, checked against the space; apply them with ``tighten``."""
        made = Limits(
            fixed=tuple([fixed] if isinstance(fixed, str) else fixed),
            at_least=dict(at_least or {}),
            at_most=dict(at_most or {}),
            exclude={name: tuple(levels) for name, levels in (exclude or {}).items()},
            max_changes=max_changes,
        )
        for name in made.names:
            if name != "max_changes":
                self.feature(name)
        for name, value in (*made.at_least.items(), *made.at_most.items()):
            self._check_limit(self.feature(name), value)
        for name, levels in made.exclude.items():
            for level in levels:
                if level not in self.feature(name).levels:
                    raise unknown(f"level of {name!r}", level, self.feature(name).levels)
        if max_changes is not None and max_changes < 1:
            raise InputError(f"max_changes is {max_changes!r}; a plan needs at least one change")
        return made

    @staticmethod
    def _check_limit(feature: Feature, value: Any) -> None:
        if feature.derived is not None:
            raise InputError(f"{feature.name!r} follows from other features; limit those instead")
        if feature.is_number:
            if (
                isinstance(value, bool)
                or not isinstance(value, int | float | np.number)
                or not np.isfinite(value)
            ):
                raise InputError(f"a limit on {feature.name!r} must be a number; given was {value!r}")
        elif feature.kind == "categorical":
            raise InputError(
                f"{feature.name!r} has no order; exclude levels instead of setting a least or most"
            )
        elif value not in feature.levels:
            raise unknown(f"level of {feature.name!r}", value, feature.levels)

    def tighten(self, limits: Limits | None) -> ActionSpace:
        """Return this space within a person's limits; vectors keep their meaning."""
        if not limits:
            return self
        return ActionSpace(
            self.features,
            rules=self.rules,
            max_changes=self.max_changes,
            title=self.title,
            limits=self._limits.merge(limits),
            encoded=self.encoded,
        )

    @property
    def _count(self) -> int | None:
        counts = [k for k in (self.max_changes, self._limits.max_changes) if k is not None]
        return min(counts) if counts else None

    def allows(self, before: Any, after: Any) -> Bools:
        """Return whether each change is legal, (n,): frames, or vectors (d,) or (n, d); one start may serve all."""
        old, new = self._codes(before), self._codes(after)
        if len(old) == 1 and len(new) > 1:
            old = np.broadcast_to(old, new.shape)
        return self._allows_codes(old, new)

    def _codes(self, rows: Any) -> Array:
        if isinstance(rows, np.ndarray):
            return self._encoding.codes_of(np.atleast_2d(rows))
        if isinstance(rows, pd.Series):
            rows = rows.to_frame().T.infer_objects()
        return self._encoding.codes(rows)

    def _allows_codes(self, old: Array, new: Array) -> Bools:
        legal = self._reach.allows(old, new)
        for rule in self._parsed:
            legal &= rule.allows(old, new)
        if self._count is not None:
            legal &= self._moved(old, new).sum(axis=1) <= self._count
        return legal & self._derived.holds(old, new, self._encoding.scale)

    def _moved(self, old: Array, new: Array) -> Bools:
        """Return which features a person sets differ, (n, f); what is derived only follows."""
        moved = np.abs(new - old) > 1e-9 * self._encoding.scale
        moved[:, [i for i, f in enumerate(self.features) if f.derived is not None]] = False
        return np.asarray(moved)

    def project(self, Z: Array, z0: Array, *, exact: bool = True) -> Array:
        """Return the legal rows nearest to ``Z`` for the subject ``z0``, as vectors (n, d).

        Nearest in Euclidean distance over the columns that a person sets; derived features follow. With
        ``exact=False`` linear rules and implications are not searched (rows may then break them: ask ``allows``).
        Raises InputError where no row at all is legal.
        """
        Z = np.atleast_2d(np.asarray(Z, dtype=float))
        start = self._encoding.codes_of(z0[None])[0]
        codes = self._separable(Z, start)
        if exact and self._parsed:
            legal = np.logical_and.reduce(
                [rule.allows(start[None].repeat(len(codes), 0), codes) for rule in self._parsed]
            )
            search = NearestRow(self._reach, self._parsed, self._count, start)
            for row in np.flatnonzero(~legal):
                found = search(Z[row])
                if found is None:
                    raise InputError(
                        "no row is legal for this person: the rules contradict the limits; relax one of them"
                    )
                codes[row] = found
        return self._encoding.vectors(self._derived.recompute(codes, start[None]))

    def _separable(self, Z: Array, start: Array) -> Array:
        """Return nearest codes by the features' own reach and the count of changes, (n, f)."""
        codes = np.repeat(start[None], len(Z), axis=0)
        gain = np.zeros((len(Z), len(self.features)))
        for i in self._reach.free:
            feature, columns = self.features[i], self.slices[self.features[i].name]
            domain = self._reach.domain(i, start)
            if feature.kind == "categorical":
                wanted = Z[:, columns]
            else:
                wanted = self._encoding.origin[i] + Z[:, columns.start] * self._encoding.scale[i]
            codes[:, i] = self._reach.nearest(i, wanted, start[i], domain)
            if not np.isnan(start[i]) and np.isnan(codes[:, i]).any():
                raise InputError(
                    f"no value of {feature.label!r} is left to choose: the limits exclude all; relax one"
                )
            if self._count is not None:
                gain[:, i] = self._gain(i, wanted, start[i], codes[:, i])
                if not _within(domain, start[i]):
                    gain[:, i] = np.inf  # the person's limits force this change
        if self._count is not None:
            dropped = np.argsort(-gain, axis=1, kind="stable")[:, self._count :]
            forced = np.isinf(np.take_along_axis(gain, dropped, axis=1))
            if forced.any():
                raise InputError("the limits force more changes than are allowed; relax one of them")
            np.put_along_axis(codes, dropped, start[dropped], axis=1)
        return codes

    def _gain(self, i: int, wanted: Array, start: float, code: Array) -> Array:
        if np.isnan(start):
            return np.zeros(len(code))
        if wanted.ndim == 2:
            rows = np.arange(len(code))
            return np.asarray(
                2 * (np.nan_to_num(wanted)[rows, code.astype(np.intp)] - np.nan_to_num(wanted)[:, int(start)])
            )
        scale = self._encoding.scale[i]
        wanted = np.where(np.isnan(wanted), start, wanted)
        return np.asarray(((start - wanted) ** 2 - (code - wanted) ** 2) / scale**2)

    def relax(self, Z: Array, z0: Array) -> Array:
        """Return the projection of ``Z`` on the continuous relaxation, (n, d): box, direction, one-hot simplex."""
        out = np.where(np.isnan(np.atleast_2d(Z)), z0, np.atleast_2d(Z)).astype(float)
        lower, upper = self.box(z0)
        for feature in self.features:
            columns = self.slices[feature.name]
            if np.isnan(z0[columns]).any() or (feature.kind == "categorical" and not z0[columns].any()):
                out[:, columns] = z0[columns]
            elif feature.kind == "categorical":
                out[:, columns] = simplex(out[:, columns], upper[columns] > 0)
            else:
                out[:, columns] = np.clip(out[:, columns], lower[columns], upper[columns])
        return out

    def box(self, z0: Array) -> tuple[Array, Array]:
        """Return the least and greatest value of every encoded column (d,), (d,) the subject may reach.

        One-hot columns: 0 and 1 for a level that can be reached, 0 and 0 for one that cannot. Derived columns
        stay where they are: nobody sets them.
        """
        start = self._encoding.codes_of(z0[None])[0]
        lower, upper = z0.copy(), z0.copy()
        for i in self._reach.free:
            columns, domain = self.slices[self.features[i].name], self._reach.domain(i, start)
            if np.isnan(start[i]):
                continue
            if self.features[i].kind == "categorical":
                lower[columns] = 0.0
                upper[columns] = [
                    float(k in (domain.levels or ())) for k in range(len(self.features[i].levels))
                ]
                continue
            ends = (domain.low, domain.high)
            if domain.levels is not None:
                ends = (min(domain.levels), max(domain.levels)) if domain.levels else (np.inf, -np.inf)
            lower[columns], upper[columns] = (
                np.array(ends) - self._encoding.origin[i]
            ) / self._encoding.scale[i]
        return lower, upper

    def reachable(self, name: str, z0: Array) -> list[Any]:
        """Return the levels a subject may choose for a feature with levels, in units."""
        feature = self.feature(name)
        start = self._encoding.codes_of(z0[None])[0]
        domain = self._reach.domain(self.names.index(name), start)
        return [feature.levels[k] for k in sorted(domain.levels or ())]

    def obstacle(self, z0: Array) -> str | None:
        """Return why no row at all is legal for a subject, in a sentence; None where one is."""
        try:
            self.project(z0, z0)
        except InputError as error:
            return str(error)
        return None

    # differences -------------------------------------------------------------------------------------

    def changed(self, Z1: Array, Z2: Array) -> Bools:
        """Return which features differ, (n, f)."""
        return self._encoding.changed(Z1, Z2)

    def changes(self, before: Array, after: Array) -> list[Change]:
        """Return what changes between two vectors (d,), in units and words."""
        old, new = self.values(before), self.values(after)
        differs = self.changed(before, after)[0]
        return [
            Change.of(f, old[f.name], new[f.name])
            for f, moved in zip(self.features, differs, strict=True)
            if moved
        ]

    def describe(self) -> str:
        """Return a table of the features and rules, in plain words."""
        width = max(len(feature.label) for feature in self.features)
        lines = [
            f"{self.title or 'Action space'}: {len(self.features)} features, {self.dimension} encoded columns"
        ]
        lines += [f"  {feature.label:<{width}}  {feature.describe()}" for feature in self.features]
        lines += [f"  Rule: {rule.describe()}" for rule in self._parsed]
        if self.max_changes is not None:
            lines.append(f"  Rule: at most {self.max_changes} features may change")
        lines += [f"  Limit: {text}" for text in self._limits.describe()]
        return "\n".join(lines)

    def __repr__(self) -> str:
        fixed = sum(not f.actionable for f in self.features)
        return f"ActionSpace({len(self.features)} features, {fixed} fixed, {len(self.rules)} rules, d={self.dimension})"


def _within(domain: Any, code: float) -> bool:
    if np.isnan(code):
        return True
    if domain.levels is not None:
        return int(code) in domain.levels
    return bool(domain.low <= code <= domain.high)

"""What may change: the features of a table, the rules between them, and a person's limits."""

from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from reap._errors import InputError, unknown, whole
from reap._formats import read_text
from reap._typing import Array, Bools, Frame
from reap.language import current
from reap.space import files
from reap.space.encoding import Encoding, SpaceEncoder, as_frame, from_array, names_of, one_row
from reap.space.feature import Feature
from reap.space.legal import Legal
from reap.space.limits import Limits, checked
from reap.space.review import Finding, review
from reap.space.rules import Derived, parse
from reap.space.table import facts_of, features_of, kept_columns
from reap.space.time import Clocks
from reap.space.words import Change, Meaning, doubt, table

#: Nobody plans farther ahead than this, in months.
_FARTHEST = 1200
#: What of a feature gives vectors and rules their meaning; the rest is words.
_MEANING = (
    *("name", "kind", "range", "span", "levels", "actionable", "direction", "bounds", "max_change", "step"),
    *("pace", "clock", "when", "missing", "derived", "forbidden"),
)
#: What a space is made of, beside the limits.
_SAID = ("features", "rules", "max_changes", "horizon", "title", "encoded", "meaning")


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
    limits : Limits, optional
        A person's own; see ``tighten``.
    encoded : bool
        Whether the table is in encoder columns already.
    meaning : Meaning, optional
        What is decided and what a yes means, in plain words.

    Attributes
    ----------
    dimension, columns, slices : int, tuple of str, dict
        The number d of encoded columns, their names, and which of them belong to each feature.
    timed : bool
        Whether some action takes time; otherwise nothing is dated and clocks stay as they are.
    encoding : Encoding
        Rows ⇄ vectors: columns, scales, codes.
    legal : Legal
        What is legal, for everybody and for one person: boxes, grids, what follows.
    time : Clocks
        How long actions take, and the clocks that go by themselves.

    Examples
    --------
    >>> import pandas as pd
    >>> X = pd.DataFrame({"age": [20, 35, 60], "amount": [900, 4000, 12000]})
    >>> space = ActionSpace.from_frame(X, increasing=["age"], features={"amount": {"unit": "DM"}})
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
        meaning: Meaning | None = None,
    ) -> None:
        self.features = tuple(features)
        if not self.features:
            raise InputError("an action space needs at least one feature")
        names = [feature.name for feature in self.features]
        if len(set(names)) != len(names):
            twice = next(n for n in names if names.count(n) > 1)
            raise InputError(f"the feature {twice!r} is declared twice")
        if not isinstance(title, str) or not isinstance(encoded, bool | np.bool_):
            raise InputError(
                f"the title is {title!r} and encoded is {encoded!r}; give text, and true or false"
            )
        rules = (rules,) if isinstance(rules, str) else rules
        if not hasattr(rules, "__iter__") or not all(isinstance(rule, str) for rule in rules):
            raise InputError(f"the rules are {rules!r}; give a list of sentences")
        self.rules = tuple(rules)
        limits = checked(limits or Limits(), self.features)
        self.max_changes = checked(Limits(max_changes=max_changes), self.features).max_changes
        self.horizon = whole("horizon", horizon, 1) or 24
        if self.horizon > _FARTHEST:
            raise InputError(f"horizon is {horizon!r} months; give at most {_FARTHEST:,}")
        self.title, self.meaning = title, meaning or Meaning()
        self.encoded, self.names = bool(encoded), tuple(names)
        parsed = [rule for text in self.rules for rule in parse(text, self.features)]
        self.encoding = Encoding(self.features, self.encoded)
        self.dimension, self.columns = self.encoding.dimension, self.encoding.columns
        self.slices = self.encoding.slices
        self.time = Clocks(self.encoding, self.horizon)
        self.timed = self.time.on
        derived = Derived(self.features, self.encoding.scale)
        self.legal = Legal(self.encoding, parsed, derived, self.time, limits, self.max_changes)

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
        ordinal: Mapping[str, Sequence[Any]] | None = None,
        missing: Iterable[str] = (),
        groups: Mapping[str, Sequence[str]] | None = None,
        features: Mapping[str, Mapping[str, Any]] | None = None,
        rules: Sequence[str] = (),
    ) -> ActionSpace:
        """Return a space inferred from a table; what is said here by name goes before what is inferred.

        Parameters
        ----------
        X : DataFrame, or an array (n, d) where ``groups`` is given
        immutable, increasing, decreasing : names of features that stay, only rise, only fall
        bounds : limits of actions by feature, in units
        ordinal : levels in order, by feature
        missing : names of features that may be missing
        groups : for a table that is encoded already, the columns of each one-hot group (``{}`` if none)
        features : whatever else is said of features, by name: the parameters of ``Feature``, as in a file, such as
            ``{"amount": {"label": "Loan amount", "unit": "DM", "step": 100, "pace": "200 DM a month"}}``
        rules : sentences across features

        ``max_changes``, ``horizon``, ``title`` and ``meaning`` are of the space: make it from what was inferred,
        ``ActionSpace(inferred.features, horizon=12)``, or write them into its file.
        """
        said = facts_of(
            dict(features or {}),
            immutable=names_of(immutable),
            increasing=names_of(increasing),
            decreasing=names_of(decreasing),
            missing=names_of(missing),
            bounds=dict(bounds or {}),
            ordinal=dict(ordinal or {}),
        )
        made = features_of(X, said, None if groups is None else dict(groups))
        return cls(made, rules=rules, encoded=groups is not None)

    @classmethod
    def load(cls, path: str | Path) -> ActionSpace:
        """Read a space from a TOML file."""
        if not Path(path).is_file():
            raise InputError(f"there is no space file {str(path)!r}; `reap space data.csv` drafts one")
        return cls.from_toml(read_text(path), source=str(path))

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

    def keeping(self, X: Frame) -> ActionSpace:
        """Return the space with further columns that stay as they are, for a model that reads what this space leaves out.

        Parameters
        ----------
        X : DataFrame (n, …)
            Those columns, for everybody who is to be served: values that are not among them are refused.

        Examples
        --------
        >>> import pandas as pd
        >>> X = pd.DataFrame({"region": ["north", "south"], "income": [10, 40]})
        >>> ActionSpace.from_frame(X[["income"]]).keeping(X[["region"]])
        ActionSpace(2 features, 1 fixed, 0 rules, d=2)
        """
        if self.encoded:
            raise InputError("this space is of an encoded table; its columns are all there are")
        said = {name: getattr(self, name) for name in _SAID}
        said["features"] = (*self.features, *kept_columns(X))
        return ActionSpace(**said, limits=self.legal.limits)

    @cached_property
    def digest(self) -> str:
        """A hash of everything that gives vectors and rules their meaning; words and dtypes are no part of it.

        Examples
        --------
        >>> plain, said = Feature("age", range=(18, 80)), Feature("age", range=(18, 80), label="Your age")
        >>> ActionSpace([plain]).digest == ActionSpace([said]).digest
        True
        >>> ActionSpace([plain]).digest == ActionSpace([Feature("age", range=(18, 90))]).digest
        False
        """
        facts = [{key: getattr(feature, key) for key in _MEANING} for feature in self.features]
        for fact, feature in zip(facts, self.features, strict=True):
            fact |= {} if feature.effect is None else {"effect": feature.effect}
        said = [facts, list(self.rules), self.max_changes, self.horizon, self.encoded]
        return hashlib.sha256(json.dumps(said).encode()).hexdigest()

    def __getstate__(self) -> dict[str, Any]:
        said = {name: getattr(self, name) for name in _SAID}
        return {**said, "limits": self.legal.limits, "own": self.encoding.own}

    def __setstate__(self, state: dict[str, Any]) -> None:
        own = state.pop("own")
        ActionSpace.__init__(self, **state)
        if own is not None:
            self.encoding.own = own

    def __deepcopy__(self, memo: Any) -> ActionSpace:
        return self  # immutable

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ActionSpace):
            return NotImplemented
        ours = (self.digest, self.features, self.legal.limits)
        return ours == (other.digest, other.features, other.legal.limits)

    def __hash__(self) -> int:
        return hash(self.digest)

    # rows and vectors --------------------------------------------------------------------------------

    def feature(self, name: str) -> Feature:
        """Return one feature; a misspelt name suggests the right one."""
        if name not in self.names:
            raise unknown("feature", name, self.names)
        return self.features[self.names.index(name)]

    def encoder(self) -> SpaceEncoder:
        """Return a scikit-learn transformer from rows to vectors."""
        return SpaceEncoder(self)

    def encode(self, X: Frame) -> Array:
        """Return the vectors (n, d) of a frame (or of an array in encoder columns, for an encoded space)."""
        if self.encoded and isinstance(X, np.ndarray):
            X = from_array(X, self.columns)
        return self.encoding.vectors(self.encoding.codes(as_frame(X)))

    def decode(self, Z: Array, like: Frame | None = None, index: Any = None) -> Frame:
        """Return the rows of vectors (n, d), with the dtypes of ``like`` where it is given."""
        return self.encoding.frame(self.encoding.codes_of(self.encoding.checked(Z)), like, index)

    def values(self, z: Array) -> dict[str, Any]:
        """Return one vector (d,) as a dict of plain values in units, by feature."""
        codes = self.encoding.codes_of(self.encoding.checked(z)[:1])[0].tolist()
        return {f.name: f.value(code) for f, code in zip(self.features, codes, strict=True)}

    def vector(self, x: Any) -> Array:
        """Return one subject as a vector (d,), checked: a Series, a one-row frame, a dict, or for an encoded space an array."""
        return self.read(x)[0]

    def read(self, x: Any) -> tuple[Array, Array]:
        """Return one subject as a vector (d,) and as codes (f,), which hold the numbers of the row to the bit; see ``at``."""
        codes = self.encoding.codes(one_row(x, self.columns if self.encoded else None))
        for feature, code in zip(self.features, codes[0], strict=True):
            if feature.bounds is not None and not np.isnan(code):
                low, high = feature.bounds
                if not low <= code <= high:
                    raise InputError(
                        f"{feature.name!r} is {feature.show(code, unit=False)}; the action space allows "
                        f"{feature.show(low, unit=False)} to {feature.show(high)}"
                    )
        return self.encoding.vectors(codes)[0], codes[0]

    def at(self, z: Array, codes: Array) -> ActionSpace:
        """Return this space for one person, by what ``read`` returned: their own numbers are decoded to the bit."""
        encoding = self.encoding.at(z, codes)
        if encoding is self.encoding:
            return self
        made = copy.copy(self)
        made.encoding, made.legal, made.time = encoding, self.legal.at(encoding), self.time.at(encoding)
        return made

    def at_values(self, z: Array, values: Mapping[str, Any]) -> ActionSpace:
        """Return this space for one person with a vector (d,), by their values as ``values`` gave them; of others, itself."""
        with np.errstate(over="ignore", invalid="ignore"):  # a file may hold any number; it is judged later
            known, codes = self.values(z), self.encoding.codes_of(z[None])[0]
        numbers = [f.name for f in self.features if f.is_number and known[f.name] is not None]
        close = all(
            isinstance(values.get(name), int | float) and np.isclose(values[name], known[name], rtol=1e-9)
            for name in numbers
        )
        if not close or self.encoded:
            return self
        codes[[self.names.index(name) for name in numbers]] = [values[name] for name in numbers]
        return self.at(z, codes)

    # changes -----------------------------------------------------------------------------------------

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
        levels = {
            name: (given,) if isinstance(given, str) else tuple(given)
            for name, given in (exclude or {}).items()
        }
        least, most = dict(at_least or {}), dict(at_most or {})
        made = Limits(names_of(fixed), least, most, levels, max_changes, within_months)
        return checked(made, self.features)

    def tighten(self, limits: Limits | None) -> ActionSpace:
        """Return this space within a person's limits; vectors keep their meaning."""
        if not limits:
            return self
        made = copy.copy(self)  # all but the limits is shared, not parsed again
        made.legal = self.legal.within(checked(limits, self.features))
        return made

    def __copy__(self) -> ActionSpace:
        made = object.__new__(ActionSpace)
        vars(made).update(vars(self))
        return made

    def allows(self, before: Any, after: Any) -> Bools:
        """Return whether each change is legal, (n,): frames, or vectors (d,) or (n, d); see ``Legal.allows``."""
        return self.legal.allows(before, after)

    def project(self, Z: Array, z0: Array, *, exact: bool = True) -> Array:
        """Return the legal rows nearest to ``Z`` for the subject ``z0``, as vectors (n, d); see ``Legal.project``."""
        return self.legal.project(Z, z0, exact=exact)

    def changes(self, before: Array, after: Array) -> list[Change]:
        """Return what changes between two vectors (d,), in units and words."""
        old, new = self.values(before), self.values(after)
        differs = zip(self.features, self.encoding.changed(before, after)[0], strict=True)
        return [Change.of(f, old[f.name], new[f.name]) for f, moved in differs if moved]

    def months(self, z0: Any, Z: Any) -> Array:
        """Return the whole months (n,) that changes from ``z0`` to ``Z`` take: frames, or vectors (d,) or (n, d).

        The largest of the actions' times, or longer where the clocks say that the person waits; 0 for what has no pace;
        NaN where the clocks of a row disagree.

        Examples
        --------
        >>> import pandas as pd
        >>> debt = Feature("debt", range=(0, 9000), pace="200 EUR a month")
        >>> space = ActionSpace([debt, Feature("age", "integer", range=(18, 80), clock="years")])
        >>> now = pd.DataFrame({"debt": [5000.0], "age": [30]})
        >>> space.months(now, pd.DataFrame({"debt": [2000.0, 2000.0, 5000.0], "age": [31, 30, 32]}))
        array([15., nan, 24.])
        """
        return self.time.months(z0, self.legal.done(Z, z0) if len(self.legal.derived.moved) else Z)

    # words -------------------------------------------------------------------------------------------

    @property
    def heading(self) -> str:
        """The title in the language in use, else as the file has it."""
        return self.meaning.translations.get(current(), {}).get("title", self.title)

    def doubts(self, x: Any) -> list[str]:
        """Return what to ask back about a subject: every number outside what was seen, as a question.

        Values outside ``bounds`` are an error already; what is merely unusual may be true.

        Examples
        --------
        >>> space = ActionSpace([Feature("age", "integer", range=(19, 75), label="Age", unit="years")])
        >>> space.doubts({"age": 150})
        ['Age is 150 years? Usually it runs from 19 to 75 years.']
        """
        values = self.values(self.vector(x))
        asked = (doubt(feature, values[feature.name]) for feature in self.features)
        return [question for question in asked if question is not None]

    def review(self, model: Any = None, X: Frame | None = None) -> list[Finding]:
        """Return what a careful lender would question, see ``review.py``; with a table and a model also what those show."""
        return review(self, model, X)

    def describe(self) -> str:
        """Return a table of the features and rules, in plain words."""
        return table(self)

    def __repr__(self) -> str:
        fixed = sum(not f.actionable for f in self.features)
        return f"ActionSpace({len(self.features)} features, {fixed} fixed, {len(self.rules)} rules, d={self.dimension})"

"""What may change: the features of a table, the rules between them, and a person's limits."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from reap._errors import InputError, whole
from reap._typing import Frame
from reap.space import infer
from reap.space.clocks import Clocks
from reap.space.derived import Derived
from reap.space.digest import digest
from reap.space.encoder import SpaceEncoder
from reap.space.encoding import Encoding
from reap.space.feature import Clock, Feature
from reap.space.inputs import names_of
from reap.space.limits import Limits, checked
from reap.space.meaning import Meaning
from reap.space.readable import Readable
from reap.space.sentences import parse

#: Nobody plans farther ahead than this, in months.
_FARTHEST = 1200


class ActionSpace(Readable):
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
    meaning : Meaning, optional
        What is decided and what a yes means, in plain words.

    Examples
    --------
    >>> import pandas as pd
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
        meaning: Meaning | None = None,
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
        self.meaning = meaning or Meaning()
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
        said = infer.Said(
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
            spans=dict(spans or {}),
            paces=dict(paces or {}),
            clocks=dict(clocks or {}),
            at_application=names_of(at_application),
            notice=dict(notice or {}),
        )
        return cls(
            infer.features(X, said, None if groups is None else dict(groups)),
            rules=rules,
            max_changes=max_changes,
            horizon=horizon,
            title=title,
            encoded=groups is not None,
        )

    @cached_property
    def digest(self) -> str:
        """A hash of everything that gives vectors and rules their meaning; words and dtypes are no part of it."""
        return digest(self.features, list(self.rules), self.max_changes, self.horizon, self.encoded)

    def __getstate__(self) -> dict[str, Any]:
        said = {
            name: getattr(self, name)
            for name in ("features", "rules", "max_changes", "horizon", "title", "encoded", "meaning")
        }
        return {**said, "limits": self._limits, "own": self._encoding.own}

    def __setstate__(self, state: dict[str, Any]) -> None:
        own = state.pop("own")
        ActionSpace.__init__(self, **state)
        if own is not None:
            self._encoding.own = own

    def __deepcopy__(self, memo: Any) -> ActionSpace:
        return self  # immutable

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ActionSpace):
            return NotImplemented
        return (self.digest, self.features, self._limits) == (other.digest, other.features, other._limits)

    def __hash__(self) -> int:
        return hash(self.digest)

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
        state = self.__getstate__()
        del state["own"]
        return ActionSpace(**{**state, "features": (*self.features, *infer.kept(X))})

    def encoder(self) -> SpaceEncoder:
        """Return a scikit-learn transformer from rows to vectors."""
        return SpaceEncoder(self)


def _texts(rules: Any) -> tuple[str, ...]:
    if not hasattr(rules, "__iter__") or not all(isinstance(rule, str) for rule in rules):
        raise InputError(f"the rules are {rules!r}; give a list of sentences")
    return tuple(rules)

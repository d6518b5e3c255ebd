"""What one person cannot or will not do, beyond the action space."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from reap._errors import InputError, unknown, whole
from reap.space.feature import Feature, plain, united


@dataclass(frozen=True)
class Limits:
    """A person's own limits; they only tighten the space. Made by ``ActionSpace.limits``, which checks them.

    Parameters
    ----------
    fixed : tuple of str
        Features that stay as they are.
    at_least, at_most : mapping
        Values in units (levels for an ordinal feature) that the plan must respect.
    exclude : mapping
        Levels that are out of the question, by feature.
    max_changes : int, optional
        How many features may change at most.
    within_months : int, optional
        In how many months the plan must be done; it only shortens the space's horizon.

    Examples
    --------
    >>> limits = Limits(fixed=("age",)).merge(Limits(at_most={"amount": 4000}))
    >>> limits.describe()
    ['age stays as it is', 'amount is at most 4000']
    """

    fixed: tuple[str, ...] = ()
    at_least: Mapping[str, Any] = field(default_factory=dict)
    at_most: Mapping[str, Any] = field(default_factory=dict)
    exclude: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    max_changes: int | None = None
    within_months: int | None = None

    def __bool__(self) -> bool:
        return self != Limits()

    def merge(self, other: Limits) -> Limits:
        """Return both limits together; a later bound on the same feature replaces an earlier one.

        So a person can correct what they said. ``meet`` never loosens.
        """
        known = {**self.exclude, **other.exclude}
        both = {name: (*self.exclude.get(name, ()), *other.exclude.get(name, ())) for name in known}

        def least(*given: int | None) -> int | None:
            return min((k for k in given if k is not None), default=None)

        return Limits(
            fixed=tuple(dict.fromkeys((*self.fixed, *other.fixed))),
            at_least={**self.at_least, **other.at_least},
            at_most={**self.at_most, **other.at_most},
            exclude={name: tuple(dict.fromkeys(levels)) for name, levels in both.items()},
            max_changes=least(self.max_changes, other.max_changes),
            within_months=least(self.within_months, other.within_months),
        )

    def meet(self, other: Limits, features: Sequence[Feature]) -> Limits:
        """Return both limits together, the tighter bound where both name a feature."""
        place = {f.name: f.levels.index if f.levels else float for f in features}
        both = self.merge(other)
        least = {n: max(self.at_least.get(n, v), v, key=place[n]) for n, v in both.at_least.items()}
        most = {n: min(self.at_most.get(n, v), v, key=place[n]) for n, v in both.at_most.items()}
        return replace(both, at_least=least, at_most=most)

    def without(self, name: str) -> Limits:
        """Return the limits with everything about one feature lifted; "max_changes", "within_months" lift those."""
        mappings = ("at_least", "at_most", "exclude")
        kept: dict[str, Any] = {
            key: {n: v for n, v in getattr(self, key).items() if n != name} for key in mappings
        }
        if name in ("max_changes", "within_months"):
            kept[name] = None
        return replace(self, fixed=tuple(n for n in self.fixed if n != name), **kept)

    @property
    def names(self) -> tuple[str, ...]:
        """What is limited, each once: features, "max_changes", "within_months"."""
        named = (*self.fixed, *self.at_least, *self.at_most, *self.exclude)
        whole = [name for name in ("max_changes", "within_months") if getattr(self, name) is not None]
        return (*dict.fromkeys(named), *whole)

    def describe(self, features: Sequence[Feature] = ()) -> list[str]:
        """Return each limit as a sentence, with labels and units where the features are given."""
        by_name = {feature.name: feature for feature in features}

        def label(name: str) -> str:
            return by_name[name].label if name in by_name else name

        def show(name: str, value: Any) -> str:
            return by_name[name].show(value) if name in by_name else str(value)

        said = [f"{label(name)} stays as it is" for name in self.fixed]
        for word, bounds in (("least", self.at_least), ("most", self.at_most)):
            said += [f"{label(name)} is at {word} {show(name, value)}" for name, value in bounds.items()]
        said += [
            f"{label(name)} is not {' or '.join(show(name, level) for level in levels)}"
            for name, levels in self.exclude.items()
        ]
        if self.max_changes is not None:
            said.append(
                f"at most {self.max_changes} feature{'s' if self.max_changes != 1 else ''} may change"
            )
        if self.within_months is not None:
            said.append(f"done within {united(str(self.within_months), 'months', self.within_months)}")
        return said

    def to_dict(self) -> dict[str, Any]:
        """Return plain lists and dicts, for JSON."""
        kept = {name: value for name, value in asdict(self).items() if value not in (None, (), {})}
        return {k: list(v) if isinstance(v, tuple) else v for k, v in kept.items()}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Limits:
        """Undo ``to_dict``."""
        for name in data:
            if name not in cls.__dataclass_fields__:
                raise unknown("limit", name, cls.__dataclass_fields__)
        bounds = {key: dict(data.get(key, {})) for key in ("at_least", "at_most")}
        exclude = {name: tuple(levels) for name, levels in data.get("exclude", {}).items()}
        return cls(**{**data, **bounds, "fixed": tuple(data.get("fixed", ())), "exclude": exclude})


def checked(limits: Limits, features: Sequence[Feature]) -> Limits:
    """Return limits with plain values, or say in one sentence which of them makes no sense for these features."""
    by_name = {feature.name: feature for feature in features}
    for name in (*limits.fixed, *limits.at_least, *limits.at_most, *limits.exclude):
        if name not in by_name:
            raise unknown("feature", name, by_name)
        if by_name[name].derived is not None or (by_name[name].only_moved and name in limits.fixed):
            raise InputError(f"{name!r} follows from other features; limit those instead")
    for name, value in (*limits.at_least.items(), *limits.at_most.items()):
        _check_bound(by_name[name], value)
    for name, levels in limits.exclude.items():
        if by_name[name].is_number:
            raise InputError(f"{name!r} is a number and has no levels; set a least or most instead")
        for level in levels:
            if level not in by_name[name].levels:
                raise unknown(f"level of {name!r}", level, by_name[name].levels)
    if limits.within_months is not None and not any(f.is_action and f.pace is not None for f in features):
        raise InputError(
            "within_months has no meaning here: no feature has a pace, so nothing is dated; give paces first"
        )
    return Limits(
        fixed=limits.fixed,
        at_least={name: plain(value) for name, value in limits.at_least.items()},
        at_most={name: plain(value) for name, value in limits.at_most.items()},
        exclude={name: tuple(map(plain, levels)) for name, levels in limits.exclude.items()},
        max_changes=whole("max_changes", limits.max_changes, 1),
        within_months=whole("within_months", limits.within_months, 0),
    )


def _check_bound(feature: Feature, value: Any) -> None:
    if feature.is_number:
        number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
        if not number or not np.isfinite(value):
            raise InputError(f"a limit on {feature.name!r} must be a number; given was {value!r}")
    elif feature.kind == "categorical":
        raise InputError(f"{feature.name!r} has no order; exclude levels instead of setting a least or most")
    elif value not in feature.levels:
        raise unknown(f"level of {feature.name!r}", value, feature.levels)

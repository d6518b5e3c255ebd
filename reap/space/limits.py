"""What one person cannot or will not do, beyond the action space."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any


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

    def __bool__(self) -> bool:
        return bool(
            self.fixed or self.at_least or self.at_most or self.exclude or self.max_changes is not None
        )

    def merge(self, other: Limits) -> Limits:
        """Return both limits together; a later bound on the same feature replaces an earlier one."""
        exclude = dict(self.exclude)
        for name, levels in other.exclude.items():
            exclude[name] = tuple(dict.fromkeys((*exclude.get(name, ()), *levels)))
        counts = [k for k in (self.max_changes, other.max_changes) if k is not None]
        return Limits(
            fixed=tuple(dict.fromkeys((*self.fixed, *other.fixed))),
            at_least={**self.at_least, **other.at_least},
            at_most={**self.at_most, **other.at_most},
            exclude=exclude,
            max_changes=min(counts) if counts else None,
        )

    def without(self, name: str) -> Limits:
        """Return the limits with everything about one feature lifted ("max_changes" lifts the count)."""
        return Limits(
            fixed=tuple(n for n in self.fixed if n != name),
            at_least={n: v for n, v in self.at_least.items() if n != name},
            at_most={n: v for n, v in self.at_most.items() if n != name},
            exclude={n: v for n, v in self.exclude.items() if n != name},
            max_changes=None if name == "max_changes" else self.max_changes,
        )

    @property
    def names(self) -> tuple[str, ...]:
        """What is limited, each once: features, and "max_changes"."""
        named = (*self.fixed, *self.at_least, *self.at_most, *self.exclude)
        return tuple(dict.fromkeys(named)) + (("max_changes",) if self.max_changes is not None else ())

    def describe(self) -> list[str]:
        """Return each limit as a sentence."""
        said = [f"{name} stays as it is" for name in self.fixed]
        said += [f"{name} is at least {value}" for name, value in self.at_least.items()]
        said += [f"{name} is at most {value}" for name, value in self.at_most.items()]
        said += [f"{name} does not become {' or '.join(map(str, v))}" for name, v in self.exclude.items()]
        if self.max_changes is not None:
            said.append(
                f"at most {self.max_changes} feature{'s' if self.max_changes != 1 else ''} may change"
            )
        return said

    def to_dict(self) -> dict[str, Any]:
        """Return plain lists and dicts, for JSON."""
        kept = {name: value for name, value in asdict(self).items() if value not in (None, (), {})}
        return {k: list(v) if isinstance(v, tuple) else v for k, v in kept.items()}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Limits:
        """Undo ``to_dict``."""
        return cls(
            fixed=tuple(data.get("fixed", ())),
            at_least=dict(data.get("at_least", {})),
            at_most=dict(data.get("at_most", {})),
            exclude={name: tuple(levels) for name, levels in data.get("exclude", {}).items()},
            max_changes=data.get("max_changes"),
        )

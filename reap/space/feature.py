"""What one feature is, how it may change, and how it is spoken of."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from reap._errors import InputError, unknown

Kind = Literal["numeric", "integer", "ordinal", "categorical", "binary"]
Direction = Literal["any", "up", "down"]
KINDS = ("numeric", "integer", "ordinal", "categorical", "binary")
DIRECTIONS = ("any", "up", "down")


@dataclass(frozen=True)
class Feature:
    """One column of the user's table: its values, what may change, its words.

    Parameters
    ----------
    name : str
        The column's name in the table.
    kind : {"numeric", "integer", "ordinal", "categorical", "binary"}
    range : (float, float), optional
        Least and greatest value seen, for numbers. It sets the scale of effort and nothing else.
    levels : sequence, optional
        The values of an ordinal (in order), categorical or binary feature.
    actionable : bool
        False: the person's own value stays.
    direction : {"any", "up", "down"}
        Whether a number or an ordered level may only rise or only fall.
    bounds : (float, float), optional
        Limits on actions in units, apart from the scale. Without them a plan stays within ``range``.
    step : float, optional
        Numbers are recommended in multiples of it (integers: 1). None: any value.
    label, unit : str
        Words for people: "Loan amount", "DM".
    missing : bool
        Whether the value may be missing; it is then left as it is.
    derived : str or callable, optional
        A formula of other features ("debt / income"), recomputed after every change.
    forbidden : sequence of (from, to)
        Transitions between levels that cannot be made.
    phrases : mapping
        Advice in the lender's own words, by "up", "down" or "change": "Wait until you are {after}".
    columns : sequence of str
        For tables that are one-hot encoded already: the columns of this feature, one a level.
    dtype : str, optional
        The pandas dtype rows are given back in.

    Examples
    --------
    >>> print(Feature("duration", "integer", range=(4, 72), unit="months", direction="down").describe())
    whole number, 4 to 72 months; may only fall
    """

    name: str
    kind: Kind = "numeric"
    range: tuple[float, float] | None = None
    levels: tuple[Any, ...] = ()
    actionable: bool = True
    direction: Direction = "any"
    bounds: tuple[float, float] | None = None
    step: float | None = None
    label: str = ""
    unit: str = ""
    missing: bool = False
    derived: str | Callable[[Any], Any] | None = None
    forbidden: tuple[tuple[Any, Any], ...] = ()
    phrases: Mapping[str, str] = field(default_factory=dict)
    columns: tuple[str, ...] = ()
    dtype: str | None = None

    def __post_init__(self) -> None:
        def put(name: str, value: Any) -> None:
            object.__setattr__(self, name, value)

        if self.kind not in KINDS:
            raise unknown("kind of feature", self.kind, KINDS)
        if self.direction not in DIRECTIONS:
            raise unknown(f"direction for {self.name!r}", self.direction, DIRECTIONS)
        put("levels", tuple(self.levels))
        put("columns", tuple(self.columns))
        put("forbidden", tuple((a, b) for a, b in self.forbidden))
        put("label", self.label or self.name)
        if self.is_number:
            put("range", _pair(self.name, "range", self.range))
            if self.bounds is not None:
                put("bounds", _pair(self.name, "bounds", self.bounds))
            if self.kind == "integer" and self.step is None:
                put("step", 1.0)
            if self.step is not None and not (math.isfinite(self.step) and self.step > 0):
                raise InputError(f"the step of {self.name!r} is {self.step!r}; it must be a positive number")
        else:
            self._check_levels()

    def _check_levels(self) -> None:
        if len(set(self.levels)) != len(self.levels) or not self.levels:
            raise InputError(
                f"{self.name!r} needs a list of different levels; given were {list(self.levels)!r}"
            )
        if self.kind == "binary" and len(self.levels) != 2:
            raise InputError(
                f"{self.name!r} is binary and needs two levels; given were {list(self.levels)!r}"
            )
        if self.kind == "categorical" and self.direction != "any":
            raise InputError(
                f"{self.name!r} is categorical and has no direction; make it ordinal to give one"
            )
        if self.bounds is not None:
            raise InputError(f"{self.name!r} has levels, not bounds; leave out levels or forbid transitions")
        if self.derived is not None:
            raise InputError(f"{self.name!r} is derived and must be a number, not {self.kind}")
        for pair in self.forbidden:
            for level in pair:
                if level not in self.levels:
                    raise unknown(f"level of {self.name!r}", level, self.levels)

    @property
    def is_number(self) -> bool:
        """Whether values are numbers in units (numeric or integer)."""
        return self.kind in ("numeric", "integer")

    @property
    def width(self) -> int:
        """Number of encoded columns."""
        return len(self.levels) if self.kind == "categorical" else 1

    @property
    def decimals(self) -> int | None:
        """Decimals shown, from the step; None where any value may occur."""
        if self.step is None:
            return None
        return max(0, min(12, -math.floor(math.log10(self.step) + 1e-9))) if self.step % 1 else 0

    def value(self, code: float) -> Any:
        """Return the value in units for a number or for the index of a level."""
        if np.isnan(code):
            return None
        if not self.is_number:
            return self.levels[round(code)]
        return round(code) if self.kind == "integer" else float(code)

    def show(self, value: Any, unit: bool = True) -> str:
        """Return a value as people write it: ``5,951 DM``.

        Examples
        --------
        >>> Feature("amount", "integer", range=(0, 9), unit="DM").show(5951)
        '5,951 DM'
        """
        if value is None or (isinstance(value, float) and math.isnan(value)):
            return "not known"
        if not self.is_number:
            return _yes_no(value)
        number = float(value)
        decimals = self.decimals
        if decimals is None or round(number, decimals) != number:
            text = f"{number:,.4g}" if abs(number) < 1000 else f"{number:,.0f}"
        else:
            text = f"{number:,.{decimals}f}"
        return f"{text} {self.unit}" if unit and self.unit else text

    def describe(self) -> str:
        """Return what the feature is and may do, in plain words."""
        if self.derived is not None:
            formula = self.derived if isinstance(self.derived, str) else "a function of other features"
            return f"follows from the others: {formula}"
        parts = [self._values()]
        if not self.actionable:
            parts.append("cannot change")
        elif self.direction != "any":
            parts.append("may only rise" if self.direction == "up" else "may only fall")
        if self.actionable and self.forbidden:
            parts.append("not " + ", ".join(f"{_yes_no(a)} → {_yes_no(b)}" for a, b in self.forbidden))
        if self.missing:
            parts.append("may be missing")
        return "; ".join(parts)

    def _values(self) -> str:
        if not self.is_number:
            shown = ", ".join(_yes_no(level) for level in self.levels[:6])
            more = f" and {len(self.levels) - 6} more" if len(self.levels) > 6 else ""
            return f"{'in this order: ' if self.kind == 'ordinal' else 'one of '}{shown}{more}"
        low, high = self.bounds or self.range or (0.0, 0.0)
        what = "whole number" if self.kind == "integer" else "number"
        step = f", in steps of {self.step:g}" if self.step and self.step != 1 else ""
        return f"{what}, {self.show(low, unit=False)} to {self.show(high)}{step}"


def _yes_no(level: Any) -> str:
    if isinstance(level, bool | np.bool_):
        return "yes" if level else "no"
    return str(level)


def _pair(name: str, what: str, given: Sequence[float] | None) -> tuple[float, float]:
    """Return (low, high) as floats, or say what is wrong with them."""
    if given is None:
        raise InputError(
            f"{name!r} is a number and needs a {what} (low, high); use ActionSpace.from_frame to infer it"
        )
    try:
        low, high = (float(v) for v in given)
    except (TypeError, ValueError):
        raise InputError(f"the {what} of {name!r} is {given!r}; give two numbers (low, high)") from None
    if not (math.isfinite(low) and math.isfinite(high) and low <= high):
        raise InputError(f"the {what} of {name!r} is {given!r}; give two finite numbers, the lower one first")
    return low, high

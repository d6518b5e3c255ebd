"""What one feature is, how it may change, and how it is spoken of."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from pandas.api.types import pandas_dtype

from reap._errors import InputError, unknown
from reap.language import _, localized
from reap.space.pace import read_pace, spell_pace
from reap.space.phrases import check_phrases, united
from reap.space.translations import check as check_translations
from reap.space.translations import spoken, translated

Kind = Literal["numeric", "integer", "ordinal", "categorical", "binary"]
Direction = Literal["any", "up", "down", "both"]
Clock = Literal["months", "years"]
KINDS = ("numeric", "integer", "ordinal", "categorical", "binary")
DIRECTIONS = ("any", "up", "down", "both")
CLOCKS = ("months", "years")


@dataclass(frozen=True)
class Feature:
    """One column of the user's table: its values, what may change, its words.

    Parameters
    ----------
    name : str
        The column's name in the table.
    kind : {"numeric", "integer", "ordinal", "categorical", "binary"}
    range : (float, float), optional
        Least and greatest value seen, for numbers.
    span : (float, float), optional
        What effort is scaled by: a change over the whole span is one. The range where it is not given; ``from_frame``
        takes the 1st to the 99th percentile, so that one extreme row does not make every change nearly free.
    levels : sequence, optional
        The values of an ordinal (in order), categorical or binary feature.
    actionable : bool
        False: the person's own value stays.
    direction : {"any", "up", "down", "both"}
        Whether a number or an ordered level may only rise or only fall. "any": nobody has thought about it, and a review
        asks; "both": either way makes sense.
    bounds : (float, float), optional
        Limits on actions in units, apart from the scale. Without them a plan stays within ``range``. A person outside
        them is taken for a slip. A clock stops at the upper one ("24 months or more").
    max_change : float, optional
        How far the value may move from where the person stands: units of a number, levels of an ordinal feature.
    step : float, optional
        Numbers are recommended in multiples of it (integers: 1). None: any value.
    pace : float or str, optional
        How fast it moves: "200 DM a month", "1 every 12 months" for a number, "6 months a level" for levels (of a
        categorical or binary feature: for any change). As a number: units a month, months a level.
    clock : {"months", "years"}, optional
        It goes by itself, in this unit, together with all other clocks, and is never advice (age, months since …).
    when : "application", optional
        It is chosen on the day of the application and takes no time (the amount asked for).
    notice : float, optional
        The smallest difference, in units, that is worth a question to a person.
    label, unit : str
        Words for people: "Loan amount", "DM".
    missing : bool
        Whether the value may be missing; it is then left as it is.
    derived : str or callable, optional
        A formula of other features ("debt / income"), recomputed after every change; or a function that takes
        a mapping from feature names to arrays (n,) (numbers in units, levels as numbers where they are
        numbers and as their index otherwise) and returns an array (n,). A space that is to be pickled needs
        a function with a name of its own, and one that is to be written to a file a formula.
    forbidden : sequence of (from, to)
        Transitions between levels that cannot be made.
    phrases : mapping
        Advice in the lender's own words, by "up", "down" or "change": "Repay over {after:month|months}". Fields:
        before, after, by, unit; a field with two words after it says the number and the word that fits.
    columns : sequence of str
        For tables that are one-hot encoded already: the columns of this feature, one a level.
    dtype : str, optional
        The pandas dtype rows are given back in.
    translations : mapping of language to words
        label, unit, levels and phrases in other languages; see ``translations.py``.

    Examples
    --------
    >>> print(Feature("duration", "integer", range=(4, 72), unit="months", direction="down").describe())
    whole number, 4 to 72 months; may only fall
    """

    name: str
    kind: Kind = "numeric"
    range: tuple[float, float] | None = None
    span: tuple[float, float] | None = None
    levels: tuple[Any, ...] = ()
    actionable: bool = True
    direction: Direction = "any"
    bounds: tuple[float, float] | None = None
    max_change: float | None = None
    step: float | None = None
    pace: float | str | None = None
    clock: Clock | None = None
    when: Literal["application"] | None = None
    notice: float | None = None
    label: str = spoken()
    unit: str = spoken()
    missing: bool = False
    derived: str | Callable[[Any], Any] | None = None
    forbidden: tuple[tuple[Any, Any], ...] = ()
    phrases: Mapping[str, str] = field(default_factory=dict)
    columns: tuple[str, ...] = ()
    dtype: str | None = None
    translations: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        def put(name: str, value: Any) -> None:
            object.__setattr__(self, name, value)

        if self.kind not in KINDS:
            raise unknown("kind of feature", self.kind, KINDS)
        if self.direction not in DIRECTIONS:
            raise unknown(f"direction for {self.name!r}", self.direction, DIRECTIONS)
        if not isinstance(self.name, str) or not self.name:
            raise InputError(f"the name of a feature is {self.name!r}; it must be text")
        for key in ("levels", "columns", "forbidden"):
            if isinstance(getattr(self, key), str) or not hasattr(getattr(self, key), "__iter__"):
                raise InputError(f"{key} of {self.name!r} is {getattr(self, key)!r}; give a list")
        put("levels", tuple(plain(level) for level in self.levels))
        put("columns", tuple(self.columns))
        if any(
            isinstance(pair, str) or np.size(np.asarray(pair, dtype=object)) != 2 for pair in self.forbidden
        ):
            raise InputError(f"forbidden of {self.name!r} is {list(self.forbidden)!r}; give pairs (from, to)")
        put("forbidden", tuple((plain(a), plain(b)) for a, b in self.forbidden))
        put("label", self.__dict__["label"] or self.name)
        put("translations", check_translations(self.name, self.levels, self.translations))
        self._check_words()
        if self.max_change is not None:
            if self.kind in ("categorical", "binary") or self.derived is not None:
                raise InputError(
                    f"{self.name!r} has no distance to limit; max_change is for numbers and ordered levels"
                )
            if not isinstance(self.max_change, int | float | np.number) or not 0 < self.max_change < np.inf:
                raise InputError(f"max_change of {self.name!r} is {self.max_change!r}; give a number above 0")
            put("max_change", float(self.max_change))
        if self.is_number:
            put("range", _pair(self.name, "range", self.range))
            if self.bounds is not None:
                put("bounds", _pair(self.name, "bounds", self.bounds))
            step = 1.0 if self.kind == "integer" and self.step is None else self.step
            put("step", None if step is None else _step(self.name, self.kind, step))
            if self.span is not None:
                put("span", _pair(self.name, "span", self.span))
            self._check_number()
        else:
            self._check_levels()
        self._check_time()
        if self.pace is not None:
            put("pace", read_pace(self.name, self.pace, self.is_number))
        if self.clock is not None:
            put("actionable", False)  # nobody does it

    def _check_words(self) -> None:
        for flag in ("actionable", "missing"):
            if not isinstance(getattr(self, flag), bool | np.bool_):
                raise InputError(
                    f"{flag} of {self.name!r} is {getattr(self, flag)!r}; it must be true or false"
                )
        for word in ("label", "unit"):
            if not isinstance(self.__dict__[word], str):
                raise InputError(f"{word} of {self.name!r} is {self.__dict__[word]!r}; it must be text")
        if self.derived is not None and not isinstance(self.derived, str) and not callable(self.derived):
            raise InputError(
                f"derived of {self.name!r} is {self.derived!r}; write a formula, such as 'debt / income'"
            )
        if not all(isinstance(column, str) for column in self.columns):
            raise InputError(f"columns of {self.name!r} is {list(self.columns)!r}; give names of columns")
        self._check_dtype()
        check_phrases(self.name, self.phrases)

    def _check_dtype(self) -> None:
        try:
            if self.dtype is not None and not str(self.dtype).startswith("category"):
                pandas_dtype(self.dtype)
            known = self.dtype is None or isinstance(self.dtype, str)
        except TypeError:
            known = False
        if not known:
            raise InputError(
                f"dtype of {self.name!r} is {self.dtype!r}; give one that pandas knows, such as 'int64'"
            )

    def _check_time(self) -> None:
        if self.when not in (None, "application"):
            raise unknown(f"value of when for {self.name!r}", self.when, ("application",))
        if self.pace is not None and self.when is not None:
            raise InputError(
                f"{self.name!r} is chosen on the day of the application and has a pace; keep one of them"
            )
        if self.clock is None:
            return
        if self.clock not in CLOCKS:
            raise unknown(f"unit for the clock {self.name!r}", self.clock, CLOCKS)
        if not self.is_number or self.derived is not None:
            raise InputError(f"{self.name!r} cannot be a clock; a clock is a number that goes by itself")
        if self.pace is not None or self.when is not None or self.max_change is not None:
            raise InputError(
                f"{self.name!r} is a clock and goes by itself; leave out pace, when and max_change, and set the horizon"
            )
        if self.direction == "down":
            raise InputError(f"{self.name!r} is a clock and goes up; leave out its direction")

    def _check_number(self) -> None:
        if self.levels or self.forbidden:
            raise InputError(
                f"{self.name!r} is a number and has no levels; give bounds, or make it ordinal or categorical"
            )
        if self.columns:
            raise InputError(f"{self.name!r} is a number; only a categorical feature has several columns")
        if self.span is not None and self.span[0] == self.span[1]:
            raise InputError(f"the span of {self.name!r} is {self.span!r}; give two different numbers")
        if self.notice is not None:
            if isinstance(self.notice, bool) or not isinstance(self.notice, int | float | np.number):
                raise InputError(f"notice of {self.name!r} is {self.notice!r}; give a number above 0")
            if not 0 < self.notice < math.inf:
                raise InputError(f"notice of {self.name!r} is {self.notice!r}; give a number above 0")
            object.__setattr__(self, "notice", float(self.notice))
        if self.derived is not None and self.bounds is not None:
            raise InputError(
                f"{self.name!r} follows from other features; give bounds to those, or write a rule with them"
            )

    def _check_levels(self) -> None:
        for level in self.levels:
            if not isinstance(level, Hashable) or isinstance(level, Mapping | tuple):
                raise InputError(
                    f"{level!r} cannot be a level of {self.name!r}; give text, numbers, true or false"
                )
        if any(level is None or level != level for level in self.levels):
            raise InputError(f"a missing value is no level of {self.name!r}; say missing=True instead")
        if len(set(self.levels)) != len(self.levels) or not self.levels:
            raise InputError(
                f"{self.name!r} needs a list of different levels; given were {list(self.levels)!r}"
            )
        if self.kind == "binary" and len(self.levels) != 2:
            raise InputError(
                f"{self.name!r} is binary and needs two levels; given were {list(self.levels)!r}"
            )
        if self.kind == "categorical" and self.direction in ("up", "down"):
            raise InputError(
                f"{self.name!r} is categorical and has no direction; make it ordinal to give one"
            )
        if any(value is not None for value in (self.bounds, self.range, self.span, self.step, self.notice)):
            raise InputError(
                f"{self.name!r} has levels, not numbers; range, span, bounds, step and notice do not apply to it"
            )
        if self.columns and (self.kind != "categorical" or len(self.columns) != len(self.levels)):
            raise InputError(
                f"{self.name!r} has {len(self.columns)} columns and {len(self.levels)} levels; a one-hot group has "
                "one column a level and is categorical"
            )
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
    def is_action(self) -> bool:
        """Whether a person can do it: it may change, does not follow from others, and does not go by itself."""
        return self.actionable and self.derived is None

    @property
    def origin(self) -> float:
        """The value in units, or the index of the level, that is encoded as 0."""
        scaled = self.span or self.range
        return scaled[0] if self.is_number and scaled else 0.0

    @property
    def scale(self) -> float:
        """The change in units, or in levels, that is encoded as 1."""
        if self.is_number:
            low, high = self.span or self.range or (0.0, 1.0)
            return (high - low) or 1.0
        return max(len(self.levels) - 1.0, 1.0) if self.kind == "ordinal" else 1.0

    @property
    def width(self) -> int:
        """Number of encoded columns."""
        return len(self.levels) if self.kind == "categorical" else 1

    @property
    def decimals(self) -> int | None:
        """Decimals shown, from the step; None where any value may occur."""
        if self.step is None:
            return None
        return next((k for k in range(12) if math.isclose(round(self.step, k), self.step)), 12)

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
            return _("not known")
        if not self.is_number:
            said: str | None = (translated(self, "levels") or {}).get(str(value))
            return _yes_no(value) if said is None else said
        number = float(value)
        decimals = self.decimals
        if decimals is None or not math.isclose(round(number, decimals), number, rel_tol=1e-9, abs_tol=1e-12):
            text = f"{number:,.4g}" if abs(number) < 1000 else f"{number:,.0f}"
        else:
            text = f"{number:,.{decimals}f}"
        text = localized(text)
        return united(text, self.unit, number) if unit else text

    def phrase(self, rises: bool) -> str | None:
        """Return the lender's own words for a change, in the language in use where there are some."""
        own = translated(self, "phrases")
        phrases = self.phrases if own is None else own
        return phrases.get("up" if rises else "down") or phrases.get("change")

    def describe(self) -> str:
        """Return what the feature is and may do, in plain words."""
        if self.derived is not None:
            formula = self.derived if isinstance(self.derived, str) else "a function of other features"
            return f"follows from the others: {formula}"
        parts = [self._values()]
        if self.clock is not None:
            parts.append("goes by itself")
        elif not self.actionable:
            parts.append("cannot change")
        elif self.direction in ("up", "down"):
            parts.append("may only rise" if self.direction == "up" else "may only fall")
        if self.actionable and self.max_change is not None:
            far = (
                self.show(self.max_change)
                if self.is_number
                else f"{self.max_change:g} level{'s' if self.max_change != 1 else ''}"
            )
            parts.append(f"by at most {far}")
        if self.actionable and self.forbidden:
            parts.append("not " + ", ".join(f"{_yes_no(a)} → {_yes_no(b)}" for a, b in self.forbidden))
        if self.actionable and self.pace is not None:
            parts.append(self.pace_text)
        if self.actionable and self.when is not None:
            parts.append("chosen on the day of the application")
        if self.missing:
            parts.append("may be missing")
        return "; ".join(parts)

    @property
    def pace_text(self) -> str:
        """The pace in words, as a file has it; empty without one."""
        return "" if self.pace is None else spell_pace(float(self.pace), self.unit, self.is_number)

    def _values(self) -> str:
        if not self.is_number:
            shown = ", ".join(_yes_no(level) for level in self.levels[:6])
            more = f" and {len(self.levels) - 6} more" if len(self.levels) > 6 else ""
            return f"{'in this order: ' if self.kind == 'ordinal' else 'one of '}{shown}{more}"
        low, high = self.bounds or self.range or (0.0, 0.0)
        what = "whole number" if self.kind == "integer" else "number"
        step = f", in steps of {self.step:g}" if self.step and self.step != 1 else ""
        return f"{what}, {self.show(low, unit=False)} to {self.show(high)}{step}"


def plain(value: Any) -> Any:
    """Return a NumPy scalar as Python's own, anything else as it is."""
    return value.item() if isinstance(value, np.generic) else value


def _step(name: str, kind: str, given: Any) -> float:
    if isinstance(given, bool) or not isinstance(given, int | float | np.number) or not 0 < given < math.inf:
        raise InputError(f"the step of {name!r} is {given!r}; it must be a positive number")
    if kind == "integer" and float(given) != round(float(given)):
        raise InputError(f"the step of {name!r} is {given!r}; a whole number needs a whole step")
    return float(given)


def _yes_no(level: Any) -> str:
    if isinstance(level, bool | np.bool_):
        return _("yes") if level else _("no")
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
    if not (math.isfinite(high - low) and low <= high):
        raise InputError(f"the {what} of {name!r} is {given!r}; give two finite numbers, the lower one first")
    return low, high

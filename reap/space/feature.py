"""What one feature is, how it may change, and how it is spoken of."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from reap.language import _, localized
from reap.space.declaration import settle
from reap.space.description import describe, yes_no
from reap.space.pace import spell_pace
from reap.space.phrases import OWN_NAMES, key_of, united
from reap.space.translations import spoken, translated

Kind = Literal["numeric", "integer", "ordinal", "categorical", "binary"]
Direction = Literal["any", "up", "down", "both"]
Clock = Literal["months", "years"]


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
    deed : str
        What one does about it ("pay on time"). Features with the same deed are never all that a question compares: nobody
        can say which of two effects of the same doing is easier.
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
    includes : sequence of (more, less)
        Levels of a category that ask for all of another and more: "200 DM or more" includes "0 to 200 DM". No question
        compares the two.
    phrases : mapping
        Advice in the lender's own words, by "up", "down" or "change": "Repay over {after:month|months}". Fields:
        before, after, by, unit; a field with two words after it says the number and the word that fits, after "=" the
        word alone, and with "%" a share in percent. A level, or a number, may have its own, for a change to it. "more"
        and "less" name an option of a question: "smaller loan"; "names" those for a change to some value.
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
    deed: str = ""
    label: str = spoken()
    unit: str = spoken()
    missing: bool = False
    derived: str | Callable[[Any], Any] | None = None
    forbidden: tuple[tuple[Any, Any], ...] = ()
    includes: tuple[tuple[Any, Any], ...] = ()
    phrases: Mapping[str, Any] = field(default_factory=dict)
    columns: tuple[str, ...] = ()
    dtype: str | None = None
    translations: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        settle(self)

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
            return yes_no(value) if said is None else said
        number = float(value)
        decimals = self.decimals
        if decimals is None or not math.isclose(round(number, decimals), number, rel_tol=1e-9, abs_tol=1e-12):
            text = f"{number:,.4g}" if abs(number) < 1000 else f"{number:,.0f}"
        else:
            text = f"{number:,.{decimals}f}"
        text = localized(text)
        return united(text, self.unit, number) if unit else text

    def phrase(self, rises: bool, after: Any = None) -> str | None:
        """Return the lender's own words for a change to a value, in the language in use where there are some."""
        phrases = self._phrases()
        return phrases.get(key_of(after)) or phrases.get("up" if rises else "down") or phrases.get("change")

    def named(self, rises: bool, after: Any = None) -> str | None:
        """Return the lender's own name for a change ("smaller loan", "a job"), in the language in use; None without one."""
        phrases = self._phrases()
        names: Mapping[str, str] = phrases.get(OWN_NAMES, {})
        return names.get(key_of(after)) or phrases.get("more" if rises else "less")

    def _phrases(self) -> Mapping[str, Any]:
        own = translated(self, "phrases")
        return self.phrases if own is None else own

    def describe(self) -> str:
        """Return what the feature is and may do, in plain words."""
        return describe(self)

    @property
    def pace_text(self) -> str:
        """The pace in words, as a file has it; empty without one."""
        return "" if self.pace is None else spell_pace(float(self.pace), self.unit, self.is_number)

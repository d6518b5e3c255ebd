"""Changes and spaces in plain words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from reap._errors import InputError
from reap.language import _, current
from reap.language import month as month_of
from reap.space.clocks import whole_months
from reap.space.feature import Feature
from reap.space.limits import Limits
from reap.space.phrases import Counted, united
from reap.space.rules import SAME


@dataclass(frozen=True)
class Change:
    """One feature's change, in units and in words.

    Examples
    --------
    >>> loan = Feature("amount", "integer", range=(0, 20000), label="Loan amount", unit="DM")
    >>> change = Change.of(loan, 5951, 3200)
    >>> print(change)
    Reduce loan amount from 5,951 to 3,200 DM
    >>> change.signed, change.title
    ('−2,751 DM', 'lower loan amount')
    """

    feature: str
    label: str
    unit: str
    before: Any
    after: Any
    text: str
    signed: str
    before_text: str
    after_text: str
    title: str
    months: int = 0
    says_months: bool = False

    def __str__(self) -> str:
        return self.text

    @classmethod
    def of(cls, feature: Feature, before: Any, after: Any) -> Change:
        """Return the change of one feature between two values in units."""
        rises = _rises(feature, before, after)
        old, new = feature.show(before), feature.show(after)
        signed = f"{old} → {new}"
        if feature.is_number and before is not None and after is not None:
            signed = ("+" if rises else "−") + feature.show(abs(after - before))
        return cls(
            feature=feature.name,
            label=feature.label,
            unit=feature.unit,
            before=before,
            after=after,
            text=_sentence(feature, before, after, rises),
            signed=signed,
            before_text=old,
            after_text=new,
            title=_title(feature, after, rises, known=None not in (before, after)),
            months=_months(feature, before, after),
            says_months="{months" in (feature.phrase(rises, after) or ""),
        )


def _rises(feature: Feature, before: Any, after: Any) -> bool:
    if before is None or after is None:
        return False
    if feature.is_number:
        return bool(after > before)
    return feature.levels.index(after) > feature.levels.index(before)


def _title(feature: Feature, after: Any, rises: bool, known: bool) -> str:
    """Return a change in a few words, without its numbers; of a value that was not ``known``, what it becomes."""
    label, new = lowered(feature.label), feature.show(after)
    if known and (named := feature.named(rises, after)):
        return named
    if not (known and feature.is_number):
        return label if label.lower() == new.lower() else f"{label}: {new}"  # not "guarantor: guarantor"
    return (_("higher {label}") if rises else _("lower {label}")).format(label=label)


def _sentence(feature: Feature, before: Any, after: Any, rises: bool) -> str:
    before = _rounded(feature, before, after)
    old, new = feature.show(before, unit=False), feature.show(after, unit=False)
    phrase = feature.phrase(rises, after)
    unit = united("", feature.unit, float(after)) if feature.is_number and after is not None else ""
    if phrase:
        by = abs(after - before) if feature.is_number and None not in (before, after) else None
        return phrase.format(
            before=Counted(old, before),
            after=Counted(new, after),
            unit=unit.strip(),
            by=Counted("" if by is None else feature.show(by, unit=False), by),
            months=Counted(str(months := _months(feature, before, after)), months),
        )
    old_new = {"label": feature.label, "old": old, "new": f"{new}{unit}"}
    if feature.clock is not None:
        return _("{label} goes from {old} to {new} with time").format(**old_new)
    if feature.derived is not None:  # nobody does this; it follows from the rest of the advice
        said = (
            _("{label} rises from {old} to {new} as a result")
            if rises
            else _("{label} falls from {old} to {new} as a result")
        )
        return said.format(**old_new)
    old_new["label"] = lowered(feature.label)
    if feature.is_number:
        said = _("Increase {label} from {old} to {new}") if rises else _("Reduce {label} from {old} to {new}")
    elif feature.kind == "ordinal":
        said = (
            _("Raise {label} from “{old}” to “{new}”")
            if rises
            else _("Lower {label} from “{old}” to “{new}”")
        )
    else:
        said = _("Change {label} from “{old}” to “{new}”")
    return said.format(**old_new)


def _months(feature: Feature, before: Any, after: Any) -> int:
    """Return the whole months that a change takes at the feature's pace; 0 without one."""
    if feature.pace is None or None in (before, after):
        return 0
    old, new = (before, after) if feature.is_number else map(feature.levels.index, (before, after))
    return whole_months(feature, float(abs(new - old)))


def _rounded(feature: Feature, before: Any, after: Any) -> Any:
    """Return where a number stands as exactly as it is advised, "70" and not "70.21 to 41 %", unless that is the same."""
    if not feature.is_number or feature.decimals is None or None in (before, after):
        return before
    near = round(float(before), feature.decimals)
    return before if near == round(float(after), feature.decimals) else near


def date_in_words(months: float, start: Any = None) -> str:
    """Return "in month 5", or "by March 2027" counted from a day; see ``ActionSpace.when``."""
    if not months >= 0 or months != int(months):
        raise InputError(f"the time is {months!r} months; give a whole number of months, 0 or more")
    if months == 0:
        return _("at once")
    if start is None:
        return _("in month {number}").format(number=int(months))
    try:
        day = date.fromisoformat(start) if isinstance(start, str) else start
        year, month = divmod(day.year * 12 + day.month - 1 + int(months), 12)
    except (AttributeError, ValueError):
        raise InputError(f"the start is {start!r}; give a day, such as 2026-11-16") from None
    return _("by {month}").format(month=month_of(year, month + 1))


def doubt(feature: Feature, value: Any) -> str | None:
    """Return the question to ask back about one value in units; None where it is within what was seen.

    Examples
    --------
    >>> doubt(Feature("age", "integer", range=(19, 75), label="Age", unit="years"), 150)
    'Age is 150 years? Usually it runs from 19 to 75 years.'
    """
    if feature.range is None or value is None or feature.derived is not None:
        return None
    low, high = feature.range
    slack = SAME * feature.scale
    if low - slack <= value <= high + slack:
        return None
    said = _("{label} is {value}? Usually it runs from {low} to {high}.")
    return said.format(
        label=feature.label,
        value=feature.show(value),
        low=feature.show(low, unit=False),
        high=feature.show(high),
    )


#: What a German sentence may begin with that is no noun; "Ihr" and "Sie" have their capitals everywhere.
_NO_NOUN = re.compile(
    "(Alle|Das|Dem|Den|Der|Die|Eine?[mnr]?|Jemanden|Keine?n?|Wer|Am|An|Auf|Aus|Beim?|Bis|Für|Im|In|Mit|Nach|Über|Unter|Vo[mn]|Vor"
    "|Zu[mr]?|Höchstens|Mehr|Mindestens|Neue[rs]?|Nicht|Noch|Nur|Weniger)"
)


def lowered(label: str) -> str:
    """Return a label for the middle of a sentence; abbreviations keep their capitals, and German nouns theirs.

    Examples
    --------
    >>> lowered("Loan amount"), lowered("FICO score")
    ('loan amount', 'FICO score')
    """
    first = label.split(" ", 1)[0]
    if current() == "de" and not _NO_NOUN.fullmatch(first):
        return label
    return label if len(first) > 1 and first[1:] != first[1:].lower() else label[:1].lower() + label[1:]


def table(title: str, features: Sequence[Feature], rules: Sequence[str], limits: Limits) -> str:
    """Return a space as a table in plain words: a line a feature, then rules and limits.

    Examples
    --------
    >>> print(table("Loans", [Feature("age", range=(18, 80), direction="up")], [], Limits(at_most={"age": 60})))
    Loans
      age  number, 18 to 80; may only rise
      Limit: age is at most 60
    """
    width = max(len(feature.label) for feature in features)
    lines = [title]
    lines += [f"  {feature.label:<{width}}  {feature.describe()}" for feature in features]
    lines += [f"  Rule: {rule}" for rule in rules]
    lines += [f"  Limit: {text}" for text in limits.describe(features)]
    return "\n".join(lines)

"""Advice in the lender's own words: which fields a phrase may have, and "1 month" but "2 months"."""

from __future__ import annotations

import string
from collections.abc import Mapping, Sequence
from typing import Any

from reap._errors import InputError, unknown

#: When a phrase is used, and what it may mention. A level may have a phrase of its own, for a change to it ("Find a job").
#: "more" and "less" name an option in a question ("smaller loan").
PHRASES = ("up", "down", "change")
NAMES = ("more", "less")
FIELDS = ("before", "after", "by", "unit")


class Counted(str):
    """A number as people write it, that knows whether it is one: ``{after:month|months}``.

    Examples
    --------
    >>> one, many = Counted("1", 1), Counted("1,200", 1200)
    >>> f"{one:month|months}, {many:month|months}, {many}"
    '1 month, 1,200 months, 1,200'
    """

    single: bool

    def __new__(cls, text: str, value: Any = None) -> Counted:
        """Return the text of a value; only exactly 1 counts as one."""
        made = super().__new__(cls, text)
        made.single = isinstance(value, int | float) and value == 1
        return made

    def __format__(self, spec: str) -> str:
        one, bar, many = spec.partition("|")
        return f"{self} {one if self.single else many}" if bar else str(self)


def check_phrases(name: str, phrases: Any, levels: Sequence[Any] = ()) -> None:
    """Refuse a phrase that could not be said, in a sentence that names the feature and what is allowed."""
    if not isinstance(phrases, Mapping):
        raise InputError(f'phrases of {name!r} is {phrases!r}; write {{ up = "…", down = "…" }}')
    for key, phrase in phrases.items():
        if key not in (known := (*PHRASES, *NAMES, *map(str, levels))):
            raise unknown(f"phrase for {name!r}", key, known)
        try:
            parts = list(string.Formatter().parse(phrase))
        except (TypeError, ValueError) as error:
            raise InputError(
                f"the phrase {phrase!r} of {name!r} cannot be read ({error}); write text with {_allowed()}"
            ) from None
        for _, field, spec, conversion in parts:
            if field is None:
                continue
            if key in NAMES:
                raise InputError(
                    f'the name {phrase!r} of {name!r} mentions {{{field}}}; a name is plain text, such as "smaller loan"'
                )
            plain = not conversion and (not spec or (spec.count("|") == 1 and not set(spec) & set("{}")))
            if field not in FIELDS or not plain:
                shown = field + (f"!{conversion}" if conversion else "") + (f":{spec}" if spec else "")
                raise InputError(
                    f"the phrase {phrase!r} of {name!r} mentions {{{shown}}}; allowed are {_allowed()}, and "
                    "plurals such as {after:month|months}"
                )


def _allowed() -> str:
    return ", ".join(f"{{{field}}}" for field in FIELDS)


def united(text: str, unit: str, value: float) -> str:
    """Return a number with its unit: "1 month", "1 hour a week", "5,951 DM".

    Examples
    --------
    >>> united("1", "months", 1), united("1", "hours a week", 1), united("2", "months", 2), united("1", "DM", 1)
    ('1 month', '1 hour a week', '2 months', '1 DM')
    """
    if hasattr(unit, "one"):  # the unit says itself what one of it is called
        return f"{text} {unit.one if abs(value) == 1 else unit}"
    first, space, rest = unit.partition(" ")
    if abs(value) == 1 and len(first) > 2 and first.endswith("s") and not first.endswith(("ss", "us")):
        unit = first[:-1] + space + rest
    return f"{text} {unit}" if unit else text

"""Advice in the lender's own words: which fields a phrase may have, and "1 month" but "2 months"."""

from __future__ import annotations

import string
from collections.abc import Mapping, Sequence
from typing import Any

from reap._errors import InputError, unknown
from reap.language import number

#: When a phrase is used. A value may have a phrase of its own, for a change to it: "Find a job" for a level, "Pay off all
#: cards" for 0.
PHRASES = ("up", "down", "change")
#: "more" and "less" name an option in a question ("smaller loan"); in "names" a value has a name of its own ("a job").
NAMES = ("more", "less")
OWN_NAMES = "names"
#: What a phrase may mention; "months" are how long the change takes at the feature's pace.
FIELDS = ("before", "after", "by", "unit", "months")


class Counted(str):
    """A number as people write it, that knows whether it is one: ``{after:month|months}``.

    After "=" only the word is said, and # stands for the number; "%" says a share in percent.

    Examples
    --------
    >>> one, many = Counted("1", 1), Counted("1,200", 1200)
    >>> f"{one:month|months}, {many:month|months}, {many}"
    '1 month, 1,200 months, 1,200'
    >>> f"{one:=it counts|# count}, {many:=it counts|# count}, {Counted('0.35', 0.35):%}"
    'it counts, 1,200 count, 35 %'
    """

    value: Any

    def __new__(cls, text: str, value: Any = None) -> Counted:
        """Return the text of a value; only exactly 1 counts as one."""
        made = super().__new__(cls, text)
        made.value = value if isinstance(value, int | float) else None
        return made

    def __format__(self, spec: str) -> str:
        if spec == "%" and self.value is not None:
            return f"{number(100 * self.value)} %"
        one, bar, many = spec.removeprefix("=").partition("|")
        if not bar:
            return str(self)
        word = one if self.value == 1 else many
        return word.replace("#", self) if spec.startswith("=") else f"{self} {word}"


def key_of(value: Any) -> str:
    """Return how a file names a value that has words of its own.

    Examples
    --------
    >>> key_of(0.0), key_of(13), key_of("less than 1 year")
    ('0', '13', 'less than 1 year')
    """
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def check_phrases(name: str, phrases: Any, levels: Sequence[Any] = (), paced: bool = True) -> None:
    """Refuse a phrase that could not be said, in a sentence that names the feature and what is allowed.

    Without ``levels`` it is a number, whose values may have words of their own. What is not ``paced`` takes no time that a
    phrase could mention.
    """
    if not isinstance(phrases, Mapping):
        raise InputError(f'phrases of {name!r} is {phrases!r}; write {{ up = "…", down = "…" }}')
    own = tuple(map(str, levels))
    for key, phrase in phrases.items():
        if key == OWN_NAMES and key not in own:
            _check_names(name, phrase, own)
            continue
        if not _known(key, own) and key not in (known := (*PHRASES, *NAMES, OWN_NAMES, *own)):
            raise unknown(f"phrase for {name!r}", key, known)
        for field, spec, conversion in _fields(name, phrase):
            if key in NAMES:
                raise _no_name(name, phrase, field)
            if field == "months" and not paced:
                raise InputError(
                    f"the phrase {phrase!r} of {name!r} mentions {{months}}; give {name!r} a pace, or leave them out"
                )
            plural = spec.count("|") == 1 and not set(spec) & set("{}")
            if field not in FIELDS or conversion or not (spec in ("", "%") or plural):
                shown = field + (f"!{conversion}" if conversion else "") + (f":{spec}" if spec else "")
                raise InputError(
                    f"the phrase {phrase!r} of {name!r} mentions {{{shown}}}; allowed are {_allowed()}, and "
                    "plurals such as {after:month|months}"
                )


def _check_names(name: str, names: Any, levels: Sequence[str]) -> None:
    if not isinstance(names, Mapping):
        raise InputError(f'names in the phrases of {name!r} is {names!r}; write {{ "some level" = "…" }}')
    for key, said in names.items():
        if not _known(key, levels):
            raise unknown(f"name for {name!r}", key, levels or ("a number",))
        for field, _, _ in _fields(name, said):
            raise _no_name(name, said, field)


def _known(key: Any, levels: Sequence[str]) -> bool:
    """Whether a key names a value of the feature: one of its levels, or, without levels, a number."""
    if levels:
        return key in levels
    try:
        return bool(key == key_of(float(key)))
    except (TypeError, ValueError):
        return False


def _fields(name: str, phrase: Any) -> list[tuple[str, str, str | None]]:
    """Return the fields that a phrase mentions, with what follows their names."""
    try:
        parts = list(string.Formatter().parse(phrase))
    except (TypeError, ValueError) as error:
        raise InputError(
            f"the phrase {phrase!r} of {name!r} cannot be read ({error}); write text with {_allowed()}"
        ) from None
    return [(field, spec or "", conversion) for _, field, spec, conversion in parts if field is not None]


def _no_name(name: str, said: str, field: str) -> InputError:
    return InputError(
        f'the name {said!r} of {name!r} mentions {{{field}}}; a name is plain text, such as "smaller loan"'
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

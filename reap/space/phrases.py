"""What is said of a feature: advice in the lender's own words, words in other languages, units, and paces.

Words in other languages are a table beside the feature::

    [features.duration.de]
    label = "Laufzeit"
    unit = "Monat|Monate"
    phrases = { down = "In {after:Monat|Monaten} statt in {before} zurückzahlen" }

What is not translated is said in the words of the file. No translation changes what a value means: digests, files and forms
hold the values themselves.
"""

from __future__ import annotations

import math
import re
import string
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from reap._errors import InputError, unknown
from reap.language import LANGUAGES, current, number

#: When a phrase is used. A value may have a phrase of its own, for a change to it: "Find a job" for a level, "Pay off all
#: cards" for 0.
PHRASES = ("up", "down", "change")
#: "more" and "less" name an option in a question ("smaller loan"); in "names" a value has a name of its own ("a job").
NAMES = ("more", "less")
OWN_NAMES = "names"
#: What a phrase may mention; "months" are how long the change takes at the feature's pace.
FIELDS = ("before", "after", "by", "unit", "months")
_ALLOWED = ", ".join(f"{{{field}}}" for field in FIELDS)
#: What can be translated.
WORDS = ("label", "unit", "levels", "phrases")


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


# checking ---------------------------------------------------------------------------------------------


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
            if not isinstance(phrase, Mapping):
                raise InputError(
                    f'names in the phrases of {name!r} is {phrase!r}; write {{ "some level" = "…" }}'
                )
            for value, said in phrase.items():
                if not _names_value(value, own):
                    raise unknown(f"name for {name!r}", value, own or ("a number",))
                _check_name(name, said)
            continue
        if not _names_value(key, own) and key not in (known := (*PHRASES, *NAMES, OWN_NAMES, *own)):
            raise unknown(f"phrase for {name!r}", key, known)
        if key in NAMES:
            _check_name(name, phrase)
        for field, spec, conversion in _fields(name, phrase):
            if field == "months" and not paced:
                raise InputError(
                    f"the phrase {phrase!r} of {name!r} mentions {{months}}; give {name!r} a pace, or leave them out"
                )
            plural = spec.count("|") == 1 and not set(spec) & set("{}")
            if field not in FIELDS or conversion or not (spec in ("", "%") or plural):
                shown = field + (f"!{conversion}" if conversion else "") + (f":{spec}" if spec else "")
                raise InputError(
                    f"the phrase {phrase!r} of {name!r} mentions {{{shown}}}; allowed are {_ALLOWED}, and "
                    "plurals such as {after:month|months}"
                )


def _names_value(key: Any, levels: Sequence[str]) -> bool:
    """Whether a key names a value of the feature: one of its levels, or, without levels, a number."""
    if levels:
        return key in levels
    try:
        return bool(key == key_of(float(key)))
    except (TypeError, ValueError):
        return False


def _check_name(name: str, said: Any) -> None:
    for field, _, _ in _fields(name, said):
        raise InputError(
            f'the name {said!r} of {name!r} mentions {{{field}}}; a name is plain text, such as "smaller loan"'
        )


def _fields(name: str, phrase: Any) -> list[tuple[str, str, str | None]]:
    """Return the fields that a phrase mentions, with what follows their names."""
    try:
        parts = list(string.Formatter().parse(phrase))
    except (TypeError, ValueError) as error:
        raise InputError(
            f"the phrase {phrase!r} of {name!r} cannot be read ({error}); write text with {_ALLOWED}"
        ) from None
    return [(field, spec or "", conversion) for _, field, spec, conversion in parts if field is not None]


def check_translations(
    name: str, levels: tuple[Any, ...], given: Any, paced: bool = True
) -> dict[str, dict[str, Any]]:
    """Return translations in a plain form, or refuse what cannot be said, in a sentence."""
    if not isinstance(given, Mapping):
        raise InputError(f"translations of {name!r} is {given!r}; give a table for each language")
    made: dict[str, dict[str, Any]] = {}
    for language, words in given.items():
        if language not in LANGUAGES:
            raise unknown(f"language for {name!r}", language, LANGUAGES)
        if not isinstance(words, Mapping):
            raise InputError(f"[features.{name}.{language}] is {words!r}; it must be a table")
        for word, said in words.items():
            if word not in WORDS:
                raise unknown(f"word in [features.{name}.{language}]", word, WORDS)
            if word in ("label", "unit") and (not isinstance(said, str) or not said):
                raise InputError(f"{word} of {name!r} in {language!r} is {said!r}; it must be text")
        check_phrases(name, words.get("phrases", {}), levels, paced)
        whole = {**words, **({"levels": _levels(name, language, levels, words)} if levels else {})}
        made[language] = {word: said for word, said in whole.items() if said}  # a file holds no empty table
    return made


def _levels(name: str, language: str, levels: tuple[Any, ...], words: Mapping[str, Any]) -> dict[str, str]:
    """Return the levels' words by the levels as text, from a list in the same order or from a table."""
    said, known = words.get("levels", {}), [str(level) for level in levels]
    if isinstance(said, list | tuple):
        if len(said) != len(levels):
            raise InputError(
                f"{name!r} has {len(levels)} levels and {len(said)} in {language!r}; give one for each, in the same order"
            )
        said = dict(zip(known, said, strict=True))
    if not isinstance(said, Mapping) or not all(isinstance(word, str) for word in said.values()):
        raise InputError(f"levels of {name!r} in {language!r} are {said!r}; give a text for each level")
    for level in said:
        if level not in known:
            raise unknown(f"level of {name!r}", level, sorted(set(known)))
    return dict(said)


# the language in use ----------------------------------------------------------------------------------


class _Spoken:
    """A word of a feature: the one of the language in use, where there is one, else the file's own."""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, feature: Any, owner: type) -> str:
        if feature is None:
            return ""  # the default
        own: str = feature.__dict__[self.name]
        word = translated(feature, self.name)
        return own if word is None else Unit(word) if self.name == "unit" else word

    def __set__(self, feature: Any, value: str) -> None:
        feature.__dict__[self.name] = value


def spoken() -> Any:
    """Return a field of a dataclass that speaks the language in use."""
    return _Spoken()


def translated(feature: Any, word: str) -> Any:
    """Return a word of a feature in the language in use; None where there is none."""
    language = current()
    if language == "en":
        return None
    return feature.__dict__.get("translations", {}).get(language, {}).get(word)


# units ------------------------------------------------------------------------------------------------


class Unit(str):
    """A unit that has a word of its own for one: "Monat|Monate".

    Examples
    --------
    >>> unit = Unit("Monat|Monate")
    >>> unit, unit.one
    ('Monate', 'Monat')
    """

    one: str

    def __new__(cls, text: str) -> Unit:
        """Return the word for many, which knows the one for one."""
        one, _, many = text.partition("|")
        made = super().__new__(cls, many or one)
        made.one = one
        return made

    def __getnewargs__(self) -> tuple[str]:
        return (f"{self.one}|{self}",)


def united(text: str, unit: str, value: float) -> str:
    """Return a number with its unit: "1 month", "1 hour a week", "5,951 DM".

    Examples
    --------
    >>> united("1", "months", 1), united("1", "hours a week", 1), united("2", "months", 2), united("1", "DM", 1)
    ('1 month', '1 hour a week', '2 months', '1 DM')
    """
    if isinstance(unit, Unit):
        return f"{text} {unit.one if abs(value) == 1 else unit}"
    first, space, rest = unit.partition(" ")
    if abs(value) == 1 and len(first) > 2 and first.endswith("s") and not first.endswith(("ss", "us")):
        unit = first[:-1] + space + rest
    return f"{text} {unit}" if unit else text


# paces ------------------------------------------------------------------------------------------------

#: Months in each period that a pace may be spelled with.
_PERIODS = {"week": 12 / 52, "month": 1.0, "quarter": 3.0, "year": 12.0}
_NUMBER = r"(\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?)"
_PERIOD = r"(week|month|quarter|year)s?"
_AMOUNT = re.compile(rf"{_NUMBER}\s*\D*?\s*\b(?:a|an|per|every|each|in)\s+(?:{_NUMBER}\s+)?{_PERIOD}", re.I)
_LEVEL = re.compile(rf"{_NUMBER}\s+{_PERIOD}(?:\s+(?:a|per|for a|for each)\s+(?:level|step|change))?", re.I)


def read_pace(name: str, given: Any, number: bool) -> float:
    """Return a pace as a number: units a month for a number, months a level for anything with levels.

    Examples
    --------
    >>> read_pace("amount", "200 DM a month", number=True), read_pace("records", "1 every 24 months", number=True)
    (200.0, 0.041666666666666664)
    >>> read_pace("education", "2 years a level", number=False)
    24.0
    """
    value = math.nan
    if isinstance(given, str):
        found = (_AMOUNT if number else _LEVEL).fullmatch(given.strip())
        parts = [part and part.replace(",", "") for part in found.groups()] if found is not None else []
        if number and parts:
            value = float(parts[0]) / (float(parts[1] or "1") * _PERIODS[parts[2].lower()] or math.nan)
        elif parts:
            value = float(parts[0]) * _PERIODS[parts[1].lower()]
    elif isinstance(given, int | float | np.number) and not isinstance(given, bool):
        value = float(given)
    if not 1e-9 < value < 1e15:
        example = '"200 DM a month" or "1 every 12 months"' if number else '"6 months a level"'
        raise InputError(f"the pace of {name!r} is {given!r}; write {example}")
    return value


def spell_pace(pace: float, unit: str, number: bool) -> str:
    """Return a pace in the words that ``read_pace`` reads.

    Examples
    --------
    >>> spell_pace(200.0, "DM", True), spell_pace(1 / 24, "", True), spell_pace(6.0, "", False)
    ('200 DM a month', '1 every 24 months', '6 months a level')
    """
    digits = str(int(pace)) if pace.is_integer() and pace < 1e15 else repr(pace)
    if not number:
        return f"{digits} months a level"
    if re.search(r"\d", unit) or read_pace("", f"1 {unit} a month", True) != 1.0:
        unit = ""  # "of 16" would be read as a number
    unit = f" {unit}" if unit else ""
    many = round(1 / pace)
    return f"1{unit} every {many} months" if many > 1 and 1 / many == pace else f"{digits}{unit} a month"

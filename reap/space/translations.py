"""A feature's words in several languages: label, unit, levels and phrases, chosen by the language in use.

In a file they are a table beside the feature::

    [features.duration.de]
    label = "Laufzeit"
    unit = "Monat|Monate"
    phrases = { down = "In {after:Monat|Monaten} statt in {before} zurückzahlen" }

What is not translated is said in the words of the file. No translation changes what a value means: digests, files and forms
hold the values themselves.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from reap._errors import InputError, unknown
from reap.language import LANGUAGES, current
from reap.space.phrases import check_phrases

#: What can be translated.
WORDS = ("label", "unit", "levels", "phrases")


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


class _Spoken:
    """A word of a feature: the one of the language in use, where there is one, else the file's own."""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, feature: Any, owner: type) -> str:
        if feature is None:
            return ""  # the default
        own: str = feature.__dict__[self.name]
        spoken = translated(feature, self.name)
        return own if spoken is None else Unit(spoken) if self.name == "unit" else spoken

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


def check(name: str, levels: tuple[Any, ...], given: Any, paced: bool = True) -> dict[str, dict[str, Any]]:
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
    said = words.get("levels", {})
    if isinstance(said, list | tuple):
        if len(said) != len(levels):
            raise InputError(
                f"{name!r} has {len(levels)} levels and {len(said)} in {language!r}; give one for each, in the same order"
            )
        said = {str(level): word for level, word in zip(levels, said, strict=True)}
    if not isinstance(said, Mapping) or not all(isinstance(word, str) for word in said.values()):
        raise InputError(f"levels of {name!r} in {language!r} are {said!r}; give a text for each level")
    known = {str(level) for level in levels}
    for level in said:
        if level not in known:
            raise unknown(f"level of {name!r}", level, sorted(known))
    return dict(said)

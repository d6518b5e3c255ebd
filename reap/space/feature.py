"""What one feature is, how it may change, and how it is spoken of; each mistake in it is one sentence.

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
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import numpy as np
from pandas.api.types import pandas_dtype

from reap._errors import InputError, unknown
from reap.language import LANGUAGES, _, current, localized, number

Kind = Literal["numeric", "integer", "ordinal", "categorical", "binary"]
Direction = Literal["any", "up", "down", "both"]
Clock = Literal["months", "years"]
Advice = Literal["usual", "last", "never"]
#: What is said of two levels.
_PAIRS = {"forbidden": "(from, to)", "includes": "(more, less)"}
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


# phrases and translations -----------------------------------------------------------------------------


def _check_phrases(name: str, phrases: Any, levels: Sequence[Any], paced: bool) -> None:
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
        elif not _names_value(key, own) and key not in (known := (*PHRASES, *NAMES, OWN_NAMES, *own)):
            raise unknown(f"phrase for {name!r}", key, known)
        elif key in NAMES:
            _check_name(name, phrase)
        else:
            _check_phrase(name, phrase, paced)


def _names_value(key: Any, levels: Sequence[str]) -> bool:
    """Whether a key names a value of the feature: one of its levels, or, without levels, a number."""
    if levels:
        return key in levels
    try:
        return bool(key == key_of(float(key)))
    except (TypeError, ValueError):
        return False


def _check_name(name: str, said: Any) -> None:
    if found := _fields(name, said):
        raise InputError(
            f'the name {said!r} of {name!r} mentions {{{found[0][0]}}}; a name is plain text, such as "smaller loan"'
        )


def _check_phrase(name: str, phrase: Any, paced: bool) -> None:
    for word, spec, conversion in _fields(name, phrase):
        if word == "months" and not paced:
            raise InputError(
                f"the phrase {phrase!r} of {name!r} mentions {{months}}; give {name!r} a pace, or leave them out"
            )
        plural = spec.count("|") == 1 and not set(spec) & set("{}")
        if word not in FIELDS or conversion or not (spec in ("", "%") or plural):
            shown = word + (f"!{conversion}" if conversion else "") + (f":{spec}" if spec else "")
            raise InputError(
                f"the phrase {phrase!r} of {name!r} mentions {{{shown}}}; allowed are {_ALLOWED}, and "
                "plurals such as {after:month|months}"
            )


def _fields(name: str, phrase: Any) -> list[tuple[str, str, str | None]]:
    """Return the fields that a phrase mentions, with what follows their names."""
    try:
        parts = list(string.Formatter().parse(phrase))
    except (TypeError, ValueError) as error:
        raise InputError(
            f"the phrase {phrase!r} of {name!r} cannot be read ({error}); write text with {_ALLOWED}"
        ) from None
    return [(word, spec or "", conversion) for _, word, spec, conversion in parts if word is not None]


def _checked_translations(name: str, levels: tuple[Any, ...], given: Any, paced: bool) -> dict[str, Any]:
    """Return translations in a plain form, the levels' words by the levels as text, or refuse them in a sentence."""
    if not isinstance(given, Mapping):
        raise InputError(f"translations of {name!r} is {given!r}; give a table for each language")
    made = {}
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
        _check_phrases(name, words.get("phrases", {}), levels, paced)
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
    if unheard := [level for level in said if level not in known]:
        raise unknown(f"level of {name!r}", unheard[0], sorted(set(known)))
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


#: How an effect begins on what nobody does anything about.
_ONLY = "only "


# the feature ----------------------------------------------------------------------------------------


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
    advice : {"usual", "last", "never"}
        Whether people are advised to change it: "last", only where there is no other plan (the amount they came for); "never",
        since it is one of life's large decisions (home, family, work, study, health). It counts where plans are advice to
        people: with ``durability="chance"``, as on every page and in every command.
    notice : float, optional
        The smallest difference, in units, that is worth a question to a person.
    deed : str
        What one does about it ("pay on time"). Features with the same deed are never all that a question compares: nobody
        can say which of two effects of the same doing is easier.
    label, unit : str
        Words for people: "Loan amount", "DM".
    missing : bool
        Whether the value may be missing; it is then left as it is.
    derived : str, optional
        A formula of other features, recomputed after every change: "debt / income".
    effect : str, optional
        A formula of what moves it along: "0.2 * income" moves it by 0.2 of income's move, from where the person stands, and
        what the person does about it themselves comes on top. "only 0.2 * income": nobody does anything about it, it only
        moves along. A level counts as 1 where it is there: "300 * (job == 'skilled')".
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
        label, unit, levels and phrases in other languages, by language.

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
    advice: Advice = "usual"
    notice: float | None = None
    deed: str = ""
    label: str = spoken()
    unit: str = spoken()
    missing: bool = False
    derived: str | None = None
    effect: str | None = None
    forbidden: tuple[tuple[Any, Any], ...] = ()
    includes: tuple[tuple[Any, Any], ...] = ()
    phrases: Mapping[str, Any] = field(default_factory=dict)
    columns: tuple[str, ...] = ()
    dtype: str | None = None
    translations: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        _settle(self)

    @property
    def is_number(self) -> bool:
        """Whether values are numbers in units (numeric or integer)."""
        return self.kind in ("numeric", "integer")

    @property
    def is_set(self) -> bool:
        """Whether it neither follows from others nor goes by itself: a person sets it, or it stays."""
        return self.derived is None and self.clock is None and not self.only_moved

    @property
    def is_action(self) -> bool:
        """Whether a person can do it: it may change, does not follow from others, and does not go by itself."""
        return self.actionable and self.is_set

    @property
    def only_moved(self) -> bool:
        """Whether it moves along with others, and nobody does anything about it."""
        return self.effect is not None and self.effect.startswith(_ONLY)

    @property
    def moved_by(self) -> str | None:
        """The formula of what moves it along; None where nothing does."""
        return None if self.effect is None else self.effect.removeprefix(_ONLY)

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
        low, high = self.range or (0.0, 0.0)
        if self.kind == "integer" and not self.unit and low >= 1800 and high <= 2200:  # a year
            return str(round(number))
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
        """Return what the feature is and may do, in plain words, for a lender who reads the space back."""
        if self.derived is not None:
            return f"follows from the others: {self.derived}"
        parts = [self._values()]
        if self.effect is not None:
            only = "only moves" if self.only_moved else "also moves"
            parts.append(f"{only} along with others: {self.moved_by}")
        if self.clock is not None:
            parts.append("goes by itself")
        elif not self.actionable:
            parts.append("cannot change")
        elif self.direction in ("up", "down"):
            parts.append("may only rise" if self.direction == "up" else "may only fall")
        if self.actionable and self.max_change is not None:
            levels = f"{self.max_change:g} level{'s' if self.max_change != 1 else ''}"
            parts.append(f"by at most {self.show(self.max_change) if self.is_number else levels}")
        if self.actionable and self.forbidden:
            parts.append("not " + ", ".join(f"{yes_no(a)} → {yes_no(b)}" for a, b in self.forbidden))
        if self.actionable and self.pace is not None:
            parts.append(self.pace_text)
        if self.actionable and self.when is not None:
            parts.append("chosen on the day of the application")
        if self.is_action and self.advice != "usual":
            parts.append("advised last" if self.advice == "last" else "never advised")
        if self.missing:
            parts.append("may be missing")
        return "; ".join(parts)

    def _values(self) -> str:
        if not self.is_number:
            shown = ", ".join(yes_no(level) for level in self.levels[:6])
            more = f" and {len(self.levels) - 6} more" if len(self.levels) > 6 else ""
            return f"{'in this order: ' if self.kind == 'ordinal' else 'one of '}{shown}{more}"
        low, high = self.bounds or self.range or (0.0, 0.0)
        what = "whole number" if self.kind == "integer" else "number"
        step = f", in steps of {self.step:,.10g}" if self.step and self.step != 1 else ""
        return f"{what}, {self.show(low, unit=False)} to {self.show(high)}{step}"

    @property
    def pace_text(self) -> str:
        """The pace in words, as a file has it; empty without one."""
        return "" if self.pace is None else spell_pace(float(self.pace), self.unit, self.is_number)


#: What may be said of a feature, beside its name.
SETTINGS = tuple(name for name in Feature.__dataclass_fields__ if name != "name")


def yes_no(level: Any) -> str:
    """Return a level as people say it: true and false are yes and no."""
    if isinstance(level, bool | np.bool_):
        return _("yes") if level else _("no")
    return str(level)


def plain(value: Any) -> Any:
    """Return a NumPy scalar as Python's own, anything else as it is."""
    return value.item() if isinstance(value, np.generic) else value


# checking ---------------------------------------------------------------------------------------------

#: What may be said in one of a few words; None where nothing is said.
_CHOICES: dict[str, tuple[str, tuple[Any, ...]]] = {
    "kind": ("kind of feature", get_args(Kind)),
    "direction": ("direction for", get_args(Direction)),
    "advice": ("advice on", get_args(Advice)),
    "clock": ("unit for the clock", (*get_args(Clock), None)),
    "when": ("value of when for", ("application", None)),
}


def _settle(feature: Feature) -> None:
    """Bring what was declared into one form, or refuse it in one sentence."""
    said, name = vars(feature), feature.name  # as it was declared, whatever language is in use

    def put(key: str, value: Any) -> None:
        object.__setattr__(feature, key, value)

    def bad(key: str, wanted: str) -> InputError:
        return InputError(f"{key} of {name!r} is {said[key]!r}; {wanted}")

    if not isinstance(name, str) or not name:
        raise InputError(f"the name of a feature is {name!r}; it must be text")
    for key, (what, allowed) in _CHOICES.items():
        if said[key] not in allowed:
            what = what if key == "kind" else f"{what} {name!r}"
            raise unknown(what, said[key], [one for one in allowed if one])
    for key in ("levels", "columns", *_PAIRS):
        if isinstance(said[key], str) or not hasattr(said[key], "__iter__"):
            raise bad(key, "give a list")
    put("levels", tuple(plain(level) for level in feature.levels))
    put("columns", tuple(feature.columns))
    for key, pair in _PAIRS.items():
        if any(isinstance(one, str) or np.size(np.asarray(one, dtype=object)) != 2 for one in said[key]):
            raise bad(key, f"give pairs {pair}")
        put(key, tuple((plain(a), plain(b)) for a, b in said[key]))
    put("label", said["label"] or name)
    for flag in ("actionable", "missing"):
        if not isinstance(said[flag], bool | np.bool_):
            raise bad(flag, "it must be true or false")
    for word in ("label", "unit", "deed"):
        if not isinstance(said[word], str):
            raise bad(word, "it must be text")
    if not (feature.derived is None or isinstance(feature.derived, str)):
        raise bad("derived", "write a formula, such as 'debt / income'")
    if feature.effect is not None and (
        not isinstance(feature.effect, str) or not feature.effect.removeprefix(_ONLY).strip()
    ):
        raise bad("effect", "write a formula, such as '0.2 * income'")
    if not all(isinstance(column, str) for column in feature.columns):
        raise bad("columns", "give names of columns")
    if not _known_dtype(feature.dtype):
        raise bad("dtype", "give one that pandas knows, such as 'int64'")
    paced = feature.pace is not None
    _check_phrases(name, feature.phrases, feature.levels, paced)
    put("translations", _checked_translations(name, feature.levels, feature.translations, paced))
    for wrong, sentence in _contradictions(feature):
        if wrong:
            raise InputError(f"{name!r} {sentence}")
    if feature.is_number:
        for key in ("range", "span", "bounds"):
            if key == "range" or said[key] is not None:
                put(key, _pair(name, key, said[key]))
        if feature.span is not None and feature.span[0] == feature.span[1]:
            raise InputError(f"the span of {name!r} is {feature.span!r}; give two different numbers")
        if feature.kind == "integer" and feature.step is None:
            put("step", 1.0)
        if feature.step is not None and not _positive(feature.step):
            raise InputError(f"the step of {name!r} is {feature.step!r}; it must be a positive number")
        if feature.kind == "integer" and feature.step != round(float(feature.step or 1)):
            raise InputError(f"the step of {name!r} is {feature.step!r}; a whole number needs a whole step")
    else:
        _check_levels(feature)
    for key in ("step", "max_change", "notice"):
        if said[key] is not None:
            if not _positive(said[key]):
                raise bad(key, "give a number above 0")
            put(key, float(said[key]))
    if feature.pace is not None:
        put("pace", read_pace(name, feature.pace, feature.is_number))
    if feature.clock is not None:
        put("actionable", False)  # nobody does it


def _positive(value: Any) -> bool:
    number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    return number and 0 < value < 1e308


def _known_dtype(dtype: Any) -> bool:
    try:
        if dtype is not None and not str(dtype).startswith("category"):
            pandas_dtype(dtype)
        return dtype is None or isinstance(dtype, str)
    except TypeError:
        return False


def _contradictions(feature: Feature) -> Iterator[tuple[bool, str]]:
    """Yield what cannot be said together: whether it was, and the sentence about it behind the feature's name."""
    kind, number, ordered = feature.kind, feature.is_number, feature.kind not in ("categorical", "binary")
    derived, clock, timed = feature.derived is not None, feature.clock is not None, feature.pace is not None
    chosen, limited = feature.when is not None, feature.max_change is not None
    one_way = feature.direction in ("up", "down")
    includes = bool(feature.includes) and kind != "categorical"
    yield includes, f"is {kind}, and its values have an order; includes is for categories"
    yield (
        limited and (derived or not ordered),
        "has no distance to limit; max_change is for numbers and ordered levels",
    )
    yield timed and chosen, "is chosen on the day of the application and has a pace; keep one of them"
    if feature.effect is not None:
        yield (
            derived,
            "is derived and follows exactly, so no effect can move it beside; keep one of the two",
        )
        yield not number, f"is {kind}; only a number can move along with others, so leave out effect"
        yield clock, "is a clock and goes by itself; leave out its effect"
        yield (
            not feature.actionable,
            "is fixed and has an effect; leave out actionable = false, and write "
            f'effect = "{_ONLY}{feature.moved_by}" where nobody does anything about it',
        )
        yield (
            feature.only_moved and (timed or chosen or limited or one_way),
            "only moves along with others, and nobody does it; leave out pace, when, max_change and direction",
        )
    if clock:
        yield not number or derived, "cannot be a clock; a clock is a number that goes by itself"
        yield (
            timed or chosen or limited,
            "is a clock and goes by itself; leave out pace, when and max_change, and set the horizon",
        )
        yield feature.direction == "down", "is a clock and goes up; leave out its direction"
    if number:
        levelled = bool(feature.levels or feature.forbidden)
        yield levelled, "is a number and has no levels; give bounds, or make it ordinal or categorical"
        yield bool(feature.columns), "is a number; only a categorical feature has several columns"
        yield (
            derived and feature.bounds is not None,
            "follows from other features; give bounds to those, or write a rule with them",
        )
        return
    yield derived, f"is derived and must be a number, not {kind}"
    yield (
        kind == "categorical" and one_way,
        "is categorical and has no direction; make it ordinal to give one",
    )
    yield (
        any(vars(feature)[key] is not None for key in ("bounds", "range", "span", "step", "notice")),
        "has levels, not numbers; range, span, bounds, step and notice do not apply to it",
    )
    count, columns = len(feature.levels), len(feature.columns)
    yield (
        columns > 0 and (kind != "categorical" or columns != count),
        f"has {columns} columns and {count} levels; a one-hot group has one column a level and is categorical",
    )


def _check_levels(feature: Feature) -> None:
    name, levels = feature.name, feature.levels
    for level in levels:
        if not isinstance(level, Hashable) or isinstance(level, Mapping | tuple):
            raise InputError(f"{level!r} cannot be a level of {name!r}; give text, numbers, true or false")
    if any(level is None or level != level for level in levels):
        raise InputError(f"a missing value is no level of {name!r}; say missing=True instead")
    if len(set(levels)) != len(levels) or not levels:
        raise InputError(f"{name!r} needs a list of different levels; given were {list(levels)!r}")
    if feature.kind == "binary" and len(levels) != 2:
        raise InputError(f"{name!r} is binary and needs two levels; given were {list(levels)!r}")
    for level in (level for pair in (*feature.forbidden, *feature.includes) for level in pair):
        if level not in levels:
            raise unknown(f"level of {name!r}", level, levels)


def _pair(name: str, what: str, given: Sequence[float] | None) -> tuple[float, float]:
    """Return (low, high) as floats, or say what is wrong with them."""
    if given is None:
        raise InputError(
            f"{name!r} is a number and needs a {what} (low, high); use ActionSpace.from_frame to infer it"
        )
    try:
        low, high = (float(v) + 0.0 for v in given)  # −0 is 0
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"the {what} of {name!r} is {given!r}; give two numbers (low, high)") from None
    if not (math.isfinite(high - low) and low <= high):
        raise InputError(f"the {what} of {name!r} is {given!r}; give two finite numbers, the lower one first")
    return low, high

"""The language in use: messages, plurals, numbers and dates, in and out.

English is in the code and needs nothing. Other languages are catalogues, ``reap/locale/<language>.po``: text, read on first
use with Babel, which comes with ``reap-recourse[web]``. The language belongs to the task at hand (a context variable), so that
one process speaks to many people at once, and a library user says::

    with reap.language.speaking("de"):
        print(plan)

Messages are translated when they are shown, never at import: ``_("Wait until month {month}").format(month=3)``. Where a
message must stand in a table of the module, ``N_("…")`` marks it and ``_()`` translates it later.
"""

from __future__ import annotations

import gettext as _gettext
import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import date
from functools import lru_cache
from importlib import resources
from typing import Any

from reap._errors import InputError, unknown

#: The languages we speak, each by its own name.
LANGUAGES = {"en": "English", "de": "Deutsch", "es": "Español"}
_IN_USE: ContextVar[str] = ContextVar("language", default="en")


def current() -> str:
    """Return the code of the language in use."""
    return _IN_USE.get()


def use(language: str) -> None:
    """Speak a language from here on, in this task."""
    if language not in LANGUAGES:
        raise unknown("language", language, LANGUAGES)
    _IN_USE.set(language)


@contextmanager
def speaking(language: str) -> Iterator[None]:
    """Speak a language for a while.

    Examples
    --------
    >>> with speaking("de"):
    ...     print(number(1234.5, 2), listed(["A", "B"]), sep="; ")
    1.234,50; A und B
    """
    before = current()
    use(language)
    try:
        yield
    finally:
        _IN_USE.set(before)


def chosen(accepted: str) -> str | None:
    """Return the first language we speak of an ``Accept-Language`` header; None where there is none.

    Examples
    --------
    >>> chosen("fr-CH, de;q=0.7, en;q=0.9"), chosen("fr"), chosen("*")
    ('en', None, None)
    """
    wanted: list[tuple[float, int, str]] = []
    for place, part in enumerate(accepted[:500].split(",")):
        tag, _, quality = part.partition(";")
        try:
            weight = float(quality.strip().removeprefix("q=")) if quality else 1.0
        except ValueError:
            continue
        code = tag.strip().lower().partition("-")[0]
        if code in LANGUAGES and 0 < weight <= 1:
            wanted.append((-weight, place, code))
    return min(wanted)[2] if wanted else None


def _needs_babel(language: str) -> InputError:
    return InputError(f"the language {language!r} needs Babel; pip install 'reap-recourse[web]'")


@lru_cache(maxsize=8)
def _catalogue(language: str) -> _gettext.NullTranslations:
    """Return the messages of a language, compiled in memory; those of English are in the code."""
    if language == "en":
        return _gettext.NullTranslations()
    try:
        from babel.messages.mofile import write_mo
        from babel.messages.pofile import read_po
    except ModuleNotFoundError:
        raise _needs_babel(language) from None
    with (resources.files("reap") / "locale" / f"{language}.po").open("rb") as file:
        read = read_po(file, locale=language)
    compiled = io.BytesIO()
    write_mo(compiled, read)
    compiled.seek(0)
    return _gettext.GNUTranslations(compiled)


def _(message: str) -> str:
    """Return a message in the language in use."""
    return _catalogue(current()).gettext(message) if message else message


gettext = _


def N_(message: str) -> str:  # gettext's own name for it
    """Mark a message that is translated later."""
    return message


def ngettext(one: str, many: str, count: int) -> str:
    """Return the form of a message for a number of things: ``ngettext("{n} month", "{n} months", 2).format(n=2)``."""
    return _catalogue(current()).ngettext(one, many, count)


def pgettext(context: str, message: str) -> str:
    """Return a message where its context decides what it means."""
    return _catalogue(current()).pgettext(context, message)


@lru_cache(maxsize=8)
def separators(language: str) -> tuple[str, str]:
    """Return what separates decimals and thousands: ``(".", ",")`` in English."""
    if language == "en":
        return ".", ","
    try:
        from babel.numbers import get_decimal_symbol, get_group_symbol
    except ModuleNotFoundError:
        raise _needs_babel(language) from None
    return get_decimal_symbol(language), get_group_symbol(language)


def localized(text: str) -> str:
    """Return a number that Python wrote (``1,234.5``) as the language in use writes it."""
    if current() == "en":
        return text
    decimal, group = separators(current())
    return text.translate({ord("."): decimal, ord(","): group})


def number(value: float, decimals: int = 0) -> str:
    """Return a number as people write it.

    Examples
    --------
    >>> number(5951), number(0.25, 2)
    ('5,951', '0.25')
    """
    return localized(f"{value:,.{decimals}f}")


def month(year: int, number: int) -> str:
    """Return a month of a year: "March 2027"."""
    if current() == "en":
        return f"{_MONTHS[number - 1]} {year}"
    from babel.dates import format_skeleton

    return str(format_skeleton("yMMMM", date(year, number, 1), locale=current()))


def day(given: date) -> str:
    """Return a day: "16 November 2026"."""
    if current() == "en":
        return f"{given.day} {month(given.year, given.month)}"
    from babel.dates import format_date

    return str(format_date(given, "long", locale=current()))


_MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
)


def quoted(words: object) -> str:
    """Return words in the quotation marks of the language.

    Examples
    --------
    >>> with speaking("de"):
    ...     quoted("keine")
    '„keine“'
    """
    return _("“{words}”").format(words=words)


def listed(parts: Any, last: str = "and") -> str:
    """Return things as a list in words: "a, b and c", with "or" before the last on demand.

    Examples
    --------
    >>> listed(["a", "b", "c"]), listed(["a", "b"], "or")
    ('a, b and c', 'a or b')
    """
    given = [str(part) for part in parts]
    if len(given) < 2:
        return "".join(given)
    joined = _("{several} and {one}") if last == "and" else _("{several} or {one}")
    return joined.format(several=", ".join(given[:-1]), one=given[-1])


# numbers as people type them ---------------------------------------------------------------------------

_SPACES = dict.fromkeys(map(ord, "\u00a0\u202f\u2009\u2007"), " ")
_GROUPED = re.compile(r"[1-9]\d{0,2}(?:(?P<mark>[ '’])\d{3})(?:(?P=mark)\d{3})*(?P<rest>[.,]\d*)?")
_BODY = re.compile(r"[0-9.,]*[0-9][0-9.,]*")


def read_number(text: str) -> float:
    """Return the number that a text says in the language in use, or refuse it and say why.

    A mark that the language groups thousands with is read so ("10.000" is ten thousand in German); what can only be a decimal
    mark is one, whatever the language ("10,5"). What can be read in two ways is refused: "10.000" in English may come from a
    German. Spaces and apostrophes group thousands everywhere. The caller shows what was understood.

    Examples
    --------
    >>> read_number("10,000"), read_number("1 234,5"), read_number("-.5")
    (10000.0, 1234.5, -0.5)
    >>> with speaking("de"):
    ...     read_number("10.000")
    10000.0
    >>> read_number("10.000")
    Traceback (most recent call last):
    reap._errors.InputError: “10.000” can be read as 10,000 or as 10; write it without a mark for thousands
    """
    given = text.translate(_SPACES).strip().replace("−", "-")
    sign, body = (given[:1], given[1:].strip()) if given[:1] in ("+", "-") else ("", given)
    if not body.isascii() and "’" not in body:
        raise _no_number(text)
    if found := _GROUPED.fullmatch(body):
        body = "".join(c for c in body if c not in " '’")
        if found["rest"]:
            return _signed(sign, body.replace(",", "."))
    if _BODY.fullmatch(body) is None:
        raise _no_number(text)
    return _signed(sign, _plain(body, text))


def _plain(body: str, text: str) -> str:
    """Return digits with at most one point from digits with points and commas."""
    marks = [c for c in body if c in ".,"]
    if not marks:
        return body
    last = marks[-1]
    if len(set(marks)) == 2:  # both: the last one is decimal and stands once
        whole, _mark, rest = body.rpartition(last)
        if last in whole or not _groups(whole, marks[0]):
            raise _no_number(text)
        return f"{whole.replace(marks[0], '')}.{rest}"
    if len(marks) > 1:
        if not _groups(body, last):
            raise _no_number(text)
        return body.replace(last, "")
    whole, _mark, rest = body.partition(last)
    if len(rest) != 3 or not _groups(body, last):
        return f"{whole or '0'}.{rest or '0'}"  # no thousands could be meant
    if last == separators(current())[1]:
        return whole + rest
    thousands, decimal = (
        number(float(whole + rest)),
        number(float(whole + "." + rest), 3).rstrip("0").rstrip(".,"),
    )
    raise InputError(
        _("“{given}” can be read as {first} or as {second}; write it without a mark for thousands").format(
            given=text.strip(), first=thousands, second=decimal
        )
    )


def _groups(digits: str, mark: str) -> bool:
    """Return whether digits are grouped by threes, as in 1.234.567."""
    return re.fullmatch(rf"[1-9][0-9]{{0,2}}(?:{re.escape(mark)}[0-9]{{3}})+", digits) is not None


def _signed(sign: str, digits: str) -> float:
    return -float(digits) if sign == "-" else float(digits)


def _no_number(text: str) -> InputError:
    return InputError(_("“{given}” is not a number").format(given=text.strip()[:40]))


def typed(value: float, decimals: int | None = None) -> str:
    """Return a number as the person would type it: no thousands, and never such that ``read_number`` would refuse it.

    Examples
    --------
    >>> typed(12500), typed(0.25), typed(1.125)
    ('12500', '0.25', '1.1250')
    """
    if float(value).is_integer():
        return str(int(value))
    shown = f"{value:.{decimals}f}" if decimals is not None else repr(float(value))
    if "e" in shown:
        shown = f"{value:.12f}".rstrip("0")
    whole, _mark, rest = shown.partition(".")
    rest = rest + "0" if len(rest) == 3 and whole.lstrip("-") != "0" else rest
    return f"{whole}{separators(current())[0]}{rest}"

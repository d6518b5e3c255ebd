"""Numbers as people type them, read by their language: "10.000" is ten thousand in German.

A mark that the language groups thousands with is read so; what can only be a decimal mark is one, whatever the language
("10,5"). What can be read in two ways is refused: "10.000" in English may come from a German. Spaces and apostrophes group
thousands everywhere. The caller shows what was understood.
"""

from __future__ import annotations

import re

from reap._errors import InputError
from reap.language import _, current, number, separators

_SPACES = dict.fromkeys(map(ord, "\u00a0\u202f\u2009\u2007"), " ")
_GROUPED = re.compile(r"[1-9]\d{0,2}(?:(?P<mark>[ '’])\d{3})(?:(?P=mark)\d{3})*(?P<rest>[.,]\d*)?")
_BODY = re.compile(r"[0-9.,]*[0-9][0-9.,]*")


def read(text: str) -> float:
    """Return the number that a text says in the language in use, or refuse it and say why.

    Examples
    --------
    >>> from reap.language import speaking
    >>> read("10,000"), read("1 234,5"), read("-.5")
    (10000.0, 1234.5, -0.5)
    >>> with speaking("de"):
    ...     read("10.000")
    10000.0
    >>> read("10.000")
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
    """Return a number as the person would type it: no thousands, and never such that ``read`` would refuse it.

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

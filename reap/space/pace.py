"""How fast a feature moves, in words: "200 DM a month", "1 every 12 months", "6 months a level"."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np

from reap._errors import InputError

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
        if found is not None and number:
            amount, many, period = found.groups()
            value = _float(amount) / (_float(many or "1") * _PERIODS[period.lower()] or math.nan)
        elif found is not None:
            value = _float(found[1]) * _PERIODS[found[2].lower()]
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
    if not number:
        return f"{_digits(pace)} months a level"
    if re.search(r"\d", unit) or read_pace("", f"1 {unit} a month", True) != 1.0:
        unit = ""  # "of 16" would be read as a number
    unit = f" {unit}" if unit else ""
    many = round(1 / pace)
    if many > 1 and 1 / many == pace:
        return f"1{unit} every {many} months"
    return f"{_digits(pace)}{unit} a month"


def _digits(value: float) -> str:
    return str(int(value)) if value.is_integer() and value < 1e15 else repr(value)


def _float(text: str) -> float:
    return float(text.replace(",", ""))

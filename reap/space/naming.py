"""What the name of a column says: a label as people write it, and a unit."""

from __future__ import annotations

import re
from collections.abc import Collection

_UNITS = {
    **dict.fromkeys(("eur", "euro", "euros"), "€"),
    **dict.fromkeys(("usd", "dollar", "dollars"), "$"),
    **dict.fromkeys(("gbp", "pounds"), "£"),
    **dict.fromkeys(("pct", "percent", "percentage"), "%"),
    **{word: word.upper() for word in ("chf", "dm", "inr", "jpy", "brl", "cad", "aud")},
    **{word: word for word in ("months", "years", "days", "weeks", "hours", "km")},
}


def unit_of(words: Collection[str]) -> str:
    """Return the unit among the words of a name; "" where there is none.

    Examples
    --------
    >>> unit_of(["income", "eur"])
    '€'
    """
    return next((unit for word, unit in _UNITS.items() if word in words), "")


def label_of(name: str) -> str:
    """Return a name as people write it.

    Examples
    --------
    >>> label_of("annual_income_eur"), label_of("customerID")
    ('Annual income', 'Customer ID')
    """
    parts = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", name)
    while len(parts) > 1 and parts[-1].lower() in _UNITS:
        parts.pop()
    text = " ".join(part if part.isupper() and len(part) > 1 else part.lower() for part in parts)
    return text[:1].upper() + text[1:] or name

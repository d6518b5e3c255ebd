"""Numbers that a table holds as text: "$1,000", "12 %", "1.000 €", "(500)".

A column is read as a whole, because one value alone may mean two things. Either the comma groups thousands and the point is
decimal, or the other way round; the reading that fits every value is taken. Where both fit ("1.000 €" in every row) the mark
means thousands, because nobody writes three decimals of a euro; only percentages have them ("4.125 %").
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import pandas as pd

from reap._typing import Frame, Series
from reap.space.vocabulary import unit_of

_SIGNS = "€$£¥₹"
_TEXT = re.compile(
    rf"(?P<bracket>\()?(?P<sign>[-+−])?\s*(?P<before>[{_SIGNS}]|[A-Za-z]+)?\s*(?P<sign2>[-+−])?"
    rf"(?P<digits>[.,]?\d(?:[\d.,'’ ]*\d)?)[.,]?\s*(?P<after>[%{_SIGNS}]|[A-Za-z]+)?(?(bracket)\))"
)
#: What groups thousands, and the digits that are then well written; spaces and apostrophes group them as well.
_READINGS = {
    mark: re.compile(rf"(?:0|[1-9]\d*|[1-9]\d{{0,2}}(?:[{mark} '’]\d{{3}})+)?(?:[{decimal}]\d+)?")
    for mark, decimal in (",.", ".,")
}
#: The share of texts that must be amounts; the others are then missing.
_MOST = 0.9


@dataclass(frozen=True, eq=False)
class Amounts:
    """A column of texts, read as numbers.

    Parameters
    ----------
    values : Series (n,)
    unit : str
        What stands with them: "$", "%"; "" where nothing does.
    said : str
        How they were read, in a sentence.
    """

    values: Series
    unit: str
    said: str


def read(column: Series) -> Amounts | None:
    """Return a column of texts as numbers; None where it holds something else, or several units.

    Examples
    --------
    >>> made = read(pd.Series(["1.000 €", "25.000 €"]))
    >>> made.values.tolist(), made.unit, made.said
    ([1000, 25000], '€', "written as text: '25.000 €' is read as 25,000")
    >>> read(pd.Series(["$1,000", "$2,500.50"])).values.tolist()
    [1000.0, 2500.5]
    >>> read(pd.Series(["red", "blue"])) is None
    True
    """
    if pd.api.types.is_numeric_dtype(column.dtype) or column.dtype.kind in "mM":
        return None
    texts = column.dropna()
    if not len(texts) or not texts.map(lambda cell: isinstance(cell, str)).all():
        return None
    parts = {text: match for text in texts.unique() if (match := _TEXT.fullmatch(text.strip()))}
    units = {_unit(match[side]) for match in parts.values() for side in ("before", "after") if match[side]}
    if texts.isin(list(parts)).sum() < _MOST * len(texts) or len(units) > 1 or "" in units:
        return None
    unit = next(iter(units), "")
    fits = [
        {text: _number(match, mark) for text, match in parts.items()}
        for mark, shape in _READINGS.items()
        if all(shape.fullmatch(match["digits"]) for match in parts.values())
    ]
    if not fits:
        return None
    choose = min if unit == "%" else max
    numbers = choose(fits, key=lambda reading: sum(map(abs, reading.values())))
    values = column.map(numbers).astype(float)
    example = max(parts, key=len)
    said = f"written as text: {example!r} is read as {numbers[example]:,.10g}"
    if unread := int(values.isna().sum() - column.isna().sum()):
        said += f"; {unread:,} of the texts are no number and count as missing"
    if values.notna().all() and (values % 1 == 0).all():
        values = values.astype("int64")
    return Amounts(values, unit, said)


def plain(table: Frame) -> Frame:
    """Return a table with plain numbers in the place of amounts written as text.

    Examples
    --------
    >>> plain(pd.DataFrame({"rate": ["4.5 %", "12 %"], "job": ["cook", "nurse"]}))["rate"].tolist()
    [4.5, 12.0]
    """
    made = {name: found.values for name in table.columns if (found := _column(table, name)) is not None}
    return table.assign(**made) if made else table


def _column(table: Frame, name: str) -> Amounts | None:
    column = table[name]
    return None if isinstance(column, pd.DataFrame) or not isinstance(name, str) else read(column)


def _unit(text: str) -> str:
    """Return the unit that a text beside a number says; "" where it is another word."""
    return text if text in f"%{_SIGNS}" else unit_of([text.lower()])


def _number(match: re.Match[str], mark: str) -> float:
    digits = re.sub(rf"[{mark} '’]", "", match["digits"]).replace(",", ".")
    minus = any(match[side] in ("-", "−") for side in ("sign", "sign2")) or match["bracket"]
    return -float(digits) if minus else float(digits)

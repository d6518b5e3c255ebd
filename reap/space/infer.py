"""Features inferred from a table: kinds, ranges, levels, steps; and numbers that it holds as text."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from reap._errors import InputError, unknown
from reap._typing import Array, Frame, Series
from reap.space.encoding import ORDERED, as_frame
from reap.space.feature import Feature, Kind, plain
from reap.space.vocabulary import label_of, unit_of

#: Texts beyond which a column that stays as it is has one code for each of them instead of one column.
_MANY = 50
#: The 1st to the 99th percentile of a long tail are this many times as far apart as the 5th and the 95th, or more.
_LONG_TAIL = 3
#: Steps that people count in, the largest first.
_STEPS = (10_000, 5_000, 1_000, 500, 250, 100, 50, 25, 12, 10, 5)
#: Fewer rows do not show how people round.
_FEW_ROWS = 20
#: What only numbers have.
_OF_NUMBERS = ("bounds", "step", "derived", "span", "clock", "notice")
_FACTS = tuple(name for name in Feature.__dataclass_fields__ if name != "name")

#: What is said of features, by name: parameters of ``Feature``.
Said = Mapping[str, Mapping[str, Any]]


def facts_of(features: Any, **lists: Any) -> dict[str, dict[str, Any]]:
    """Return all that is said of features, by name, from ``features`` and the other parameters of ``from_frame``.

    Examples
    --------
    >>> facts_of({"age": {"unit": "years"}}, immutable=("age",), bounds={"hours": (0, 60)})
    {'age': {'actionable': False, 'unit': 'years'}, 'hours': {'bounds': (0, 60)}}
    """
    said: dict[str, dict[str, Any]] = {}
    if both := set(lists.get("increasing", ())) & set(lists.get("decreasing", ())):
        raise InputError(f"{min(both)!r} is said to only rise and to only fall; choose one")
    for key, facts in (
        ("immutable", {"actionable": False}),
        ("increasing", {"direction": "up"}),
        ("decreasing", {"direction": "down"}),
        ("missing", {"missing": True}),
    ):
        for name in lists.get(key, ()):
            said.setdefault(name, {}).update(facts)
    for name, bounds in lists.get("bounds", {}).items():
        said.setdefault(name, {})["bounds"] = bounds
    for name, levels in lists.get("ordinal", {}).items():
        said.setdefault(name, {}).update(kind="ordinal", levels=tuple(levels))
    for name, own in features.items():
        if not isinstance(own, Mapping):
            raise InputError(f'what is said of {name!r} is {own!r}; give a table, such as {{"unit": "EUR"}}')
        for key in own:
            if key not in _FACTS:
                raise unknown(f"setting of {name!r}", key, _FACTS)
        said.setdefault(name, {}).update(own)
    return said


def features(X: Frame, said: Said, groups: Mapping[str, Sequence[str]] | None = None) -> list[Feature]:
    """Return one feature a column (or a group of columns)."""
    encoded = groups is not None
    X, groups = _table(X, encoded), groups or {}
    grouped = _group_columns(X, groups)
    if encoded:
        _check_encoded(X, grouped, said)
    names = list(dict.fromkeys(grouped.get(str(c), str(c)) for c in X.columns))
    for name in said:
        if name not in names:
            raise unknown("feature", name, names)
    made = []
    for name in names:
        facts = dict(said.get(name, {}))
        if facts.get("derived") is not None:
            facts.setdefault("actionable", False)
        if name not in groups:
            made.append(_feature(name, X[name], facts, encoded))
            continue
        if {"bounds", "step", "derived"} & set(facts):
            raise InputError(f"{name!r} is a group of levels; bounds, steps and formulas do not apply to it")
        columns = tuple(groups[name])
        layout = {"levels": columns, "columns": columns, "dtype": str(X[columns[0]].dtype)}
        made.append(Feature(name, "categorical", **{**layout, **facts}))
    return made


def _feature(name: str, column: Series, facts: dict[str, Any], encoded: bool) -> Feature:
    """Return the feature of one column: what is said of it goes before what is inferred."""
    if column.isna().any() and not facts.get("missing"):
        raise InputError(f"{name!r} is missing in some rows; fill it in, or say missing=[{name!r}]")
    number = any(facts.get(key) is not None for key in _OF_NUMBERS)
    number = number or facts.get("kind") in ("numeric", "integer")
    kind, levels = _kind(column, name, facts, number)
    inferred: dict[str, Any] = {"kind": kind, "levels": levels}
    if kind in ("numeric", "integer"):
        inferred["range"] = _range(column, name)
        if encoded:  # an encoded table has no units, so no whole ones
            inferred["kind"] = "numeric"
        else:
            inferred["span"] = _span(column)
            inferred["step"] = _step(column, kind, facts.get("derived") is None)
    elif number:
        raise InputError(
            f"{name!r} has levels, not numbers; bounds, steps, spans, clocks and formulas do not apply to it"
        )
    ordered = isinstance(column.dtype, pd.CategoricalDtype) and column.dtype.ordered
    inferred["dtype"] = ORDERED if ordered else str(column.dtype)
    return Feature(name, **{**inferred, **facts})


def kept(X: Frame) -> list[Feature]:
    """Return columns as features that nobody changes; a text with many values, such as an ID, takes one encoded column."""
    X = _table(X, encoded=False)
    said: dict[str, dict[str, Any]] = {}
    for name, column in X.items():
        texts = column.dropna()
        label, missing = label_of(str(name)), bool(column.isna().any())
        facts = said[name] = {"actionable": False, "label": label, "missing": missing}
        if not pd.api.types.is_numeric_dtype(column.dtype) and texts.nunique() > _MANY:
            levels = sorted(texts.unique(), key=lambda value: (str(type(value)), value))
            facts |= {"kind": "ordinal", "levels": tuple(levels)}
    return features(X, said)


def _table(X: Any, encoded: bool) -> Frame:
    if isinstance(X, np.ndarray) and encoded and X.ndim == 2:
        X = pd.DataFrame(X, columns=[f"x{i}" for i in range(X.shape[1])])
    X = as_frame(X)
    if not isinstance(X, pd.DataFrame):
        raise InputError(f"a pandas DataFrame is needed, not {type(X).__name__}")
    if len(X) == 0 or X.shape[1] == 0:
        raise InputError("the table is empty; give at least one row and one column")
    if not X.columns.is_unique:
        raise InputError(
            f"the table has the column {X.columns[X.columns.duplicated()][0]!r} more than once; keep one"
        )
    strange = [c for c in X.columns if not isinstance(c, str)]
    if strange:
        raise InputError(
            f"the column name {strange[0]!r} is not text; rename it, for example X.columns.astype(str)"
        )
    return X


def _group_columns(X: Frame, groups: Mapping[str, Sequence[str]]) -> dict[str, str]:
    owner: dict[str, str] = {}
    for group, columns in groups.items():
        for column in columns:
            if column not in X.columns:
                raise unknown(f"column for the group {group!r}", column, X.columns)
            if column in owner:
                raise InputError(
                    f"the column {column!r} is in the groups {owner[column]!r} and {group!r}; keep one"
                )
            owner[column] = group
        places = sorted(X.columns.get_loc(c) for c in columns)
        if [X.columns[p] for p in places] != list(columns) or places[-1] - places[0] != len(places) - 1:
            raise InputError(
                f"the columns of the group {group!r} must stand side by side, in the table's order"
            )
    return owner


def _check_encoded(X: Frame, grouped: Mapping[str, str], said: Said) -> None:
    """Refuse what would give an encoded table columns other than its own."""
    for name in (name for name, facts in said.items() if facts.get("kind") in ("ordinal", "categorical")):
        raise InputError(f"{name!r} cannot be ordinal or categorical in an encoded table; put it in groups=")
    for column in X.columns:
        if column not in grouped and not pd.api.types.is_numeric_dtype(X[column].dtype):
            raise InputError(
                f"{column!r} does not hold numbers; an encoded table (groups=) holds nothing else, so encode it or "
                "leave out groups="
            )


def _kind(column: Series, name: str, facts: Mapping[str, Any], number: bool) -> tuple[Kind, Any]:
    if facts.get("kind") == "ordinal" and "levels" in facts:
        return "ordinal", facts["levels"]
    dtype = column.dtype
    if dtype.kind in "mMc":
        raise InputError(
            f"{name!r} holds {dtype}; turn it into a number that people know, such as a year or an age in days"
        )
    if isinstance(dtype, pd.CategoricalDtype):
        levels = tuple(dtype.categories)
        return ("ordinal" if dtype.ordered else "binary" if len(levels) == 2 else "categorical"), levels
    present = column.dropna()
    if pd.api.types.is_bool_dtype(dtype):
        return "binary", (False, True)
    forced = facts.get("kind") == "categorical"
    if forced or not pd.api.types.is_numeric_dtype(dtype):
        try:
            found = sorted({plain(v) for v in present.unique()}, key=lambda v: (str(type(v)), v))
        except TypeError:
            raise InputError(
                f"{name!r} holds {present.iloc[0]!r}, a {type(present.iloc[0]).__name__}; drop it, or make it text or numbers"
            ) from None
        if not found:
            raise InputError(f"{name!r} has no value in any row; drop it")
        if len(found) > 50 and len(found) > len(present) / 2:
            raise InputError(
                f"{name!r} has {len(found)} different texts in {len(present)} rows and looks like a name or a date; drop it"
            )
        return ("binary" if len(found) == 2 and not forced else "categorical"), tuple(found)
    values = present.to_numpy(dtype=float)
    if set(np.unique(values)) == {0.0, 1.0} and not number:
        zero, one = (0, 1) if dtype.kind in "iu" or str(dtype).startswith(("Int", "UInt")) else (0.0, 1.0)
        return "binary", (zero, one)
    return ("integer" if np.isfinite(values).all() and (values == np.rint(values)).all() else "numeric"), ()


def _range(column: Series, name: str) -> tuple[float, float]:
    values = column.dropna().to_numpy(dtype=float)
    if len(values) == 0:
        raise InputError(f"{name!r} has no value in any row; drop it")
    if not np.isfinite(values).all():
        raise InputError(f"{name!r} is infinite in a row; give finite numbers")
    return float(values.min()), float(values.max())


def _span(column: Series) -> tuple[float, float] | None:
    """Return what effort is scaled by: the 1st to the 99th percentile, of a long tail the 5th to the 95th; values that occur.

    Few people stand in a long tail, and a change that is large for all others would count as nearly nothing beside it. Where
    nearly all rows are alike, the percentiles are those of the others. None where that is all of the range, or nothing.

    Examples
    --------
    >>> _span(pd.Series(range(1001)))
    (10.0, 990.0)
    >>> _span(pd.Series([*range(100), 5_000, 100_000, 1_000_000]))
    (5.0, 97.0)
    """
    values = np.sort(column.dropna().to_numpy(dtype=float))
    low, high = _percentiles(values, 0.01)
    inner = _percentiles(values, 0.05)
    if inner[0] == inner[1] and values[0] != values[-1]:
        common, others = _apart(values)
        inner = _percentiles(others, 0.05)
        inner = min(common, inner[0]), max(common, inner[1])
        low, high = min(low, inner[0]), max(high, inner[1])
    if high - low > _LONG_TAIL * (inner[1] - inner[0]):
        low, high = inner
    return None if low == high or (low, high) == (values[0], values[-1]) else (low, high)


def _percentiles(values: Array, share: float) -> tuple[float, float]:
    """Return the values of sorted ones (n,) below and above which this share of them lies."""
    last = len(values) - 1
    return float(values[int(share * last)]), float(values[int(np.ceil((1 - share) * last))])


def _apart(values: Array) -> tuple[float, Array]:
    """Return the most common of sorted values (n,), and the others."""
    different, counts = np.unique(values, return_counts=True)
    common = different[counts.argmax()]
    return float(common), values[values != common]


def _step(column: Series, kind: str, rounded: bool = True) -> float:
    """Return the step in which people would say a number; with ``rounded=False`` that of the data, as a formula needs.

    The step of which nearly all rows are multiples; else a power of ten that leaves two significant digits: 40 to 400 steps
    in the middle half of the rows. Never finer than the data. A few rows do not show how people round.

    Examples
    --------
    >>> _step(pd.Series(range(20, 70)), "integer"), _step(pd.Series(range(1003, 90_000, 7)), "integer")
    (1.0, 1000.0)
    >>> _step(pd.Series(range(0, 9_000, 50)), "integer"), _step(pd.Series([0.25, 0.5, 0.17]), "numeric")
    (100.0, 0.01)
    """
    values = np.sort(column.dropna().to_numpy(dtype=float))
    finest = 1.0 if kind == "integer" else _decimals(values)
    if len(values) < _FEW_ROWS or not rounded:
        return finest or _power_of_ten((values[-1] - values[0]) / 500)
    if _middle_half(values) == 0.0 and values[0] != values[-1]:
        values = _apart(values)[1]
    spread = _middle_half(values) or values[-1] - values[0]
    return max(finest or 0.0, multiple_of(values) or 0.0, _power_of_ten(spread / 40))


def multiple_of(values: Array) -> float | None:
    """Return the largest step that people count in of which nearly all values (n,) are multiples; None where that is below 5."""
    values = values[values != 0]
    if len(np.unique(values)) < 3:
        return None
    return next((float(step) for step in _STEPS if (values % step == 0).mean() >= 0.98), None)


def _middle_half(values: Array) -> float:
    low, high = _percentiles(values, 0.25)
    return high - low


def _decimals(values: Array) -> float | None:
    """Return the unit of the last of at most four decimals that all values (n,) have; None where they have more."""
    for decimals in range(1, 5):
        if np.allclose(values, np.round(values, decimals), rtol=0, atol=1e-9):
            return float(10.0**-decimals)
    return None


def _power_of_ten(size: float) -> float:
    """Return the largest power of ten that is not above a size; of nothing, 0.001."""
    return float(10.0 ** np.floor(np.log10(size))) if size > 0 else 0.001


# numbers as text: "$1,000", "12 %", "1.000 €", "(500)" ------------------------------------------------

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


def read_amounts(column: Series) -> Amounts | None:
    """Return a column of texts as numbers; None where it holds something else, or several units.

    A column is read as a whole, because one value alone may mean two things. Either the comma groups thousands and the point
    is decimal, or the other way round; the reading that fits every value is taken. Where both fit ("1.000 €" in every row)
    the mark means thousands, because nobody writes three decimals of a euro; only percentages have them ("4.125 %").

    Examples
    --------
    >>> made = read_amounts(pd.Series(["1.000 €", "25.000 €"]))
    >>> made.values.tolist(), made.unit, made.said
    ([1000, 25000], '€', "written as text: '25.000 €' is read as 25,000")
    >>> read_amounts(pd.Series(["$1,000", "$2,500.50"])).values.tolist()
    [1000.0, 2500.5]
    >>> read_amounts(pd.Series(["red", "blue"])) is None
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


def plain_numbers(table: Frame) -> Frame:
    """Return a table with plain numbers in the place of amounts written as text.

    Examples
    --------
    >>> plain_numbers(pd.DataFrame({"rate": ["4.5 %", "12 %"], "job": ["cook", "nurse"]}))["rate"].tolist()
    [4.5, 12.0]
    """
    made = {name: found.values for name in table.columns if (found := _column(table, name)) is not None}
    return table.assign(**made) if made else table


def _column(table: Frame, name: str) -> Amounts | None:
    column = table[name]
    return None if isinstance(column, pd.DataFrame) or not isinstance(name, str) else read_amounts(column)


def _unit(text: str) -> str:
    """Return the unit that a text beside a number says; "" where it is another word."""
    return text if text in f"%{_SIGNS}" else unit_of([text.lower()])


def _number(match: re.Match[str], mark: str) -> float:
    digits = re.sub(rf"[{mark} '’]", "", match["digits"]).replace(",", ".")
    minus = any(match[side] in ("-", "−") for side in ("sign", "sign2")) or match["bracket"]
    return -float(digits) if minus else float(digits)

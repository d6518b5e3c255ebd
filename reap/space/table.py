"""What a table shows of its columns: kinds, ranges, levels, steps; numbers that it holds as text; what its names suggest.

A name is a guess, never a verdict: a label, a unit, words that a careful lender would stop at.
"""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

import numpy as np
import pandas as pd

from reap._errors import InputError, unknown
from reap._typing import Array, Frame, Series
from reap.space.encoding import ORDERED, frame_of
from reap.space.feature import SETTINGS, Feature, Kind, plain
from reap.space.rules import written

#: Texts beyond which a column that stays as it is has one code for each of them instead of one column.
_MANY = 50
#: The 1st to the 99th percentile of a long tail are this many times as far apart as the 5th and the 95th, or more.
_LONG_TAIL = 3
#: Steps that people count in, the largest first.
_STEPS = (10_000, 5_000, 1_000, 500, 250, 100, 50, 25, 12, 10, 5)
#: Fewer rows do not show how people round.
_FEW_ROWS = 20
#: What only numbers have.
_OF_NUMBERS = ("bounds", "step", "derived", "effect", "span", "clock", "notice")

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
            if key not in SETTINGS:
                raise unknown(f"setting of {name!r}", key, SETTINGS)
        said.setdefault(name, {}).update(own)
    return said


def features_of(X: Frame, said: Said, groups: Mapping[str, Sequence[str]] | None = None) -> list[Feature]:
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
    ordered = isinstance(column.dtype, pd.CategoricalDtype) and column.dtype.ordered
    inferred["dtype"] = ORDERED if ordered else str(column.dtype)
    return Feature(name, **{**inferred, **facts})


def kept_columns(X: Frame) -> list[Feature]:
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
    return features_of(X, said)


def _table(X: Any, encoded: bool) -> Frame:
    if isinstance(X, np.ndarray) and encoded and X.ndim == 2:
        X = pd.DataFrame(X, columns=[f"x{i}" for i in range(X.shape[1])])
    X = frame_of(X)
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
    """A column of texts, read as numbers."""

    values: Series  # (n,)
    unit: str  # what stands with them: "$", "%"; "" where nothing does
    said: str  # how they were read, in a sentence


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
    once = [name for name in table.columns if isinstance(name, str) and isinstance(table[name], pd.Series)]
    made = {name: found.values for name in once if (found := read_amounts(table[name])) is not None}
    return table.assign(**made) if made else table


def _unit(text: str) -> str:
    """Return the unit that a text beside a number says; "" where it is another word."""
    return text if text in f"%{_SIGNS}" else unit_of([text.lower()])


def _number(match: re.Match[str], mark: str) -> float:
    digits = re.sub(rf"[{mark} '’]", "", match["digits"]).replace(",", ".")
    minus = any(match[side] in ("-", "−") for side in ("sign", "sign2")) or match["bracket"]
    return -float(digits) if minus else float(digits)


# what names suggest --------------------------------------------------------------------------------


@lru_cache(maxsize=4096)
def words_of(text: str) -> frozenset[str]:
    """Return the words in a name, in lower case.

    Examples
    --------
    >>> sorted(words_of("MSinceOldestTrade_open"))
    ['m', 'oldest', 'open', 'since', 'trade']
    """
    return frozenset(part.lower() for part in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", text))


#: Traits that the law or decency keeps out of advice.
PROTECTED = words_of(
    "age sex gender race ethnic ethnicity nationality religion marital married spouse husband wife divorced widowed "
    "disability disabled pregnant pregnancy foreign birth born birthday dob origin native citizenship citizen caste"
)
#: What has happened, belongs to others, or only names a row.
FIXED = words_of(
    "id uuid history ever dependents children kids mother father parents zip zipcode postcode postal country survey date fy"
)
#: More of it is worse.
WORSE = words_of(
    "debt debts loan loans overdraft arrears delinquency delinquencies delinq delq overdue late default defaults "
    "inquiries inquiry inq burden utilization utilisation owed liabilities convictions priors absences losses loss"
)
#: Less of it is worse.
BETTER = words_of(
    "income salary wage wages earnings savings saving education assets wealth deposit deposits grade grades health "
    "employment qualification"
)
#: Around these a word of debt or wealth is about something else: the duration of a loan, the years since a default.
_ABOUT = words_of("duration term since time age rate purpose months years ago never satisfactory period type")
#: It goes by itself.
_PASSING = words_of("since tenure age ago seniority")


def _words(feature: Feature) -> frozenset[str]:
    return words_of(feature.name) | words_of(feature.label)


def protected(feature: Feature) -> bool:
    """Whether it looks like a protected trait."""
    return bool(_words(feature) & PROTECTED)


#: Life's large decisions, home, family, work, study and health, as columns are called in English, German and Spanish; and the
#: beginnings of such words.
_LARGE = words_of(
    "home house housing flat mortgage property residence family job work worker study studies school degree health illness "
    "haus wohnung wohnen eigenheim hypothek familie beruf arbeit stelle studium schule abschluss gesundheit krankheit "
    "casa hogar vivienda piso hipoteca familia trabajo puesto estudios escuela salud enfermedad"
)
_LARGE_BEGINS = tuple(
    words_of(
        "homeown occupation profession employ workclass educat universit qualific wohn arbeitg arbeitsv beruf beschaftig "
        "ausbildung bildung hochschul gesundheits empleo emplead ocupacion profesion educacion formacion universidad inmueble"
    )
)


def large(feature: Feature) -> bool:
    """Whether it looks like one of life's large decisions, which are nobody's advice unless a lender says so on purpose.

    Examples
    --------
    >>> [large(Feature(name, range=(0, 1))) for name in ("housing", "Wohnsituation", "educación", "amount")]
    [True, True, True, False]
    """
    text = unicodedata.normalize("NFKD", f"{feature.name} {feature.label}").encode("ascii", "ignore").decode()
    return any(word in _LARGE or word.startswith(_LARGE_BEGINS) for word in words_of(text))


def happened(feature: Feature) -> bool:
    """Whether it looks like something nobody can change."""
    return bool(_words(feature) & FIXED)


def passing(feature: Feature) -> bool:
    """Whether it looks like a clock: the months since something, an age."""
    return feature.is_number and bool(_words(feature) & _PASSING)


def sense(feature: Feature) -> Literal["up", "down"] | None:
    """Return the direction that makes sense for a feature: "up" for income, "down" for debt; None where nothing is known.

    Examples
    --------
    >>> sense(Feature("monthly_income", range=(0, 1))), sense(Feature("loan_duration", range=(0, 1)))
    ('up', None)
    """
    words = _words(feature)
    if feature.kind == "categorical" or words & _ABOUT:
        return None
    worse, better = bool(words & WORSE), bool(words & BETTER)
    return None if worse == better else "down" if worse else "up"


#: Range and span differ by this much, or more, where a few extreme rows are worth a word.
_TENFOLD = 10


def long_tail(feature: Feature) -> str | None:
    """Return what a number was seen at beyond what effort is scaled by, as a clause; None where that is not far.

    Examples
    --------
    >>> long_tail(Feature("jobs", "integer", range=(0, 5000), span=(0, 30)))
    'was seen from 0 to 5,000, more than ten times the 0 to 30 that effort is scaled by: a few extreme rows; check them.'
    """
    if not feature.is_number or feature.range is None or feature.span is None:
        return None
    (low, high), (first, last) = feature.range, feature.span
    if high - low < _TENFOLD * feature.scale:
        return None
    seen = f"{feature.show(low, unit=False)} to {feature.show(high)}"
    scaled = f"{feature.show(first, unit=False)} to {feature.show(last)}"
    return f"was seen from {seen}, more than ten times the {scaled} that effort is scaled by: a few extreme rows; check them."


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


#: Levels that tell a trait whose column has another name: "personal status: married or divorced woman".
_PEOPLE = (PROTECTED | words_of("man woman male female")) - {"age"}


def doubtful(features: Iterable[Feature]) -> list[Feature]:
    """Return the features that look like a trait the law may keep out of a decision, by names and levels.

    Examples
    --------
    >>> import reap
    >>> [f.label for f in doubtful(reap.datasets.load("german").space.features)]
    ['Personal status', 'Age']
    """
    return [feature for feature in features if _doubtful(feature)]


def _doubtful(feature: Feature) -> bool:
    for name in (feature.name, feature.label):
        said = words_of(name)
        # The age of an account is not a person's.
        if said & PROTECTED - {"age"} or said == {"age"}:
            return True
    return any(words_of(str(level)) & _PEOPLE for level in feature.levels)


# columns that follow from others --------------------------------------------------------------------

#: Rows looked at, and how far a column may be from a formula, of its spread.
_ROWS, _EXACT = 1_000, 1e-6
#: Rows on which two columns are tried first, and the share of them that must fit: most pairs fail on the first few.
_FIRST, _BEGINS = 8, 1 - 1.5 / 8
#: The correlation from which two columns are said to move together, and the share of rows that a formula must fit.
_TOGETHER, _FITTING = 0.98, 0.99


@dataclass(frozen=True)
class Relation:
    """One column, and what it follows from."""

    name: str
    others: tuple[str, ...]
    formula: str  # as a derived feature says it; "" where the columns only move together
    share: float  # of the rows in which the formula holds; of columns that move together, their correlation


def relations(table: Frame, names: Sequence[str]) -> list[Relation]:
    """Return which of some columns of numbers follow from others of them, each fact once.

    Looked for are multiples of one other column, sums, differences, products and quotients of two, and columns that move
    nearly alike.

    Examples
    --------
    >>> import pandas as pd
    >>> rng = np.random.default_rng(0)
    >>> X = pd.DataFrame({"months": rng.integers(6, 60, 50), "amount": rng.integers(500, 9000, 50)})
    >>> X = X.assign(days=30 * X["months"], rate=X["amount"] / X["months"])
    >>> [(found.name, found.formula) for found in relations(X, list(X))]
    [('days', '30 * months'), ('rate', 'amount / months')]
    """
    known = table[list(names)].dropna()
    if len(known) > _ROWS:
        known = known.iloc[np.sort(np.random.default_rng(0).choice(len(known), _ROWS, replace=False))]
    V = known.to_numpy(dtype=float).T  # (columns, rows)
    if V.shape[1] < 2 * _FIRST:
        return []
    varied = [i for i in range(len(V)) if np.ptp(V[i]) > 0 and np.isfinite(V[i]).all()]
    found, named = list[Relation](), list[frozenset[int]]()
    for i in reversed(varied):  # what is derived usually stands after what it is made of
        others = [j for j in varied if j != i]
        for some, formula, value in _formulas(V, names, i, others):
            facts = frozenset((i, *some))
            fits = _fit(V[i], value)
            if fits >= _FITTING and facts not in named:
                named.append(facts)
                found.append(Relation(names[i], tuple(names[j] for j in some), formula, fits))
                break
    formed = {relation.name for relation in found}
    found += _moving_together(V, names, [i for i in varied if names[i] not in formed])
    return sorted(found, key=lambda relation: list(names).index(relation.name))


def _formulas(
    V: Array, names: Sequence[str], i: int, others: Sequence[int]
) -> Iterator[tuple[tuple[int, ...], str, Array]]:
    """Yield formulas that give a column in its first rows: the columns they are of, the words, the values (rows,)."""
    for j in others:
        slope = np.ptp(V[i]) / np.ptp(V[j]) * (1.0 if np.corrcoef(V[i], V[j])[0, 1] > 0 else -1.0)
        shift = float(np.median(V[i] - slope * V[j]))
        if abs(shift) <= _EXACT * np.ptp(V[i]):
            shift = 0.0
        slope, shift = float(f"{slope:.10g}"), float(f"{shift:.10g}")
        value = slope * V[j] + shift
        if _fit(V[i], value[:_FIRST]) >= _BEGINS:
            times = "" if slope == 1.0 else f"{slope:.10g} * "
            plus = "" if shift == 0.0 else f" {'+' if shift > 0 else '-'} {abs(shift):.10g}"
            yield (j,), f"{times}{written(names[j])}{plus}", value
    ways = {"+": np.add, "*": np.multiply, "-": np.subtract, "/": np.divide}
    for sign, way in ways.items():
        pairs = itertools.combinations(others, 2) if sign in "+*" else itertools.permutations(others, 2)
        for j, k in pairs:
            with np.errstate(divide="ignore", invalid="ignore"):
                if _fit(V[i], way(V[j, :_FIRST], V[k, :_FIRST])) >= _BEGINS:
                    yield (j, k), f"{written(names[j])} {sign} {written(names[k])}", way(V[j], V[k])


def _fit(column: Array, value: Array) -> float:
    """Return the share of rows (or of the first of them) in which a column is that of a formula."""
    gap = np.abs(column[: len(value)] - value)
    near = np.isfinite(gap) & (gap <= _EXACT * max(float(np.ptp(column)), 1e-300))
    return float(near.mean())


def _moving_together(V: Array, names: Sequence[str], some: Sequence[int]) -> Iterator[Relation]:
    """Yield columns, out of some, that move nearly as one before them does."""
    for place, i in enumerate(some):
        alike = [(abs(float(np.corrcoef(V[i], V[j])[0, 1])), j) for j in some[:place]]
        if alike and (best := max(alike))[0] >= _TOGETHER:
            yield Relation(names[i], (names[best[1]],), "", best[0])

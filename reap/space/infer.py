"""Features inferred from a table: kinds, ranges, levels, steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from reap._errors import InputError, unknown
from reap._typing import Array, Frame, Series
from reap.space.columns import ORDERED
from reap.space.declaration import plain
from reap.space.feature import Clock, Direction, Feature, Kind
from reap.space.inputs import as_frame
from reap.space.vocabulary import label_of

#: Texts beyond which a column that stays as it is has one code for each of them instead of one column.
_MANY = 50
#: The 1st to the 99th percentile of a long tail are this many times as far apart as the 5th and the 95th, or more.
_LONG_TAIL = 3
#: Steps that people count in, the largest first.
_STEPS = (10_000, 5_000, 1_000, 500, 250, 100, 50, 25, 12, 10, 5)
#: Fewer rows do not show how people round.
_FEW_ROWS = 20


@dataclass(frozen=True)
class Said:
    """What is said of features by their names; see ``ActionSpace.from_frame``."""

    immutable: Sequence[str] = ()
    increasing: Sequence[str] = ()
    decreasing: Sequence[str] = ()
    bounds: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    steps: Mapping[str, float] = field(default_factory=dict)
    max_change: Mapping[str, float] = field(default_factory=dict)
    ordinal: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    categorical: Sequence[str] = ()
    labels: Mapping[str, str] = field(default_factory=dict)
    units: Mapping[str, str] = field(default_factory=dict)
    missing: Sequence[str] = ()
    derived: Mapping[str, Any] = field(default_factory=dict)
    forbidden: Mapping[str, Sequence[tuple[Any, Any]]] = field(default_factory=dict)
    spans: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    paces: Mapping[str, float | str] = field(default_factory=dict)
    clocks: Mapping[str, Clock] = field(default_factory=dict)
    at_application: Sequence[str] = ()
    notice: Mapping[str, float] = field(default_factory=dict)


def features(X: Frame, said: Said, groups: Mapping[str, Sequence[str]] | None = None) -> list[Feature]:
    """Return one feature a column (or a group of columns)."""
    X = _table(X, encoded=groups is not None)
    grouped = _group_columns(X, groups or {})
    if groups is not None:
        _check_encoded(X, grouped, said)
    names = list(dict.fromkeys(grouped.get(str(c), str(c)) for c in X.columns))
    for given in vars(said).values():
        for name in given:
            if name not in names:
                raise unknown("feature", name, names)
    if both := set(said.increasing) & set(said.decreasing):
        raise InputError(f"{min(both)!r} is said to only rise and to only fall; choose one")
    numbers = (said.bounds, said.steps, said.derived, said.spans, said.clocks, said.notice)
    made = []
    for name in names:
        direction: Direction = (
            "up" if name in said.increasing else "down" if name in said.decreasing else "any"
        )
        words: dict[str, Any] = {
            "actionable": name not in said.immutable and name not in said.derived,
            "direction": direction,
            "max_change": said.max_change.get(name),
            "label": said.labels.get(name, ""),
            "unit": said.units.get(name, ""),
            "missing": name in said.missing,
            "forbidden": said.forbidden.get(name, ()),
            "pace": said.paces.get(name),
            "clock": said.clocks.get(name),
            "when": "application" if name in said.at_application else None,
            "notice": said.notice.get(name),
        }
        if groups is not None and name in groups:
            if name in said.bounds or name in said.steps or name in said.derived:
                raise InputError(
                    f"{name!r} is a group of levels; bounds, steps and formulas do not apply to it"
                )
            columns = tuple(groups[name])
            dtype = str(X[columns[0]].dtype)
            made.append(Feature(name, "categorical", levels=columns, columns=columns, dtype=dtype, **words))
            continue
        column = X[name]
        if column.isna().any() and name not in said.missing:
            raise InputError(f"{name!r} is missing in some rows; fill it in, or say missing=[{name!r}]")
        told = any(name in given for given in numbers)
        kind, levels = _kind(column, name, said, number=told)
        facts: dict[str, Any] = {"levels": levels}
        if kind in ("numeric", "integer"):
            if groups is not None:
                kind = "numeric"  # an encoded table has no units, so no whole ones
            facts = {
                "range": _range(column, name),
                "span": said.spans.get(name, None if groups is not None else _span(column)),
                "bounds": said.bounds.get(name),
                "step": said.steps.get(
                    name, None if groups is not None else _step(column, kind, name not in said.derived)
                ),
                "derived": said.derived.get(name),
            }
        elif told:
            raise InputError(
                f"{name!r} has levels, not numbers; bounds, steps, spans, clocks and formulas do not apply to it"
            )
        ordered = isinstance(column.dtype, pd.CategoricalDtype) and column.dtype.ordered
        made.append(Feature(name, kind, dtype=ORDERED if ordered else str(column.dtype), **facts, **words))
    return made


def kept(X: Frame) -> list[Feature]:
    """Return columns as features that nobody changes; a text with many values, such as an ID, takes one encoded column."""
    X = _table(X, encoded=False)
    many: dict[str, Sequence[Any]] = {}
    for name, column in X.items():
        texts = column.dropna()
        if not pd.api.types.is_numeric_dtype(column.dtype) and texts.nunique() > _MANY:
            many[str(name)] = sorted(texts.unique(), key=lambda value: (str(type(value)), value))
    said = Said(
        immutable=list(X),
        ordinal=many,
        missing=[str(name) for name in X if X[name].isna().any()],
        labels={str(name): label_of(str(name)) for name in X},
    )
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
    for name in (*said.ordinal, *said.categorical):
        raise InputError(f"{name!r} cannot be ordinal or categorical in an encoded table; put it in groups=")
    for column in X.columns:
        if column not in grouped and not pd.api.types.is_numeric_dtype(X[column].dtype):
            raise InputError(
                f"{column!r} does not hold numbers; an encoded table (groups=) holds nothing else, so encode it or "
                "leave out groups="
            )


def _kind(column: Series, name: str, said: Said, number: bool) -> tuple[Kind, Any]:
    if name in said.ordinal:
        return "ordinal", tuple(said.ordinal[name])
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
    if name in said.categorical or not pd.api.types.is_numeric_dtype(dtype):
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
        forced = name in said.categorical
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

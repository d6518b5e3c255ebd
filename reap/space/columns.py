"""One column of the user's table ⇄ codes: checked on the way in, with its own dtype on the way out."""

from __future__ import annotations

import math
from decimal import Decimal
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from reap._errors import InputError, unknown
from reap._typing import Array, Bools, Series
from reap.space.declaration import plain
from reap.space.feature import Feature

#: How the dtype of a column of ordered categories is written; pandas has one word for both.
ORDERED = "category[ordered]"
#: Up to this number of rows a dict finds levels faster than pandas does.
_FEW = 200


class Column:
    """Reads and writes the column of one feature.

    Examples
    --------
    >>> job = Column(Feature("job", "categorical", levels=("cook", "smith"), dtype="category"))
    >>> job.read(pd.Series(["smith", "cook"]))
    array([1., 0.])
    >>> job.write(np.array([1.0]), "category").tolist()
    ['smith']
    """

    def __init__(self, feature: Feature) -> None:
        self.feature = feature
        self._palettes: dict[Any, Any] = {}

    # in -----------------------------------------------------------------------------------------------

    def read(self, column: Series) -> Array:
        """Return the codes (n,) of a column, or say in one sentence what is wrong with it."""
        dtype = column.dtype
        if self.feature.is_number and isinstance(dtype, np.dtype) and dtype.kind in "iuf":
            values = column.to_numpy(dtype=float, copy=True)
            return self._checked(values, self._absent(np.isnan(values), column))
        if not self.feature.is_number:
            found = self._positions(column)
            missed = found < 0
            if missed.any():
                absent = self._absent(column.isna().to_numpy(), column)
                if (missed & ~absent).any():
                    given = plain(column[missed & ~absent].iloc[0])
                    raise unknown(f"level of {self.feature.name!r}", given, self.feature.levels)
                found[absent] = np.nan
            return found
        return self._strange_numbers(column)

    def quick(self, value: Any) -> float | None:
        """Return the code of one ordinary value; None where ``read`` has to look at it."""
        if not self.feature.is_number:
            try:
                return self._places.get(value)
            except TypeError:
                return None
        if type(value) not in (int, float) or not math.isfinite(value):
            return None
        return None if self.feature.kind == "integer" and value != int(value) else float(value)

    def _absent(self, absent: Bools, column: Series) -> Bools:
        if absent.any() and not self.feature.missing:
            where = column.index[absent].tolist()[0]  # a plain value, not NumPy's
            raise InputError(
                f"{self.feature.name!r} is missing in row {where!r}; fill it in, or declare the feature with "
                "missing=True"
            )
        return absent

    def _checked(self, values: Array, absent: Bools) -> Array:
        if np.isinf(values).any():
            raise InputError(f"{self.feature.name!r} is infinite in a row; give a finite number")
        if self.feature.kind == "integer":
            broken = ~absent & (values != np.rint(values))
            if broken.any():
                raise InputError(f"{self.feature.name!r} is {values[broken][0]:g}; it must be a whole number")
        return values

    def _strange_numbers(self, column: Series) -> Array:
        """Return numbers from a column of another dtype; text and dates are an error that quotes them."""
        absent = self._absent(column.isna().to_numpy(), column)
        dated = column.dtype.kind in "mMc"
        if dated or not pd.api.types.is_numeric_dtype(column.dtype):
            known = column[~absent]
            strange = [v for v in known if dated or not isinstance(v, int | float | np.number | Decimal)]
            if strange:
                raise InputError(
                    f"{self.feature.name!r} is {strange[0]!r} in the table, a {type(strange[0]).__name__}; it must "
                    "be a number"
                )
        values = np.full(len(column), np.nan)
        values[~absent] = column[~absent].to_numpy(dtype=float)
        return self._checked(values, absent)

    @cached_property
    def _places(self) -> dict[Any, int]:
        return {level: i for i, level in enumerate(self.feature.levels)}

    def _positions(self, column: Series) -> Array:
        """Return the index of each value among the levels, −1 where it is none."""
        try:
            if isinstance(column.dtype, pd.CategoricalDtype):
                found = [self._places.get(level, -1) for level in column.cat.categories]
                return np.asarray(np.array([*found, -1], dtype=float)[column.cat.codes.to_numpy()])
            if len(column) <= _FEW:
                return np.array([self._places.get(value, -1) for value in column.tolist()], dtype=float)
            index = pd.Index(self.feature.levels, dtype=object)
            return np.asarray(index.get_indexer(column.astype(object)).astype(float))
        except TypeError:
            shown = ", ".join(map(str, self.feature.levels))
            raise InputError(
                f"{self.feature.name!r} holds something that cannot be a level; allowed are: {shown}"
            ) from None

    # out ----------------------------------------------------------------------------------------------

    def write(self, codes: Array, dtype: Any) -> Any:
        """Return codes (n,) as an array with a dtype: categories as categories, whole numbers as integers.

        Where the dtype cannot hold them (a missing value, or 10³⁰, among NumPy's integers), as the nearest that can.
        """
        absent = np.isnan(codes)
        if self.feature.is_number:
            return self._write_numbers(codes, dtype, absent)
        palette = self._palette(dtype, bool(absent.any()))
        picked = palette.take(np.where(absent, len(self.feature.levels), codes).astype(np.intp))
        return picked if picked.dtype != object else pd.Series(picked, dtype=object)  # or pandas would guess

    def _write_numbers(self, codes: Array, dtype: Any, absent: Bools) -> Any:
        whole = "int64" if self.feature.kind == "integer" else "float64"
        dtype = pd.api.types.pandas_dtype(whole if dtype is None else dtype)
        if dtype.kind in "iu" and not _fit(codes[~absent], dtype):
            return codes
        if isinstance(dtype, np.dtype):
            return codes if absent.any() and dtype.kind in "iub" else codes.astype(dtype)
        return pd.Series(codes).astype(dtype).array

    def _palette(self, dtype: Any, absent: bool) -> Any:
        """Return the levels, then "missing" where it is needed, as an array of a dtype to take from."""
        key = (str(dtype) if dtype is None or isinstance(dtype, str) else dtype, absent)
        if key not in self._palettes:
            levels = pd.Series([*self.feature.levels, *([None] if absent else [])], dtype=object)
            if isinstance(dtype, str) and dtype.startswith("category"):
                dtype = pd.CategoricalDtype(list(self.feature.levels), ordered=dtype == ORDERED)
            exact = None if dtype is None else pd.api.types.pandas_dtype(dtype)
            if dtype is None:
                levels = levels.infer_objects()
            elif not (absent and isinstance(exact, np.dtype) and exact.kind in "biu"):
                levels = levels.astype(exact)
            self._palettes[key] = levels.to_numpy() if isinstance(levels.dtype, np.dtype) else levels.array
        return self._palettes[key]


def _fit(codes: Array, dtype: Any) -> bool:
    """Return whether integers of a dtype can hold codes (n,)."""
    plain = getattr(dtype, "numpy_dtype", getattr(dtype, "subtype", dtype))  # nullable, sparse, NumPy's own
    kind = np.iinfo(plain)
    # float(kind.max) may be one too large
    return bool(((codes == np.rint(codes)) & (codes >= kind.min) & (codes < kind.max + 1)).all())


class Group:
    """Reads and writes a feature that is one-hot encoded in the table already, one column a level.

    Parameters
    ----------
    feature : Feature with columns
    """

    def __init__(self, feature: Feature) -> None:
        self.feature = feature

    def read(self, block: Any) -> Array:
        """Return the codes (n,) of the group's columns; all zero is missing where that is allowed."""
        name = self.feature.name
        try:
            values = block.to_numpy(dtype=float, na_value=np.nan)
        except (TypeError, ValueError):
            raise InputError(f"the columns of the group {name!r} must hold numbers, 0 or 1") from None
        absent = ~np.nan_to_num(values).any(axis=1) & self.feature.missing
        if np.isnan(values[~absent]).any():
            raise InputError(f"{name!r} is missing in a row; fill it in, or declare it with missing=True")
        hot = np.isclose(values, 1.0)
        sound = (hot.sum(axis=1) == 1) & (hot | np.isclose(values, 0.0)).all(axis=1)
        if not (sound | absent).all():
            raise InputError(
                f"the columns of the group {name!r} must hold one 1 and otherwise 0 in every row"
            )
        return np.where(absent, np.nan, hot.argmax(axis=1))

    def write(self, codes: Array, level: int, dtype: Any) -> Any:
        """Return one column of the group."""
        return pd.Series(codes == level).astype(dtype or "float64").array

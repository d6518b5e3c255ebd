"""Rows in the user's units ⇄ codes ⇄ vectors.

Three views of the same row. A *row* is what the user has. *Codes* (n, f) hold one number a feature: the
value of a number, the index of a level, NaN where missing; legality is judged on them, exactly. *Vectors*
(n, d) are what models and efforts see: numbers scaled by their span (its ends are 0 and 1), levels of an ordinal feature
evenly spaced in [0, 1], a binary feature 0 or 1, a categorical one one-hot. All of it is a function of the
features alone; nothing is learned from data.
"""

from __future__ import annotations

import copy
import difflib
import sys
from collections.abc import Mapping, Sequence
from decimal import Decimal
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, TransformerMixin

from reap._errors import InputError, unknown
from reap._typing import Array, Bools, Frame, Ints, Series
from reap.space.feature import Feature, plain

if TYPE_CHECKING:
    from reap.space.space import ActionSpace

#: Digits people write at most: a number within rounding of one so short is that one, so 0.1 comes back as 0.1.
_DIGITS = 13
_ROUNDING = 4 * np.finfo(float).eps
#: Vectors that differ by no more than this in a column have the same value there.
UNCHANGED = 1e-9
#: A vector farther than this from its row's is no row.
_OFF = 1e-6
#: How the dtype of a column of ordered categories is written; pandas has one word for both.
ORDERED = "category[ordered]"


class Encoding:
    """The layout of vectors for a sequence of features.

    Parameters
    ----------
    features : sequence of Feature
    encoded : bool
        Whether the table is in encoder columns already; numbers then keep their values.

    Attributes
    ----------
    columns : tuple of d names
        The encoded columns; ``slices`` says which of them belong to each feature, by name.
    table : list of str
        The columns of the user's table: a feature's own, or those of its one-hot group.
    origin, scale : (f,)
        The value of each feature that is encoded as 0, and the change that is encoded as 1.
    starts, owner : (f,), (d,)
        The first column of each feature, and the feature of each column.
    own : (d,) and (f,), optional
        Of one person the vector and the codes: what stays as it is for them comes back to the bit.

    Examples
    --------
    >>> coding = Encoding([Feature("age", "integer", range=(20, 70)), Feature("job", "categorical", levels=("a", "b"))])
    >>> coding.vectors(coding.codes(pd.DataFrame({"age": [45], "job": ["b"]})))
    array([[0.5, 0. , 1. ]])
    """

    def __init__(self, features: Sequence[Feature], encoded: bool = False) -> None:
        self.features, self.encoded = tuple(features), encoded
        self.own: tuple[Array, Array] | None = None
        self.slices: dict[str, slice] = {}
        names: list[str] = []
        for feature in self.features:
            self.slices[feature.name] = slice(len(names), len(names) + feature.width)
            if feature.kind == "categorical":
                names += feature.columns or [f"{feature.name}={level}" for level in feature.levels]
            else:
                names.append(feature.name)
        self.columns = tuple(names)
        self.dimension = len(names)
        self.table = [column for f in self.features for column in (f.columns or (f.name,))]
        self.starts: Ints = np.array([self.slices[f.name].start for f in self.features], dtype=np.intp)
        self.owner: Ints = np.repeat(np.arange(len(self.features)), [f.width for f in self.features])
        self.origin = np.array([0.0 if encoded else f.origin for f in self.features])
        self.scale = np.array([1.0 if encoded and f.is_number else f.scale for f in self.features])
        hot = np.array([f.kind == "categorical" for f in self.features], dtype=bool)
        #: (feature index, columns) of the categorical features.
        self.hot = [(int(i), self.slices[self.features[i].name]) for i in np.flatnonzero(hot)]
        self._hot, self._first = np.flatnonzero(hot), self.starts[hot]
        #: Indices (features, columns) of everything that takes one column.
        self.single = np.flatnonzero(~hot), self.starts[~hot]

    @cached_property
    def _rounding(self) -> tuple[Array, Array, Array, Array]:
        """For what takes one column: a power of ten to round at, how much rounding may change, the first and the last level."""
        rows = []
        for feature in (self.features[i] for i in self.single[0]):
            power, slack = 1.0, np.inf
            if feature.kind == "numeric":
                low, high = feature.range or (1.0, 1.0)
                size = max(abs(low), abs(high), 1e-290)
                power = 10.0 ** max(_DIGITS - 1 - int(np.floor(np.log10(size))), 0)
                slack = _ROUNDING * size
            ends = (-np.inf, np.inf) if feature.is_number else (0.0, len(feature.levels) - 1.0)
            rows.append((power, slack, *ends))
        table = np.array(rows, dtype=float).reshape(-1, 4)
        return table[:, 0], table[:, 1], table[:, 2], table[:, 3]

    @cached_property
    def _grid(self) -> tuple[Array, Array]:
        """Step of each feature that takes one column, NaN where any value may occur, and 10 to its decimals."""
        some = [self.features[i] for i in self.single[0]]
        step = [(f.step if f.step is not None else np.nan) if f.is_number else 1.0 for f in some]
        return np.array(step, dtype=float), 10.0 ** np.array([f.decimals or 0 for f in some], dtype=float)

    @property
    def steps(self) -> Array:
        """Step of each encoded column (d,): 0 where any value may occur, and for one-hot columns."""
        (chosen, columns), steps = self.single, np.zeros(self.dimension)
        steps[columns] = np.nan_to_num(self._grid[0]) / self.scale[chosen]
        return steps

    # rows and codes -----------------------------------------------------------------------------------

    @cached_property
    def readers(self) -> list[TableColumn | OneHotGroup]:
        """What reads and writes the values of each feature, f of them."""
        return [OneHotGroup(f) if f.columns else TableColumn(f) for f in self.features]

    def codes(self, frame: Frame) -> Array:
        """Return the codes (n, f) of a frame, or say in one sentence what is wrong with it."""
        self._check_columns(frame_of(frame))
        if len(frame) == 0:
            raise InputError("the table has no rows; give at least one")
        codes = np.empty((len(frame), len(self.features)))
        for i, (feature, reader) in enumerate(zip(self.features, self.readers, strict=True)):
            codes[:, i] = reader.read(frame[list(feature.columns) if feature.columns else feature.name])
        return codes

    def _check_columns(self, frame: Frame) -> None:
        given, wanted = list(frame.columns), self.table
        if given == wanted:
            return
        if len(set(given)) != len(given):
            twice = sorted({str(c) for c in given if given.count(c) > 1})
            raise InputError(f"the table has the column {twice[0]!r} more than once; keep one")
        extra = [c for c in given if c not in wanted]
        for column in wanted:
            if column not in given:
                close = difflib.get_close_matches(column, map(str, extra), n=1)
                near = f"; there is {close[0]!r}: rename it if it is that" if close else ""
                raise InputError(
                    f"the table lacks the column {column!r}{near}; needed are: {', '.join(wanted)}"
                )
        if extra:
            raise InputError(
                f"the table has a column {str(extra[0])!r} that the action space does not know; drop it or declare it"
            )

    def frame(self, codes: Array, like: Frame | None = None, index: Any = None) -> Frame:
        """Return the rows of codes (n, f) as a frame, with the dtypes of ``like`` where it is given."""
        data: dict[str, Any] = {}
        for values, feature, reader in zip(codes.T, self.features, self.readers, strict=True):
            for level, name in enumerate(feature.columns or (feature.name,)):
                dtype = like[name].dtype if like is not None else feature.dtype
                data[name] = reader.write(values, dtype, level)
        frame = pd.DataFrame(data)
        if index is not None:
            frame.index = index
        return frame

    def row(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return values by feature as values by column of the user's table."""
        found: dict[str, Any] = {}
        for f in self.features:
            levels = zip(f.columns, f.levels, strict=True) if f.columns else ()
            found |= {column: float(level == values[f.name]) for column, level in levels} or {
                f.name: values[f.name]
            }
        return found

    # codes and vectors --------------------------------------------------------------------------------

    def units(self, Z: Array, which: Any) -> Array:
        """Return the values in units, or the levels' places, of features that take one column, from vectors (…, d)."""
        return np.asarray(self.origin[which] + Z[..., self.starts[which]] * self.scale[which])

    def scaled(self, values: Any, which: Any) -> Array:
        """Return values (…) of features as vectors hold them: undoes ``units``."""
        return np.asarray((values - self.origin[which]) / self.scale[which])

    def vectors(self, codes: Array) -> Array:
        """Return the vectors (n, d) of codes (n, f)."""
        Z = np.zeros((len(codes), self.dimension))
        chosen, columns = self.single
        Z[:, columns] = self.scaled(codes[:, chosen], chosen)
        levels = codes[:, self._hot]
        row, which = (known := ~np.isnan(levels)).nonzero()
        Z[row, self._first[which] + levels[known].astype(np.intp)] = 1.0
        return Z

    def codes_of(self, Z: Array) -> Array:
        """Return the codes (n, f) nearest to vectors (n, d); undoes ``vectors`` exactly."""
        codes = np.empty((len(Z), len(self.features)))
        chosen, columns = self.single
        value = self.units(Z, chosen)
        power, slack, first, last = self._rounding
        short = np.rint(value * power) / power
        value = np.where(np.abs(short - value) <= slack, short, value)
        codes[:, chosen] = np.minimum(np.maximum(value, first), last)
        if self.own is not None:
            z, own = self.own
            codes[:, chosen] = np.where(Z[:, columns] == z[columns], own[chosen], codes[:, chosen])
        for i, columns in self.hot:
            block = Z[:, columns]
            codes[:, i] = block.argmax(axis=1)
            if self.features[i].missing:
                codes[~block.any(axis=1), i] = np.nan
        return codes

    def at(self, z: Array, codes: Array) -> Encoding:
        """Return the layout for one person with vector (d,) and codes (f,); itself where the vector alone gives the codes.

        A value such as 25.770000457763672 does not always survive ``origin + z · scale`` to its last bit.

        Examples
        --------
        >>> coding = Encoding([Feature("debt", range=(0.0, 90.0), span=(-0.7, 66.4))])
        >>> codes = np.array([4.332022927893472e-05])
        >>> z = coding.vectors(codes[None])[0]
        >>> bool(coding.codes_of(z[None])[0] == codes), bool(coding.at(z, codes).codes_of(z[None])[0] == codes)
        (False, True)
        """
        if np.array_equal(self.codes_of(z[None])[0], codes, equal_nan=True):
            return self
        made = copy.copy(self)
        made.own = z, codes
        return made

    def checked(self, given: Any) -> Array:
        """Return vectors (d,) or (n, d) as (n, d), refused where they have another width."""
        Z: Array = np.atleast_2d(np.asarray(given, dtype=float))
        if Z.ndim != 2 or Z.shape[1] != self.dimension:
            raise InputError(
                f"the vectors have shape {Z.shape}; the space has {self.dimension} encoded columns"
            )
        return Z

    def nearest(self, rows: Any) -> Array:
        """Return the codes (n, f) of a frame or a Series, and of vectors those of the nearest rows."""
        if isinstance(rows, np.ndarray):
            return self.codes_of(self.checked(rows))
        return self.codes(one_row(rows, None) if isinstance(rows, pd.Series) else as_frame(rows))

    def exact(self, rows: Any) -> tuple[Array, Bools]:
        """Return codes (n, f) as ``nearest`` does, and which vectors are those of a row, (n,)."""
        codes = self.nearest(rows)
        if not isinstance(rows, np.ndarray):
            return codes, np.ones(len(codes), dtype=bool)
        return codes, np.asarray(~(np.abs(self.vectors(codes) - rows) > _OFF).any(axis=1))

    def snap(self, Z: Array) -> Array:
        """Return vectors (n, d) with numbers at their steps and ordered levels at levels; categories as they are.

        Enough, and quick, for rows between two legal ones.
        """
        chosen, columns = self.single
        step, power = self._grid
        out = (Z := self.checked(Z)).copy()
        value = np.rint(self.units(Z, chosen) / step) * step
        snapped = self.scaled(np.rint(value * power) / power, chosen)
        out[:, columns] = np.where(np.isnan(step), Z[:, columns], snapped)
        return out

    def changed(self, Z1: Array, Z2: Array) -> Bools:
        """Return which features differ between vectors, (n, f); missing equals missing."""
        Z1, Z2 = np.atleast_2d(Z1), np.atleast_2d(Z2)
        gap = np.abs(Z1 - Z2) > UNCHANGED
        gap |= np.isnan(Z1) != np.isnan(Z2)
        return np.asarray(np.logical_or.reduceat(gap, self.starts, axis=1))


# one column of the user's table ----------------------------------------------------------------------


class TableColumn:
    """Reads and writes the column of one feature.

    Examples
    --------
    >>> job = TableColumn(Feature("job", "categorical", levels=("cook", "smith"), dtype="category"))
    >>> job.read(pd.Series(["smith", "cook"]))
    array([1., 0.])
    >>> job.write(np.array([1.0]), "category").tolist()
    ['smith']
    """

    def __init__(self, feature: Feature) -> None:
        self.feature = feature
        self._palettes: dict[Any, Any] = {}
        self._places = {level: i for i, level in enumerate(feature.levels)}

    def read(self, column: Series) -> Array:
        """Return the codes (n,) of a column, or say in one sentence what is wrong with it."""
        name = self.feature.name
        codes = self._numbers(column) if self.feature.is_number else self._positions(column)
        absent = np.isnan(codes)
        if absent.any() and not self.feature.missing:
            where = column.index[absent].tolist()[0]  # a plain value, not NumPy's
            raise InputError(
                f"{name!r} is missing in row {where!r}; fill it in, or declare the feature with missing=True"
            )
        if self.feature.is_number and np.isinf(codes).any():
            raise InputError(f"{name!r} is infinite in a row; give a finite number")
        if self.feature.kind == "integer":
            broken = ~absent & (codes != np.rint(codes))
            if broken.any():
                raise InputError(f"{name!r} is {codes[broken][0]:g}; it must be a whole number")
        return codes

    def _numbers(self, column: Series) -> Array:
        """Return numbers (n,), NaN where one is missing; text and dates are an error that quotes them."""
        dtype = column.dtype
        if isinstance(dtype, np.dtype) and dtype.kind in "iuf":
            return np.asarray(column.to_numpy(dtype=float))
        dated = dtype.kind in "mMc"
        if dated or not pd.api.types.is_numeric_dtype(dtype):
            for value in column.dropna():
                if dated or not isinstance(value, int | float | np.number | Decimal):
                    raise InputError(
                        f"{self.feature.name!r} is {value!r} in the table, a {type(value).__name__}; it must be a number"
                    )
        return np.asarray(column.astype(object).to_numpy(dtype=float, na_value=np.nan))

    def _positions(self, column: Series) -> Array:
        """Return the index of each value among the levels, NaN where it is missing."""
        place, none = self._places.get, np.nan
        try:
            if isinstance(column.dtype, pd.CategoricalDtype):
                known = [place(level, none) for level in column.cat.categories]
                found = np.asarray(np.array([*known, none])[column.cat.codes.to_numpy()])
            else:
                found = np.array([place(value, none) for value in column.tolist()], dtype=float)
            if (strange := np.isnan(found)).any() and (strange := strange & column.notna().to_numpy()).any():
                given = plain(column[strange].iloc[0])
                raise unknown(f"level of {self.feature.name!r}", given, self.feature.levels)
            return found
        except TypeError:
            shown = ", ".join(map(str, self.feature.levels))
            raise InputError(
                f"{self.feature.name!r} holds something that cannot be a level; allowed are: {shown}"
            ) from None

    def write(self, codes: Array, dtype: Any, level: int = 0) -> Any:
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


class OneHotGroup:
    """Reads and writes a feature that is one-hot encoded in the table already, one column a level."""

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

    def write(self, codes: Array, dtype: Any, level: int) -> Any:
        """Return the column of one level."""
        return pd.Series(codes == level).astype(dtype or "float64").array


# what a user may hand in -----------------------------------------------------------------------------


def one_row(x: Any, encoded: Sequence[str] | None) -> Frame:
    """Return one subject as a one-row frame: a Series, a one-row frame, a mapping, or an array in encoder columns.

    Parameters
    ----------
    x : the subject
    encoded : the encoder's columns where the space takes arrays, else None

    Examples
    --------
    >>> one_row({"age": 30, "job": "cook"}, None)
       age   job
    0   30  cook
    """
    if isinstance(x, np.ndarray):
        if encoded is None:
            raise InputError(
                "give the subject as a pandas Series or a one-row DataFrame; arrays need a space made with groups="
            )
        x = from_array(np.atleast_2d(x), encoded)
    elif isinstance(x, pd.Series):
        if not x.index.is_unique:
            twice = x.index[x.index.duplicated()][0]
            raise InputError(f"the subject has the feature {str(twice)!r} more than once; keep one")
        x = pd.DataFrame([x.to_list()], columns=list(x.index), index=[x.name])
    elif isinstance(x, Mapping):
        x = pd.DataFrame([list(x.values())], columns=list(x))
    x = as_frame(x)
    if not isinstance(x, pd.DataFrame):
        raise InputError(
            f"give the subject as a pandas Series or a one-row DataFrame, not {type(x).__name__}"
        )
    if len(x) != 1:
        raise InputError(
            f"one subject is needed, but the table has {len(x)} rows; pick one, for example X.iloc[0]"
        )
    return x


def from_array(X: Any, columns: Sequence[str]) -> Frame:
    """Return an array (n, d) in encoder columns as a frame."""
    if X.ndim != 2 or X.shape[1] != len(columns):
        raise InputError(f"the array has shape {X.shape}; the space has {len(columns)} encoded columns")
    try:
        return pd.DataFrame(np.asarray(X, dtype=float), columns=list(columns))
    except (TypeError, ValueError):
        raise InputError("the array holds something that is not a number; give encoded rows") from None


def as_frame(X: Any) -> Any:
    """Return a frame of another library (polars, pyarrow) as a pandas frame, anything else as it is."""
    if isinstance(X, pd.DataFrame) or not hasattr(X, "to_pandas"):
        return X
    return X.to_pandas()


def frame_of(X: Any) -> Frame:
    """Return a frame of any library as a pandas frame; anything else is an error."""
    X = as_frame(X)
    if not isinstance(X, pd.DataFrame):
        raise InputError(f"a pandas DataFrame is needed, not {type(X).__name__}")
    return X


def as_given(frame: Frame, given: Any) -> Any:
    """Return a pandas frame as one of the library that was given (polars, pyarrow), so that tables go out as they came in."""
    if isinstance(given, pd.DataFrame) or not hasattr(given, "to_pandas"):
        return frame
    back = getattr(type(given), "from_pandas", None)  # pyarrow's is of the table, polars' of the module
    back = back or getattr(sys.modules[type(given).__module__.partition(".")[0]], "from_pandas", None)
    return frame if back is None else back(frame)


def names_of(given: Any) -> tuple[str, ...]:
    """Return names of features; one alone may stand without a list.

    Examples
    --------
    >>> names_of("age"), names_of(["age", "sex"])
    (('age',), ('age', 'sex'))
    """
    if isinstance(given, str):
        return (given,)
    if not hasattr(given, "__iter__"):
        raise InputError(f"{given!r} is no list of features; give names, such as ['age']")
    return tuple(given)


# for scikit-learn ------------------------------------------------------------------------------------


class SpaceEncoder(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Rows in units → vectors, for a Pipeline: numbers over their span, one-hot categories, ordinals as scaled integers.

    A function of the space alone: ``fit`` checks its input and learns nothing, so a category or a range that is
    missing from a training split changes nothing.

    Parameters
    ----------
    space : ActionSpace

    Examples
    --------
    >>> import pandas as pd, reap
    >>> X = pd.DataFrame({"age": [20, 30, 40], "job": ["a", "b", "c"]})
    >>> encoder = reap.ActionSpace.from_frame(X).encoder()
    >>> encoder.fit_transform(X)[1]
    array([0.5, 0. , 1. , 0. ])
    >>> encoder.inverse_transform(encoder.transform(X)).equals(X)
    True
    """

    def __init__(self, space: ActionSpace) -> None:
        self.space = space

    def fit(self, X: Frame, y: Any = None) -> SpaceEncoder:
        """Check ``X``; nothing is learned."""
        self.transform(X)
        self.n_features_in_ = np.shape(X)[1]
        if hasattr(X, "columns"):
            self.feature_names_in_ = np.asarray(X.columns, dtype=object)
        return self

    def transform(self, X: Frame) -> Array:
        """Return the vectors (n, d) of a frame."""
        return self.space.encode(X)

    def inverse_transform(self, Z: Array) -> Frame:
        """Return the rows of vectors (n, d), with dtypes, categories and steps as they were."""
        return self.space.decode(np.asarray(Z, dtype=float))

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Return the names of the encoded columns."""
        return np.asarray(self.space.columns, dtype=object)

    def __sklearn_is_fitted__(self) -> bool:
        return True  # nothing is learned, so nothing can be missing

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
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from reap._errors import InputError
from reap._typing import Array, Bools, Frame, Ints
from reap.space.columns import Column, Group
from reap.space.feature import Feature

#: Digits people write at most: a number within rounding of one so short is that one, so 0.1 comes back as 0.1.
_DIGITS = 13
_ROUNDING = 4 * np.finfo(float).eps
#: Vectors that differ by no more than this in a column have the same value there.
UNCHANGED = 1e-9
#: Rows of which all categories are written at once: of a few rows the calls cost most.
_FEW = 64


class Encoding:
    """The layout of vectors for a sequence of features.

    Parameters
    ----------
    features : sequence of Feature
    encoded : bool
        Whether the table is in encoder columns already; numbers then keep their values.

    Examples
    --------
    >>> coding = Encoding([Feature("age", "integer", range=(20, 70)), Feature("job", "categorical", levels=("a", "b"))])
    >>> coding.vectors(coding.codes(pd.DataFrame({"age": [45], "job": ["b"]})))
    array([[0.5, 0. , 1. ]])
    """

    def __init__(self, features: Sequence[Feature], encoded: bool = False) -> None:
        self.features = tuple(features)
        self.encoded = encoded
        #: Of one person the vector (d,) and the codes (f,): what stays as it is for them comes back to the bit.
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

    @cached_property
    def single(self) -> Any:
        """Indices (features, columns) of everything that takes one column."""
        chosen = [i for i, f in enumerate(self.features) if f.kind != "categorical"]
        return np.array(chosen, dtype=np.intp), np.array(
            [self.slices[self.features[i].name].start for i in chosen], dtype=np.intp
        )

    @cached_property
    def hot(self) -> list[tuple[int, slice]]:
        """(feature index, columns) of the categorical features."""
        return [(i, self.slices[f.name]) for i, f in enumerate(self.features) if f.kind == "categorical"]

    @cached_property
    def _first_levels(self) -> tuple[Ints, Ints]:
        """Of the categorical features the index, and the column of the first level."""
        hot, columns = zip(*self.hot, strict=True)
        return np.array(hot, dtype=np.intp), np.array([each.start for each in columns], dtype=np.intp)

    @cached_property
    def owner(self) -> Any:
        """Index of the feature each column belongs to, (d,)."""
        return np.repeat(np.arange(len(self.features)), [f.width for f in self.features])

    @cached_property
    def origin(self) -> Array:
        """Value of each feature at 0 in its column, (f,)."""
        return np.array([0.0 if self.encoded else f.origin for f in self.features])

    @cached_property
    def scale(self) -> Array:
        """Length of each feature's unit interval, (f,): the span of a number, 1 for levels of a category."""
        return np.array([1.0 if self.encoded and f.is_number else f.scale for f in self.features])

    @cached_property
    def _rounding(self) -> tuple[Array, Array, Array, Array]:
        """For what takes one column: a power of ten to round at, how much rounding may change, the first and the last level."""
        power, slack, last = [], [], []
        for i in self.single[0]:
            feature, size = self.features[i], 1.0
            if feature.kind == "numeric" and feature.range is not None:
                size = max(abs(feature.range[0]), abs(feature.range[1]), 1e-290)
            digits = max(_DIGITS - 1 - int(np.floor(np.log10(size))), 0)
            power.append(10.0**digits if feature.kind == "numeric" else 1.0)
            slack.append(_ROUNDING * size if feature.kind == "numeric" else np.inf)
            last.append(np.inf if feature.is_number else len(feature.levels) - 1.0)
        ends = np.array(last)
        return np.array(power), np.array(slack), np.where(np.isinf(ends), -np.inf, 0.0), ends

    @cached_property
    def starts(self) -> Ints:
        """The first column of each feature, (f,)."""
        return np.array([self.slices[f.name].start for f in self.features], dtype=np.intp)

    @cached_property
    def readers(self) -> list[Column | Group]:
        """What reads and writes the values of each feature, f of them."""
        return [Group(f) if f.columns else Column(f) for f in self.features]

    @cached_property
    def table(self) -> list[str]:
        """The columns of the user's table."""
        return [column for f in self.features for column in (f.columns or (f.name,))]

    # rows -> codes ------------------------------------------------------------------------------------

    def codes(self, frame: Frame) -> Array:
        """Return the codes (n, f) of a frame, or say in one sentence what is wrong with it."""
        self._check_columns(frame)
        if len(frame) == 0:
            raise InputError("the table has no rows; give at least one")
        if len(frame) == 1 and (quick := self._quick(frame)) is not None:
            return quick
        codes = np.empty((len(frame), len(self.features)))
        for i, (feature, column) in enumerate(zip(self.features, self.readers, strict=True)):
            codes[:, i] = column.read(frame[list(feature.columns) if feature.columns else feature.name])
        return codes

    def _quick(self, frame: Frame) -> Array | None:
        """Return the codes (1, f) of one ordinary row, many times as fast; None where something is unusual."""
        if any(f.columns for f in self.features):
            return None
        given = dict(zip(frame.columns, frame.to_numpy(dtype=object)[0], strict=True))
        codes = [
            column.quick(given[f.name]) if isinstance(column, Column) else None
            for f, column in zip(self.features, self.readers, strict=True)
        ]
        return None if None in codes else np.array([codes], dtype=float)

    def _check_columns(self, frame: Frame) -> None:
        if not isinstance(frame, pd.DataFrame):
            raise InputError(f"a pandas DataFrame is needed, not {type(frame).__name__}")
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

    # codes <-> vectors --------------------------------------------------------------------------------

    def vectors(self, codes: Array) -> Array:
        """Return the vectors (n, d) of codes (n, f)."""
        Z = np.zeros((len(codes), self.dimension))
        chosen, columns = self.single
        Z[:, columns] = (codes[:, chosen] - self.origin[chosen]) / self.scale[chosen]
        if len(codes) <= _FEW and self.hot:
            hot, first = self._first_levels
            levels = codes[:, hot]
            row, which = (known := ~np.isnan(levels)).nonzero()
            Z[row, first[which] + levels[known].astype(np.intp)] = 1.0
            return Z
        for i, columns in self.hot:
            known = np.flatnonzero(~np.isnan(codes[:, i]))
            Z[known, columns.start + codes[known, i].astype(np.intp)] = 1.0
        return Z

    def codes_of(self, Z: Array) -> Array:
        """Return the codes (n, f) nearest to vectors (n, d); undoes ``vectors`` exactly."""
        codes = np.empty((len(Z), len(self.features)))
        chosen, columns = self.single
        value = self.origin[chosen] + Z[:, columns] * self.scale[chosen]
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

    def snap(self, Z: Array) -> Array:
        """Return vectors (n, d) with numbers at their steps and ordered levels at levels; categories as they are."""
        chosen, columns = self.single
        step, power = self._grid
        origin, scale, out = self.origin[chosen], self.scale[chosen], Z.copy()
        value = np.rint((origin + Z[:, columns] * scale) / step) * step
        snapped = (np.rint(value * power) / power - origin) / scale
        out[:, columns] = np.where(np.isnan(step), Z[:, columns], snapped)
        return out

    @cached_property
    def _grid(self) -> tuple[Array, Array]:
        """Step of each feature that takes one column, NaN where any value may occur, and 10 to its decimals."""
        some = [f for f in self.features if f.kind != "categorical"]
        step = [(f.step if f.step is not None else np.nan) if f.is_number else 1.0 for f in some]
        return np.array(step, dtype=float), 10.0 ** np.array([f.decimals or 0 for f in some], dtype=float)

    def changed(self, Z1: Array, Z2: Array) -> Bools:
        """Return which features differ between vectors, (n, f); missing equals missing."""
        Z1, Z2 = np.atleast_2d(Z1), np.atleast_2d(Z2)
        gap = np.abs(Z1 - Z2) > UNCHANGED
        gap |= np.isnan(Z1) != np.isnan(Z2)
        return np.asarray(np.logical_or.reduceat(gap, self.starts, axis=1))

    # codes -> rows ------------------------------------------------------------------------------------

    def frame(self, codes: Array, like: Frame | None = None, index: Any = None) -> Frame:
        """Return the rows of codes (n, f) as a frame, with the dtypes of ``like`` where it is given."""
        data: dict[str, Any] = {}
        for i, (feature, column) in enumerate(zip(self.features, self.readers, strict=True)):
            if isinstance(column, Column):
                dtype = like[feature.name].dtype if like is not None else feature.dtype
                data[feature.name] = column.write(codes[:, i], dtype)
            else:
                for level, name in enumerate(feature.columns):
                    dtype = like[name].dtype if like is not None else feature.dtype
                    data[name] = column.write(codes[:, i], level, dtype)
        frame = pd.DataFrame(data)
        if index is not None:
            frame.index = index
        return frame

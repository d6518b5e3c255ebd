"""Rows and vectors: which encoded columns a feature has, and how a row in the user's units becomes numbers and comes back."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any, Self

import numpy as np
import pandas as pd

from reap._errors import InputError, unknown
from reap._typing import Array, Bools, Frame
from reap.space.encoding import Encoding
from reap.space.feature import Feature
from reap.space.inputs import as_frame, from_array, one_row
from reap.space.words import Change, doubt

#: A vector farther than this from its row's is no row.
_OFF = 1e-6
#: Rows whose values are remembered at most.
_TOLD = 2_000


class Layout:
    """What an ``ActionSpace`` knows of rows and vectors alone; nothing here asks what may change."""

    features: tuple[Feature, ...]
    names: tuple[str, ...]
    encoded: bool
    _encoding: Encoding

    # columns -----------------------------------------------------------------------------------------

    @property
    def dimension(self) -> int:
        """Number of encoded columns, d."""
        return self._encoding.dimension

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the encoded columns, d of them."""
        return self._encoding.columns

    @property
    def table_columns(self) -> list[str]:
        """The columns of the user's table: a feature's own, or those of its one-hot group."""
        return self._encoding.table

    @property
    def slices(self) -> dict[str, slice]:
        """Which encoded columns belong to each feature."""
        return self._encoding.slices

    def feature(self, name: str) -> Feature:
        """Return one feature; a misspelt name suggests the right one."""
        for feature in self.features:
            if feature.name == name:
                return feature
        raise unknown("feature", name, self.names)

    def is_action(self, name: str) -> bool:
        """Return whether a person can do it: not fixed, not derived, not a clock."""
        return self.feature(name).is_action

    @property
    def encoding(self) -> Encoding:
        """How the values of rows become codes, and codes vectors."""
        return self._encoding

    @property
    def origins(self) -> Array:
        """The value of each feature that is encoded as 0, (f,): units, or the index of a level."""
        return self._encoding.origin

    @property
    def scales(self) -> Array:
        """The change of each feature that is encoded as 1, (f,)."""
        return self._encoding.scale

    @cached_property
    def steps(self) -> Array:
        """Step of each encoded column (d,): 0 where any value may occur, and for one-hot columns."""
        steps = np.zeros(self.dimension)
        for i, feature in enumerate(self.features):
            if feature.is_number:
                steps[self.slices[feature.name]] = (feature.step or 0.0) / self._encoding.scale[i]
            elif feature.kind != "categorical":
                steps[self.slices[feature.name]] = 1.0 / self._encoding.scale[i]
        return steps

    # rows and vectors --------------------------------------------------------------------------------

    def encode(self, X: Frame) -> Array:
        """Return the vectors (n, d) of a frame (or of an array in encoder columns, for an encoded space)."""
        if self.encoded and isinstance(X, np.ndarray):
            X = from_array(X, self.columns)
        return self._encoding.vectors(self._encoding.codes(as_frame(X)))

    def decode(self, Z: Array, like: Frame | None = None, index: Any = None) -> Frame:
        """Return the rows of vectors (n, d), with the dtypes of ``like`` where it is given."""
        return self._encoding.frame(self._encoding.codes_of(self._vectors(Z)), like, index)

    def _vectors(self, given: Any) -> Array:
        Z: Array = np.atleast_2d(np.asarray(given, dtype=float))
        if Z.ndim != 2 or Z.shape[1] != self.dimension:
            raise InputError(
                f"the vectors have shape {Z.shape}; the space has {self.dimension} encoded columns"
            )
        return Z

    def values(self, z: Array) -> dict[str, Any]:
        """Return one vector (d,) as a dict of plain values in units, by feature."""
        Z = self._vectors(z)[:1]
        known = self._told.get(name := Z.tobytes())
        if known is None:
            codes = self._encoding.codes_of(Z)[0].tolist()
            known = {f.name: f.value(code) for f, code in zip(self.features, codes, strict=True)}
            if len(self._told) >= _TOLD:
                self._told.clear()
            self._told[name] = known
        return dict(known)

    @cached_property
    def _told(self) -> dict[bytes, dict[str, Any]]:
        """The values of vectors that were asked for lately: words are made of the same few rows again and again."""
        return {}

    def row(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return values by feature as values by column of the user's table."""
        found: dict[str, Any] = {}
        for f in self.features:
            levels = zip(f.columns, f.levels, strict=True) if f.columns else ()
            found |= {column: float(level == values[f.name]) for column, level in levels} or {
                f.name: values[f.name]
            }
        return found

    def vector(self, x: Any) -> Array:
        """Return one subject as a vector (d,), checked: a Series, a one-row frame, a dict, or for an encoded space an array."""
        return self.read(x)[0]

    def read(self, x: Any) -> tuple[Array, Array]:
        """Return one subject as a vector (d,) and as codes (f,), which hold the numbers of the row to the bit; see ``at``."""
        codes = self._encoding.codes(one_row(x, self.columns if self.encoded else None))
        for feature, code in zip(self.features, codes[0], strict=True):
            if feature.bounds is not None and not np.isnan(code):
                low, high = feature.bounds
                if not low <= code <= high:
                    raise InputError(
                        f"{feature.name!r} is {feature.show(code, unit=False)}; the action space allows "
                        f"{feature.show(low, unit=False)} to {feature.show(high)}"
                    )
        return self._encoding.vectors(codes)[0], codes[0]

    def at(self, z: Array, codes: Array) -> Self:
        """Return this space for one person, by what ``read`` returned: their own numbers are decoded to the bit."""
        coding = self._encoding.at(z, codes)
        if coding is self._encoding:
            return self
        made = type(self).__new__(type(self))
        made.__dict__.update(self.__dict__)
        made.__dict__.pop("_told", None)
        made._encoding = coding
        return made

    def at_values(self, z: Array, values: Mapping[str, Any]) -> Self:
        """Return this space for one person with a vector (d,), by their values as ``values`` gave them; of others, itself."""
        with np.errstate(
            over="ignore", invalid="ignore"
        ):  # a file may hold any number; whether it is sound is judged later
            told, codes = self.values(z), self._encoding.codes_of(z[None])[0]
        numbers = [f.name for f in self.features if f.is_number and told[f.name] is not None]
        close = all(
            isinstance(values.get(name), int | float) and np.isclose(values[name], told[name], rtol=1e-9)
            for name in numbers
        )
        if not close or self.encoded:
            return self
        codes[[self.names.index(name) for name in numbers]] = [values[name] for name in numbers]
        return self.at(z, codes)

    def doubts(self, x: Any) -> list[str]:
        """Return what to ask back about a subject: every number outside what was seen, as a question.

        Values outside ``bounds`` are an error already; what is merely unusual may be true.

        Examples
        --------
        >>> from reap.space import ActionSpace
        >>> space = ActionSpace([Feature("age", "integer", range=(19, 75), label="Age", unit="years")])
        >>> space.doubts({"age": 150})
        ['Age is 150 years? Usually it runs from 19 to 75 years.']
        """
        values = self.values(self.vector(x))
        asked = (doubt(feature, values[feature.name]) for feature in self.features)
        return [question for question in asked if question is not None]

    def _codes(self, rows: Any) -> tuple[Array, Bools]:
        """Return codes (n, f), and which rows of vectors stand for a row, (n,)."""
        if isinstance(rows, np.ndarray):
            Z = self._vectors(rows)
            codes = self._encoding.codes_of(Z)
            away = np.abs(self._encoding.vectors(codes) - Z) > _OFF
            return codes, np.asarray(~away.any(axis=1))
        codes = self._nearest_codes(rows)
        return codes, np.ones(len(codes), dtype=bool)

    def _nearest_codes(self, rows: Any) -> Array:
        """Return codes (n, f), of vectors those of the nearest rows: where nobody asks which of them stand for a row."""
        if isinstance(rows, np.ndarray):
            return self._encoding.codes_of(self._vectors(rows))
        return self._encoding.codes(one_row(rows, None) if isinstance(rows, pd.Series) else as_frame(rows))

    def snap(self, Z: Array) -> Array:
        """Return vectors (n, d) with numbers at their steps: enough, and quick, for rows between two legal ones."""
        return self._encoding.snap(self._vectors(Z))

    # differences -------------------------------------------------------------------------------------

    def changed(self, Z1: Array, Z2: Array) -> Bools:
        """Return which features differ, (n, f)."""
        return self._encoding.changed(Z1, Z2)

    def changes(self, before: Array, after: Array) -> list[Change]:
        """Return what changes between two vectors (d,), in units and words."""
        old, new = self.values(before), self.values(after)
        differs = zip(self.features, self.changed(before, after)[0], strict=True)
        return [
            Change.of(feature, old[feature.name], new[feature.name]) for feature, moved in differs if moved
        ]

"""Features that follow from others: a debt ratio moves when income does."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from reap._errors import InputError, unknown
from reap._typing import Array, Bools
from reap.space.expressions import Expression
from reap.space.feature import Feature
from reap.space.rules import SAME


@dataclass(frozen=True)
class _Formula:
    index: int
    compute: Callable[[Any], Any]
    inputs: tuple[int, ...]


class Derived:
    """Recomputes derived features after a change.

    Where none of its inputs changed, a derived feature keeps the person's own value, so rounding in the table
    is never taken for a change.

    Parameters
    ----------
    features : sequence of Feature
    scale : (f,), optional
        Length of each feature's unit interval, to tell a change from rounding.

    Examples
    --------
    >>> debt, income = Feature("debt", range=(0, 9)), Feature("income", range=(1, 9))
    >>> ratio = Feature("ratio", range=(0, 9), derived="debt / income")
    >>> Derived([debt, income, ratio]).recompute(np.array([[2.0, 4.0, 9.0]]), np.array([[2.0, 2.0, 1.0]]))
    array([[2. , 4. , 0.5]])
    """

    def __init__(self, features: Sequence[Feature], scale: Array | None = None) -> None:
        self.features = features
        self.scale = np.ones(len(features)) if scale is None else scale
        names = [feature.name for feature in features]
        self._formulas: list[_Formula] = []
        for i, feature in enumerate(features):
            if callable(feature.derived):
                inputs = [k for k, f in enumerate(features) if f.derived is None]
                self._formulas.append(_Formula(i, feature.derived, tuple(inputs)))
            elif feature.derived is not None:
                formula = Expression(feature.derived)
                for name in formula.names:
                    if name not in names:
                        raise unknown("feature", name, names)
                    self._check_source(feature, features[names.index(name)])
                self._formulas.append(_Formula(i, formula, tuple(map(names.index, formula.names))))

    def _check_source(self, feature: Feature, source: Feature) -> None:
        if source.derived is not None and source.name not in self.names:
            raise InputError(
                f"{feature.name!r} follows from {source.name!r}, which is derived itself; declare that one first"
            )
        if not _numeric(source):
            raise InputError(
                f"{feature.name!r} cannot be computed from {source.name!r}, whose levels are not numbers"
            )

    @property
    def names(self) -> tuple[str, ...]:
        """The derived features, in the order in which they are computed."""
        return tuple(self.features[formula.index].name for formula in self._formulas)

    @property
    def sources(self) -> tuple[str, ...]:
        """The features that a person sets and that derived ones follow from."""
        used = dict.fromkeys(k for formula in self._formulas for k in formula.inputs)
        return tuple(self.features[k].name for k in used if self.features[k].derived is None)

    def recompute(self, codes: Array, start: Array) -> Array:
        """Return codes (n, f) with every derived feature as its inputs say.

        ``start`` (n or 1, f) is where they come from. A value that cannot be computed is NaN or infinite.
        """
        if not self._formulas:
            return codes
        codes = codes.copy()
        used = {k for formula in self._formulas for k in formula.inputs}
        values = {self.features[k].name: _units(codes[:, k], self.features[k]) for k in sorted(used)}
        for formula in self._formulas:
            feature = self.features[formula.index]
            try:
                new = np.asarray(formula.compute(values), dtype=float)
            except (TypeError, ValueError) as error:
                raise InputError(
                    f"the function of {feature.name!r} gave no numbers ({error}); return one number a row"
                ) from None
            if new.shape not in ((), (1,), (len(codes),)):
                raise InputError(
                    f"the function of {feature.name!r} gave shape {new.shape} for {len(codes)} rows; give one number a row"
                )
            if feature.step is not None:
                new = np.round(np.rint(new / feature.step) * feature.step, feature.decimals or 0)
            gap = np.abs(codes[:, formula.inputs] - start[:, formula.inputs])
            both_missing = np.isnan(codes[:, formula.inputs]) & np.isnan(start[:, formula.inputs])
            untouched = ((gap <= SAME * self.scale[list(formula.inputs)]) | both_missing).all(axis=1)
            codes[:, formula.index] = np.where(untouched, start[:, formula.index], new)
            values[feature.name] = codes[:, formula.index]
        return codes

    def defined(self, codes: Array, start: Array) -> Bools:
        """Return where recomputed codes (n, f) are known, (n,): finite, or missing where that is allowed."""
        fine = np.ones(len(codes), dtype=bool)
        for formula in self._formulas:
            new, old = codes[:, formula.index], start[:, formula.index]
            may_miss = np.isnan(new) & (self.features[formula.index].missing | np.isnan(old))
            fine &= np.isfinite(new) | may_miss
        return fine

    def holds(self, old: Array, new: Array) -> Bools:
        """Return whether derived features are known and what their inputs say, (n,)."""
        if not self._formulas:
            return np.ones(len(new), dtype=bool)
        expected = self.recompute(new, old)
        which = [formula.index for formula in self._formulas]
        with np.errstate(invalid="ignore"):
            near = np.abs(expected[:, which] - new[:, which]) <= 1e-6 * self.scale[which]
        near |= np.isnan(expected[:, which]) & np.isnan(new[:, which])
        return np.asarray(near.all(axis=1) & self.defined(expected, old))


def _numeric(feature: Feature) -> bool:
    return feature.is_number or all(isinstance(v, int | float | np.number) for v in feature.levels)


def _units(codes: Array, feature: Feature) -> Array:
    """Return codes (n,) as the numbers people know: the levels themselves where those are numbers."""
    if feature.is_number or not _numeric(feature):
        return codes
    levels = np.array([*map(float, feature.levels), np.nan])
    return np.asarray(levels[np.where(np.isnan(codes), -1, codes).astype(np.intp)])

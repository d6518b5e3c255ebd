"""Features that follow from others: a debt ratio moves when income does."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from reap._errors import InputError, unknown
from reap._typing import Array, Bools
from reap.space.expressions import Expression
from reap.space.feature import Feature


class Derived:
    """Recomputes derived features after a change.

    Where none of its inputs changed, a derived feature keeps the person's own value, so rounding in the table
    is never taken for a change.

    Parameters
    ----------
    features : sequence of Feature

    Examples
    --------
    >>> debt, income = Feature("debt", range=(0, 9)), Feature("income", range=(1, 9))
    >>> ratio = Feature("ratio", range=(0, 9), derived="debt / income")
    >>> Derived([debt, income, ratio]).recompute(np.array([[2.0, 4.0, 9.0]]), np.array([[2.0, 2.0, 1.0]]))
    array([[2. , 4. , 0.5]])
    """

    def __init__(self, features: Sequence[Feature]) -> None:
        self.features = features
        names = [feature.name for feature in features]
        self._formulas: list[tuple[int, Callable[[Any], Any], list[int]]] = []
        done: set[str] = set()
        for i, feature in enumerate(features):
            if feature.derived is None:
                continue
            if callable(feature.derived):
                inputs = [k for k, f in enumerate(features) if f.derived is None]
                self._formulas.append((i, feature.derived, inputs))
                continue
            formula = Expression(feature.derived)
            for name in formula.names:
                if name not in names:
                    raise unknown("feature", name, names)
                source = features[names.index(name)]
                if source.derived is not None and name not in done:
                    raise InputError(
                        f"{feature.name!r} follows from {name!r}, which is derived itself; declare that one first"
                    )
                if not source.is_number and not all(
                    isinstance(v, int | float | np.number) for v in source.levels
                ):
                    raise InputError(
                        f"{feature.name!r} cannot be computed from {name!r}, whose levels are not numbers"
                    )
            done.add(feature.name)
            self._formulas.append((i, formula, [names.index(name) for name in formula.names]))

    def recompute(self, codes: Array, start: Array) -> Array:
        """Return codes (n, f) with every derived feature as its inputs say; ``start`` (n or 1, f) is where they come from."""
        if not self._formulas:
            return codes
        codes = codes.copy()
        for i, formula, inputs in self._formulas:
            values = {f.name: self._units(codes[:, k], f) for k, f in enumerate(self.features)}
            new = np.broadcast_to(np.asarray(formula(values), dtype=float), len(codes))
            step = self.features[i].step
            if step is not None:
                decimals = self.features[i].decimals or 0
                new = np.round(np.rint(new / step) * step, decimals + 2)
            untouched = (np.abs(codes[:, inputs] - start[:, inputs]) <= 1e-12).all(axis=1)
            codes[:, i] = np.where(untouched, np.broadcast_to(start[:, i], len(codes)), new)
        return codes

    def holds(self, old: Array, new: Array, scale: Array) -> Bools:
        """Return whether derived features are finite and what their inputs say, (n,)."""
        if not self._formulas:
            return np.ones(len(new), dtype=bool)
        expected = self.recompute(new, old)
        which = [i for i, _, _ in self._formulas]
        both_missing = np.isnan(expected[:, which]) & np.isnan(old[:, which])
        near = np.abs(expected[:, which] - new[:, which]) <= 1e-6 * scale[which]
        return np.asarray((near | both_missing).all(axis=1))

    @staticmethod
    def _units(codes: Array, feature: Feature) -> Array:
        if feature.is_number or not all(isinstance(v, int | float | np.number) for v in feature.levels):
            return codes
        levels = np.array([*map(float, feature.levels), np.nan])
        return np.asarray(levels[np.where(np.isnan(codes), -1, codes).astype(np.intp)])

"""How far each feature may go on its own: transitions of levels, intervals and grids of numbers.

Everything here is judged feature by feature; rules across features stand in ``rules.py`` and their search in
``nearest.py``. Work is done on codes (n, f), see ``encoding.py``.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from reap._errors import InputError
from reap._typing import Array, Bools
from reap.space.encoding import Encoding
from reap.space.feature import Feature
from reap.space.limits import Limits
from reap.space.rules import SAME, Domain


class Reach:
    """What every feature may become, given where it starts.

    Parameters
    ----------
    encoding : Encoding
    limits : Limits
        A person's own limits; unlike the space's bounds they must hold even where nothing changes.
    """

    def __init__(self, encoding: Encoding, limits: Limits) -> None:
        self.encoding = encoding
        self.limits = limits
        self.features = encoding.features
        self.numbers = [i for i, f in enumerate(self.features) if f.is_number and f.derived is None]
        self.levels = [i for i, f in enumerate(self.features) if not f.is_number]
        self.free = [i for i, f in enumerate(self.features) if f.derived is None]

    @cached_property
    def tables(self) -> dict[int, Bools]:
        """Whether level ``a`` may become level ``b``, (levels, levels), for each feature with levels."""
        return {i: _transitions(self.features[i], self.limits) for i in self.levels}

    @cached_property
    def hard(self) -> Array:
        """The person's own lower and upper limits of each number, (2, f), infinite where there are none."""
        hard = np.tile([[-np.inf], [np.inf]], (1, len(self.features)))
        for i in self.numbers:
            hard[0, i] = self.limits.at_least.get(self.features[i].name, -np.inf)
            hard[1, i] = self.limits.at_most.get(self.features[i].name, np.inf)
        return hard

    def movable(self, i: int) -> bool:
        """Whether feature ``i`` may change at all."""
        return self.features[i].actionable and self.features[i].name not in self.limits.fixed

    def interval(self, i: int, start: Array) -> tuple[Array, Array]:
        """Return the lowest and highest value number ``i`` may move to from ``start`` (n,).

        Without declared bounds that is the range seen in data, stretched to where the person stands now.
        """
        feature = self.features[i]
        if not self.movable(i):
            return start, start
        if feature.bounds is not None:
            low, high = np.full_like(start, feature.bounds[0]), np.full_like(start, feature.bounds[1])
        else:
            least, most = feature.range or (-np.inf, np.inf)
            low, high = np.minimum(start, least), np.maximum(start, most)
        if feature.direction == "up":
            low = np.maximum(low, start)
        elif feature.direction == "down":
            high = np.minimum(high, start)
        return np.maximum(low, self.hard[0, i]), np.minimum(high, self.hard[1, i])

    def allows(self, before: Array, after: Array) -> Bools:
        """Return whether each feature's change is legal on its own, for codes (n, f) and (n, f)."""
        legal = np.ones(len(after), dtype=bool)
        for i in self.free:
            old, new = before[:, i], after[:, i]
            absent = np.isnan(old)
            if i in self.tables:
                known = ~absent & ~np.isnan(new)
                fine = absent & np.isnan(new)
                table = self.tables[i]
                fine[known] = table[old[known].astype(np.intp), new[known].astype(np.intp)]
            else:
                fine = np.where(absent, np.isnan(new), self._number_allows(i, old, new))
            legal &= fine
        return legal

    def _number_allows(self, i: int, old: Array, new: Array) -> Bools:
        tolerance = SAME * self.encoding.scale[i]
        same = np.abs(new - old) <= tolerance
        low, high = self.interval(i, old)
        inside = (new >= low - tolerance) & (new <= high + tolerance) & self.on_grid(i, new)
        if not self.movable(i):
            inside = same
        hard = (new >= self.hard[0, i] - tolerance) & (new <= self.hard[1, i] + tolerance)
        return np.asarray((same | inside) & hard)

    def on_grid(self, i: int, value: Array) -> Bools:
        """Return whether values are multiples of the feature's step."""
        step = self.features[i].step
        if step is None:
            return np.isfinite(value)
        return np.asarray(np.abs(value / step - np.rint(value / step)) <= 1e-6)

    def domain(self, i: int, start: Array) -> Domain:
        """Return all that feature ``i`` may become for a subject with codes (f,)."""
        if i in self.tables:
            if np.isnan(start[i]):
                return Domain()
            return Domain(levels=frozenset(int(b) for b in np.flatnonzero(self.tables[i][int(start[i])])))
        low, high = self.interval(i, start[i : i + 1])
        return Domain(float(low[0]), float(high[0]))

    def nearest(self, i: int, wanted: Array, start: float, domain: Domain) -> Array:
        """Return the legal value of feature ``i`` nearest to ``wanted`` (n,) or (n, levels); NaN where none is.

        ``wanted`` holds values for a number, positions for an ordinal or binary feature, and the encoded
        block for a categorical one. Where the start is equally near, it wins.
        """
        if np.isnan(start):
            return np.full(len(wanted), np.nan)
        if domain.levels is not None:
            return self._nearest_level(i, wanted, start, domain)
        wanted = np.where(np.isnan(wanted), start, wanted)
        stay_ok = domain.low <= start <= domain.high
        step = self.features[i].step
        if step is None or not self.movable(i):
            value = np.clip(wanted, domain.low, domain.high)
            return value if domain.low <= domain.high else np.full(len(wanted), np.nan)
        first, last = np.ceil(domain.low / step - 1e-6), np.floor(domain.high / step + 1e-6)
        value = np.full(len(wanted), np.nan)
        if first <= last:
            value = self.tidy(i, np.clip(np.rint(wanted / step), first, last) * step)
        if stay_ok:
            closer = ~(np.abs(value - wanted) < np.abs(start - wanted) - 1e-12 * self.encoding.scale[i])
            value = np.where(closer, start, value)
        return np.asarray(value)

    def _nearest_level(self, i: int, wanted: Array, start: float, domain: Domain) -> Array:
        allowed = np.array(sorted(domain.levels or ()), dtype=np.intp)
        if len(allowed) == 0:
            return np.full(len(wanted), np.nan)
        if wanted.ndim == 2:  # a one-hot block: the distance to vertex l falls with z_l
            closeness = np.nan_to_num(wanted[:, allowed])
        else:
            closeness = -np.abs(np.where(np.isnan(wanted), start, wanted)[:, None] - allowed)
        closeness = closeness + 1e-9 * (allowed == start)
        return np.asarray(allowed[closeness.argmax(axis=1)].astype(float))

    def tidy(self, i: int, value: Array) -> Array:
        """Return multiples of the step as the numbers people write (0.3, not 0.30000000000000004)."""
        decimals = self.features[i].decimals
        return value if decimals is None else np.asarray(np.round(value, decimals + 2))


def _transitions(feature: Feature, limits: Limits) -> Bools:
    count = len(feature.levels)
    table = np.ones((count, count), dtype=bool)
    if feature.direction == "up":
        table = np.triu(table)
    elif feature.direction == "down":
        table = np.tril(table)
    for a, b in feature.forbidden:
        table[feature.levels.index(a), feature.levels.index(b)] = False
    if not feature.actionable or feature.name in limits.fixed:
        table[:] = False
    np.fill_diagonal(table, True)
    for level in limits.exclude.get(feature.name, ()):
        table[:, feature.levels.index(level)] = False
    if feature.name in limits.at_least:
        table[:, : feature.levels.index(limits.at_least[feature.name])] = False
    if feature.name in limits.at_most:
        table[:, feature.levels.index(limits.at_most[feature.name]) + 1 :] = False
    return table


def simplex(block: Array, allowed: Bools) -> Array:
    """Return the projection of rows (n, k) on the simplex over the allowed columns.

    Subtract the one threshold that makes the positive parts sum to one; it is found by sorting.

    Examples
    --------
    >>> simplex(np.array([[0.9, 0.5, 0.4]]), np.array([True, True, False])).round(2)
    array([[0.7, 0.3, 0. ]])
    """
    if not allowed.any():
        raise InputError("no level of a categorical feature is left to choose")
    part = block[:, allowed]
    ordered = -np.sort(-part, axis=1)
    excess = np.cumsum(ordered, axis=1) - 1.0
    count = np.arange(1, part.shape[1] + 1)
    active = (ordered - excess / count > 0).sum(axis=1)
    threshold = excess[np.arange(len(part)), active - 1] / active
    out = np.zeros_like(block)
    out[:, allowed] = np.maximum(part - threshold[:, None], 0.0)
    return out

"""Where one subject can go: grids of numbers, levels of categories, and the model's view of rows."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from scipy.special import expit

from reap._arrays import zero_missing
from reap._typing import Array, Bools, Ints
from reap.models import Classifier
from reap.space import ActionSpace, Feature
from reap.space.rules import Linear, parse

#: A row counts as accepted from this logit above the boundary: ``accepts`` is strict, and scores are rounded.
MARGIN = 1e-3


@dataclass(frozen=True)
class Numbers:
    """The m movable columns that hold grids: numbers and ordered levels. All arrays (m,).

    A grid point k is ``k · unit`` in the person's units, and ``(k · unit − base) / scale`` encoded.
    """

    columns: Ints
    feature: Ints  # which feature each column belongs to
    start: Array  # encoded
    stays: Bools  # whether the start itself may be kept
    first: Array  # least and greatest grid point
    last: Array
    unit: Array
    power: Array  # 10 to the decimals of the unit: 0.3 is 3 / 10, not 3 · 0.1
    base: Array
    scale: Array

    @cached_property
    def step(self) -> Array:
        """The encoded distance of two grid points."""
        return self.unit / self.scale

    @cached_property
    def lower(self) -> Array:
        """The least encoded value."""
        return self._encoded(self.first)

    @cached_property
    def upper(self) -> Array:
        """The greatest encoded value."""
        return self._encoded(self.last)

    def _encoded(self, place: Array, of: Ints | slice = slice(None)) -> Array:
        units = np.rint(place * self.unit[of] * self.power[of]) / self.power[of]
        return (units - self.base[of]) / self.scale[of]

    def snap(self, U: Array, of: Ints | slice = slice(None)) -> Array:
        """Return values moved to the nearest grid point; the start counts as one.

        ``U`` ends with the axis of the m columns, or with that of the columns named by ``of``.
        """
        start, value = self.start[of], self.on_grid(U, of)
        keep = self.stays[of] & (np.abs(U - start) <= np.abs(U - value) + 1e-12)
        return np.where(keep, start, value)

    def on_grid(self, U: Array, of: Ints | slice = slice(None)) -> Array:
        """Return values moved to the nearest grid point."""
        place = np.rint((U * self.scale[of] + self.base[of]) / self.unit[of])
        return self._encoded(np.clip(place, self.first[of], self.last[of]), of)

    def values(self, j: int) -> Array:
        """Return all encoded values of one column."""
        places = np.arange(self.first[j], self.last[j] + 1)
        values = self._encoded(places, np.full(len(places), j))
        if self.stays[j] and np.abs(values - self.start[j]).min() > 1e-9:
            values = np.append(values, self.start[j])
        return values


@dataclass(frozen=True)
class Choice:
    """A feature whose levels are not on a grid: its columns, and the blocks (k, width) it may take."""

    feature: int
    columns: Ints
    options: Array
    own: int  # which option is the subject's own; −1 where limits exclude it


@dataclass
class Problem:
    """One subject's surroundings.

    Parameters
    ----------
    space : ActionSpace
        Within the person's limits.
    classifier : Classifier
    z0 : (d,)
    deadline : float
        ``time.monotonic()`` after which work stops with what it has.
    """

    space: ActionSpace
    classifier: Classifier
    z0: Array
    deadline: float = np.inf
    closest: float = -np.inf  # the highest logit of any legal row scored
    numbers: Numbers = field(init=False)
    choices: list[Choice] = field(init=False)

    def __post_init__(self) -> None:
        self.numbers, self.choices = _layout(self.space, self.z0)
        self.gaps = bool(np.isnan(self.z0).any())
        self.goal = self.classifier.boundary + MARGIN
        self.derived = np.array(
            [c for f in self.space.features if f.derived is not None for c in _columns(self.space, f)],
            dtype=np.intp,
        )
        self.max_changes = self.space._count
        #: Rows put together from the grids are legal by themselves unless something ties features together.
        self.tied = bool(self.space.rules or self.max_changes is not None or len(self.derived))
        self.base = self._base()

    def _base(self) -> Array:
        """The subject's row with nothing changed but what limits force, (d,)."""
        base = self.z0.copy()
        base[self.numbers.columns] = self.numbers.snap(self.numbers.start)
        for choice in self.choices:
            if choice.own < 0:
                base[choice.columns] = choice.options[0]
        return base

    @cached_property
    def lines(self) -> tuple[Array, Array]:
        """The linear rules as ``L z ≤ side`` on vectors: (R, d), (R,)."""
        features = self.space.features
        rules = [
            rule for text in self.space.rules for rule in parse(text, features) if isinstance(rule, Linear)
        ]
        L, side = np.zeros((len(rules), self.space.dimension)), np.zeros(len(rules))
        for k, rule in enumerate(rules):
            side[k] = rule.limit
            for i, weight in rule.weights:
                low, high = features[i].range or (0.0, 1.0)
                side[k] -= weight * low
                L[k, self.space.slices[features[i].name].start] += weight * ((high - low) or 1.0)
        return L, side

    @property
    def late(self) -> bool:
        """Whether the time is over."""
        return time.monotonic() > self.deadline

    @property
    def smooth(self) -> bool:
        """Whether the model has a gradient."""
        return self.classifier.has_gradient

    @property
    def size(self) -> float:
        """Number of rows there are, legal or not."""
        n = self.numbers
        off_grid = n.stays & (np.abs(n.on_grid(n.start) - n.start) > 1e-9)
        grids = n.last - n.first + 1 + off_grid
        return float(np.prod(grids) * np.prod([float(len(c.options)) for c in self.choices]))

    @property
    def probability(self) -> float:
        """The highest probability of any legal row scored so far."""
        return float(expit(self.closest))

    def moves(self, Z: Array) -> Array:
        """Return deviations (…, d) from the subject; what is missing does not deviate."""
        return zero_missing(Z - self.z0) if self.gaps else Z - self.z0

    def count(self, Z: Array) -> Ints:
        """Return how many features rows (n, d) change, (n,); what is derived only follows."""
        n = self.numbers
        moved = (np.abs(Z[:, n.columns] - n.start) > 1e-9).sum(axis=1)
        for choice in self.choices:
            moved += (np.abs(Z[:, choice.columns] - self.z0[choice.columns]) > 1e-9).any(axis=1)
        return np.asarray(moved)

    def tidy(self, Z: Array) -> Array:
        """Return rows (n, d) with numbers on their grids and derived columns as they follow."""
        Z = Z.copy()
        Z[:, self.numbers.columns] = self.numbers.snap(Z[:, self.numbers.columns])
        return self.follow(Z)

    def follow(self, Z: Array) -> Array:
        """Return rows (n, d) with derived columns recomputed."""
        if len(self.derived) and len(Z):
            Z = Z.copy()
            Z[:, self.derived] = self.space.project(Z, self.z0, exact=False)[:, self.derived]
        return Z

    def legal(self, Z: Array) -> Bools:
        """Return which rows (n, d) on the grids are legal, (n,)."""
        if not self.tied or len(Z) == 0:
            return np.ones(len(Z), dtype=bool)
        return self.space.allows(self.z0, Z)

    def score(self, Z: Array) -> Array:
        """Return the logits of rows (n, d)."""
        return self.classifier.logit(Z) if len(Z) else np.empty(0)

    def judge(self, Z: Array) -> Array:
        """Return the logits (n,) of rows on the grids, −inf where a row is illegal."""
        scores = np.full(len(Z), -np.inf)
        legal = self.legal(Z)
        scores[legal] = self.score(Z[legal])
        if legal.any():
            self.closest = max(self.closest, float(scores.max()))
        return scores

    def gradient(self, Z: Array) -> Array:
        """Return the gradient (n, m) of the logit by the movable numbers, derived columns included."""
        full = self.classifier.gradient(Z)
        full = zero_missing(full) if self.gaps else full
        own = full[:, self.numbers.columns]
        if len(self.derived):
            own = own + np.einsum("nmk,nk->nm", self.slopes(Z), full[:, self.derived])
        return own

    def slopes(self, Z: Array) -> Array:
        """Return how derived columns follow the numbers, (n, m, derived), by differences of a few steps."""
        n, m = len(Z), len(self.numbers.columns)
        out = np.zeros((n, m, len(self.derived)))
        reach = np.maximum(self.numbers.step, 0.02)
        U = Z[:, self.numbers.columns]
        for j, column in enumerate(self.numbers.columns):
            ends = []
            for sign in (-1.0, 1.0):
                moved = Z.copy()
                moved[:, column] = self.numbers.snap(U + sign * reach)[:, j]
                ends.append(self.space.project(moved, self.z0, exact=False))
            gap = ends[1][:, column] - ends[0][:, column]
            rise = zero_missing(ends[1] - ends[0])[:, self.derived]
            out[:, j] = np.divide(
                rise, gap[:, None], out=np.zeros_like(rise), where=np.abs(gap[:, None]) > 1e-9
            )
        return out


def _columns(space: ActionSpace, feature: Feature) -> range:
    columns = space.slices[feature.name]
    return range(columns.start, columns.stop)


def _layout(space: ActionSpace, z0: Array) -> tuple[Numbers, list[Choice]]:
    lower, upper = space.box(z0)
    rows: list[tuple[float, ...]] = []
    choices = []
    for i, feature in enumerate(space.features):
        columns = _columns(space, feature)
        known = not np.isnan(z0[columns.start]) and (feature.kind != "categorical" or z0[columns].any())
        if feature.derived is not None or not known:
            continue
        if feature.is_number:
            row = _grid(feature, lower[columns.start], upper[columns.start], z0[columns.start])
            if row is not None:
                rows.append((columns.start, i, z0[columns.start], *row))
            continue
        levels = [feature.levels.index(level) for level in space.reachable(feature.name, z0)]
        even = levels == list(range(levels[0], levels[-1] + 1))
        if feature.kind == "ordinal" and even and len(levels) > 1:
            top = len(feature.levels) - 1
            stays = round(z0[columns.start] * top) in levels
            rows.append((columns.start, i, z0[columns.start], stays, levels[0], levels[-1], 1, 1, 0, top))
            continue
        table = np.eye(len(feature.levels)) if feature.kind == "categorical" else _places(feature)
        options = table[levels]
        own = np.flatnonzero((np.abs(options - z0[columns]) < 1e-9).all(axis=1))
        if len(levels) > 1 or len(own) == 0:
            place = int(own[0]) if len(own) else -1
            choices.append(Choice(i, np.array(columns, dtype=np.intp), options, place))
    column, index, start, kept, *grid = np.array(rows, dtype=float).reshape(-1, 10).T
    numbers = Numbers(column.astype(np.intp), index.astype(np.intp), start, kept.astype(bool), *grid)
    return numbers, choices


def _places(feature: Feature) -> Array:
    """The encoded values (k, 1) of an ordinal or binary feature's levels."""
    count = len(feature.levels)
    return np.linspace(0.0, 1.0, count)[:, None] if count > 1 else np.zeros((1, 1))


def _grid(feature: Feature, low: float, high: float, start: float) -> tuple[float, ...] | None:
    """Return (stays, first, last, unit, power, base, scale) of a number's grid; None where it can only stay."""
    base, top = feature.range or (0.0, 1.0)
    scale = (top - base) or 1.0
    unit = feature.step or shown_step(feature)
    decimals = feature.decimals if feature.decimals is not None else max(0, -round(np.log10(unit)))
    first = np.ceil((base + low * scale) / unit - 1e-6)
    last = np.floor((base + high * scale) / unit + 1e-6)
    stays = low - 1e-9 <= start <= high + 1e-9
    if first > last or (stays and high - low <= 1e-9):
        return None
    return stays, first, last, unit, 10.0**decimals, base, scale


def shown_step(feature: Feature) -> float:
    """Return the step in which a number without one is shown: four digits, whole from 1,000.

    Examples
    --------
    >>> shown_step(Feature("share", range=(0, 1))), shown_step(Feature("amount", range=(0, 20000)))
    (0.0001, 1.0)
    """
    low, high = feature.range or (0.0, 1.0)
    top = max(abs(low), abs(high), 1e-12)
    step = min(10.0 ** (np.floor(np.log10(top * (1 - 1e-9))) - 3), 1.0)
    finest = 10.0 ** np.floor(np.log10(((high - low) or 1.0) / 200))
    return float(min(step, finest))

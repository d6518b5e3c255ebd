"""Ladders: the legal values of one person, one ladder a feature, near and far from where the person stands.

A row is a vector of *places*, one on each ladder. A number's ladder has every value of its grid (``space.legal.grid``), which may
be millions: values are computed where they are asked for. A search looks at some of them, the *rungs*: of trees the first value
beyond each split threshold, since trees cannot tell the others apart; of any other model some, closer together near the start.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from reap._typing import Array, Bools, Ints
from reap.space import ActionSpace, Feature
from reap.space.legal import Levels, Numbers

#: Rungs to each side of the start where a model has no thresholds, and where features depend on each other.
_RUNGS, _TIED = 64, 200
#: A value nearer to one's own than this share of a step is one's own: a person would read the same number.
_SAME = 1e-3


@dataclass(frozen=True, eq=False)
class Ladder:
    """The legal values of one feature.

    Parameters
    ----------
    feature : int
        Its place among the space's features.
    columns : (w,)
        Its encoded columns.
    own : int
        The place where nothing changes; where limits exclude that, the nearest place.
    forced : bool
        Whether limits exclude where the person stands, so that ``own`` is a change.
    length : int
        How many places there are.
    ordered : bool
        Whether places have an order; levels of a category have none.
    rungs : (r,)
        The places that a search looks at, ascending, ``own`` among them.
    whole : bool
        Whether no place between two rungs is any different.
    """

    feature: int
    columns: Ints
    own: int
    forced: bool
    length: int
    ordered: bool
    rungs: Ints
    whole: bool
    _values: _Grid | Array

    def values(self, places: Ints) -> Array:
        """Return the encoded values (n, w) at places (n,)."""
        return self._values.at(places) if isinstance(self._values, _Grid) else self._values[places]

    def below(self, z: Array) -> Ints:
        """Return the last place (n,) whose value is not above encoded values (n,); for a number."""
        assert isinstance(self._values, _Grid)
        return self._values.below(z)

    def nearest(self, Z: Array) -> Ints:
        """Return the places (n,) nearest to encoded values (n, w); one's own where these are missing or no level here."""
        if self.ordered:
            z = np.where(np.isnan(Z[:, 0]), -np.inf, Z[:, 0])
            below = self.below(np.maximum(z, -1e9)).clip(0, self.length - 1)
            above = (below + 1).clip(0, self.length - 1)
            gaps = [np.abs(self.values(place)[:, 0] - z) for place in (below, above)]
            return np.where(np.isnan(Z[:, 0]), self.own, np.where(gaps[0] <= gaps[1], below, above))
        gap = np.abs(self.values(np.arange(self.length))[None] - Z[:, None]).max(axis=2)
        return np.where(gap.min(axis=1) < 1e-9, gap.argmin(axis=1), self.own)

    def side(self, way: int) -> Ints:
        """Return the rungs beyond ``own`` to one side, −1 or 1, from near to far."""
        return self.rungs[self.rungs > self.own] if way > 0 else self.rungs[self.rungs < self.own][::-1]


class _Grid:
    """The values of a number in order: grid points, and one's own between two of them where it is none."""

    def __init__(self, numbers: Numbers, j: int) -> None:
        n, self.j, self.n = numbers, j, numbers
        place = (n.start[j] * n.scale[j] + n.base[j]) / n.unit[j]
        near = float(np.clip(np.rint(place), n.first[j], n.last[j]))
        self.stays = bool(n.stays[j])
        #: Whether one's own value stands between two grid points, so that places beyond it are one higher.
        self.between = self.stays and abs(place - near) > _SAME
        own = np.ceil(place - n.first[j]) if self.between else near - n.first[j]
        self.own = int(np.clip(own, 0, n.last[j] - n.first[j] + self.between))
        self.count = int(n.last[j] - n.first[j]) + 1 + self.between

    def at(self, places: Ints) -> Array:
        """Return encoded values (n, 1) at places (n,)."""
        n, j, places = self.n, self.j, np.asarray(places)
        value = n.encoded(n.first[j] + places - (self.between & (places > self.own)), slice(j, j + 1))
        return np.asarray(np.where((places == self.own) & self.stays, n.start[j], value)[..., None])

    def below(self, z: Array) -> Ints:
        """Return the last place (n,) whose value is not above encoded values (n,)."""
        return self.beyond((z * self.n.scale[self.j] + self.n.base[self.j]) / self.n.unit[self.j] + 1e-9) - 1

    def beyond(self, point: Array) -> Ints:
        """Return the first place (n,) whose value is above points (n,), in units of the grid."""
        n, j = self.n, self.j
        k = np.floor(point) + 1 - n.first[j]
        start = (n.start[j] * n.scale[j] + n.base[j]) / n.unit[j]
        return np.asarray((k + (self.between & (point >= start - 1e-9))).clip(0, self.count).astype(np.intp))


def ladders(
    space: ActionSpace, z0: Array, *, waits: bool = False, edges: dict[int, Array] | None = None
) -> list[Ladder]:
    """Return the ladders of all features that a person (d,) can move.

    Parameters
    ----------
    space : ActionSpace
        Within the person's limits.
    z0 : (d,)
    waits : bool
        Whether mere waiting is open: then the leading clock has a ladder.
    edges : dict, optional
        Of trees: where they begin to decide otherwise, in units (r,), of each number, by its feature; levels have none.
    """
    numbers, choices = space.legal.grid(z0)
    made = list[Ladder]()
    for j, feature in enumerate(numbers.feature.tolist()):
        if not (waits or space.features[feature].is_action):
            continue
        grid = _Grid(numbers, j)
        told_apart = edges is not None and feature in edges
        if edges is None or not told_apart:
            rungs = _spread(grid, _RUNGS)
        else:
            rungs = _told_apart(grid, edges[feature])
            if _tied(
                space, space.features[feature]
            ):  # then more is told apart than what the trees themselves do
                rungs, told_apart = np.union1d(rungs, _spread(grid, _TIED)), False
        if grid.count > 1 or not grid.stays:
            columns, whole = numbers.columns[j : j + 1], told_apart or len(rungs) == grid.count
            made.append(
                Ladder(feature, columns, grid.own, not grid.stays, grid.count, True, rungs, whole, grid)
            )
    return made + [_levels(choice) for choice in choices]


def _tied(space: ActionSpace, feature: Feature) -> bool:
    """Return whether a rule, another feature or a clock may depend on a feature, or others move it."""
    texts = [*space.rules, *(text for f in space.features if (text := f.derived or f.effect))]
    if feature.effect is not None or any(feature.name in text for text in texts):
        return True
    return feature.pace is not None and space.timed and any(f.clock is not None for f in space.features)


def _levels(choice: Levels) -> Ladder:
    count, own, forced = len(choice.options), max(choice.own, 0), choice.own < 0
    rungs = np.arange(count)
    return Ladder(choice.feature, choice.columns, own, forced, count, False, rungs, True, choice.options)


def _spread(grid: _Grid, count: int) -> Ints:
    """Return places of a number, at most ``count`` to each side of its own, closer together near it: effort is a square."""
    share = np.linspace(0, 1, count) ** 1.5
    ways = [np.arange(1, way + 1) if way <= count else 1 + np.rint(share * (way - 1)) for way in _ways(grid)]
    return np.unique(np.concatenate([grid.own - ways[0], [grid.own], grid.own + ways[1]]).astype(np.intp))


def _ways(grid: _Grid) -> tuple[int, int]:
    """Return how many places lie below and above one's own."""
    return grid.own, grid.count - 1 - grid.own


def _told_apart(grid: _Grid, edges: Array) -> Ints:
    """Return the first place beyond each edge (r,), in units, to either side of one's own, and one's own."""
    beyond = grid.beyond(edges / grid.n.unit[grid.j])
    places = np.where(beyond > grid.own, beyond, beyond - 1)
    return np.unique(np.append(places[(places >= 0) & (places < grid.count)], grid.own))


def changed(places: Ints, own: Ints) -> tuple[Ints, Bools]:
    """Return the ladders (n, w) on which places (n, f) are not one's own (f,), those first, and which of these really are not.

    Examples
    --------
    >>> ladder, really = changed(np.array([[0, 5, 2], [1, 5, 3]]), np.array([0, 5, 3]))
    >>> ladder.tolist(), really.tolist()
    ([[2], [0]], [[True], [True]])
    """
    moved = places != own
    width = max(int(moved.sum(axis=1).max(initial=0)), 1)
    which = np.argsort(~moved, axis=1, kind="stable")[:, :width]
    return which, np.take_along_axis(moved, which, axis=1)

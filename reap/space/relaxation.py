"""The continuous relaxation of one person's legal rows: a box, a simplex for every category, clocks that follow."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from reap._typing import Array
from reap.space.geometry import simplex

if TYPE_CHECKING:
    from reap.space.projection import Projection


class Relaxation:
    """What one person can become if numbers need no steps and categories may be mixed."""

    def __init__(self, person: Projection) -> None:
        self.person = person

    @cached_property
    def box(self) -> tuple[Array, Array]:
        """Least and greatest value of every encoded column, (d,) and (d,)."""
        person, reach, room = self.person, self.person.reach, self.person.room
        person.check_open()
        encoding = reach.encoding
        lower, upper = person.z0.copy(), person.z0.copy()
        for i in reach.free:
            columns, levels = encoding.slices[reach.features[i].name], room.levels[i]
            if np.isnan(person.start[i]):
                continue
            if levels is None:
                ends = np.array([room.low[i], room.high[i]])
                lower[columns], upper[columns] = (ends - encoding.origin[i]) / encoding.scale[i]
            elif reach.features[i].kind == "categorical":
                lower[columns], upper[columns] = 0.0, levels
            else:
                lower[columns], upper[columns] = room.open[i][[0, -1]] / encoding.scale[i]
        if person.leading is not None:
            _, i, column = person.leading
            months = np.array([person.first, person.last])
            ends = person.clocks.advance(person.start[None], months)[:, i]
            lower[column], upper[column] = (ends - encoding.origin[i]) / encoding.scale[i]
        return lower, upper

    def relax(self, Z: Array) -> Array:
        """Return the nearest points (n, d) of the box and of every categorical feature's simplex."""
        z0, (lower, upper) = self.person.z0, self.box
        Z = np.where(np.isnan(Z), z0, Z)
        out = np.clip(Z, lower, upper)
        for i, columns in self.person.reach.encoding.hot:
            if np.isnan(self.person.start[i]):
                out[:, columns] = z0[columns]
            else:
                out[:, columns] = simplex(Z[:, columns], self.person.room.levels[i])
        if self.person.leading is not None:
            self._let_go(out, *self.person.leading)
        return out

    def _let_go(self, Z: Array, place: int, _: int, column: int) -> None:
        """Put the clocks of relaxed vectors (n, d) where the actions' time, or the leading clock if later, puts them."""
        person, reach, clocks = self.person, self.person.reach, self.person.clocks
        encoding, z0 = reach.encoding, person.z0
        away = np.abs(np.nan_to_num(Z - z0))
        flow = [clocks.flow(k) / encoding.scale[i] for k, i in enumerate(clocks.which)]  # encoded, a month
        months = away[:, column] / flow[place]
        for i in reach.free:
            moved = away[:, encoding.starts[i]] * encoding.scale[i]
            if reach.features[i].kind == "categorical":  # half of what moves leaves its own level
                moved = away[:, encoding.slices[reach.features[i].name]].sum(axis=1) / 2
            months = np.maximum(months, moved * clocks.pace(i))
        for k, i in enumerate(clocks.which):
            to = encoding.starts[i]
            stop = (clocks.stop(k) - encoding.origin[i]) / encoding.scale[i]
            Z[:, to] = np.maximum(z0[to], np.minimum(z0[to] + months * flow[k], stop))

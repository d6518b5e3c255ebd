"""What a confidence set answers: frozen, with the proof beside the figure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from reap._typing import Array


@dataclass(frozen=True)
class Center:
    """A centre of the set.

    Parameters
    ----------
    matrix : (d, d).
    radius : of the ball around it that the form speaks of.
    bound : no ball of that form is larger than this (a dual certificate).
    """

    matrix: Array
    radius: float
    bound: float

    @property
    def gap(self) -> float:
        """How far the radius may be from the largest one."""
        return max(0.0, self.bound - self.radius) if np.isfinite(self.radius) else 0.0


@dataclass(frozen=True)
class RelaxedCenter(Center):
    """The largest ball when some answers may be wrong.

    Parameters
    ----------
    dropped : indices of the answers left out.
    nodes : how many subsets the search solved.
    proven : whether no other subset is better; else time ran out, and `bound` says how much larger a ball can be.
    """

    dropped: tuple[int, ...] = ()
    nodes: int = 1
    proven: bool = True


@dataclass(frozen=True)
class WorstCases:
    """Worst-case efforts of n separate directions.

    Parameters
    ----------
    costs : ``max vᵀAv`` over the set (n,), each reached by `matrix`.
    bounds : certified upper bounds (n,).
    """

    costs: Array
    bounds: Array
    _lift: Callable[[int], Array] = field(repr=False)

    @property
    def gaps(self) -> Array:
        """How far each cost may be from the true maximum (n,)."""
        out: Array = np.maximum(self.bounds - self.costs, 0.0)
        return out

    def matrix(self, i: int) -> Array:
        """Return a matrix (d, d) of the set at which direction i asks what `costs` says."""
        return self._lift(i)


@dataclass(frozen=True)
class WorstCasePlan:
    """Worst-case effort of a whole plan: the matrix (d, d) that reaches it and a certified upper bound."""

    cost: float
    bound: float
    matrix: Array

    @property
    def gap(self) -> float:
        """How far the cost may be from the true maximum."""
        return max(0.0, self.bound - self.cost)

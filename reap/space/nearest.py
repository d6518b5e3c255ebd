"""The nearest legal row where rules tie features together: branch and bound, exact.

Minimise ``|z − wanted|²`` over the rows that the features' own reach, the linear rules, the implications and
the count of changes allow. At a node every feature has its room. The bound drops what is combinatorial: linear
rules over real numbers are a projection on a polyhedron (a least-distance problem, solved exactly by
non-negative least squares), everything else is separable. What the bound's answer breaks, we branch on: a
fraction of a step, an implication, one change too many.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import nnls

from reap._errors import InputError
from reap._typing import Array
from reap.space.reach import Room
from reap.space.rules import SAME, Domain, Implication, LinearRule, Rule

if TYPE_CHECKING:
    from reap.space.legal import OnePerson

#: Nodes looked at in order of their bound; after that we dive for any legal row, and at last give up.
_NODES, _DIVE = 5_000, 5_000
#: A value this near to a step (in steps) may be meant to be on it.
_NEAR = 1e-7


@dataclass(frozen=True)
class _Branch:
    room: Room
    moving: frozenset[int] = frozenset()  # features already counted as changed


class NearestRow:
    """Search for the legal row nearest to a wanted one, for one person.

    Parameters
    ----------
    person : what is legal for one person
    rules : sequence of Rule
    max_changes : int, optional
    """

    def __init__(self, person: OnePerson, rules: Sequence[Rule], max_changes: int | None) -> None:
        self.person, self.max_changes = person, max_changes
        self.reach, self.start = person.reach, person.start
        self.implications = [rule for rule in rules if isinstance(rule, Implication)]
        # a rule on something unknown is not held against anybody
        self.linear = [
            rule
            for rule in rules
            if isinstance(rule, LinearRule) and not any(np.isnan(self.start[i]) for i, _ in rule.weights)
        ]
        self.tied = sorted({i for rule in self.linear for i, _ in rule.weights})
        self._scale = self.reach.encoding.scale[self.tied]
        self._place = {int(i): k for k, i in enumerate(self.reach.numbers)}
        self._G = np.zeros((len(self.linear), len(self.tied)))
        for row, rule in zip(self._G, self.linear, strict=True):
            for i, weight in rule.weights:
                row[self.tied.index(i)] += weight
        self._h = np.array([rule.limit for rule in self.linear])

    def __call__(self, z: Array) -> Array | None:
        """Return the codes (f,) nearest to vector ``z`` (d,), or None where no row is legal."""
        counter = itertools.count()  # keeps the heap from comparing nodes
        heap: list[tuple[float, int, _Branch, Array]] = []
        push, pop = heapq.heappush, heapq.heappop
        fresh: Iterable[_Branch] = [_Branch(self.person.room)]
        for tried in range(_NODES + _DIVE):
            for node in fresh:
                found = self._bound(node, z)
                if found is not None:
                    push(heap, (found[0], next(counter), node, found[1]))
            if not heap:
                return None
            # past the limit the newest node first: a legal row soon, if not the nearest
            newest = None if tried < _NODES else max(range(len(heap)), key=lambda k: heap[k][1])
            _, _, node, codes = pop(heap) if newest is None else heap.pop(newest)
            answer = self._branch(node, codes)
            if isinstance(answer, np.ndarray):
                return answer
            fresh = answer
        raise InputError(
            "no legal row was found in a long search: the rules leave very few; relax one of them"
        )

    # bound --------------------------------------------------------------------------------------------

    def _bound(self, node: _Branch, z: Array) -> tuple[float, Array] | None:
        codes, distance = self.person.nearest(z[None], node.room)
        codes, distance = codes[0], distance[0]
        if np.isinf(distance).any():
            return None
        if self.tied:
            codes[self.tied] = wanted = self._wanted(z)
            values = self._project(node, wanted)
            if values is None:
                return None
            codes[self.tied] = values
            distance[self.tied] = ((values - wanted) / self._scale) ** 2
        return float(distance.sum()), codes

    def _wanted(self, z: Array) -> Array:
        encoding = self.reach.encoding
        return np.asarray(encoding.origin[self.tied] + z[encoding.starts[self.tied]] * self._scale)

    def _project(self, node: _Branch, wanted: Array) -> Array | None:
        """Project the tied features on their intervals and the linear rules, in encoded units."""
        low, high = np.array([self._hull(node.room, i) for i in self.tied]).T
        clipped: Array = np.clip(wanted, low, high)
        if (self._G @ clipped <= self._h).all():
            return clipped
        # in y = (value − wanted)/scale: min |y| with A y ≥ b, the least-distance problem
        eye = np.diag(self._scale)
        A = np.vstack([-self._G * self._scale, eye, -eye])
        b = np.concatenate([self._G @ wanted - self._h, low - wanted, wanted - high])
        size = np.linalg.norm(A, axis=1)
        if (b[size == 0] > SAME).any():
            return None
        y = least_distance(A[size > 0] / size[size > 0, None], b[size > 0] / size[size > 0])
        if y is None:
            return None
        value = np.clip(wanted + self._scale * y, low, high)
        return value if self._obeys(value, 1e-7) else None

    def _obeys(self, value: Array, tolerance: float = SAME) -> bool:
        slack = tolerance * (1 + np.abs(self._h) + np.abs(self._G) @ np.abs(value))
        return bool((self._G @ value <= self._h + slack).all())

    def _hull(self, room: Room, i: int) -> tuple[float, float]:
        """Return the least and greatest value open to a tied feature, steps included."""
        levels = room.levels[i]
        if levels is not None:
            open_ = np.flatnonzero(levels)
            return float(open_[0]), float(open_[-1])
        low, high, first, last, stays = (ends[self._place[i]] for ends in self.person.ends(room))
        if self.reach.features[i].step is not None:
            low, high = (self._value(i, first), self._value(i, last)) if first <= last else (np.inf, -np.inf)
        elif low > high:
            low, high = np.inf, -np.inf
        own = self.start[i]
        return (min(low, own), max(high, own)) if stays else (low, high)

    def _value(self, i: int, steps: float) -> float:
        grid = np.zeros(len(self.reach.numbers))
        grid[self._place[i]] = steps
        return float(self.reach.tidy(grid)[self._place[i]])

    # branch -------------------------------------------------------------------------------------------

    def _branch(self, node: _Branch, codes: Array) -> Array | Iterable[_Branch]:
        """Return the children that exclude what is wrong with the bound's answer, or the answer if nothing is."""
        settled = codes.copy()
        for i in self.tied:
            value = self._settle(node.room, i, codes[i])
            if value is None:
                return self._split_step(node, i, codes[i])
            settled[i] = value
        if not self._obeys(settled[self.tied]):  # what was nearly on a step was not meant to be
            off = [abs(codes[i] - settled[i]) / s for i, s in zip(self.tied, self._scale, strict=True)]
            worst = int(np.argmax(off))
            return self._split_step(node, self.tied[worst], codes[self.tied[worst]]) if off[worst] > 0 else ()
        for rule in self.implications:
            if not rule.allows(self.start[None], settled[None])[0]:
                return [
                    _Branch(node.room.meet(i, domain), node.moving)
                    for i, domain in rule.alternatives(self.start)
                ]
        if self.max_changes is not None:
            changed = [i for i in self.reach.free if self._moves(i, settled[i])]
            if len(changed) > self.max_changes:
                return self._split_count(node, changed, settled)
        return settled

    def _moves(self, i: int, value: float) -> bool:
        return bool(abs(value - self.start[i]) > SAME * self.reach.encoding.scale[i])

    def _settle(self, room: Room, i: int, value: float) -> float | None:
        """Return the legal value of a tied feature that the bound's answer stands for, or None."""
        levels = room.levels[i]
        if levels is not None:
            level = round(value)
            return float(level) if abs(value - level) <= _NEAR and levels[level] else None
        low, high, first, last, stays = (ends[self._place[i]] for ends in self.person.ends(room))
        if stays and not self._moves(i, value):
            return float(self.start[i])
        step = self.reach.features[i].step
        if step is None:
            return value if low <= value <= high else None
        steps = float(np.rint(value / step))
        near = abs(value / step - steps) <= _NEAR and first <= steps <= last
        return self._value(i, steps) if near else None

    def _split_step(self, node: _Branch, i: int, value: float) -> list[_Branch]:
        """Return children below and above a value that cannot be; the person's own may lie between two steps."""
        if node.room.levels[i] is not None:
            whole = np.arange(len(self.reach.features[i].levels))
            sides = [Domain(levels=frozenset(whole[whole <= value].tolist()))]
            sides.append(Domain(levels=frozenset(whole[whole > value].tolist())))
            return [_Branch(node.room.meet(i, side), node.moving) for side in sides]
        step = self.reach.features[i].step
        below = above = value
        if step is not None:
            below, above = self._value(i, np.floor(value / step)), self._value(i, np.ceil(value / step))
        sides = [Domain(high=below), Domain(low=above)]
        if below < self.start[i] < above:
            sides.append(Domain(self.start[i], self.start[i]))
        return [_Branch(node.room.meet(i, side), node.moving) for side in sides]

    def _split_count(self, node: _Branch, changed: list[int], codes: Array) -> list[_Branch]:
        """Return children in which the largest change is undone, and in which it is one of those made."""
        undecided = [i for i in changed if i not in node.moving]
        scale = self.reach.encoding.scale
        pick = max(undecided, key=lambda i: abs(codes[i] - self.start[i]) / scale[i])
        children = [_Branch(node.room.meet(pick, self._here(pick)), node.moving)]
        moving, room = node.moving | {pick}, node.room
        if len(moving) == self.max_changes:
            for i in self.reach.free:
                if i not in moving and not np.isnan(self.start[i]):
                    room = room.meet(i, self._here(i))
        return [*children, _Branch(room, moving)]

    def _here(self, i: int) -> Domain:
        if i in self.reach.tables:
            return Domain(levels=frozenset({int(self.start[i])}))
        return Domain(self.start[i], self.start[i])


def least_distance(A: Array, b: Array) -> Array | None:
    """Return the shortest ``y`` with ``A y ≥ b``, or None where there is none (Lawson and Hanson, chapter 23).

    The multipliers say which rows bind; on those the shortest ``y`` with equality is computed once more, to
    the last digits.

    Examples
    --------
    >>> least_distance(np.array([[1.0, 1.0]]), np.array([2.0])).round(6)
    array([1., 1.])
    """
    E = np.vstack([A.T, b])
    f = np.zeros(len(E))
    f[-1] = 1.0
    weights, _ = nnls(E, f, maxiter=50 * E.shape[1])
    rest = f - E @ weights
    if rest[-1] <= 1e-12:
        return None
    rough = -rest[:-1] / rest[-1]
    binding = weights > 0
    if not binding.any():
        return np.asarray(rough)
    fine = np.linalg.lstsq(A[binding], b[binding], rcond=None)[0]
    return np.asarray(fine if np.abs(fine - rough).max() <= 1e-5 * (1 + np.abs(rough).max()) else rough)

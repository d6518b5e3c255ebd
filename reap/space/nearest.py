"""The nearest legal row where rules tie features together: branch and bound, exact.

Minimise ``|z − wanted|²`` over the rows that the features' own reach, the linear rules, the implications and
the count of changes allow. At a node every feature has a domain. The bound drops what is combinatorial: linear
rules over real numbers are a projection on a polyhedron (a least-distance problem, solved exactly by
non-negative least squares), everything else is separable. What the bound's answer breaks, we branch on: a
fraction of a step, an implication, one change too many.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import nnls

from reap._typing import Array
from reap.space.reach import Reach
from reap.space.rules import SAME, Domain, Implication, Linear, Rule

#: Nodes looked at before giving up; small spaces need a handful.
_NODES = 5_000


@dataclass(frozen=True)
class _Node:
    domains: tuple[Domain, ...]
    moving: frozenset[int] = frozenset()  # features already counted as changed


class NearestRow:
    """Search for the legal row nearest to a wanted one, for one subject.

    Parameters
    ----------
    reach : Reach
    rules : sequence of Rule
    max_changes : int, optional
    start : (f,) codes of the subject
    """

    def __init__(self, reach: Reach, rules: Sequence[Rule], max_changes: int | None, start: Array) -> None:
        self.reach, self.start, self.max_changes = reach, start, max_changes
        self.encoding = reach.encoding
        self.linear = [rule for rule in rules if isinstance(rule, Linear)]
        self.implications = [rule for rule in rules if isinstance(rule, Implication)]
        tied = {i for rule in self.linear for i, _ in rule.weights if not np.isnan(start[i])}
        self.tied = sorted(tied)
        self.free = [i for i in reach.free if i not in tied]

    def __call__(self, z: Array) -> Array | None:
        """Return the codes (f,) nearest to vector ``z`` (d,), or None where no row is legal."""
        domains = [Domain()] * len(self.reach.features)
        for i in self.reach.free:
            domains[i] = self.reach.domain(i, self.start)
        counter = itertools.count()  # keeps the heap from comparing nodes
        heap: list[tuple[float, int, _Node, Array]] = []

        def push(node: _Node) -> None:
            found = self._bound(node, z)
            if found is not None:
                heapq.heappush(heap, (found[0], next(counter), node, found[1]))

        push(_Node(tuple(domains)))
        for _ in range(_NODES):
            if not heap:
                return None
            _, _, node, codes = heapq.heappop(heap)
            children = self._branch(node, codes)
            if children is None:
                return codes
            for child in children:
                push(child)
        return None

    # bound --------------------------------------------------------------------------------------------

    def _bound(self, node: _Node, z: Array) -> tuple[float, Array] | None:
        codes = self.start.copy()
        cost = 0.0
        for i in self.free:
            columns = self.encoding.slices[self.reach.features[i].name]
            block = z[None, columns] if columns.stop - columns.start > 1 else None
            wanted = block if block is not None else self._wanted(i, z)[None]
            value = self.reach.nearest(i, wanted, self.start[i], node.domains[i])[0]
            if np.isnan(value) and not np.isnan(self.start[i]):
                return None
            codes[i] = value
            cost += self._distance(i, value, z)
        if self.tied:
            values = self._project(node, z)
            if values is None:
                return None
            codes[self.tied] = values
            cost += sum(self._distance(i, codes[i], z) for i in self.tied)
        return cost, codes

    def _wanted(self, i: int, z: Array) -> Array:
        column = self.encoding.slices[self.reach.features[i].name].start
        return np.asarray(self.encoding.origin[i] + z[column] * self.encoding.scale[i])

    def _distance(self, i: int, value: float, z: Array) -> float:
        columns = self.encoding.slices[self.reach.features[i].name]
        if np.isnan(value) or np.isnan(z[columns]).any():
            return 0.0
        if columns.stop - columns.start > 1:
            vertex = np.zeros(columns.stop - columns.start)
            vertex[int(value)] = 1.0
            return float(((z[columns] - vertex) ** 2).sum())
        return float(((value - self._wanted(i, z)) / self.encoding.scale[i]) ** 2)

    def _project(self, node: _Node, z: Array) -> Array | None:
        """Project the tied features on their intervals and the linear rules, in encoded units."""
        scale = self.encoding.scale[self.tied]
        wanted = np.array([float(self._wanted(i, z)) for i in self.tied])
        wanted = np.where(np.isnan(wanted), self.start[self.tied], wanted)
        low, high = np.array([_ends(node.domains[i]) for i in self.tied]).T
        if (low > high).any():
            return None
        place = {i: k for k, i in enumerate(self.tied)}
        rows, sides = [], []
        for rule in self.linear:
            if all(i in place for i, _ in rule.weights):
                row = np.zeros(len(self.tied))
                for i, weight in rule.weights:
                    row[place[i]] += weight
                rows.append(row)
                sides.append(rule.limit)
        clipped: Array = np.clip(wanted, low, high)
        if not rows:
            return clipped
        G, h = np.array(rows), np.array(sides)
        if (G @ clipped <= h + SAME * (1 + np.abs(h))).all():
            return clipped
        # in y = (value − wanted)/scale: min |y| with A y ≥ b, the least-distance problem
        eye = np.diag(scale)
        A = np.vstack([-G * scale, eye, -eye])
        b = np.concatenate([G @ wanted - h, low - wanted, wanted - high])
        size = np.linalg.norm(A, axis=1)
        keep = np.isfinite(b) & (size > 0)
        if (b[size == 0] > SAME).any():
            return None
        y = _least_distance(A[keep] / size[keep, None], b[keep] / size[keep])
        if y is None:
            return None
        value = wanted + scale * y
        if (G @ value > h + 1e-7 * (1 + np.abs(h) + np.abs(G) @ np.abs(value))).any():
            return None
        return np.clip(value, low, high)

    # branch -------------------------------------------------------------------------------------------

    def _branch(self, node: _Node, codes: Array) -> Iterator[_Node] | None:
        """Return the children that exclude what is wrong with the bound's answer; None where it is legal."""
        for i in self.tied:
            if not self._settled(i, codes):
                return self._split_step(node, i, codes[i])
        before, after = self.start[None], codes[None]
        for rule in self.implications:
            if not rule.allows(before, after)[0]:
                return (self._restrict(node, i, domain) for i, domain in rule.alternatives(self.start))
        if self.max_changes is not None:
            changed = [i for i in self.reach.free if self._moves(i, codes[i])]
            if len(changed) > self.max_changes:
                return self._split_count(node, changed, codes)
        return None

    def _settled(self, i: int, codes: Array) -> bool:
        if i in self.reach.tables:
            return bool(abs(codes[i] - round(codes[i])) <= 1e-6)
        stays = not self._moves(i, codes[i])
        return stays or bool(self.reach.on_grid(i, codes[i : i + 1])[0])

    def _moves(self, i: int, value: float) -> bool:
        return bool(abs(value - self.start[i]) > SAME * self.encoding.scale[i])

    def _split_step(self, node: _Node, i: int, value: float) -> Iterator[_Node]:
        if i in self.reach.tables:
            for level in node.domains[i].levels or ():
                yield self._restrict(node, i, Domain(levels=frozenset({level})))
            return
        step = self.reach.features[i].step or 1.0
        below, above = np.floor(value / step) * step, np.ceil(value / step) * step
        yield self._restrict(node, i, Domain(high=float(self.reach.tidy(i, np.array(below)))))
        yield self._restrict(node, i, Domain(low=float(self.reach.tidy(i, np.array(above)))))
        if below < self.start[i] < above:
            yield self._restrict(node, i, Domain(self.start[i], self.start[i]))

    def _split_count(self, node: _Node, changed: list[int], codes: Array) -> Iterator[_Node]:
        undecided = [i for i in changed if i not in node.moving]
        pick = max(
            undecided, key=lambda i: abs(codes[i] - self.start[i]) / self.encoding.scale[i], default=None
        )
        if pick is None:
            return
        yield self._restrict(node, pick, self._here(pick))
        moving = node.moving | {pick}
        if len(moving) > (self.max_changes or 0):
            return
        child = replace(node, moving=moving)
        if len(moving) == self.max_changes:
            for i in self.reach.free:
                if i not in moving and not np.isnan(self.start[i]):
                    child = self._restrict(child, i, self._here(i))
        yield child

    def _here(self, i: int) -> Domain:
        if i in self.reach.tables:
            return Domain(levels=frozenset({int(self.start[i])}))
        return Domain(self.start[i], self.start[i])

    def _restrict(self, node: _Node, i: int, domain: Domain) -> _Node:
        domains = list(node.domains)
        domains[i] = domains[i].meet(domain)
        return replace(node, domains=tuple(domains))


def _ends(domain: Domain) -> tuple[float, float]:
    if domain.levels is not None:
        return (float(min(domain.levels)), float(max(domain.levels))) if domain.levels else (1.0, 0.0)
    return domain.low, domain.high


def _least_distance(A: Array, b: Array) -> Array | None:
    """Return the shortest ``y`` with ``A y ≥ b``, or None where there is none (Lawson and Hanson, chapter 23)."""
    E = np.vstack([A.T, b])
    f = np.zeros(len(E))
    f[-1] = 1.0
    weights, _ = nnls(E, f, maxiter=50 * E.shape[1])
    rest = E @ weights - f
    if -rest[-1] <= 1e-12:
        return None
    return np.asarray(-rest[:-1] / rest[-1])

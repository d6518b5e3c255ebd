"""What each feature of a subject could become, as far as the trees can tell: the own value, then outward.

Of all values that no tree tells apart only the nearest is worth naming: the grid value just beyond each edge.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from reap._typing import Array, Bools, Ints
from reap.models.trees import Reader
from reap.recourse.targets.problem import Problem
from reap.space.grid import Levels
from reap.space.rules import Linear
from reap.space.sentences import parse

#: Sides of a ladder: the value it starts from, up, down, another level; a level where none is the person's own.
OWN, UP, DOWN, LEVEL, FORCED = range(5)
#: Values of a ladder at most: they are the bits of one word.
RUNGS = 63
#: Grid values at which it is looked up what derived features do.
_LOOKED_AT = 2_000
#: Combinations of what may move together where derived features tie features.
_GROUPS = 12


@dataclass(frozen=True)
class Ladder:
    """One feature's values.

    Parameters
    ----------
    feature : int
    columns : (w,)
        Its encoded columns, and those of derived features that follow it.
    blocks : (n, w)
        The encoded values, the one it starts from first, then each side from near to far.
    sides : (n,)
    inputs : (c,)
        The transformed columns that change with it.
    seen : (n, c)
        Their values, as the trees compare them.
    weights : (n,)
        How many splits lie just before each value.
    """

    feature: int
    columns: Ints
    blocks: Array
    sides: Ints
    inputs: Ints
    seen: Array
    weights: Array

    def __len__(self) -> int:
        return len(self.sides)

    def only(self, rungs: Ints) -> Ladder:
        """Return the ladder with some of its values."""
        parts = {name: getattr(self, name)[rungs] for name in ("blocks", "sides", "seen", "weights")}
        return replace(self, **parts)

    def side(self, side: int) -> Ints:
        """Return the values on one side, near to far."""
        return np.flatnonzero(self.sides == side)

    def thinned(self, most: int) -> Ints:
        """Return ``most`` rungs or fewer: each side evenly by the splits it passes, nearest and farthest included."""
        if len(self) <= most:
            return np.arange(len(self))
        kept, room = [np.zeros(1, dtype=np.intp)], most - 1
        sides = sorted((self.side(side) for side in (UP, DOWN, LEVEL, FORCED)), key=len)
        for left, rungs in zip(range(len(sides), 0, -1), sides, strict=True):
            kept.append(rungs[_even(self.weights[rungs], min(room // left, len(rungs)))])
            room -= len(kept[-1])
        return np.sort(np.concatenate(kept))


def _even(weights: Array, count: int) -> Ints:
    """Return ``count`` or fewer places that divide the square roots of weights evenly, both ends included."""
    if len(weights) <= count:
        return np.arange(len(weights))
    total = np.cumsum(np.sqrt(np.maximum(weights, 1e-12)))
    share = (total - total[0]) / (total[-1] - total[0])
    return np.unique(np.searchsorted(share, np.linspace(0, 1, count) - 1e-12).clip(0, len(weights) - 1))


def rivals(problem: Problem, found: list[Ladder]) -> list[set[int]]:
    """Return for each ladder the others that move a derived column with it: debt and income, where a ratio follows both."""
    if len(problem.derived) == 0:
        return [set() for _ in found]
    tied = [set(map(int, np.intersect1d(ladder.columns, problem.derived))) for ladder in found]
    return [{j for j, theirs in enumerate(tied) if j != i and own & theirs} for i, own in enumerate(tied)]


def groups(problem: Problem, found: list[Ladder]) -> list[list[Ladder]]:
    """Return the largest sets of ladders without rivals: within such a set changes add up."""
    others = rivals(problem, found)
    sources = [i for i, some in enumerate(others) if some]
    sets: list[set[int]] = []
    for size in range(len(sources), -1, -1):
        for chosen in combinations(sources, size):
            apart = not any(others[i] & set(chosen) for i in chosen)
            if apart and len(sets) < _GROUPS and not any(set(chosen) <= known for known in sets):
                sets.append(set(chosen))
    free = set(range(len(found))) - set(sources)
    return [[found[i] for i in sorted(free | some)] for some in sets]


class Ladders:
    """The ladders of one row, in full length.

    Parameters
    ----------
    problem : Problem
    reader : Reader
    anchor : (d,)
        Where they start: the subject, or what limits force.
    held : (f,) bool
        Features that stay as they are there.

    Attributes
    ----------
    now : (c,)
        The transformed row, as the trees compare it.
    all : list of Ladder
    """

    def __init__(self, problem: Problem, reader: Reader, anchor: Array, held: Bools) -> None:
        self.problem, self.reader, self.anchor = problem, reader, anchor
        self.now = reader.compose(reader.places(anchor[None]))[0]
        self.derived = [k for k, f in enumerate(problem.space.features) if f.derived is not None]
        clocks = [
            k for k, f in enumerate(problem.space.features) if f.clock is not None and problem.space.timed
        ]
        #: What a number may turn beside itself: features that follow from it, clocks that go on meanwhile.
        self._beside = [k for k in (*self.derived, *clocks) if problem.space.features[k].is_number]
        self.ruled = ruled(problem)
        made = []
        for j, k in enumerate(problem.numbers.feature):
            if not held[k]:
                number = problem.space.features[k].is_number
                made.append(self._number(j) if number else self._levels(j))
        made += [self._choice(choice) for choice in problem.choices if not held[choice.feature]]
        made = [self._followed(ladder) for ladder in made if len(ladder) > 1]
        useful = [ladder for ladder in made if len(ladder.inputs) or ladder.feature in self.ruled]
        self.all = sorted(useful, key=lambda ladder: ladder.feature)

    def _number(self, j: int) -> Ladder:
        n, k = self.problem.numbers, int(self.problem.numbers.feature[j])
        cells, unit, scale = self.reader.cells[k], n.unit[j], n.scale[j]
        own = self.anchor[n.columns[j]] * scale + n.base[j]
        slack = self.reader.lattices[k].unit if k in self.reader.lattices else 0.0
        extra = self._extra(j)
        parts = []
        for side in (UP, DOWN):
            near = cells.edges > own - slack if side == UP else cells.edges < own + slack
            place = np.floor(cells.edges[near] / unit) + (side == UP)
            place = np.maximum(place, n.first[j]) if side == UP else np.minimum(place, n.last[j])
            place = np.concatenate([place, extra])
            weight = np.concatenate([cells.weights[near], np.ones(len(extra))])
            away = (self._units(j, place) - own) * (1 if side == UP else -1)
            inside = (away > 1e-9 * scale) & (place >= n.first[j]) & (place <= n.last[j])
            place, weight = place[inside], weight[inside]
            if len(extra):
                place, weight = place[rising := np.argsort(place, kind="stable")], weight[rising]
            first = np.flatnonzero(np.diff(place, prepend=-np.inf))
            place, weight = place[first], np.add.reduceat(weight, first)
            order = slice(None) if side == UP else slice(None, None, -1)
            parts.append((self._units(j, place)[order], np.full(len(place), side), weight[order]))
        values, sides, weights = (np.concatenate(part) for part in zip(*parts, strict=True))
        blocks = ((values - n.base[j]) / scale)[:, None]
        return self._ladder(k, n.columns[[j]], blocks, sides, cells.rows[cells.of(values)], weights)

    def _units(self, j: int, places: Array) -> Array:
        n = self.problem.numbers
        return np.asarray(np.rint(places * n.unit[j] * n.power[j]) / n.power[j])

    def _extra(self, j: int) -> Array:
        """Return places of a number that matter beyond its own edges: to rules, and where derived features cross theirs."""
        n, k = self.problem.numbers, int(self.problem.numbers.feature[j])
        found = [np.zeros(0)]
        if k in self.ruled:
            own = np.rint((self.anchor[n.columns[j]] * n.scale[j] + n.base[j]) / n.unit[j])
            named = np.array(sorted(self.ruled[k])) / n.unit[j]
            few = np.unique(np.rint(np.linspace(n.first[j], n.last[j], 13)))
            found += [few, own + np.arange(-3.0, 4.0), np.floor(named + 1e-9), np.ceil(named - 1e-9)]
        if self._beside:
            places = np.unique(np.rint(np.linspace(n.first[j], n.last[j], _LOOKED_AT)))
            rows = np.repeat(self.anchor[None], len(places), axis=0)
            rows[:, n.columns[j]] = (self._units(j, places) - n.base[j]) / n.scale[j]
            rows = self.problem.follow(rows)
            for derived in self._beside:
                turn = np.flatnonzero(
                    np.diff(self.reader.cells[derived].of(self.reader.units(derived, rows)))
                )
                found += [places[turn], places[turn + 1]]
        return np.concatenate(found)

    def _levels(self, j: int) -> Ladder:
        """The ladder of ordered levels; one that no tree tells from the one before is left out."""
        n, k = self.problem.numbers, int(self.problem.numbers.feature[j])
        own, rows = int(np.rint(self.anchor[n.columns[j]] * n.scale[j])), self.reader.cells[k].rows
        levels: list[int] = []
        sides: list[int] = []
        ways = (UP, range(own + 1, int(n.last[j]) + 1)), (DOWN, range(own - 1, int(n.first[j]) - 1, -1))
        for side, way in ways:
            last = own
            for level in way:
                if n.first[j] <= level <= n.last[j]:
                    if k in self.ruled or not np.array_equal(rows[level], rows[last], equal_nan=True):
                        levels.append(level)
                        sides.append(side)
                    last = level
        blocks = (np.array(levels, dtype=float) / n.scale[j])[:, None]
        seen = rows[np.array(levels, dtype=np.intp)]
        return self._ladder(k, n.columns[[j]], blocks, np.array(sides), seen, np.ones(len(levels)))

    def _choice(self, choice: Levels) -> Ladder:
        feature = self.problem.space.features[choice.feature]
        here = (np.abs(choice.options - self.anchor[choice.columns]) < 1e-9).all(axis=1)
        blocks = choice.options[~here]
        last = max(len(feature.levels) - 1, 1)
        level = blocks.argmax(axis=1) if feature.kind == "categorical" else np.rint(blocks[:, 0] * last)
        sides = np.full(len(blocks), LEVEL if choice.own >= 0 else FORCED)
        seen = self.reader.cells[choice.feature].rows[level.astype(np.intp)]
        return self._ladder(choice.feature, choice.columns, blocks, sides, seen, np.ones(len(blocks)))

    def _ladder(
        self, k: int, columns: Ints, blocks: Array, sides: Ints, seen: Array, weights: Array
    ) -> Ladder:
        inputs = self.reader.cells[k].columns
        return Ladder(
            k,
            columns,
            np.concatenate([self.anchor[columns][None], blocks]),
            np.concatenate([[OWN], sides]).astype(np.intp),
            inputs,
            np.concatenate([self.now[inputs][None], seen.reshape(len(blocks), len(inputs))]),
            np.concatenate([[0.0], weights]),
        )

    def _followed(self, ladder: Ladder) -> Ladder:
        """Return a ladder with the derived columns that follow it, where there are any."""
        if not self.derived:
            return ladder
        rows = np.repeat(self.anchor[None], len(ladder), axis=0)
        rows[:, ladder.columns] = ladder.blocks
        rows = self.problem.follow(rows)
        for k in self.derived:
            column, cells = (
                self.problem.space.slices[self.problem.space.features[k].name].start,
                self.reader.cells[k],
            )
            values = self.reader.units(k, rows)
            if np.isnan(values).any() or np.ptp(values) == 0:
                continue
            seen = cells.rows[cells.of(values)] if len(cells.columns) else np.zeros((len(rows), 0))
            seen[0] = self.now[cells.columns]
            ladder = replace(
                ladder,
                columns=np.append(ladder.columns, column),
                blocks=np.column_stack([ladder.blocks, rows[:, column]]),
                inputs=np.concatenate([ladder.inputs, cells.columns]),
                seen=np.concatenate([ladder.seen, seen], axis=1),
            )
        return ladder


def ruled(problem: Problem) -> dict[int, set[float]]:
    """Return the features that rules name, with values in units at which an implication begins to hold for this subject."""
    named: dict[int, set[float]] = {}
    start = problem.space.encoding.codes_of(problem.z0[None])[0]
    for text in problem.space.rules:
        for rule in parse(text, problem.space.features):
            if isinstance(rule, Linear):
                for i, _ in rule.weights:
                    named.setdefault(i, set())
                continue
            for condition, truth in ((rule.when, False), (rule.then, True)):
                values = named.setdefault(condition.index, set())
                if not np.isnan(start[condition.index]):
                    ends = [
                        e for d in condition.domains(start[condition.index], truth) for e in (d.low, d.high)
                    ]
                    values |= {float(e) for e in ends if np.isfinite(e)}
    return named

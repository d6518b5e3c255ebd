"""Cells: places of few changes where acceptance begins, whatever effort means to the person.

(1) Every change alone is scored. (2) Pairs are scored at a few rungs of each ladder. (3) The score of three changes is guessed
from singles and pairs (an expansion of order two). (4) Kept is what is accepted, or may be, and no longer is one rung nearer or
with a change left out.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from reap._typing import Array, Bools, Ints
from reap.recourse.problem import Problem

#: Ways to change that go into pairs, rungs of each of them at most and at least, and pairs of rungs in all.
_ITEMS, _RUNGS, _FEWEST, _PAIRS = 30, 16, 4, 12_000
#: Pairs and triples that come less far than this share of the way are not scored.
_HOPE = 0.5
#: Guesses of three changes that are held at a time.
_HELD = 400_000
#: A guess may be wrong: acceptance is looked for where these shares of the way are guessed.
_LEVELS = (0.9, 1.0, 1.15)


def cells(problem: Problem) -> tuple[Ints, Ints]:
    """Return the places (n, f) of at most three changes where acceptance begins, and guesses of three, not scored yet."""
    nowhere = np.empty((0, len(problem.own)), dtype=np.intp)
    if len(problem.own) == 0 or problem.late:
        return nowhere, nowhere
    ways = _Ways(problem)
    known = [ways.found]
    guessed = nowhere
    budget = 3 if problem.most is None else problem.most
    if budget > 1 and len(ways.pairs):
        known.append(ways.score_pairs())
        if budget > 2:
            guessed = ways.triples()
    return np.concatenate(known), guessed


class _Ways:
    """The single changes of a person, and what pairs of them do.

    An *item* is a number in one direction, or a level; its rungs go from near to far. A gain is counted against doing nothing
    for as long as the change takes, so that waiting is counted once.

    Attributes
    ----------
    found : (n, f)
        Places of single changes that are accepted, the nearest of each item.
    ladder : (p,)
    place, gain, month : (p, k)
        Of each rung of an item its place, its gain in log-odds (−inf where an item has fewer rungs), and the months it takes.
    pairs : (q, 2)
        Items that can change together.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        now = float(problem.score(problem.base[None])[0])
        self.gap, self.wait = problem.goal - now, problem.idle - now
        sides = [
            (f, side)
            for f, ladder in enumerate(problem.ladders)
            for side in (
                [ladder.side(-1), ladder.side(1)]
                if ladder.ordered
                else [np.array([k]) for k in range(ladder.length) if k != ladder.own]
            )
            if len(side)
        ]
        sides = [(f, _thinned(side, 64)) for f, side in sides]
        ends = np.cumsum([0, *(len(side) for _, side in sides)])
        places = np.repeat(problem.own[None], ends[-1], axis=0)
        for (f, side), begin in zip(sides, ends[:-1], strict=True):
            places[begin : begin + len(side), f] = side
        scores = problem.logits(places)  # −inf where time ran out
        months = problem.months(places)
        fine = problem.legal(places, scores) >= problem.goal
        gains = scores - now - self.wait[months]
        found, kept = [], []
        for (f, side), begin in zip(sides, ends[:-1], strict=True):
            some = slice(begin, begin + len(side))
            first = int(fine[some].argmax()) if fine[some].any() else len(side)
            if first < len(side):
                found.append(places[begin + first])
            if first:
                kept.append((f, side[:first], gains[some][:first], months[some][:first]))
        self.found = np.array(found, dtype=np.intp).reshape(-1, len(problem.own))
        self._keep(kept)

    def _keep(self, kept: list[tuple[int, Ints, Array, Ints]]) -> None:
        """Keep the items that gain most for their way, at as many rungs as the pairs allow."""
        problem = self.problem

        def worth(f: int, side: Ints, gain: Array) -> float:
            ladder = problem.ladders[f]
            way = np.abs(ladder.values(side) - ladder.values(np.array([ladder.own]))).max()
            return float(gain.max() / (1e-3 + way) ** 0.5)

        order = np.argsort([-worth(f, side, gain) for f, side, gain, _ in kept], kind="stable")
        kept = [kept[i] for i in np.sort(order[:_ITEMS])]
        self.ladder = np.array([f for f, *_ in kept], dtype=np.intp)
        self.pairs = _sets(self.ladder, 2)
        sizes = np.array([len(side) for _, side, *_ in kept], dtype=np.intp)
        K = next(
            k for k in range(_RUNGS, 0, -1) if k <= _FEWEST or self._rows(np.minimum(sizes, k)) <= _PAIRS
        )
        K = min(K, int(sizes.max(initial=1)))
        self.place = np.zeros((len(kept), K), dtype=np.intp)
        self.gain = np.full((len(kept), K), -np.inf, dtype=np.float32)
        self.month = np.zeros((len(kept), K), dtype=np.intp)
        for i, (_, side, gain, month) in enumerate(kept):
            pick = _telling(gain, K)
            self.place[i, : len(pick)], self.gain[i, : len(pick)] = side[pick], gain[pick]
            self.month[i, : len(pick)] = month[pick]

    def _rows(self, sizes: Ints) -> int:
        """Return how many pairs of rungs there are where items have so many rungs (p,)."""
        return int((sizes[self.pairs[:, 0]] * sizes[self.pairs[:, 1]]).sum())

    def score_pairs(self) -> Ints:
        """Score pairs where a third change could still make up the rest; return the places (n, f) where acceptance begins."""
        problem, (P, K) = self.problem, self.place.shape
        which, k, j = (m.ravel() for m in np.indices((len(self.pairs), K, K)))
        a, b = self.pairs[which].T
        together = self.gain[a, k] + self.gain[b, j]
        hope = together + max(float(self.gain.max()), 0.0) + self.wait.max()
        some = np.flatnonzero(hope >= _HOPE * self.gap)
        some = some[np.argsort(-hope[some], kind="stable")[: 2 * _PAIRS]]
        a, b, k, j = a[some], b[some], k[some], j[some]
        places = self._put((a, k), (b, j))
        scores = problem.logits(places)
        late = self.wait[np.maximum(self.month[a, k], self.month[b, j])]
        #: Gains of pairs of rungs, and which of them are accepted; (p, p, k, k).
        self.both = (self.gain[:, None, :, None] + self.gain[None, :, None, :]).astype(np.float32)
        self.fine = np.zeros((P, P, K, K), dtype=bool)
        fine = problem.legal(places, scores) >= problem.goal
        for cell in ((a, b, k, j), (b, a, j, k)):
            self.both[cell] = scores - problem.goal + self.gap - late
            self.fine[cell] = fine
        of_pairs = self.fine[self.pairs[:, 0], self.pairs[:, 1]]
        which, k, j = np.nonzero(of_pairs & ~_nearer(of_pairs, 1) & ~_nearer(of_pairs, 2))
        return self._put((self.pairs[which, 0], k), (self.pairs[which, 1], j))

    def triples(self) -> Ints:
        """Return the places (n, f) of three changes where acceptance may begin."""
        sets = _sets(self.ladder, 3)
        held = max(1, _HELD // self.place.shape[1] ** 3)
        parts = [
            self._guess(sets[begin : begin + held])
            for begin in range(0, len(sets), held)
            if not self.problem.late
        ]
        return np.concatenate([self.found[:0], *parts])

    def _guess(self, sets: Ints) -> Ints:
        """Return the places (n, f) where acceptance may begin, of some sets of three items (s, 3)."""
        a, b, c = sets.T
        gain, both, month = self.gain, self.both, self.month
        with np.errstate(invalid="ignore"):
            # of an item that has fewer rungs nothing is known: −inf, and −inf − −inf
            more = both - gain[:, None, :, None] - gain[None, :, None, :]
            guess = both[a, b][:, :, :, None] + gain[c][:, None, None, :]
            guess += more[a, c][:, :, None, :] + more[b, c][:, None, :, :]
        guess[np.isnan(guess)] = -np.inf
        if np.ptp(self.wait) > 0:
            late = np.maximum(month[a][:, :, None, None], month[b][:, None, :, None])
            guess += self.wait.astype(np.float32)[np.maximum(late, month[c][:, None, None, :])]
        fewer = self.fine[a, b][:, :, :, None] | self.fine[a, c][:, :, None, :] | self.fine[b, c][:, None]
        begins = np.zeros(guess.shape, dtype=bool)
        for level in _LEVELS:
            begins |= _front(guess, level * self.gap, fewer)
        which, *rungs = np.nonzero(begins)
        return self._put(*((sets[which, i], rung) for i, rung in enumerate(rungs)))

    def _put(self, *parts: tuple[Ints, Ints]) -> Ints:
        """Return places (n, f) with some items at some rungs, (n,) both for each part."""
        places = np.repeat(self.problem.own[None], len(parts[0][0]), axis=0)
        for item, rung in parts:
            places[np.arange(len(places)), self.ladder[item]] = self.place[item, rung]
        return places


# whole small spaces ----------------------------------------------------------------------------------------


def row_count(problem: Problem, most: int | None) -> float:
    """Return how many rows of rungs there are with at most so many changes."""
    total = np.array([1.0])  # by the number of changes
    for ladder, counted in zip(problem.ladders, problem.counted, strict=True):
        others = float(len(ladder.rungs) - 1)
        if not counted:
            total = total * (1 + others)
        elif ladder.forced:
            total = np.append(0.0, total * (1 + others))
        else:
            total = np.append(total, 0.0) + np.append(0.0, total * others)
    return float(total[: None if most is None else most + 1].sum())


def every_row(problem: Problem, most: int | None) -> Ints:
    """Return the places (n, f) of all rows of rungs with at most so many changes."""
    places = problem.own[None]
    for f, ladder in enumerate(problem.ladders):
        others = ladder.rungs[ladder.rungs != ladder.own]
        moved = np.repeat(places, len(others), axis=0)
        moved[:, f] = np.tile(others, len(places))
        places = np.concatenate([places, moved])
        if most is not None:
            places = places[problem.counts(places) <= max(most, problem.forced.sum())]
    return places if most is None else places[problem.counts(places) <= most]


# small tools -----------------------------------------------------------------------------------------------


def _sets(ladder: Ints, size: int) -> Ints:
    """Return the sets (s, size) of items that stand on different ladders (p,)."""
    sets = np.array(list(combinations(range(len(ladder)), size)), dtype=np.intp).reshape(-1, size)
    own = ladder[sets]
    apart = np.ones(len(sets), dtype=bool)
    for i, j in combinations(range(size), 2):
        apart &= own[:, i] != own[:, j]
    return sets[apart]


def _thinned(side: Ints, count: int) -> Ints:
    """Return at most ``count`` rungs of a side, denser near its start."""
    if len(side) <= count:
        return side
    return side[np.unique((np.linspace(0, 1, count) ** 1.5 * (len(side) - 1)).astype(np.intp))]


def _telling(gain: Array, count: int) -> Ints:
    """Return at most ``count`` rungs of an item: half of them where the gain reaches a new height, others near the start."""
    if len(gain) <= count:
        return np.arange(len(gain))
    high = np.maximum.accumulate(np.append(0.0, gain))
    rise = np.diff(high)
    new = np.flatnonzero(rise > 1e-9)
    half = count // 2
    if len(new) > half:
        way = np.cumsum(rise[new] / rise[new].sum() + 1.0 / len(new))
        at = np.searchsorted(way, np.linspace(way[0], way[-1], half) - 1e-9)
        new = new[np.unique(at.clip(0, len(new) - 1))]
    left = count - len(new)
    more = np.rint((np.arange(left) / max(left - 1, 1)) ** 1.5 * (len(gain) - 1)).astype(np.intp)
    return np.unique(np.append(new, more))


def _front(guess: Array, level: float, fewer: Bools) -> Bools:
    """Return the cells (s, k, k, k) that reach a level, need all three changes, and do not reach it one rung nearer."""
    fine = (guess >= level) & ~fewer
    return fine & ~_nearer(fine, 1) & ~_nearer(fine, 2) & ~_nearer(fine, 3)


def _nearer(fine: Bools, axis: int) -> Bools:
    """Return which cells are fine one rung nearer along an axis."""
    out, index = np.zeros_like(fine), [slice(None)] * fine.ndim
    to, of = index.copy(), index.copy()
    to[axis], of[axis] = slice(1, None), slice(None, -1)
    out[tuple(to)] = fine[tuple(of)]
    return out

"""Every support worth a look, swept by rays: where does the model begin to accept?

An *item* is one feature's way of changing: a number up or down, a category to one of its levels. A *support* is a set
of items of different features. Along a ray ``u(t) = u0 + t·w·(end − u0)`` the numbers of a support go from where they are
towards their ends, each with a weight, its categories switched; a few batches find where the ray enters the accepted side.
"""

from __future__ import annotations

from itertools import combinations, permutations

import numpy as np

from reap import effort
from reap._typing import Array, Ints
from reap.recourse.targets.problem import Problem

#: Supports swept: of a model with a gradient, whose scores are cheap, and of any other.
_SUPPORTS, _BLACK_BOX = 700, 160
#: Items that supports are made of, at most: those that raise the score most for the way they take.
_MOST = 60
#: Supports are of at most this many items; more changes are found by climbing and from rows of real people.
_ITEMS = 3
#: Weights of the numbers of a support, by how many there are; each in every order.
_WEIGHTS: dict[int, list[tuple[float, ...]]] = {
    0: [()],
    1: [(1.0,)],
    2: [(1.0, 1.0), (1.0, 0.35)],
    3: [(1.0, 1.0, 1.0), (1.0, 0.35, 0.35), (1.0, 1.0, 0.35)],
}
#: Places on a number's own ladder, and on a ray: close to the start at first, where effort is small.
_LADDER = np.linspace(0.0, 1.0, 13)[1:] ** 2
_PLACES = np.array([0.06, 0.25, 1.0])
#: A support is looked at where its items' single gains add up to this share of what is needed.
_HOPE = 0.4


class Items:
    """What one person can do, one thing at a time.

    Attributes
    ----------
    feature : (M,) the feature each belongs to
    column : (M,) the column of a number among ``problem.numbers``, −1 for a category
    ends : (M, d) the row with the item done in full
    gain : (M,) the most it raises the logit by itself; negative where it only lowers it
    slope : (M,) the steepest rise of the logit, for the way it takes
    """

    def __init__(self, problem: Problem) -> None:
        self.problem, n = problem, problem.numbers
        base, feature, column, ends = problem.base, [], [], []
        for j, c in enumerate(n.columns):
            for end in (n.lower[j], n.upper[j]):
                if abs(end - base[c]) > 1e-9 and (end < base[c]) == (end == n.lower[j]):
                    feature.append(n.feature[j])
                    column.append(j)
                    ends.append(_put(base, slice(c, c + 1), end))
        for choice in problem.choices:
            for k, option in enumerate(choice.options):
                if k != choice.own:
                    feature.append(choice.feature)
                    column.append(-1)
                    ends.append(_put(base, choice.columns, option))
        self.feature = np.array(feature, dtype=np.intp)
        self.column = np.array(column, dtype=np.intp)
        self.ends = np.array(ends).reshape(-1, len(base))
        self.rows, self.logits = self._ladders()

    def __len__(self) -> int:
        return len(self.feature)

    def helpful(self) -> Items:
        """Return the items that can raise the score, and leave the problem without the others.

        A row that goes the wrong way in some feature is reducible, however little effort it may ask under some matrix. A
        model without a gradient has plateaus: there an item that changes nothing alone may still help another.
        """
        problem, n = self.problem, self.problem.numbers
        helps = self.gain > 0 if problem.smooth else self.gain >= 0
        if not helps.any():
            return self
        sides = np.zeros((2, len(n.columns)), dtype=bool)
        for j, end in zip(self.column[helps], self.ends[helps], strict=True):
            if j >= 0:
                sides[int(end[n.columns[j]] > problem.base[n.columns[j]]), j] = True
        levels = []
        at = int((self.column >= 0).sum())
        for choice in problem.choices:
            kept = np.ones(len(choice.options), dtype=bool)
            others = np.arange(len(choice.options)) != choice.own
            kept[others] = helps[at : at + others.sum()]
            at += int(others.sum())
            levels.append(kept)
        problem.narrow(sides[0], sides[1], levels)
        return Items(problem)

    def _ladders(self) -> tuple[Array, Array]:
        """Score every item alone, numbers in steps; set what each gains. Return the rows and their logits."""
        problem, base = self.problem, self.problem.base
        share = np.where(self.column[:, None] < 0, 1.0, _LADDER)  # (M, s)
        rows = base + share[:, :, None] * (self.ends - base)[:, None]
        flat = problem.tidy(rows.reshape(-1, len(base)))
        scores = problem.score(flat).reshape(share.shape)
        self.zero = float(problem.score(problem.follow(base[None]))[0])
        rise = scores - self.zero
        self.gain = rise.max(axis=1, initial=-np.inf)
        way = np.sqrt(effort.size(effort.changes(flat, base))).reshape(share.shape)
        self.slope = np.divide(rise, way, out=np.zeros_like(rise), where=way > 1e-9).max(axis=1, initial=0.0)
        return flat, problem.honest(flat, np.where(problem.legal(flat), scores.ravel(), -np.inf))


def rays(items: Items) -> tuple[Array, Array]:
    """Return rows (n, d) of few changes, most of them where the model begins to accept, and their logits (n,)."""
    problem = items.problem
    if len(items) == 0:
        base = problem.base[None]
        return base, problem.judge(base, all_scores=True)
    rows, logits = [items.rows], [items.logits]
    chosen, width = _supports(items)
    for size in range(2, width + 1):
        some = chosen[(chosen >= 0).sum(axis=1) == size][:, :size]
        found, scores = _sweep(items, some)
        rows.append(found)
        logits.append(scores)
    every, scores = np.concatenate(rows), np.concatenate(logits)
    return every, scores


def _supports(items: Items) -> tuple[Ints, int]:
    """Return the supports (n, width) of two and more items worth a sweep, −1 where there are fewer, and the width.

    Ranked by what the items promise alone: with the gap g to close, the effort is about ``g² / Σ slope²``.
    """
    problem = items.problem
    width = min(_ITEMS, problem.max_changes or _ITEMS, len(np.unique(items.feature)))
    gap = problem.goal - items.zero
    order = np.argsort(-items.slope, kind="stable")[:_MOST]
    parts = []
    for size in range(2, width + 1):
        sets = np.array(list(combinations(np.sort(order), size)), dtype=np.intp).reshape(-1, size)
        apart = np.ones(len(sets), dtype=bool)
        for a, b in combinations(range(size), 2):
            apart &= items.feature[sets[:, a]] != items.feature[sets[:, b]]
        sets = sets[apart]
        parts.append(np.pad(sets, ((0, 0), (0, width - size)), constant_values=-1))
    chosen = np.concatenate(parts) if parts else np.empty((0, max(width, 1)), dtype=np.intp)
    there = chosen >= 0
    hope = np.where(there, items.gain[chosen], 0.0).sum(axis=1) >= _HOPE * gap
    promise = np.where(there, items.slope[chosen] ** 2, 0.0).sum(axis=1)
    most = _SUPPORTS if problem.smooth else _BLACK_BOX
    best = np.lexsort((-promise, ~hope))[:most]
    return chosen[best], width


def _sweep(items: Items, sets: Ints) -> tuple[Array, Array]:
    """Return the rows where rays of supports (n, size) enter the accepted side, and their logits."""
    problem = items.problem
    rays_of, weights = _weights(items, sets)
    if len(rays_of) == 0:
        return np.empty((0, len(problem.base))), np.empty(0)
    rows = _at(items, rays_of, weights, np.repeat(_PLACES[None], len(rays_of), axis=0))
    scores = problem.judge(rows, all_scores=True)
    fine = scores >= problem.goal
    hit = np.flatnonzero(fine.any(axis=1))
    place = fine[hit].argmax(axis=1)
    high, low = _PLACES[place], np.where(place > 0, _PLACES[place - 1], 0.0)
    top = scores[hit, place]
    bottom = np.where(place > 0, scores[hit, np.maximum(place - 1, 0)], items.zero)
    kept, kept_scores = [rows[hit, place]], [top]
    for _ in range(2):  # the secant, twice, each time a little on the accepted side
        ok = np.isfinite(bottom) & (top > bottom)
        share = np.where(ok, (problem.goal - bottom) / np.where(ok, top - bottom, 1.0), 0.5)
        middle = low + np.clip(share * 1.05, 0.1, 0.95) * (high - low)
        between = _at(items, rays_of[hit], weights[hit], middle[:, None])[:, 0]
        scores_there = problem.judge(between, all_scores=True)
        fine_there = scores_there >= problem.goal
        high, top = np.where(fine_there, middle, high), np.where(fine_there, scores_there, top)
        low, bottom = np.where(fine_there, low, middle), np.where(fine_there, bottom, scores_there)
        kept.append(between)
        kept_scores.append(scores_there)
    missed = np.flatnonzero(~fine.any(axis=1))
    best = scores[missed].argmax(axis=1)
    kept.append(rows[missed, best])
    kept_scores.append(scores[missed, best])
    return np.concatenate(kept), np.concatenate(kept_scores)


def _weights(items: Items, sets: Ints) -> tuple[Ints, Array]:
    """Return one row a ray: its items (r, size), and their weights (r, size); a category's weight is 1."""
    number = items.column[sets] >= 0
    parts_sets, parts_weights = [], []
    for pattern in np.unique(number, axis=0) if len(sets) else []:
        some = sets[(number == pattern).all(axis=1)]
        where = np.flatnonzero(pattern)
        for weights in sorted({p for w in _WEIGHTS[len(where)] for p in permutations(w)}):
            full = np.ones(sets.shape[1])
            full[where] = weights
            parts_sets.append(some)
            parts_weights.append(np.repeat(full[None], len(some), axis=0))
    if not parts_sets:
        return sets[:0], np.empty(sets[:0].shape)
    return np.concatenate(parts_sets), np.concatenate(parts_weights)


def _at(items: Items, sets: Ints, weights: Array, places: Array) -> Array:
    """Return the rows (r, k, d) at places (r, k) of rays, on the grid."""
    problem, base = items.problem, items.problem.base
    rows = np.repeat(np.repeat(base[None, None], len(sets), axis=0), places.shape[1], axis=1)
    for s in range(sets.shape[1]):
        item = sets[:, s]
        share = np.where(items.column[item, None] < 0, 1.0, weights[:, [s]] * places)
        rows += share[:, :, None] * (items.ends[item] - base)[:, None]
    return problem.tidy(rows.reshape(-1, len(base))).reshape(rows.shape)


def _put(row: Array, columns: Ints | slice, block: Array | float) -> Array:
    row = row.copy()
    row[columns] = block
    return row

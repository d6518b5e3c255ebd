"""The subject's pool: accepted legal rows from data, category combinations and short scans of numbers.

Built once a subject, whatever the cost matrix, and then only read: the same question always gets the same answer.
"""

from __future__ import annotations

from itertools import combinations, product

import numpy as np

from reap._arrays import row_keys, unique_rows
from reap._typing import Array, Bools, Ints
from reap.effort import of_changes
from reap.recourse.targets.boundary.numbers import ascend
from reap.recourse.targets.problem import Problem

#: Spaces of up to so many rows are scored whole.
ENUMERATED = 16_000
#: Rows scored for the pool of a larger one, and rows kept.
SCORED, KEPT = 8_000, 3_000
#: Category combinations looked at.
COMBINATIONS = 512
#: Combinations in which numbers are tried at random.
_SCATTERED = 48


class Pool:
    """Accepted legal rows of one subject.

    Parameters
    ----------
    problem : Problem
    rows : (N, d), on the grids, legal, accepted
    logits : (N,)
    complete : bool
        Whether these are all there are.
    rejected : (k, d), optional
        The legal rows that come closest, where none is accepted.
    """

    def __init__(
        self,
        problem: Problem,
        rows: Array,
        logits: Array,
        complete: bool = False,
        rejected: Array | None = None,
    ) -> None:
        self.problem, self.rows, self.logits, self.complete = problem, rows, logits, complete
        self.rejected = rows[:0] if rejected is None else rejected
        self.cells = neighbourhoods(problem, rows)

    def starts(self, costs: Array, count: int, looked_at: int = 300) -> tuple[Ints, Ints]:
        """Return (matrix, row): the cheapest rows by efforts (b, N), each in another neighbourhood."""
        few = min(looked_at, costs.shape[1])
        chosen = []
        for cost in costs:
            near = np.argpartition(cost, few - 1)[:few] if few else np.empty(0, dtype=np.intp)
            near = near[np.argsort(cost[near], kind="stable")]
            chosen.append(near[np.sort(np.unique(self.cells[near], return_index=True)[1])[:count]])
        matrix = np.repeat(np.arange(len(costs)), [len(c) for c in chosen])
        return matrix, np.concatenate(chosen)

    def __len__(self) -> int:
        return len(self.rows)


class Best:
    """The cheapest accepted row known for each of b matrices; rows found for one are offered to all.

    Parameters
    ----------
    pool : Pool
    A : (b, d, d)
    """

    def __init__(self, pool: Pool, A: Array) -> None:
        self.problem, self.A = pool.problem, A
        self.costs = np.full(len(A), np.inf)
        self.rows = np.repeat(pool.problem.base[None], len(A), axis=0)
        self.scores = np.full(len(A), -np.inf)
        self.pool_costs = self.offer(pool.rows, pool.logits)

    @property
    def found(self) -> Bools:
        """Which matrices have a row at all, (b,)."""
        return np.asarray(np.isfinite(self.costs))

    def offer(self, rows: Array, scores: Array) -> Array:
        """Take the accepted ones of rows (N, d) that are cheaper than the known; return their efforts (b, accepted)."""
        fine = scores >= self.problem.goal
        if not fine.any():
            return np.empty((len(self.A), 0))
        rows, scores = rows[fine], scores[fine]
        costs = of_changes(self.A, self.problem.moves(rows))
        place = costs.argmin(axis=1)
        least = costs[np.arange(len(place)), place]
        better = least < self.costs * (1 - 1e-12)
        self.costs[better] = least[better]
        self.rows[better], self.scores[better] = rows[place[better]], scores[place[better]]
        return costs


def build(problem: Problem, data: Array, rng: np.random.Generator) -> Pool:
    """Return the pool of a subject, from accepted rows (n, d) of other people and from scans."""
    if problem.size <= ENUMERATED:
        rows = everything(problem)
        logits = problem.judge(rows)
        if not (logits >= problem.goal).any():  # the margin is a preference; here nothing else is left
            problem.goal = np.nextafter(problem.classifier.boundary, np.inf)
        fine = logits >= problem.goal
        return Pool(problem, rows[fine], logits[fine], complete=True)
    near = _near_rows(problem, data)
    bases = combination_rows(problem, near)
    first = SCORED * 2 // 3 - len(near) - len(bases)
    rows = np.concatenate([near, _scans(problem, bases, near, first, rng), bases])
    rows = rows[unique_rows(rows)]
    logits = problem.judge(rows)
    if problem.smooth and len(problem.numbers.columns):
        islands = _islands(problem, rows, logits)
        rows, logits = np.concatenate([rows, islands]), np.concatenate([logits, problem.judge(islands)])
    if (logits >= problem.goal).any():
        closer = _closer(problem, rows[logits >= problem.goal], SCORED - len(rows), rng)
        rows, logits = np.concatenate([rows, closer]), np.concatenate([logits, problem.judge(closer)])
        first_of = unique_rows(rows)
        rows, logits = rows[first_of], logits[first_of]
    kept = np.flatnonzero(logits >= problem.goal)
    if len(kept) > KEPT:
        kept = kept[_spread(problem, rows[kept])]
    closest = np.argsort(-logits, kind="stable")[:8]
    return Pool(problem, rows[kept], logits[kept], rejected=rows[closest[np.isfinite(logits[closest])]])


def _spread(problem: Problem, rows: Array) -> Ints:
    """Return which KEPT rows to keep: the nearest of every neighbourhood, then the second nearest, and so on."""
    cells = neighbourhoods(problem, rows)
    size = (problem.moves(rows) ** 2).sum(axis=1)
    order = np.lexsort((size, cells))
    starts = np.flatnonzero(np.r_[True, np.diff(cells[order]) > 0])
    rank = np.empty(len(rows), dtype=np.intp)
    rank[order] = np.arange(len(rows)) - np.repeat(starts, np.diff(np.r_[starts, len(rows)]))
    return np.sort(np.lexsort((size, rank))[:KEPT])


def neighbourhoods(problem: Problem, rows: Array) -> Ints:
    """Number the neighbourhoods rows (n, d) are in, (n,): the categories, and each number's quarter of the range."""
    coarse = rows - problem.z0
    columns = problem.numbers.columns
    coarse[:, columns] = np.rint(4 * coarse[:, columns])
    return np.unique(row_keys(coarse), return_inverse=True)[1].ravel()


def _islands(problem: Problem, rows: Array, logits: Array, count: int = 24) -> Array:
    """Return rows found by climbing in the nearest category combinations in which no row was accepted, (k, d).

    A combination's accepted numbers may be a small island that no scan meets.
    """
    legal = np.flatnonzero(np.isfinite(logits))
    legal = legal[np.argsort(-logits[legal], kind="stable")]
    columns = [c for choice in problem.choices for c in choice.columns]
    kinds = (
        np.unique(row_keys(rows[legal][:, columns]), return_inverse=True)[1].ravel() if columns else legal * 0
    )
    first, second = _firsts(kinds)
    peaks = legal[first]
    bare = logits[peaks] < problem.goal
    switched = (np.abs(rows[peaks][:, columns] - problem.base[columns]) > 1e-9).sum(axis=1)
    nearest = np.argsort(np.where(bare, switched, np.inf), kind="stable")[: min(count, int(bare.sum()))]
    chosen = np.concatenate([peaks[nearest], legal[second[nearest][second[nearest] >= 0]]])
    return problem.tidy(ascend(problem, rows[chosen], logits[chosen]))


def _firsts(kinds: Ints) -> tuple[Ints, Ints]:
    """Return where each kind (0, 1, …) occurs first and second, −1 for never."""
    order = np.argsort(kinds, kind="stable")
    starts = np.searchsorted(kinds[order], np.arange(kinds.max(initial=-1) + 1))
    following = np.minimum(starts + 1, max(len(order) - 1, 0))
    twice = kinds[order[following]] == np.arange(len(starts))
    return order[starts], np.where(twice & (following > starts), order[following], -1)


def _closer(problem: Problem, rows: Array, count: int, rng: np.random.Generator) -> Array:
    """Return rows (count, d) between the subject and accepted rows: some changes undone, numbers part of the way."""
    size = (problem.moves(rows) ** 2).sum(axis=1)
    nearest = np.argsort(size, kind="stable")[:400]
    out = rows[nearest[rng.integers(len(nearest), size=count)]]
    n, base = problem.numbers, problem.base
    share = rng.choice([1.0, 0.7, 0.4], size=(count, 1)) * (rng.random((count, len(n.columns))) < 0.6)
    out[:, n.columns] = base[n.columns] + share * (out[:, n.columns] - base[n.columns])
    for choice in problem.choices:
        back = rng.random(count) < 0.4
        out[np.ix_(back, choice.columns)] = base[choice.columns]
    out = problem.tidy(out)
    return out[unique_rows(out)]


def everything(problem: Problem) -> Array:
    """Return every row the grids hold, (n, d)."""
    n = problem.numbers
    axes = [n.values(j) for j in range(len(n.columns))]
    sizes = [len(values) for values in axes] + [len(c.options) for c in problem.choices]
    places = np.indices(sizes).reshape(len(sizes), -1) if sizes else np.zeros((0, 1), dtype=np.intp)
    rows = np.repeat(problem.base[None], places.shape[1], axis=0)
    for column, values, place in zip(n.columns, axes, places, strict=False):
        rows[:, column] = values[place]
    for choice, place in zip(problem.choices, places[len(axes) :], strict=True):
        rows[:, choice.columns] = choice.options[place]
    return problem.tidy(rows)


def _near_rows(problem: Problem, data: Array, count: int = 2_000) -> Array:
    """Return what the subject would become on the way to accepted rows: projected, nearest first."""
    if len(data) == 0:
        return problem.base[None]
    rows = problem.tidy(problem.space.project(data, problem.z0, exact=False))
    rows = rows[unique_rows(rows)]
    size = (problem.moves(rows) ** 2).sum(axis=1)
    rows = rows[np.argsort(size, kind="stable")[:count]]
    if problem.space.rules:
        broken = np.flatnonzero(~problem.legal(rows))[:50]  # the exact search takes a millisecond a row
        rows = np.concatenate([rows, problem.tidy(problem.space.project(rows[broken], problem.z0))])
    return rows


def combination_rows(problem: Problem, near: Array) -> Array:
    """Return one row for each category combination worth a look, the numbers as they are, (C, d).

    All of them where they are few; else up to two switches, and those of near accepted rows.
    """
    choices = problem.choices
    total = np.prod([float(len(c.options)) for c in choices])
    base = problem.base
    if total <= 128:
        rows = [base]
        for choice in choices:
            rows = [_put(row, choice.columns, option) for row, option in product(rows, choice.options)]
        table = np.array(rows)
    else:
        switches = [(c.columns, o) for c in choices for k, o in enumerate(c.options) if k != c.own]
        singles = [_put(base, *s) for s in switches]
        pairs = [_put(_put(base, *s), *t) for s, t in combinations(switches, 2) if s[0] is not t[0]]
        seen = near[:200].copy()
        seen[:, problem.numbers.columns] = base[problem.numbers.columns]
        table = np.concatenate([np.array([base, *singles]), seen, np.array(pairs).reshape(-1, len(base))])
    table = table[unique_rows(table)]
    if problem.max_changes is not None:
        table = table[problem.count(table) <= problem.max_changes]
    if len(table) > COMBINATIONS:
        scores = problem.score(table)
        scores[0] = np.inf  # nothing switched is always looked at
        table = table[np.sort(np.argsort(-scores, kind="stable")[:COMBINATIONS])]
    return problem.follow(table)


def _put(row: Array, columns: Ints, block: Array) -> Array:
    row = row.copy()
    row[columns] = block
    return row


def _scans(problem: Problem, bases: Array, near: Array, budget: int, rng: np.random.Generator) -> Array:
    """Return combinations × numbers: scans of one and of two, those of near rows, and points at random."""
    n = problem.numbers
    m = len(n.columns)
    if m == 0 or budget <= 0:
        return bases[:0]
    likely = np.argsort(-problem.score(bases), kind="stable")
    likely = np.concatenate([[0], likely[likely != 0]])
    patterns = [
        (0.2, _levels(problem, [(j,) for j in range(m)], 9)),
        (0.3, _levels(problem, list(combinations(range(m), 2)), 4)),
        (0.1, near[:60, n.columns]),
    ]
    parts = []
    for share, numbers in patterns:
        numbers = numbers[: int(budget * share)]
        count = min(len(bases), int(budget * share) // max(len(numbers), 1))
        rows = np.repeat(bases[likely[:count]], len(numbers), axis=0)
        rows[:, n.columns] = np.tile(numbers, (count, 1))
        parts.append(rows)
    rest = np.resize(likely[:_SCATTERED], budget - sum(len(rows) for rows in parts))
    scattered = bases[rest]
    scattered[:, n.columns] = _scatter(problem, len(rest), rng)
    return problem.tidy(np.concatenate([*parts, scattered]))


def _scatter(problem: Problem, count: int, rng: np.random.Generator) -> Array:
    """Return numbers (count, m) at random between the start and the ends; many stay, some go far."""
    n = problem.numbers
    begin = n.snap(n.start)
    m = len(begin)
    ends = np.where(rng.random((count, m)) < 0.5, n.lower, n.upper)
    share = rng.random((count, m)) ** 1.5 * (rng.random((count, m)) < max(0.5, min(1.0, 3 / m)))
    share *= rng.choice([1.0, 0.3], size=(count, 1))
    return n.snap(begin + share * (ends - begin))


def _levels(problem: Problem, which: list[tuple[int, ...]], count: int) -> Array:
    """Return rows of numbers (k, m) that scan the given numbers at ``count`` places between their ends."""
    n = problem.numbers
    begin = n.snap(n.start)
    if not which:
        return np.empty((0, len(begin)))
    ends = np.stack([np.minimum(n.lower, begin), np.maximum(n.upper, begin)])
    rows = []
    for columns in which:
        axes = [_places(begin[j], ends[0, j], ends[1, j], count) for j in columns]
        mesh = np.stack([g.ravel() for g in np.meshgrid(*axes, indexing="ij")], axis=1)
        block = np.repeat(begin[None], len(mesh), axis=0)
        block[:, columns] = mesh
        rows.append(block)
    table = n.snap(np.concatenate(rows))
    return table[unique_rows(table)]


def _places(start: float, low: float, high: float, count: int) -> Array:
    """Return places between the ends, denser near the start: effort grows with the square of the way."""
    both = low < start < high
    k = max(1, count // 2) if both else count
    share = (np.arange(1, k + 1) / k) ** 2
    ways = [end - start for end in (low, high) if end != start] or [0.0]
    return np.concatenate([start + share * way for way in ways])

"""Polish: from accepted places to near ones that ask for less effort, for many matrices at once.

*Exchange* tries steps of one change, and of two of which one makes up for the other, on the full ladders. *Descent*, for models
without thresholds, solves a quadratic program in the numbers that a row changes, along the slope of the score, and rounds.
*Climbing* looks for accepted places where few or none are known.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from reap import effort
from reap._typing import Array, Bools, Ints
from reap.effort import Efforts
from reap.recourse.ladders import Ladder, changed
from reap.recourse.problem import Problem

#: Pairs of steps that are scored for each row in a round, and of all steps the best, which must be legal as well.
_TWO, _BEST = 10, 4
#: Rows that climb together, at most so many of one support.
_CLIMBERS, _ALIKE = 24, 3
#: How many more changes are tried one by one, for how many steps each, and rungs of a ladder that are tried in a step.
_MORE, _STEPS, _PICKED = 3, 12, 16
#: Rounds of a descent, parts of each step that are tried, and rows of each matrix that are rounded.
_DESCENTS, _SHARES, _ROUNDED = 6, np.array([1.25, 1.05, 1.0, 0.8, 0.5, 0.2]), 4
#: Numbers of a row that are rounded both ways.
_CORNERS = 6
#: How far beyond the boundary a descent aims, in log-odds, and the step of its differences.
_AIM, _STEP = 2e-4, 1e-3


class LadderSteps:
    """Steps on ladders: from rung to rung of what trees tell apart, else from value to value.

    Parameters
    ----------
    problem : Problem
    """

    def __init__(self, problem: Problem) -> None:
        self.rungs = problem.edges is not None
        top = max(int(self._lengths(problem).max(initial=2)) // 2, 8)
        sizes = np.unique(
            np.rint(_GROWTH[self.rungs] ** np.arange(1 + np.log(top) / np.log(_GROWTH[self.rungs])))
        )
        #: Steps away from one's own, then back.
        self.sizes: Ints = np.concatenate([sizes, -sizes]).astype(np.intp)
        rungs = [f * _APART + ladder.rungs for f, ladder in enumerate(problem.ladders)]
        self._flat = np.concatenate(rungs) if rungs else np.empty(0, dtype=np.intp)
        sizes_of = np.array([len(one) for one in rungs], dtype=np.intp)
        self._end = np.cumsum(sizes_of)
        self._begin = self._end - sizes_of
        self._last = problem.length - 1

    def _lengths(self, problem: Problem) -> Ints:
        if not self.rungs:
            return problem.length
        return np.array([len(ladder.rungs) for ladder in problem.ladders], dtype=np.intp)

    def go(self, ladder: Ints, place: Ints, steps: Ints) -> Ints:
        """Return the places (…) so many steps up (…) from places on ladders (…), all broadcast, ends not passed."""
        if not self.rungs:
            return np.asarray(np.clip(place + steps, 0, self._last[ladder]))
        at = np.searchsorted(self._flat, ladder * _APART + place)
        to = np.clip(at + steps, self._begin[ladder], self._end[ladder] - 1)
        return np.asarray(self._flat[to] - ladder * _APART)


#: How much longer each step is than the one before, of values and of rungs.
_GROWTH = 3.0, 2.0
#: Ladders stand one after the other in one array, so far apart.
_APART = 1 << 40


def exchange(
    problem: Problem,
    steps: LadderSteps,
    people: Efforts,
    which: Ints,
    places: Ints,
    scores: Array,
    *,
    rounds: int = 8,
    wide: bool = False,
) -> Ints:
    """Return places (s, f) of less effort, from places (s, f) with log-odds (s,), each for its own person.

    From a place that is refused the way leads to an accepted one that asks for little more; where there is none it stays.
    ``wide``: ladders on which nothing has changed yet take part, so that a change may give way to another one.
    """
    places, scores, active = places.copy(), scores.copy(), np.arange(len(places))
    for _ in range(rounds):
        if len(active) == 0 or problem.late:
            break
        here, mine, now = places[active], people[which[active]], scores[active]
        near, action = _near(problem, steps, here, wide)
        n, t = near.shape[:2]
        flat = near.reshape(n * t, -1)
        guess = problem.logits(flat).reshape(n, t)
        # columns of different ladders add up, also curved; of what is beside them the counts do
        power = mine.powers[:, None]
        V0 = effort.curved(problem.changes(here), power)
        step = effort.curved(problem.changes(flat).reshape(n, t, -1), power[:, :, None]) - V0[:, None]
        SA = step @ mine.matrices
        one = np.einsum("ntd,ntd->nt", SA, step) + 2 * np.einsum("ntd,nd->nt", SA, V0)  # what each step adds
        one += _beside(problem, mine, flat, here)
        two = one[:, :, None] + one[:, None, :] + 2 * SA @ step.transpose(0, 2, 1)
        gain = guess - now[:, None]
        fits = (gain[:, :, None] + gain[:, None, :] >= (problem.goal - now)[:, None, None]) & (
            action[:, None] < action
        )
        if wide and problem.most is not None:
            count = problem.counts(here)
            more = problem.counts(flat).reshape(n, t) - count[:, None]
            fits &= more[:, :, None] + more[:, None, :] + count[:, None, None] <= problem.most
            one = np.where(more + count[:, None] <= problem.most, one, np.inf)
        refused = now < problem.goal
        pairs, added = _pairs(
            near, here, np.where(fits & ((two < -1e-12) | refused[:, None, None]), two, np.inf)
        )
        options, less = np.concatenate([near, pairs], axis=1), np.concatenate([one, added], axis=1)
        least = problem.efforts(mine, np.arange(n), here)
        room = np.where(refused, np.inf, -1e-12 * least - 1e-15)
        ask = (
            less < np.where(refused, np.inf, -1e-9 * least - 1e-15)[:, None]
        )  # only what asks for less is judged
        judged = np.full(less.shape, -np.inf)
        judged[:, :t] = guess
        new = ask.copy()
        new[:, :t] = False
        judged[new] = problem.logits(options[new])
        ask &= judged >= problem.goal
        rank = np.argsort(
            np.argsort(np.where(ask, less, np.inf), axis=1, kind="stable"), axis=1, kind="stable"
        )
        ask &= rank < _BEST  # what is legal takes longer to say than a score
        judged[~ask] = -np.inf
        judged[ask] = problem.legal(options[ask], judged[ask])
        fine = judged >= problem.goal
        drop = np.where(fine, less, np.inf)
        if (
            problem.space.legal.following or mine.per_wait.any()
        ) and fine.any():  # what follows does not add up
            row, _ = np.nonzero(fine)
            drop[fine] = problem.efforts(mine, row, options[fine]) - least[row]
        pick, each = drop.argmin(axis=1), np.arange(n)
        better = drop[each, pick] < room
        places[active[better]] = options[each, pick][better]
        scores[active[better]] = judged[each, pick][better]
        active = active[better]
    return places


def _beside(problem: Problem, people: Efforts, near: Ints, here: Ints) -> Array:
    """Return what places (n·t, f) ask of n people beside their size, more than places (n, f) do, (n, t)."""
    n, more = len(here), np.zeros((len(here), len(near) // max(len(here), 1)))
    told = zip(problem.beside(people, near), problem.beside(people, here), strict=True)
    for (new, old), weight, power in zip(told, (people.per_change, people.per_wait), (1, 2), strict=True):
        if new is not None and old is not None:
            more += weight[:, None] * (new.reshape(n, -1) ** power - old[:, None] ** power)
    return more


def _near(problem: Problem, steps: LadderSteps, here: Ints, wide: bool) -> tuple[Ints, Ints]:
    """Return places (n, t, f) one step from places (n, f), and which of a row's ladders each step is on (t,)."""
    ladder, really = changed(here, problem.own)
    if wide:
        ladder = np.argsort(here == problem.own, axis=1, kind="stable")
        really = np.ones(ladder.shape, dtype=bool)
    old, own = np.take_along_axis(here, ladder, axis=1)[:, :, None], problem.own[ladder][:, :, None]
    way = np.sign(old - own)
    new = steps.go(ladder[:, :, None], old, np.where(way == 0, 1, way) * steps.sizes)
    # never to the other side
    new = np.where(way > 0, np.maximum(new, own), np.where(way < 0, np.minimum(new, own), new))
    level = (old + 1 + np.arange(new.shape[2])) % problem.length[ladder][:, :, None]
    new = np.where(problem.ordered[ladder][:, :, None], new, level if wide else old)
    new = np.concatenate([new, own], axis=2)  # and left out
    new = np.where(really[:, :, None], new, old)
    n, w, t = new.shape
    near = np.repeat(here[:, None], w * t, axis=1).reshape(n, w, t, -1)
    np.put_along_axis(
        near, np.broadcast_to(ladder[:, :, None, None], (n, w, t, 1)), new[:, :, :, None], axis=3
    )
    return near.reshape(n, w * t, -1), np.repeat(np.arange(w), t)


def _pairs(near: Ints, here: Ints, two: Array) -> tuple[Ints, Array]:
    """Return places (n, p, f) two of the steps ``near`` (n, t, f) away, those that add least (n, t, t), and what they add."""
    n, t = near.shape[:2]
    two = two.reshape(n, -1)
    count = min(_TWO, two.shape[1])
    best = np.argpartition(two, count - 1, axis=1)[:, :count]
    added, each = np.take_along_axis(two, best, axis=1), np.arange(n)[:, None]
    i, j = np.divmod(best, t)
    pairs = near[each, i] + near[each, j] - here[:, None]
    return np.where(np.isfinite(added)[:, :, None], pairs, here[:, None]), added


def climb(problem: Problem, steps: LadderSteps, starts: Ints, *, rounds: int = 3) -> Ints:
    """Return accepted places (n, f), found by climbing from starts (s, f) for a few rounds; empty where there is none.

    In each round every row tries steps on every ladder, and the highest that are not accepted go on.
    """
    here, best, found = starts, problem.logits(starts), [starts[:0]]
    for _ in range(rounds if len(starts) else 0):
        near, scores, fine = _tried(
            problem, here[_highest(problem, here, best)], partial(_steps_of, problem, steps)
        )
        found.append(near[fine])
        if problem.late or not (~fine).any() or scores[~fine].max() <= best.max() + 1e-12:
            break
        here, best = near[~fine], scores[~fine]
    return np.concatenate(found)


def climb_on(problem: Problem, starts: Ints) -> Ints:
    """Return accepted places (n, f) of as few changes as are enough, found by climbing from starts (s, f); empty where none is.

    Rows try some rungs of every ladder, as far as they get; where that is not enough they may change one more feature, up to
    three more and then any number. ``problem.most`` rises to what was needed.
    """
    here, best = starts, problem.logits(starts) - problem.idle[problem.months(starts)]
    asked, allowed = problem.most, problem.space.legal.most_changes
    options = [_some_rungs(one) for one in problem.ladders]
    for more in range(_MORE + 2) if asked is not None else range(1):
        if asked is not None and more:
            problem.most = asked + more if more <= _MORE else allowed
            if allowed is not None and asked + more > allowed:
                problem.most = allowed
        for _ in range(_STEPS):
            near, scores, fine = _tried(
                problem, here[_highest(problem, here, best)], partial(_rungs_of, options)
            )
            if fine.any():
                return near[fine]
            scores = (
                scores - problem.idle[problem.months(near)]
            )  # time may help or hurt: what actions do counts
            if problem.late or len(scores) == 0 or scores.max() <= best.max() + 1e-12:
                break
            here, best = near, scores
        if problem.late or problem.most == allowed:
            break
    return starts[:0]


def _tried(problem: Problem, here: Ints, around: Callable[[Ints], Ints]) -> tuple[Ints, Array, Bools]:
    """Return places (n, f) around others, few changes each, their log-odds (n,), and which are accepted and legal (n,)."""
    near = around(here)
    near = near[problem.distinct(near)[0]]
    if problem.most is not None:
        near = near[problem.counts(near) <= problem.most]
    scores = problem.logits(near)
    fine = problem.legal(near, scores) >= problem.goal
    if problem.space.rules:  # a step that breaks a rule may be one of two that do not, and is the last choice
        scores = scores - ~problem.space.allows(problem.z0, problem.then(problem.rows(near)))
    return near, scores, fine


def _steps_of(problem: Problem, steps: LadderSteps, here: Ints) -> Ints:
    return _near(problem, steps, here, wide=True)[0].reshape(-1, here.shape[1])


def _rungs_of(options: list[Ints], here: Ints) -> Ints:
    ladder = np.concatenate([np.full(len(places), f) for f, places in enumerate(options)])
    near = np.repeat(here[:, None], len(ladder), axis=1)
    near[:, np.arange(len(ladder)), ladder] = np.concatenate(options)
    return near.reshape(-1, here.shape[1])


def _some_rungs(ladder: Ladder) -> Ints:
    """Return a few rungs of a ladder, evenly, both ends among them, and its own place."""
    picked = ladder.rungs[np.unique(np.linspace(0, len(ladder.rungs) - 1, _PICKED).astype(np.intp))]
    return picked if ladder.ordered else ladder.rungs


def _highest(problem: Problem, places: Ints, scores: Array) -> Ints:
    """Return the places (n, f) of the highest scores (n,), few of each support, by their indices."""
    some = lowest(problem.supports(places), -scores, _ALIKE)
    return some[np.argsort(-scores[some], kind="stable")[:_CLIMBERS]]


# descent ---------------------------------------------------------------------------------------------------


def descend(problem: Problem, people: Efforts, which: Ints, places: Ints) -> tuple[Ints, Ints]:
    """Return (person (s,), places (s, f)) near the least effort on the boundary, within the numbers that each row changes.

    A start need not be accepted. What is returned need not be either, where rounding or a rule stands in the way.
    """
    ladder, really = changed(places, problem.own)
    if problem.most is None:
        ladder = np.repeat(np.arange(len(problem.own))[None], len(places), axis=0)
        really = np.ones(ladder.shape, dtype=bool)
    free = really & problem.ordered[ladder]
    column = np.array([one.columns[0] for one in problem.ladders])[ladder]
    low, high = _ends(problem)
    low, high, start = low[ladder], high[ladder], problem.base[column]
    Z = problem.rows(places)
    up = np.take_along_axis(Z, column, axis=1) - start
    low, high = np.where(up > 0, start, low), np.where(up < 0, start, high)  # never to the other side
    bestZ, best = _walk(problem, people[which], Z, column, free, low, high)
    fine = np.flatnonzero(np.isfinite(best))
    keep = fine[lowest(which[fine], best[fine], _ROUNDED)]
    near = _places_around(problem, places[keep], ladder[keep], free[keep], bestZ[keep])
    scores = problem.judge(near.reshape(-1, near.shape[2])).reshape(near.shape[:2])
    efforts = np.where(scores >= problem.goal, problem.efforts(people, which[keep], near), np.inf)
    pick = efforts.argmin(axis=1) if len(keep) else np.zeros(0, dtype=np.intp)
    some = np.isfinite(efforts).any(axis=1)
    return which[keep][some], near[np.arange(len(keep)), pick][some]


def _ends(problem: Problem) -> tuple[Array, Array]:
    """Return the least and greatest encoded value of every ladder (f,), those of levels 0."""
    ends = [
        one.values(np.array([0, one.length - 1]))[:, 0] if one.ordered else np.zeros(2)
        for one in problem.ladders
    ]
    low, high = np.array(ends).T
    return low, high


def _walk(
    problem: Problem, people: Efforts, Z: Array, column: Ints, free: Bools, low: Array, high: Array
) -> tuple[Array, Array]:
    """Return the accepted rows (n, d) of least effort on the way, and their effort (n,), infinite where none was.

    Each step solves a quadratic program in curved changes ``φ_p(δ)``, in which effort is a square whatever p.
    """
    mats, power = people.matrices, people.powers[:, None]
    spot, each = np.searchsorted(problem.moving, column), np.arange(len(Z))
    H = mats[each[:, None, None], spot[:, :, None], spot[:, None, :]]
    score, start = problem.score(Z), np.where(np.isnan(problem.z0), problem.base, problem.z0)[column]
    best = Z.copy()

    def curve(values: Array) -> Array:
        return effort.curved(values - start, power)

    def effort_of(Z: Array) -> Array:
        return people.ask_each(
            problem.moves(Z)[..., problem.moving]
        )  # how many change, and for how long, stays

    least = np.where(score >= problem.goal, effort_of(Z), np.inf)
    for _ in range(_DESCENTS):
        if problem.late:
            break
        at = np.take_along_axis(Z, column, axis=1)
        u = curve(at)
        slope = _slope(problem, Z, column, free, score) / np.where(free, effort.bent(at - start, power), 1.0)
        pull = np.einsum("nde,ne->nd", mats, effort.curved(problem.moves(Z)[:, problem.moving], power))
        grad = np.take_along_axis(pull, spot, axis=1)  # half the gradient of effort
        v = _quadratic(H, u, grad, slope, problem.goal + _AIM - score, curve(low), curve(high), free)
        points = u[:, None] + _SHARES[:, None] * (v - u)[:, None]
        points = np.clip(
            start[:, None] + effort.straight(points, power[:, None]), low[:, None], high[:, None]
        )
        tried = np.repeat(Z[:, None], len(_SHARES), axis=1)
        points = np.where(free[:, None], points, at[:, None])
        np.put_along_axis(tried, np.broadcast_to(column[:, None], points.shape), points, axis=2)
        flat = problem.follow(tried.reshape(-1, Z.shape[1]))
        tried, scores = flat.reshape(tried.shape), problem.score(flat).reshape(tried.shape[:2])
        efforts = np.where(scores >= problem.goal, effort_of(tried), np.inf)
        any_ = np.isfinite(efforts).any(axis=1)
        pick = np.where(any_, efforts.argmin(axis=1), scores.argmax(axis=1))
        better = efforts[each, pick] < least
        best[better], least[better] = tried[each, pick][better], efforts[each, pick][better]
        go = better | (~np.isfinite(least) & (scores[each, pick] > score))
        Z[go], score[go] = tried[each, pick][go], scores[each, pick][go]
    return best, least


def _slope(problem: Problem, Z: Array, column: Ints, free: Bools, score: Array) -> Array:
    """Return the slope (n, w) of the score of rows (n, d) by some columns (n, w), by differences of scores."""
    moved = np.repeat(Z[:, None], column.shape[1], axis=1)
    for j in range(column.shape[1]):
        moved[np.arange(len(Z)), j, column[:, j]] += _STEP
    scores = problem.score(problem.follow(moved.reshape(-1, Z.shape[1]))).reshape(column.shape)
    return np.where(free, (scores - score[:, None]) / _STEP, 0.0)


def _quadratic(
    H: Array, u: Array, grad: Array, slope: Array, need: Array, low: Array, high: Array, free: Bools
) -> Array:
    """Return v (n, w) of least ``(v−u)ᵀH(v−u) + 2 grad·(v−u)`` with ``slope·(v−u) ≥ need`` in a box.

    Bounds that are passed are fixed, one round at a time.
    """
    free, step, eye = free.copy(), np.zeros_like(u), np.eye(u.shape[1])
    for _ in range(u.shape[1] + 1):
        both = free[:, :, None] & free[:, None, :]
        M = np.where(both, H, 0.0) + np.where(free, 1e-9, 1.0)[:, :, None] * eye
        rest = grad + np.einsum("nij,nj->ni", H, np.where(free, 0.0, step))
        along = np.where(free, slope, 0.0)
        x = np.linalg.solve(M, np.stack([np.where(free, -rest, 0.0), along], axis=2))
        plain, normal = x[:, :, 0], x[:, :, 1]
        lack = need - np.where(free, 0.0, step * slope).sum(axis=1) - (along * plain).sum(axis=1)
        scale = (along * normal).sum(axis=1)
        weight = np.where((lack > 0) & (scale > 1e-12), lack / np.maximum(scale, 1e-12), 0.0)
        new = np.where(free, plain + weight[:, None] * normal, step)
        bound = np.clip(u + new, low, high) - u
        out = free & (np.abs(bound - new) > 1e-12)
        step = np.where(free, bound, step)
        if not out.any():
            break
        free &= ~out
    return np.asarray(u + step)


def _places_around(problem: Problem, places: Ints, ladder: Ints, free: Bools, Z: Array) -> Ints:
    """Return places (n, k, f) around where rows (n, d) have their numbers: every choice of the place below or above."""
    width = min(ladder.shape[1], _CORNERS)
    corners = np.array(np.meshgrid(*[[0, 1]] * width)).reshape(width, -1).T
    near = np.repeat(places[:, None], len(corners), axis=1)
    for k in range(ladder.shape[1]):
        for f in np.unique(ladder[free[:, k], k]):
            some, one = np.flatnonzero((ladder[:, k] == f) & free[:, k]), problem.ladders[f]
            below = one.below(Z[some, one.columns[0]])
            offset = corners[:, k] if k < width else 0
            near[some, :, f] = (below[:, None] + offset).clip(0, one.length - 1)
    return near


def lowest(group: Ints, efforts: Array, count: int) -> Ints:
    """Return the indices of the ``count`` of least effort (n,) in every group (n,).

    Examples
    --------
    >>> lowest(np.array([0, 0, 1, 0]), np.array([3.0, 1.0, 2.0, 2.0]), 2).tolist()
    [1, 3, 2]
    """
    order = np.lexsort((efforts, group))
    begins = np.searchsorted(group[order], group[order])
    return np.asarray(order[np.arange(len(order)) - begins < count])

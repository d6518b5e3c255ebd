"""Polish: from accepted places to near ones that ask for less effort, for many matrices at once.

*Exchange* tries steps of one change, and of two of which one makes up for the other, on the full ladders. *Climbing* looks for
accepted places where few or none are known.
"""

from __future__ import annotations

import numpy as np

from reap import effort
from reap._typing import Array, Ints
from reap.effort import Efforts
from reap.recourse.ladders import changed
from reap.recourse.problem import Problem

#: Pairs of steps that are scored for each row in a round, and of all steps the best, which must be legal as well.
_TWO, _BEST = 10, 4
#: Rows that climb together, at most so many of one support.
_CLIMBERS, _ALIKE = 24, 3
#: Rounds of an exchange, and rows whose pairs of steps are looked at together.
_ROUNDS, _TOGETHER = 8, 8
#: How many more changes are tried one by one, for how many steps each.
_MORE, _STEPS = 3, 12


class LadderSteps:
    """Steps on ladders: from rung to rung of what trees tell apart, else from value to value.

    Parameters
    ----------
    problem : Problem
    count : int
        Lengths of steps, at most: from one to half of the longest ladder, each longer by the same factor.
    """

    def __init__(self, problem: Problem, count: int) -> None:
        self.rungs = problem.edges is not None
        top = max(int(self._lengths(problem).max(initial=2)) // 2, 8)
        sizes = np.unique(np.rint(np.geomspace(1, top, count)))
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
    wide: bool = False,
) -> Ints:
    """Return places (s, f) of less effort, from places (s, f) with log-odds (s,), each for its own person.

    From a place that is refused the way leads to an accepted one that asks for little more; where there is none it stays.
    ``wide``: ladders on which nothing has changed yet take part, so that a change may give way to another one.
    """
    places, scores, active = places.copy(), scores.copy(), np.arange(len(places))
    for _ in range(_ROUNDS):
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
        gain, need, refused = guess - now[:, None], problem.goal - now, now < problem.goal
        alone, least_two = one, np.where(refused, np.inf, -1e-12)
        more, room_left = np.zeros(one.shape, dtype=np.int16), np.zeros(n, dtype=np.int16)
        if wide and problem.most is not None:
            count = problem.counts(here)
            more = (problem.counts(flat).reshape(n, t) - count[:, None]).astype(np.int16)
            room_left = (problem.most - count).astype(np.int16)
            one = np.where(more <= room_left[:, None], one, np.inf)
        found = []
        for k in range(0, n, _TOGETHER):  # t² numbers a row: a few rows at a time stay in the cache
            part = slice(k, k + _TOGETHER)
            two = alone[part, :, None] + alone[part, None, :] + 2 * SA[part] @ step[part].transpose(0, 2, 1)
            fits = gain[part, :, None] + gain[part, None, :] >= need[part, None, None]
            fits &= (action[:, None] < action) & (two < least_two[part, None, None])
            fits &= more[part, :, None] + more[part, None, :] <= room_left[part, None, None]
            found.append(_pairs(near[part], here[part], np.where(fits, two, np.inf)))
        pairs, added = (np.concatenate(each) for each in zip(*found, strict=True))
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


def climb(problem: Problem, steps: LadderSteps, starts: Ints) -> Ints:
    """Return accepted places (n, f) of as few changes as are enough, found by climbing from starts (s, f); empty where none is.

    Every row tries steps on every ladder, and the highest that are not accepted go on. Where that is not enough, rows may change
    one more feature, up to three more and then any number; ``problem.most`` rises to what was needed.
    """
    here, best = starts, problem.logits(starts) - problem.idle[problem.months(starts)]
    asked, allowed = problem.most, problem.space.legal.most_changes
    for more in range(_MORE + 2) if asked is not None else range(1):
        if asked is not None and more:
            problem.most = asked + more if more <= _MORE else allowed
            if allowed is not None and asked + more > allowed:
                problem.most = allowed
        for _ in range(_STEPS):
            near = _near(problem, steps, here[_highest(problem, here, best)], wide=True)[0]
            near = near.reshape(-1, here.shape[1])
            near = near[problem.distinct(near)[0]]
            if problem.most is not None:
                near = near[problem.counts(near) <= problem.most]
            scores = problem.logits(near)
            fine = problem.legal(near, scores) >= problem.goal
            if fine.any():
                return near[fine]
            scores = (
                scores - problem.idle[problem.months(near)]
            )  # time may help or hurt: what actions do counts
            if (
                problem.space.rules
            ):  # a step that breaks a rule may be one of two that do not, and is the last choice
                scores = scores - ~problem.space.allows(problem.z0, problem.then(problem.rows(near)))
            if problem.late or len(scores) == 0 or scores.max() <= best.max() + 1e-12:
                break
            here, best = near, scores
        if problem.late or problem.most == allowed:
            break
    return starts[:0]


def accepted_around(problem: Problem, steps: LadderSteps, start: Ints, rounds: int) -> Ints:
    """Return all accepted places (n, f) met in some rounds of climbing from one place (f,), while the rest still rises."""
    here, best, found = start[None], problem.logits(start[None]), [start[None][:0]]
    for _ in range(rounds):
        near = _near(problem, steps, here[_highest(problem, here, best)], wide=True)[0].reshape(
            -1, len(start)
        )
        near = near[problem.distinct(near)[0]]
        scores = problem.logits(near)
        fine = problem.legal(near, scores) >= problem.goal
        found.append(near[fine])
        if problem.space.rules:  # a step that breaks a rule is the last choice
            scores = scores - ~problem.space.allows(problem.z0, problem.then(problem.rows(near)))
        if problem.late or fine.all() or scores[~fine].max() <= best.max() + 1e-12:
            break
        here, best = near[~fine], scores[~fine]
    return np.concatenate(found)


def _highest(problem: Problem, places: Ints, scores: Array) -> Ints:
    """Return the places (n, f) of the highest scores (n,), few of each support, by their indices."""
    some = lowest(problem.supports(places), -scores, _ALIKE)
    return some[np.argsort(-scores[some], kind="stable")[:_CLIMBERS]]


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

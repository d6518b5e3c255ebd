"""Nothing needless: no action can be left out, no number taken back a step, and the row still be accepted.

Under some matrices a needless change looks like a saving, because changes can help each other. Nobody should be told to
make it, so a row is reduced whatever its effort; of several ways to reduce it, the one that leaves least effort is taken.

Of two rows one may ask for less than the other whatever effort means to the person: reducing the loan alone asks for less than
reducing it and waiting a year, since everybody who can do the second can do the first.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from reap._typing import Array, Bools, Ints
from reap.effort import Efforts
from reap.recourse.ladders import changed
from reap.recourse.problem import Problem

#: Parts of the way back that are tried; 0 is one step.
HALVES = np.append(0.5 ** np.arange(30), 0.0)
ONE_STEP = np.array([1.0, 0.0])
#: Encoded changes smaller than this are rounding.
_RESOLUTION = 1e-9
#: Entries (rows × rows, or pairs of rows × columns) of one comparison; larger sets are compared in parts.
_ENTRIES = 4_000_000
#: Rounds in which something is taken back, at most.
_ROUNDS = 200


def reduced(
    problem: Problem,
    people: Efforts,
    which: Ints,
    places: Ints,
    accepts: Callable[[Ints], Bools] | None = None,
    *,
    parts: Array = HALVES,
) -> Ints:
    """Return irreducible places (s, f) made of accepted places (s, f), each for its own person.

    In each round one action is taken back as far as it goes, the one that leaves least effort. ``accepts`` says of places (n, f)
    which are accepted and legal, (n,); by default the problem does. ``parts`` of the way back are tried.
    """
    if accepts is None:

        def accepts(some: Ints) -> Bools:
            return problem.judge(some) >= problem.goal

    places, active = places.copy(), np.arange(len(places))
    for _ in range(_ROUNDS):
        if len(active) == 0 or problem.late:
            break
        less, real = _less(problem, places[active], parts)  # (n, w, t, f), from the farthest back to one step
        fine = np.zeros(real.shape, dtype=bool)
        fine[real] = accepts(less[real])
        far = fine.argmax(axis=2)
        ends = np.take_along_axis(less, far[:, :, None, None], axis=2)[:, :, 0]
        efforts = np.where(fine.any(axis=2), problem.efforts(people, which[active], ends), np.inf)
        best, each = efforts.argmin(axis=1), np.arange(len(active))
        some = np.isfinite(efforts[each, best])
        places[active[some]] = ends[each, best][some]
        active = active[some]
    return places


def _less(problem: Problem, here: Ints, parts: Array) -> tuple[Ints, Bools]:
    """Return places (n, w, t, f) that ask for less than places (n, f), and which of them really do, (n, w, t).

    For each of w actions: it left out, and taken back by parts of the way, descending, down to one step.
    """
    ladder, really = changed(here, problem.own)
    old, own = np.take_along_axis(here, ladder, axis=1)[:, :, None], problem.own[ladder][:, :, None]
    way = own - old
    parts = np.append(parts[parts * np.abs(way).max(initial=1) > 1], 0.0)
    back = old + np.sign(way) * np.maximum(np.floor(np.abs(way) * parts), 1).astype(np.intp)
    back = np.where(problem.ordered[ladder][:, :, None] & really[:, :, None], back, own)
    n, w, t = back.shape
    less = np.repeat(here[:, None], w * t, axis=1).reshape(n, w, t, -1)
    np.put_along_axis(
        less, np.broadcast_to(ladder[:, :, None, None], (n, w, t, 1)), back[:, :, :, None], axis=3
    )
    return less, (less != here[:, None, None]).any(axis=3) & really[:, :, None]


# which changes ask for less -----------------------------------------------------------------------------------


def asks_no_more(changes: Array, others: Array) -> Bools:
    """Return which changes (n, d) ask for no more than which others (m, d) in any column; (n, m).

    Every column moves no farther, and to the same side. A level of a category is a move of its columns, so either
    both take the same level or the first keeps its own. Two that ask for no more than each other end in the same row.

    Examples
    --------
    >>> amount, both, age = np.array([[-0.5, 0.0], [-0.5, 0.2], [0.0, 0.1]])
    >>> asks_no_more(np.array([amount, age]), np.array([both, amount])).tolist()
    [[True, True], [True, False]]
    """
    # most pairs move different columns, or to different sides: one product of zeros and ones tells, the rest is compared
    moved = ~(np.abs(changes) <= _RESOLUTION)
    out = np.asarray(_sides(changes, moved) @ _sides(others).T == moved.sum(axis=1)[:, None])
    size, limit = np.abs(changes), np.abs(others) + _RESOLUTION
    i, j = np.nonzero(out)
    part = max(1, _ENTRIES // max(1, changes.shape[1]))
    for begin in range(0, len(i), part):
        a, b = i[begin : begin + part], j[begin : begin + part]
        out[a, b] = (size[a] <= limit[b]).all(axis=1)
    return out


def _sides(changes: Array, moved: Bools | None = None) -> Array:
    """Return zeros and ones (n, 2 d): which columns rise, and which fall."""
    up, down = changes > 0, changes < 0
    if moved is not None:
        up, down = up & moved, down & moved
    return np.concatenate([up, down], axis=1).astype(np.float32)


def undominated(changes: Array) -> Bools:
    """Return which of a set of changes (n, d) are worth offering; (n,).

    One that asks for all that another asks for, and more, is not. Of equal ones the first is.

    Examples
    --------
    >>> undominated(np.array([[-0.5, 0.2], [-0.5, 0.0], [0.0, 0.3], [-0.5, 0.0]])).tolist()
    [False, True, True, False]
    """
    count = len(changes)
    changes = changes[:, (np.abs(changes) > _RESOLUTION).any(axis=0)]
    kept = np.ones(count, dtype=bool)
    part = max(1, _ENTRIES // max(1, count))
    earlier = np.arange(count)
    for begin in range(0, count, part):
        mine = changes[begin : begin + part]
        below = asks_no_more(changes, mine)
        above = below.T if len(mine) == count else asks_no_more(mine, changes).T
        first = earlier[:, None] < earlier[None, begin : begin + part]
        kept[begin : begin + part] = ~(below & (~above | first)).any(axis=0)
    return kept

"""The best pair, then the option that adds most, and so on: for strategies that value questions under a belief's people."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from reap._typing import Array, Ints
from reap.questions.strategy import Choice, Task

#: What questions (q, k) of m options, by their positions among these, are worth (q,); more is better and nothing is 0.
Worth: TypeAlias = Callable[[Ints], Array]

#: The largest number of options of which all pairs are compared.
SHORTLIST = 200
#: What a further option must add, as a share of the question's worth: it takes reading.
ADDS = 0.002
#: Pairs of which the worth is known roughly that are looked at closely, the best.
BEST = 64


def best_question(
    task: Task,
    places: Ints,
    worth: Worth,
    *,
    size: int,
    tolerance: float,
    share: Array | float = 1.0,
    rough: Worth | None = None,
) -> Choice | None:
    """Return the best pair, with options added, up to ``size``, as long as they add to its worth, which is its score.

    Plans stand beside plans, parts of plans beside parts. Of pairs, and of options that add, those within ``tolerance`` of
    the best count as equal: the one with the least to read is taken.

    Parameters
    ----------
    task : Task
    places : (m,)
        The options that may be asked about, by their positions among all.
    worth : callable
    size : int
    tolerance : float
    share : (m, m) or float
        What counts of a pair's worth.
    rough : callable, optional
        A quicker guess of the worth: where there are many pairs, the ``BEST`` by it are looked at closely.
    """
    labels, part = task.labels[places], places >= task.plans
    first, second = np.triu_indices(len(places), 1)
    reading = task.rows(places[first], places[second])
    fair = (part[first] == part[second]) & (labels[first] != labels[second]) & np.isfinite(reading)
    for low, high in (question for question in task.asked if len(question) == 2):
        fair &= ~np.isin(labels, (low, high))[first] | ~np.isin(labels, (low, high))[second]
    pairs, reading = np.column_stack([first, second])[fair], reading[fair]
    if not len(pairs):
        return None
    counts, examined = np.broadcast_to(share, (len(places),) * 2)[pairs[:, 0], pairs[:, 1]], len(pairs)
    if rough is not None and len(pairs) > BEST:
        close = np.argsort(-rough(pairs) * counts, kind="stable")[:BEST]
        pairs, reading, counts = pairs[close], reading[close], counts[close]
    gains = worth(pairs)
    at = pick(gains * counts, reading, tolerance, task.rng)
    if not np.isfinite(gains[at]):
        return None
    chosen, best = pairs[at].tolist(), float(gains[at])
    while len(chosen) < size:
        apart = task.rows(places[chosen][:, None], places)
        may = (part == part[chosen[0]]) & ~np.isin(labels, labels[chosen]) & np.isfinite(apart).all(axis=0)
        known = set(labels[chosen].tolist())
        others = [i for i in np.flatnonzero(may).tolist() if known | {int(labels[i])} not in task.asked]
        if not others:
            break
        more = np.array([[*chosen, i] for i in others])
        gains = worth(more) - best
        examined += len(more)
        at = pick(gains, apart[:, others].sum(axis=0), tolerance, task.rng)
        if gains[at] <= max(ADDS * best, 1e-12):
            break
        chosen, best = more[at].tolist(), best + float(gains[at])
    return Choice(tuple(sorted(places[chosen].tolist())), best, examined)


def promising(efforts: Array, weights: Array, kept: Ints, most: int) -> Ints:
    """Return which options to keep, at most so many, best first.

    First those that are the easiest of all for most people, then those of least expected effort: nothing else is likely to be
    recommended.

    Parameters
    ----------
    efforts : (n, N)
        Of all options, for each of n people.
    weights : (n,)
    kept : (k,)
        The options to choose from.
    """
    own = efforts[:, kept]
    wins = np.bincount(own.argmin(axis=1), weights=weights, minlength=len(kept))
    return kept[np.lexsort((weights @ own, -wins))[:most]]


def pick(gains: Array, reading: Array, tolerance: float, rng: np.random.Generator) -> int:
    """Return the position of the largest gain, or of the least to read among near-equal gains; ties at random."""
    best = gains.max()
    if not np.isfinite(best):
        return 0
    if not reading.any():
        tolerance = 0.0
    near = np.flatnonzero(gains >= best - tolerance * abs(best) - 1e-12)
    order = np.lexsort((rng.random(len(near)), -gains[near].round(12), reading[near]))
    return int(near[order[0]])

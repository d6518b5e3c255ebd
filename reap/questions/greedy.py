"""From pairs to k options, for strategies that value a question under samples of the effort matrix."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np

from reap._typing import Array, Ints
from reap.questions.options import Options
from reap.questions.strategy import Asked, Sampled, check_burden

#: The largest number of options of which all pairs are compared.
SHORTLIST = 200


class Value(Protocol):
    """What questions among n options are worth; more is better and nothing is 0."""

    def pairs(self) -> Array:
        """Value of every pair i < j: (n, n), only the upper triangle is read."""

    def extended(self, chosen: list[int]) -> Array:
        """Value (n,) of the question `chosen` with each option added."""


class Found(NamedTuple):
    """Indices of the options of a question, its value, and the number of questions compared."""

    options: tuple[int, ...]
    value: float
    examined: int


def shortlist(
    options: Options, belief: Sampled, weights: Array, rng: np.random.Generator
) -> tuple[Ints, Array]:
    """Distinct options worth asking about, as indices (n,), and their efforts (particles, n).

    Among many, those that are the easiest of all for most samples come first, then those of least expected
    effort: nothing else is likely to be recommended.
    """
    kept = options.distinct(rng)
    efforts = np.asarray(belief.efforts(options.moves), dtype=float)[:, kept]
    if len(kept) > SHORTLIST:
        wins = np.bincount(efforts.argmin(axis=1), weights=weights, minlength=len(kept))
        best = np.lexsort((weights @ efforts, -wins))[:SHORTLIST]
        kept, efforts = kept[best], efforts[:, best]
    return kept, efforts


def grow(
    value: Value,
    options: Options,
    kept: Ints,
    size: int,
    asked: Asked,
    burden: Array | None,
    tolerance: float,
    rng: np.random.Generator,
) -> Found | None:
    """Take the best pair, then add the best option, up to `size`, as long as it adds to the value.

    Parameters
    ----------
    kept : (n,) indices of the options `value` is about.
    burden : (N, N), optional. Of the choices that add at least 1 − tolerance of what the best adds, the one
        of least burden is taken; an infinite one keeps two options apart.
    """
    labels, n = options.labels[kept], len(kept)
    burden = check_burden(burden, len(options))
    if burden is not None:
        burden = burden[np.ix_(kept, kept)]
    if n < 2:
        return None
    first, second = np.triu_indices(n, 1)
    position = {int(label): i for i, label in enumerate(labels)}
    worth = value.pairs()
    for question in asked:
        places = sorted(position[label] for label in question if label in position)
        if len(question) == len(places) == 2:
            worth[places[0], places[1]] = -np.inf
    if burden is not None:
        worth[np.isinf(burden)] = -np.inf
    gains = worth[first, second]
    best_at = pick(gains, None if burden is None else burden[first, second], tolerance, rng)
    if not np.isfinite(gains[best_at]):
        return None
    chosen, best, examined = [int(first[best_at]), int(second[best_at])], float(gains[best_at]), len(gains)

    while len(chosen) < min(size, n):
        gains = value.extended(chosen) - best
        examined += n - len(chosen)
        gains[chosen] = -np.inf
        names = {int(labels[i]) for i in chosen}
        for question in asked:
            if len(question) == len(chosen) + 1 and names < question:
                gains[[position[label] for label in question - names if label in position]] = -np.inf
        more = None if burden is None else burden[chosen].sum(axis=0)
        if more is not None:
            gains[np.isinf(more)] = -np.inf
        best_at = pick(gains, more, tolerance, rng)
        if gains[best_at] <= 1e-9 * max(best, 1e-3):
            break
        chosen.append(best_at)
        best += float(gains[best_at])
    return Found(tuple(sorted(kept[chosen].tolist())), best, examined)


def pick(gains: Array, burden: Array | None, tolerance: float, rng: np.random.Generator) -> int:
    """Position of the largest gain, or of the least burden among near-equal gains; ties at random."""
    best = gains.max()
    if not np.isfinite(best):
        return 0
    if burden is None:
        burden, tolerance = np.zeros(len(gains)), 0.0
    near = np.flatnonzero(gains >= best - tolerance * abs(best) - 1e-12)
    order = np.lexsort((rng.random(len(near)), -gains[near].round(12), burden[near]))
    return int(near[order[0]])

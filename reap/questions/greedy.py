"""The best pair, then the option that adds most, and so on: for strategies that value questions under samples of the belief."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from reap._typing import Array, Bools, Ints
from reap.questions.options import Asked
from reap.questions.strategy import Burden

#: The largest number of options of which all pairs are compared.
SHORTLIST = 200
#: What a further option must add, as a share of the question's value: it takes reading.
ADDS = 0.002


class Value(Protocol):
    """What questions among n options are worth; more is better and nothing is 0."""

    def pairs(self, first: Ints, second: Ints, share: Array) -> Array:
        """Value (q,) of comparing options i and j, for each of q pairs; −inf where it is not among the best.

        ``share`` (q,) is what counts of each pair's value.
        """

    def more(self, chosen: list[int], others: Ints) -> Array:
        """Value (m,) of the question `chosen` with one more option, for each of m."""


class Picked(NamedTuple):
    """Positions of the options of a question, its value, and the number of questions compared."""

    options: tuple[int, ...]
    value: float
    examined: int


@dataclass(frozen=True, eq=False)
class Askable:
    """What could stand in a question: m options, and which of them may meet.

    Parameters
    ----------
    places : (m,)
        Where they stand among all options.
    labels : (m,)
        Equal options share one.
    asked : set of sets of labels
    burden : Burden
        Of all options.
    parts : (m,)
        Which of them are parts of plans: they stand beside parts, plans beside plans.
    """

    places: Ints
    labels: Ints
    asked: Asked
    burden: Burden
    parts: Bools

    def pairs(self) -> tuple[Ints, Ints]:
        """Return the pairs that may be asked about, (q,) and (q,)."""
        first, second = np.triu_indices(len(self.places), 1)
        fair = (self.parts[first] == self.parts[second]) & (self.labels[first] != self.labels[second])
        fair &= np.isfinite(self.rows(first, second))
        first, second = first[fair], second[fair]
        a, b = self.labels[first], self.labels[second]
        new = np.ones(len(first), dtype=bool)
        for question in self.asked:
            if len(question) == 2:
                low, high = question
                new &= ~(((a == low) & (b == high)) | ((a == high) & (b == low)))
        return first[new], second[new]

    def beside(self, chosen: list[int]) -> Ints:
        """Return the options (m,) that may stand beside those chosen, in a question that was not asked."""
        labels = self.labels[chosen]
        left = np.flatnonzero((self.parts == self.parts[chosen[0]]) & ~np.isin(self.labels, labels))
        left = left[self.burden.beside(self.places[chosen].tolist(), self.places[left])]
        names = set(labels.tolist())
        return np.array([i for i in left if names | {int(self.labels[i])} not in self.asked], dtype=np.intp)

    def rows(self, first: Ints, second: Ints) -> Array:
        """Return the burden (q,) of pairs."""
        return self.burden.between(self.places[first], self.places[second])

    def best(
        self, value: Value, size: int, tolerance: float, rng: np.random.Generator, share: Array | None = None
    ) -> Picked | None:
        """Return the best pair, with options added, up to ``size``, as long as they add to its value.

        Of pairs, and of options that add, those within ``tolerance`` of the best count as equal: the one with the least to
        read is taken. ``share`` (m, m): what counts of a pair's value.
        """
        first, second = self.pairs()
        if not len(first):
            return None
        counts = np.ones(len(first)) if share is None else share[first, second]
        gains = value.pairs(first, second, counts)
        at = pick(gains * counts, self.rows(first, second), tolerance, rng)
        if not np.isfinite(gains[at]):
            return None
        chosen, best, examined = [int(first[at]), int(second[at])], float(gains[at]), len(first)
        while len(chosen) < size and len(others := self.beside(chosen)):
            gains = value.more(chosen, others) - best
            examined += len(others)
            reading = self.rows(np.array(chosen)[:, None], others).sum(axis=0)
            at = pick(gains, reading, tolerance, rng)
            if gains[at] <= max(ADDS * best, 1e-12):
                break
            chosen.append(int(others[at]))
            best += float(gains[at])
        return Picked(tuple(sorted(self.places[chosen].tolist())), best, examined)


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


def pick(gains: Array, burden: Array, tolerance: float, rng: np.random.Generator) -> int:
    """Position of the largest gain, or of the least burden among near-equal gains; ties at random."""
    best = gains.max()
    if not np.isfinite(best):
        return 0
    if not burden.any():
        tolerance = 0.0
    near = np.flatnonzero(gains >= best - tolerance * abs(best) - 1e-12)
    order = np.lexsort((rng.random(len(near)), -gains[near].round(12), burden[near]))
    return int(near[order[0]])


def drawn(weights: Array, count: int) -> Ints:
    """Return people (count,) who stand for all of them: drawn evenly by their weights (n,), so that each counts the same.

    Examples
    --------
    >>> drawn(np.array([0.5, 0.25, 0.25]), 4).tolist()
    [0, 0, 1, 2]
    """
    at = np.searchsorted(np.cumsum(weights), (np.arange(count) + 0.5) / count * weights.sum())
    return np.asarray(np.minimum(at, len(weights) - 1))

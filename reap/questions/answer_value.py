"""The value of an answer, the default: ask what changes the recommendation, be it about plans or about parts of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from reap._typing import Array, Bools, Ints
from reap.belief.answers import People, choice_probabilities
from reap.questions.greedy import Found, pick
from reap.questions.losing import Losing
from reap.questions.options import Options
from reap.questions.saving import Known, Saving, least
from reap.questions.shown import Shown
from reap.questions.strategy import Asked, Moves

#: The largest number of plans that are asked about, and of parts of plans.
PLANS, PARTS = 40, 80
#: Samples on which all pairs are looked at, and how many of the best pairs are then looked at on every sample.
FEW, BEST = 200, 64
#: Steps of the table of answers: the chance of "the first" for a relative difference of effort from −1 to 1.
_STEPS = 4000
#: What a question about parts counts beside one about plans: people see at once what plans lead to.
PART = 0.9
#: What is left of a question's worth for every row beyond two in which its options differ: people attend to about two.
ROW = 0.7


@dataclass(frozen=True)
class AnswerValue(Saving):
    """The question whose answer is worth most: it leads to the least expected effort of the plan recommended after it.

    With efforts ``c_i`` of the plans and answers ``a`` as likely as the belief says, each meant as it is given, the worth is
    ``1 − Σ_a P(a) min_i E[c_i | a] / min_i E[c_i]``, the share of the effort that the answer is expected to save
    (`Choice.gain`), i over what may be recommended then: not what lost (`losing`). `Choice.score` is the expectation
    itself. What is asked about need not be a plan: *parts* of plans,
    compared with everything else equal, tell as much and are easier to read; they are asked about where that is worth a
    ninth more. With a `burden`, every row beyond two takes 30 % off the worth: people attend to about two. Pairs are
    compared, more options are added greedily as long as they add to the worth. Plans stand beside plans, parts beside
    parts. What can be set: see `Saving`.

    Examples
    --------
    >>> from reap.belief import Posterior
    >>> plans = np.array([[1.0, 0.0, 1.0], [0.0, 1.0, 1.0], [3.0, 0.0, 1.0]])  # the third is harder than the first
    >>> choice = AnswerValue().choose(plans, Posterior(3))
    >>> choice.options, choice.gain > 0.1
    ((0, 1), True)
    >>> AnswerValue().choose(plans, Posterior(3), asked=[(0, 1)], parts=np.eye(3)[:2]).options
    (3, 4)
    """

    def _best(
        self,
        known: Known,
        asked: Iterable[Sequence[int]],
        burden: Array | None,
        parts: Moves,
        rng: np.random.Generator,
    ) -> Found | None:
        efforts, weights, count = known.efforts, known.weights, len(known.plans)
        every = Options([*known.plans.moves, *parts]) if len(parts) else known.plans
        # An answer is taken at its word, as it will be when plans are recommended. Slips are for the belief to forgive, and
        # for later questions to mend: counted as a risk, they made sessions end before anything was known.
        who = known.people._replace(slip=np.zeros_like(known.people.slip))
        wins = np.bincount(efforts.argmin(axis=1), weights=weights, minlength=len(known.kept))
        first = np.lexsort((weights @ efforts, -wins))[:PLANS]
        places, costs = known.kept[first], efforts[:, first]
        if len(parts):
            own = np.asarray(known.samples.efforts(parts[:PARTS]), dtype=float)
            places = np.concatenate([places, count + np.arange(own.shape[1])])
            costs = np.hstack([costs, own])
        plans = np.append(first, np.full(len(places) - len(first), -1))
        table = _Table(places, every.labels[places], costs, plans, every.asked(asked), burden, known.shown)
        return self._grown(table, Worth(efforts * weights[:, None], who, known.losing), rng)

    def _grown(self, table: _Table, worth: Worth, rng: np.random.Generator) -> Found | None:
        """Return the best pair, with the options that add to its worth."""
        first, second = table.pairs()
        if not len(first):
            return None
        looked = np.arange(len(first))
        if len(first) > BEST:
            every = np.linspace(0, len(worth) - 1, min(FEW, len(worth))).astype(np.intp)
            rough = worth.some(every).of_pairs(table.costs[every], first, second, table.plans)
            rough *= table.reading(first, second)
            looked = np.argsort(-rough, kind="stable")[:BEST]
        first, second, examined = first[looked], second[looked], len(first)
        gains = worth.of_pairs(table.costs, first, second, table.plans)
        counted = gains * table.reading(first, second)
        best = pick(counted, table.rows(first, second), self.tolerance, rng)
        chosen, gain = [int(first[best]), int(second[best])], float(gains[best])
        while len(chosen) < self.options:
            more = table.beside(chosen)
            if not len(more):
                break
            gains = worth.of_more(table.costs, table.plans, chosen, more) - gain
            examined += len(more)
            best = pick(gains, table.added(chosen, more), self.tolerance, rng)
            if gains[best] <= 1e-9 * max(gain, 1e-3):
                break
            chosen.append(int(more[best]))
            gain += float(gains[best])
        options = tuple(sorted(int(table.places[i]) for i in chosen))
        return Found(options, gain, examined)


class Worth:
    """What answers are worth: the share of the expected effort that they save.

    Parameters
    ----------
    weighted : (samples, n)
        Effort of each plan that could be recommended, times the sample's weight.
    who : People
        How people answer.
    losing : Losing, optional
        Which of the n plans are beaten, and would be: an answer about plans takes the loser away, and gives back what
        the loser has beaten.
    """

    def __init__(self, weighted: Array, who: People, losing: Losing | None = None) -> None:
        self._weighted, self._who, self._losing = weighted, who, losing
        self._total: Array = weighted.sum(axis=0)
        self.single = least(self._total, losing)
        self._table: Array = _chances(tuple(who.sharpness), tuple(who.slip)) @ who.share

    def __len__(self) -> int:
        return len(self._weighted)

    def some(self, samples: Ints) -> Worth:
        """Return the same on some of the samples."""
        return Worth(self._weighted[samples], self._who, self._losing)

    def of_pairs(self, costs: Array, first: Ints, second: Ints, plans: Ints) -> Array:
        """Return the worth (q,) of comparing options i and j, efforts (samples, m), for each of q pairs.

        ``plans`` (m,) says which plan an option is, −1 for a part of one.
        """
        a, b = costs[:, first], costs[:, second]
        ratio = (b - a) / np.maximum(a + b, 1e-300)
        chance = self._table[np.rint((ratio + 1) * (_STEPS / 2)).astype(np.intp)]  # (samples, q)
        taken = chance.T @ self._weighted  # (q, n)
        if self._losing is None:
            best = taken.min(axis=1) + (self._total - taken).min(axis=1)
        else:
            gone = self._losing.after_one
            best = _open(taken, gone[plans[second]]) + _open(self._total - taken, gone[plans[first]])
        return np.asarray(1 - best / self.single)

    def of_more(self, costs: Array, plans: Ints, chosen: Sequence[int], more: Ints) -> Array:
        """Return the worth (m,) of comparing the options chosen and one more, for each of m."""
        gains = np.empty(len(more))
        for at, option in enumerate(more):
            shown = [*chosen, int(option)]
            chance = choice_probabilities(costs[:, shown], self._who) @ self._who.share
            taken = chance.T @ self._weighted  # (k, n)
            if self._losing is None:
                best = taken.min(axis=1)
            else:
                each = plans[shown]
                losers = [np.delete(each, k) if (each >= 0).all() else each[:0] for k in range(len(each))]
                best = _open(taken, np.stack([self._losing.after(some) for some in losers]))
            gains[at] = 1 - best.sum() / self.single
        return gains


@lru_cache(maxsize=8)
def _chances(sharpness: tuple[float, ...], slip: tuple[float, ...]) -> Array:
    """Return the chance (steps, t) that each of t kinds of people takes the first, by the relative difference of efforts."""
    ratios = np.linspace(-1.0, 1.0, _STEPS + 1)
    who = People(np.array(sharpness), np.array(slip), np.ones(len(slip)))
    return choice_probabilities(np.stack([1 - ratios, 1 + ratios], axis=-1) / 2, who)[:, 0]


def _open(efforts: Array, gone: Bools) -> Array:
    """Return the least (q,) of efforts (q, n) of plans that are not gone (q, n); of all where all are."""
    least = np.where(gone, np.inf, efforts).min(axis=1)
    return np.asarray(np.where(np.isfinite(least), least, efforts.min(axis=1)))


@dataclass(frozen=True, eq=False)
class _Table:
    """What could stand in a question: places among all options, labels, efforts (samples, m), plans, and who may meet whom.

    ``plans`` (m,) are positions among the plans that were kept, −1 for parts.
    """

    places: Ints
    labels: Ints
    costs: Array
    plans: Ints
    asked: Asked
    burden: Array | None
    shown: Shown | None = None

    @property
    def whole(self) -> Bools:
        """Which options are plans, (m,)."""
        return np.asarray(self.plans >= 0)

    def pairs(self) -> tuple[Ints, Ints]:
        """Return the pairs that may be asked about, (q,) and (q,)."""
        first, second = np.triu_indices(len(self.places), 1)
        fair = self._meet(first, second)
        first, second = first[fair], second[fair]
        new = np.ones(len(first), dtype=bool)
        place = {int(label): i for i, label in enumerate(self.labels)}
        for question in self.asked:
            if len(question) == 2 and all(label in place for label in question):
                here = sorted(place[label] for label in question)
                new &= ~((first == here[0]) & (second == here[1]))
        return first[new], second[new]

    def beside(self, chosen: Sequence[int]) -> Ints:
        """Return the options (m,) that may stand beside those chosen, in a question that was not asked."""
        left = np.setdiff1d(np.arange(len(self.places)), chosen)
        for i in chosen:
            left = left[self._meet(np.full(len(left), i), left)]
        if self.shown is not None and len(left):
            left = left[self.shown.fits(self.places[list(chosen)].tolist(), self.places[left])]
        names = {int(self.labels[i]) for i in chosen}
        said = [i for i in left if names | {int(self.labels[i])} in self.asked]
        return np.setdiff1d(left, said)

    def rows(self, first: Ints, second: Ints) -> Array | None:
        """Return the burden (q,) of pairs."""
        return None if self.burden is None else self.burden[self.places[first], self.places[second]]

    def reading(self, first: Ints, second: Ints) -> Array:
        """Return what counts of the worth (q,) of pairs, by how easily they are read."""
        share = np.where(self.whole[first], 1.0, PART)
        rows = self.rows(first, second)
        return share if rows is None else share * ROW ** np.maximum(rows - 2, 0)

    def added(self, chosen: Sequence[int], more: Ints) -> Array | None:
        """Return the burden (m,) that each option adds to those chosen."""
        if self.burden is None:
            return None
        return np.asarray(self.burden[np.ix_(self.places[list(chosen)], self.places[more])].sum(axis=0))

    def _meet(self, first: Ints, second: Ints) -> Bools:
        fair = (self.whole[first] == self.whole[second]) & (self.labels[first] != self.labels[second])
        rows = self.rows(first, second)
        return np.asarray(fair if rows is None else fair & np.isfinite(rows))

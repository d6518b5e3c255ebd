"""The value of an answer, the default: ask what changes the recommendation, be it about plans or about parts of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from reap._typing import Array, Bools, Ints, Seed
from reap.belief.answers import People, choice_probabilities, people
from reap.questions.greedy import pick, shortlist
from reap.questions.options import Options
from reap.questions.strategy import (
    Asked,
    Choice,
    Moves,
    check_burden,
    check_number,
    check_options,
    samples_of,
)

if TYPE_CHECKING:
    from reap.belief import Belief

#: The largest number of plans that are asked about, and of parts of plans.
PLANS, PARTS = 40, 80
#: Samples on which all pairs are looked at, and how many of the best pairs are then looked at on every sample.
FEW, BEST = 200, 64
#: Steps of the table of answers: the chance of "the first" for a relative difference of effort from −1 to 1.
_STEPS = 4000
#: What a question about parts counts beside one about plans: people see at once what plans lead to.
PART = 0.9


@dataclass(frozen=True)
class AnswerValue:
    """The question whose answer is worth most: it leads to the least expected effort of the plan recommended after it.

    With efforts ``c_i`` of the plans and answers ``a`` as likely as the belief says, each meant as it is given, the worth is
    ``1 − Σ_a P(a) min_i E[c_i | a] / min_i E[c_i]``, the share of the effort that the answer is expected to save
    (`Choice.gain`); `Choice.score` is the expectation itself. What is asked about need not be a plan: *parts* of plans,
    compared with everything else equal, tell as much and are easier to read; they are asked about where that is worth a
    ninth more. Pairs are compared, more options are added
    greedily as long as they add to the worth. Plans stand beside plans, parts beside parts.

    Parameters
    ----------
    options : int
        Options to a question, at most.
    min_gain : float
        Nothing is asked that saves a smaller share of the effort.
    tolerance : float
        With a `burden`, questions whose gain is within this share of the best count as equal, and the one
        whose options differ in fewest features is asked.

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

    options: int = 2
    min_gain: float = 0.005
    tolerance: float = 0.02

    def __post_init__(self) -> None:
        check_options(self.options)
        check_number("min_gain", self.min_gain, 0.0)
        check_number("tolerance", self.tolerance, 0.0)

    def choose(
        self,
        moves: Moves,
        belief: Belief | Array,
        asked: Iterable[Sequence[int]] = (),
        burden: Array | None = None,
        *,
        random_state: Seed = 0,
        parts: Moves = (),
    ) -> Choice | None:
        """Return the question worth most, or None where none is worth `min_gain`; see `Strategy.choose`.

        Parameters
        ----------
        parts : array (M, d) or list of M arrays (s, d)
            What is asked about and never recommended. Its options count on after the moves, in `asked`, in `burden`
            (N + M, N + M) and in `Choice.options`.
        """
        samples = samples_of(belief, "AnswerValue")
        plans, count = Options(moves), len(moves)
        if count < 2:
            return None
        every = Options(list(chain(moves, parts))) if len(parts) else plans
        shown, burden = every.asked(asked), check_burden(burden, len(every))
        rng = np.random.default_rng(random_state)
        weights = samples.weights / samples.weights.sum()
        kept, efforts = shortlist(plans, samples, weights, rng)
        who: People = getattr(belief, "people", None) or people()
        # An answer is taken at its word: a plan that lost is not recommended. Slips are for the belief to forgive.
        who = who._replace(slip=np.zeros_like(who.slip))
        worth = Worth(efforts * weights[:, None], who)
        if worth.single <= 0.0:
            return None  # a plan is free for everybody: nothing to save
        wins = np.bincount(efforts.argmin(axis=1), weights=weights, minlength=len(kept))
        first = np.lexsort((weights @ efforts, -wins))[:PLANS]
        places, costs = kept[first], efforts[:, first]
        if len(parts):
            own = np.asarray(samples.efforts(parts), dtype=float)[:, :PARTS]
            places = np.concatenate([places, count + np.arange(own.shape[1])])
            costs = np.hstack([costs, own])
        table = _Table(places, every.labels[places], costs, places < count, shown, burden)
        found = self._best(table, worth, rng)
        if found is None or found[1] < self.min_gain:
            return None
        chosen, gain, examined = found
        options = tuple(sorted(int(places[i]) for i in chosen))
        return Choice(options, (1 - gain) * worth.single, examined, gain)

    def _best(
        self, table: _Table, worth: Worth, rng: np.random.Generator
    ) -> tuple[list[int], float, int] | None:
        """Return the best question, by places in the table, its worth, and how many were compared."""
        first, second = table.pairs()
        if not len(first):
            return None
        looked = np.arange(len(first))
        if len(first) > BEST:
            every = np.linspace(0, len(worth) - 1, min(FEW, len(worth))).astype(np.intp)
            rough = worth.some(every).of_pairs(table.costs[every], first, second)
            rough *= np.where(table.whole[first], 1.0, PART)
            looked = np.argsort(-rough, kind="stable")[:BEST]
        first, second, examined = first[looked], second[looked], len(first)
        gains = worth.of_pairs(table.costs, first, second)
        counted = gains * np.where(table.whole[first], 1.0, PART)
        best = pick(counted, table.rows(first, second), self.tolerance, rng)
        chosen, gain = [int(first[best]), int(second[best])], float(gains[best])
        while len(chosen) < self.options:
            more = table.beside(chosen)
            if not len(more):
                break
            gains = worth.of_more(table.costs, chosen, more) - gain
            examined += len(more)
            best = pick(gains, table.added(chosen, more), self.tolerance, rng)
            if gains[best] <= 1e-9 * max(gain, 1e-3):
                break
            chosen.append(int(more[best]))
            gain += float(gains[best])
        return chosen, gain, examined


class Worth:
    """What answers are worth: the share of the expected effort that they save.

    Parameters
    ----------
    weighted : (samples, n)
        Effort of each plan that could be recommended, times the sample's weight.
    who : People
        How people answer.
    """

    def __init__(self, weighted: Array, who: People) -> None:
        self._weighted, self._who = weighted, who
        self._total: Array = weighted.sum(axis=0)
        self.single = float(self._total.min())
        ratios = np.linspace(-1.0, 1.0, _STEPS + 1)
        each = choice_probabilities(np.stack([1 - ratios, 1 + ratios], axis=-1) / 2, who)[:, 0]
        self._table: Array = each @ who.share

    def __len__(self) -> int:
        return len(self._weighted)

    def some(self, samples: Ints) -> Worth:
        """Return the same on some of the samples."""
        return Worth(self._weighted[samples], self._who)

    def of_pairs(self, costs: Array, first: Ints, second: Ints) -> Array:
        """Return the worth (q,) of comparing options i and j, efforts (samples, m), for each of q pairs."""
        a, b = costs[:, first], costs[:, second]
        ratio = (b - a) / np.maximum(a + b, 1e-300)
        chance = self._table[np.rint((ratio + 1) * (_STEPS / 2)).astype(np.intp)]  # (samples, q)
        taken = chance.T @ self._weighted  # (q, n)
        best = taken.min(axis=1) + (self._total - taken).min(axis=1)
        return np.asarray(1 - best / self.single)

    def of_more(self, costs: Array, chosen: Sequence[int], more: Ints) -> Array:
        """Return the worth (m,) of comparing the options chosen and one more, for each of m."""
        gains = np.empty(len(more))
        for at, option in enumerate(more):
            chance = choice_probabilities(costs[:, [*chosen, option]], self._who) @ self._who.share
            gains[at] = 1 - (chance.T @ self._weighted).min(axis=1).sum() / self.single
        return gains


@dataclass(frozen=True, eq=False)
class _Table:
    """What could stand in a question: places among all options, their labels, efforts (samples, m), and who may meet whom."""

    places: Ints
    labels: Ints
    costs: Array
    whole: Bools
    asked: Asked
    burden: Array | None

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
        names = {int(self.labels[i]) for i in chosen}
        said = [i for i in left if names | {int(self.labels[i])} in self.asked]
        return np.setdiff1d(left, said)

    def rows(self, first: Ints, second: Ints) -> Array | None:
        """Return the burden (q,) of pairs."""
        return None if self.burden is None else self.burden[self.places[first], self.places[second]]

    def added(self, chosen: Sequence[int], more: Ints) -> Array | None:
        """Return the burden (m,) that each option adds to those chosen."""
        if self.burden is None:
            return None
        return np.asarray(self.burden[np.ix_(self.places[list(chosen)], self.places[more])].sum(axis=0))

    def _meet(self, first: Ints, second: Ints) -> Bools:
        fair = (self.whole[first] == self.whole[second]) & (self.labels[first] != self.labels[second])
        rows = self.rows(first, second)
        return np.asarray(fair if rows is None else fair & np.isfinite(rows))

"""The value of an answer, the default: ask what changes the recommendation, be it about plans or about parts of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from reap._typing import Array, Ints, Seed
from reap.belief import Sampled
from reap.questions.greedy import SHORTLIST, Askable, drawn, promising
from reap.questions.options import Options
from reap.questions.strategy import Burden, Choice, Moves, check_number, check_options, samples_of

if TYPE_CHECKING:
    from reap.belief import Belief

#: The largest number of plans that are asked about, and of parts of plans.
PLANS, PARTS = 40, 80
#: People on whom all pairs are looked at, and how many of the best pairs are then looked at on everybody.
FEW, BEST = 200, 64
#: What a question about parts counts beside one about plans: people see at once what plans lead to.
PART = 0.9
#: What is left of a question's worth for every row beyond two in which its options differ: people attend to about two.
ROW = 0.7


@dataclass(frozen=True)
class Decision:
    """The question whose answer is worth most: it leads to the least expected effort of the plan recommended after it.

    With efforts ``c_i`` of the plans and answers ``a`` as likely as the belief says, each meant as it is given, the worth is
    ``1 − Σ_a P(a) min_i E[c_i | a] / min_i E[c_i]``, the share of the effort that the answer is expected to save
    (`Choice.gain`). `Choice.score` is the expectation itself. What is asked about need not be a plan: *parts* of plans,
    compared with everything else equal, tell as much and are easier to read; they are asked about where that is worth a
    ninth more. With a `burden`, every row beyond two takes 30 % off the worth: people attend to about two. Pairs are
    compared, more options are added greedily as long as they add to the worth. Plans stand beside plans, parts beside
    parts.

    An answer is taken at its word. Slips are for the belief to forgive, and for later questions to mend: counted as a risk,
    they made sessions end before anything was known.

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
    >>> choice = Decision().choose(plans, Posterior(3))
    >>> choice.options, choice.gain > 0.1
    ((0, 1), True)
    >>> with_parts = np.vstack([plans, np.eye(3)[:2]])
    >>> Decision().choose(with_parts, Posterior(3), asked=[(0, 1)], plans=3).options
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
        burden: Array | Burden | None = None,
        *,
        plans: int | None = None,
        random_state: Seed = 0,
    ) -> Choice | None:
        """Return the question that saves most, or None where none saves `min_gain`; see `Strategy.choose`."""
        known, every = samples_of(belief, "Decision"), Options(moves)
        count = len(every) if plans is None else plans
        shown, reading = every.asked(asked), Burden.of(burden, len(every))
        if count < 2:
            return None
        rng = np.random.default_rng(random_state)
        weights, efforts = known.weights, np.asarray(known.efforts(moves), dtype=float)
        distinct = every.distinct(rng, count)
        kept = promising(efforts, weights, distinct, SHORTLIST)
        single = float((weights @ efforts[:, kept]).min())
        if single <= 0.0:
            return None  # a plan is free for everybody: nothing to save
        parts = np.arange(count, min(len(every), count + PARTS))
        places = np.concatenate([kept[:PLANS], parts])
        table = Askable(places, every.labels[places], shown, reading, places >= count)
        share = np.where(table.parts, PART, 1.0) * _readable(reading.between(places[:, None], places))
        value = _Saving(known, efforts[:, kept], efforts[:, places])
        found = table.best(value, self.options, self.tolerance, rng, share)
        if found is None or found.value < self.min_gain:
            return None
        return Choice(found.options, (1 - found.value) * single, found.examined, found.value)


def _readable(rows: Array) -> Array:
    """Return what is left of the worth of questions by the rows they differ in."""
    return np.asarray(ROW ** np.maximum(np.where(np.isfinite(rows), rows, 0.0) - 2, 0))


class _Saving:
    """What answers are worth: the share of the expected effort that they save.

    Parameters
    ----------
    belief : Sampled
    plans : (n, p)
        Effort of each plan that could be recommended, for each of n people.
    costs : (n, m)
        Effort of each option that could be asked about.
    """

    def __init__(self, belief: Sampled, plans: Array, costs: Array) -> None:
        self._belief, self._plans, self._costs = belief, plans, costs
        self._weighted = plans * belief.weights[:, None]

    def pairs(self, first: Ints, second: Ints, share: Array) -> Array:
        """Worth (q,) of the most promising pairs, −inf of others."""
        looked = np.arange(len(first))
        if len(first) > BEST:
            some = drawn(self._belief.weights, FEW)
            rough = self._worth(np.column_stack([first, second]), some) * share
            looked = np.argsort(-rough, kind="stable")[:BEST]
        worth = np.full(len(first), -np.inf)
        worth[looked] = self._worth(np.column_stack([first, second])[looked])
        return worth

    def more(self, chosen: list[int], others: Ints) -> Array:
        """Worth (m,) of `chosen` and one more."""
        return self._worth(np.column_stack([np.tile(chosen, (len(others), 1)), others]))

    def _worth(self, questions: Ints, some: Ints | None = None) -> Array:
        """Worth (q,) of questions (q, k), as everybody sees them, or some who count the same."""
        costs = self._costs if some is None else self._costs[some]
        weighted = self._weighted if some is None else self._plans[some]
        shown = np.moveaxis(np.stack([costs[:, options] for options in questions.T]), 0, -1)  # (s, q, k)
        chance = self._belief.answer_probabilities(shown, some, slips=False)
        least = np.stack([(chance[..., a].T @ weighted).min(axis=1) for a in range(shown.shape[-1])])
        return np.asarray(1 - least.sum(axis=0) / weighted.sum(axis=0).min())

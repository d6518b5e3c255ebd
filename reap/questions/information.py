"""Information: ask what says most about the person, whether or not it changes the recommendation."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import entr

from reap._typing import Array, Ints, Seed
from reap.belief import Sampled
from reap.questions.greedy import SHORTLIST, Askable, promising
from reap.questions.options import Options
from reap.questions.strategy import Burden, Choice, Moves, check_number, check_options, samples_of

if TYPE_CHECKING:
    from reap.belief import Belief

#: Numbers that are made at once.
_BLOCK = 1 << 20


@dataclass(frozen=True)
class Information:
    """The question with the largest mutual information ``H(answer) − E_A[H(answer | A)]``, in bits.

    The chance of an answer given A is the belief's own model of people, who slip and who tell small
    differences apart less well. All pairs are compared, more options are added greedily. `Choice.score` is
    the information; the gain of effort is not known to it. Parts of plans tell about the person as plans do.

    Parameters
    ----------
    options : int
        Options to a question, at most.
    tolerance : float
        With a `burden`, questions within this share of the best count as equal, and the one whose options
        differ in fewest features is asked.

    Examples
    --------
    >>> from reap.belief import Posterior
    >>> plans = np.array([[1.0, 0.0], [0.0, 1.0], [3.0, 0.0]])  # the third is harder than the first for everybody
    >>> choice = Information().choose(plans, Posterior(2))
    >>> choice.options, 0.3 < choice.score < 1.0
    ((0, 1), True)
    """

    options: int = 2
    tolerance: float = 0.1

    def __post_init__(self) -> None:
        check_options(self.options)
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
        """Return the question that tells most, or None where none tells anything; see `Strategy.choose`."""
        known, every = samples_of(belief, "Information"), Options(moves)
        shown, reading = every.asked(asked), Burden.of(burden, len(every))
        if len(every) < 2:
            return None
        rng = np.random.default_rng(random_state)
        efforts = np.asarray(known.efforts(moves), dtype=float)
        count = len(every) if plans is None else plans
        kept = every.distinct(rng, count)
        if len(kept) > SHORTLIST:
            kept = promising(efforts, known.weights, kept, SHORTLIST)
        kept = np.concatenate([kept, np.arange(count, len(every))])
        table = Askable(kept, every.labels[kept], shown, reading, kept >= count)
        found = table.best(_Bits(known, efforts[:, kept]), self.options, self.tolerance, rng)
        if found is None or found.value < 1e-9:
            return None
        return Choice(found.options, found.value, found.examined)


class _Bits:
    """Mutual information between an answer and the person, from the efforts (n, m) of options for each of n people."""

    def __init__(self, belief: Sampled, efforts: Array) -> None:
        self._belief, self._efforts = belief, efforts

    def pairs(self, first: Ints, second: Ints, share: Array) -> Array:
        """Information of each pair (q,)."""
        return self._information(np.column_stack([first, second]))

    def more(self, chosen: list[int], others: Ints) -> Array:
        """Information (m,) of `chosen` and one more."""
        return self._information(np.column_stack([np.tile(chosen, (len(others), 1)), others]))

    def _information(self, questions: Ints) -> Array:
        """Information (q,) of questions (q, k)."""
        weights, size = self._belief.weights, max(1, _BLOCK // (len(self._efforts) * questions.shape[1]))
        bits = []
        for begin in range(0, len(questions), size):
            some = questions[begin : begin + size]
            shown = np.moveaxis(np.stack([self._efforts[:, options] for options in some.T]), 0, -1)
            chance = np.maximum(self._belief.answer_probabilities(shown), 0.0)  # (n, q, k)
            mean = np.einsum("n,nqk->qk", weights, chance)
            bits.append(entr(mean).sum(axis=-1) - weights @ entr(chance).sum(axis=-1))
        return np.asarray(np.concatenate(bits) / np.log(2))

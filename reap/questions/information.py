"""Information: ask what says most about the person, whether or not it changes the recommendation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import entr

from reap._typing import Array, Ints
from reap.belief import Sampled
from reap.questions.greedy import SHORTLIST, best_question, promising
from reap.questions.strategy import Choice, Strategy, Task, check_number, check_options, samples_of

#: Numbers that are made at once.
_BLOCK = 1 << 20


@dataclass(frozen=True)
class Information(Strategy):
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

    def best(self, task: Task) -> Choice | None:
        """Return the question that tells most, or None where none tells anything."""
        known = samples_of(task.belief, "Information")
        efforts = np.asarray(known.efforts(task.moves), dtype=float)
        kept = task.distinct(task.plans)
        if len(kept) > SHORTLIST:
            kept = promising(efforts, known.weights, kept, SHORTLIST)
        kept = np.concatenate([kept, np.arange(task.plans, len(task))])
        shown = efforts[:, kept]
        found = best_question(
            task, kept, lambda q: _bits(known, shown, q), size=self.options, tolerance=self.tolerance
        )
        return None if found is None or found.score < 1e-9 else found


def _bits(belief: Sampled, efforts: Array, questions: Ints) -> Array:
    """Return the mutual information (q,) between the answers to questions (q, k) and the person.

    ``efforts`` (n, m) are those of the options for each of n people.
    """
    size = max(1, _BLOCK // (len(efforts) * questions.shape[1]))
    bits = []
    for begin in range(0, len(questions), size):
        some = questions[begin : begin + size]
        shown = np.moveaxis(np.stack([efforts[:, options] for options in some.T]), 0, -1)
        chance = np.maximum(belief.answer_probabilities(shown), 0.0)  # (n, q, k)
        mean = np.einsum("n,nqk->qk", belief.weights, chance)
        bits.append(entr(mean).sum(axis=-1) - belief.weights @ entr(chance).sum(axis=-1))
    return np.asarray(np.concatenate(bits) / np.log(2))

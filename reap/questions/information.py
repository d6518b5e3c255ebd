"""Information: ask what says most about the person, whether or not it changes the recommendation."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import entr

from reap._typing import Array, Ints, Seed
from reap.belief.answers import People, choice_probability, people
from reap.questions.greedy import grow, shortlist
from reap.questions.options import Options
from reap.questions.strategy import Choice, Moves, check_number, check_options, samples_of

if TYPE_CHECKING:
    from reap.belief import Belief


@dataclass(frozen=True)
class Information:
    """The question with the largest mutual information ``H(answer) − E_A[H(answer | A)]``, in bits.

    The chance of an answer given A is the posterior's own model of people, who slip and who tell small
    differences apart less well. All pairs are compared, more options are added greedily. `Choice.score` is
    the information; the gain of effort is not known to it.

    Parameters
    ----------
    options : int
        Options to a question, at most.
    lapse, sharpness : float, optional
        How people answer, as in `reap.Posterior`; by default the three kinds of people, each as likely as the
        answers so far make them.
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
    lapse: float | None = None
    sharpness: float | None = None
    tolerance: float = 0.1

    def __post_init__(self) -> None:
        check_options(self.options)
        check_number("tolerance", self.tolerance, 0.0)
        people(self.lapse, self.sharpness)

    def choose(
        self,
        moves: Moves,
        belief: Belief | Array,
        asked: Iterable[Sequence[int]] = (),
        burden: Array | None = None,
        *,
        random_state: Seed = 0,
    ) -> Choice | None:
        """Return the question that tells most, or None where none tells anything; see `Strategy.choose`."""
        samples = samples_of(belief, "Information")
        options = Options(moves)
        shown = options.asked(asked)
        if len(options) < 2:
            return None
        rng = np.random.default_rng(random_state)
        who = people(self.lapse, self.sharpness)
        kinds = np.asarray(getattr(belief, "kinds", ()), dtype=float)
        if kinds.shape != who.slip.shape:
            kinds = who.share
        weights = samples.weights / samples.weights.sum()
        kept, efforts = shortlist(options, samples, weights, rng)
        value = _Bits(efforts, weights, who, kinds)
        found = grow(value, options, kept, self.options, shown, burden, self.tolerance, rng)
        if found is None or found.value < 1e-9:
            return None
        return Choice(found.options, found.value, found.examined)


class _Bits:
    """Mutual information between an answer and the effort matrix."""

    def __init__(self, efforts: Array, weights: Array, who: People, kinds: Array) -> None:
        self.efforts, self.weights, self.who, self.kinds = efforts, weights, who, kinds

    def pairs(self) -> Array:
        """Information of every pair (n, n)."""
        n = self.efforts.shape[1]
        bits = np.full((n, n), -np.inf)
        for i in range(n - 1):
            bits[i, i + 1 :] = self._information([i], np.arange(i + 1, n))
        return bits

    def extended(self, chosen: list[int]) -> Array:
        """Information (n,) of `chosen` and one more."""
        return self._information(chosen, np.arange(self.efforts.shape[1]))

    def _information(self, chosen: list[int], more: Ints) -> Array:
        """Information of the questions `chosen` + one of `more`: (m,)."""
        k, m = len(chosen) + 1, len(more)
        shown = np.empty((len(self.efforts), m, k))
        shown[..., :-1] = self.efforts[:, None, chosen]
        shown[..., -1] = self.efforts[:, more]
        bits: Array = np.zeros(m)
        left = np.ones((len(shown), m))
        for option in range(k):
            # The last answer is what the others leave.
            chance = left if option == k - 1 else self._chance(np.roll(shown, -option, axis=-1))
            left = left - chance
            bits += entr(self.weights @ chance) - self.weights @ entr(np.maximum(chance, 0.0))
        bits /= np.log(2)
        return bits

    def _chance(self, efforts: Array) -> Array:
        """Chance (particles, m) that the first option is chosen, over the kinds of people."""
        chance: Array = choice_probability(efforts, self.who) @ self.kinds
        return chance

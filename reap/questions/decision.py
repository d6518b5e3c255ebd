"""Decision, the default: ask what changes the recommendation."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from reap._typing import Array, Seed
from reap.questions.greedy import grow, shortlist
from reap.questions.options import Options
from reap.questions.strategy import Choice, Moves, check_number, check_options, samples_of

if TYPE_CHECKING:
    from reap.belief import Belief


@dataclass(frozen=True)
class Decision:
    """The question whose better option asks least effort on average: ``min E_A[min_i ⟨A, V_iᵀV_i⟩]``.

    Give it the plans that could be recommended (what an engine answers to samples of the belief): then the
    expectation is the effort of the plan the person would get by taking the option they choose. All pairs are
    compared, more options are added greedily, and an option that no sample would choose is not shown.
    `Choice.score` is the expectation; `Choice.gain` is ``1 − score / least expected effort of a single plan``, the
    share of effort the answer is expected to save.

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
    >>> plans = np.array([[1.0, 0.0], [0.0, 1.0], [3.0, 0.0]])  # the third is harder than the first for everybody
    >>> choice = Decision().choose(plans, Posterior(2))
    >>> choice.options, choice.gain > 0.2
    ((0, 1), True)
    >>> Decision().choose(plans[:2], Posterior(2), asked=[(0, 1)]) is None
    True
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
    ) -> Choice | None:
        """Return the question that saves most, or None where none saves `min_gain`; see `Strategy.choose`."""
        samples = samples_of(belief, "Decision")
        options = Options(moves)
        shown = options.asked(asked)
        if len(options) < 2:
            return None
        rng = np.random.default_rng(random_state)
        weights = samples.weights / samples.weights.sum()
        kept, efforts = shortlist(options, samples, weights, rng)
        value = _Saving(efforts * weights[:, None])
        if value.single <= 0.0:
            return None  # a plan is free for everybody: nothing to save
        found = grow(value, options, kept, self.options, shown, burden, self.tolerance, rng)
        if found is None or found.value < self.min_gain:
            return None
        return Choice(found.options, (1 - found.value) * value.single, found.examined, found.value)


class _Saving:
    """Share of the expected effort that a choice among options saves against the best single plan."""

    def __init__(self, weighted: Array) -> None:
        self.weighted = np.ascontiguousarray(weighted.T)  # (n, particles), each effort times its weight
        self.single = float(self.weighted.sum(axis=1).min())

    def pairs(self) -> Array:
        """Saving of every pair (n, n)."""
        n = len(self.weighted)
        saving = np.full((n, n), -np.inf)
        for i in range(n - 1):
            saving[i, i + 1 :] = self._saving(np.minimum(self.weighted[i], self.weighted[i + 1 :]))
        return saving

    def extended(self, chosen: list[int]) -> Array:
        """Saving (n,) of `chosen` and one more."""
        return self._saving(np.minimum(self.weighted[chosen].min(axis=0), self.weighted))

    def _saving(self, least: Array) -> Array:
        saving: Array = 1 - least.sum(axis=1) / self.single
        return saving

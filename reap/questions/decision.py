"""Decision: ask what changes the recommendation, among plans alone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from reap._typing import Array
from reap.questions.greedy import Found, grow
from reap.questions.saving import Known, Saving
from reap.questions.strategy import Moves


@dataclass(frozen=True)
class Decision(Saving):
    """The question whose better option asks least effort on average: ``min E_A[min_i ⟨A, V_iᵀV_i⟩]``.

    Give it the plans that could be recommended (what an engine answers to samples of the belief): then the
    expectation is the effort of the plan the person would get by taking the option they choose. All pairs are
    compared, more options are added greedily, and an option that no sample would choose is not shown.
    `Choice.score` is the expectation; `Choice.gain` is ``1 − score / least expected effort of a single plan``, the
    share of effort the answer is expected to save. What can be set: see `Saving`.

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

    def _best(
        self,
        known: Known,
        asked: Iterable[Sequence[int]],
        burden: Array | None,
        parts: Moves,
        rng: np.random.Generator,
    ) -> Found | None:
        plans, count = known.plans, len(known.plans)
        value = _Shares(known.efforts * known.weights[:, None])
        burden = None if burden is None else burden[:count, :count]
        if len(parts):
            asked = [question for question in asked if max(question) < count]
        return grow(value, plans, known.kept, self.options, plans.asked(asked), burden, self.tolerance, rng)


class _Shares:
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

"""What answers say about single plans, whatever a belief makes of them: set aside, or beaten by another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from reap import effort
from reap._typing import Array, Bools
from reap.elicitation.options import key
from reap.elicitation.question import Question
from reap.plan import Plan
from reap.questions.losing import Losing
from reap.recourse.reduce import asks_no_more
from reap.space import ActionSpace

#: The smallest difference of a number that a person feels, where its feature does not say: as a share of what the person
#: has, within these shares of its span.
OWN, LEAST, NOTICE = 0.05, 0.005, 0.02


def noticed(space: ActionSpace, start: Array) -> Array:
    """Return the smallest difference worth asking about, of each encoded column (d,), of a person who stands at ``start`` (d,).

    The feature's ``notice`` in units; without it 2 % of the span of a number or 5 % of what the person has, whichever is
    less, but 0.5 % of the span and a step at least: who pays 300 a month feels 20. Ordered levels differ by a level,
    categories by being another.
    """
    least = np.zeros(space.dimension)
    for i, feature in enumerate(space.features):
        if not feature.is_number:
            continue
        column, scale = space.slices[feature.name].start, space.scales[i]
        own = abs(space.origins[i] + start[column] * scale)
        felt = np.clip(np.nan_to_num(OWN * own), LEAST * feature.scale, NOTICE * feature.scale)
        least[column] = (felt if feature.notice is None else feature.notice) / scale
    return np.asarray(np.maximum(np.maximum(least, space.steps) - 1e-9, 1e-9))


class Verdicts:
    """Which plans the person has set aside, and which lost a comparison that still counts; a warm-up does not.

    "Neither" sets every shown option aside, except one that changes a feature named as impossible: a limit sees to that.
    With an option go the plans that ask for all of it and more, and those that nobody can tell from it.

    A plan is beaten when it, or one that asks for no more, lost a comparison to a plan that is legal, not set aside, and
    has not lost since. A chain of such comparisons goes back in time, so it ends: some plan is never beaten.

    Parameters
    ----------
    space : ActionSpace
        With the person's limits.
    given : sequence of (Question, answer)
        Every answer in its order, as the payload of ``answered``; those from another situation are left out.
    start : (d,)
        Where the person stands.
    refused : sequence of Plan
        Plans set aside by "none of these"; those from another situation are left out.
    """

    def __init__(
        self,
        space: ActionSpace,
        given: Sequence[tuple[Question, Mapping[str, Any]]],
        start: Array,
        refused: Sequence[Plan] = (),
    ) -> None:
        self._least, self._start = noticed(space, start), start
        self._free = np.ones(space.dimension, dtype=bool)
        for feature in space.features:
            self._free[space.slices[feature.name]] = feature.derived is None and feature.clock is None
        self._aside = [plan for plan in refused if np.array_equal(plan.path[0], start, equal_nan=True)]
        self._winners: list[Plan] = []
        self._losers: list[list[Plan]] = []
        for question, said in given:
            options, choice = question.options, said["choice"]
            if not np.array_equal(options[0].path[0], start, equal_nan=True):
                continue
            if choice == "neither":
                named = set(said["impossible"])
                self._aside += [plan for plan in options if not named & {c.feature for c in plan.changes}]
            elif isinstance(choice, int) and question.kind != "warm-up" and question.whole:
                self._winners.append(options[choice])
                self._losers.append([plan for i, plan in enumerate(options) if i != choice])
        self._counts = np.zeros(0, dtype=bool)
        if self._winners:
            ends = np.stack([plan.path[-1] for plan in self._winners])
            since = np.triu(self._lost(self._winners), 1).any(axis=1)
            legal = space.allows(np.tile(start, (len(ends), 1)), ends)
            self._counts = legal & ~self.aside(self._winners) & ~since

    def aside(self, plans: Sequence[Plan]) -> Bools:
        """Return which plans (n,) are set aside."""
        gaps = np.abs(self._changes(self._aside)[:, None] - self._changes(plans))
        alike = (gaps < self._least).all(axis=-1)
        return np.asarray((self._cover(self._aside, plans) | alike).any(axis=0))

    def beaten(self, plans: Sequence[Plan]) -> Bools:
        """Return which plans (n,) lost to one that could be recommended instead."""
        return np.asarray((self._lost(plans) & self._counts).any(axis=1))

    def losing(self, plans: Sequence[Plan]) -> Losing:
        """Return which plans (n,) are beaten, and which would be if one of them lost a comparison now."""
        lost = self._lost(plans) & self._counts  # (n, m)
        freed = self._cover(plans, self._winners)  # who loses with a plan no longer beats anything, (n, m)
        still = np.asarray((lost[None] & ~freed[:, None]).any(axis=2))
        return Losing(np.asarray(lost.any(axis=1)), self._cover(plans, plans), still)

    def _lost(self, plans: Sequence[Plan]) -> Bools:
        """Return in which comparisons each plan lost, or one that asks for no more, (n, m)."""
        each = [self._cover(losers, plans).any(axis=0) for losers in self._losers]
        return np.array(each, dtype=bool).reshape(len(each), len(plans)).T

    def _cover(self, less: Sequence[Plan], plans: Sequence[Plan]) -> Bools:
        """Return which plans ask for all that others ask for, (m, n); a path only for all of itself."""
        covers = asks_no_more(self._changes(less), self._changes(plans))
        if any(plan.along for plan in (*less, *plans)):
            for i, first in enumerate(less):
                for j, second in enumerate(plans):
                    if first.along or second.along:
                        covers[i, j] = key(first) == key(second)
        return covers

    def _changes(self, plans: Sequence[Plan]) -> Array:
        """What the person does in each plan, (n, d)."""
        ends = np.array([plan.path[-1] for plan in plans]).reshape(-1, len(self._start))
        return np.where(self._free, effort.changes(ends, self._start), 0.0)

"""The plans that could be recommended to one person."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from reap._typing import Array
from reap.elicitation.comparisons import Comparisons
from reap.plan import Plan
from reap.space import ActionSpace


class Pool:
    """Plans that lead one person to a yes, each path once, with what the questions need of them at hand.

    Parameters
    ----------
    space : ActionSpace
    plans : iterable of Plan

    Attributes
    ----------
    plans : list of Plan
    moves : list of arrays (s, d), the steps of each plan.
    places : the position of each plan by the bytes of its path.

    Examples
    --------
    >>> import pandas as pd, reap
    >>> X = pd.DataFrame({"income": [900, 2000, 3000], "debts": [3, 1, 3]})
    >>> space = reap.ActionSpace.from_frame(X)
    >>> now, *targets = space.encode(X)
    >>> pool = Pool(space, [Plan(space, np.stack([now, to]), np.array([0.2, 0.8])) for to in targets])
    >>> len(pool), pool.comparisons().burden.tolist()
    (2, [[0.0, 2.0], [2.0, 0.0]])
    >>> len(pool.new(pool.plans))
    0
    """

    def __init__(self, space: ActionSpace, plans: Iterable[Plan] = ()) -> None:
        self.space = space
        # What follows from other features is not for the person to do.
        self._free = np.ones(space.dimension, dtype=bool)
        for feature in space.features:
            self._free[space.slices[feature.name]] = feature.derived is None
        self.plans: list[Plan] = []
        self.moves: list[Array] = []
        self.places: dict[bytes, int] = {}
        self.add(plans)

    def __len__(self) -> int:
        return len(self.plans)

    def __iter__(self) -> Iterator[Plan]:
        return iter(self.plans)

    def __getitem__(self, i: int) -> Plan:
        return self.plans[i]

    def add(self, plans: Iterable[Plan]) -> None:
        """Take plans in, in their order."""
        for plan in plans:
            self.places.setdefault(plan.path.tobytes(), len(self.plans))
            self.plans.append(plan)
            self.moves.append(plan.moves)

    def place(self, path: bytes) -> int | None:
        """Return the position of a plan by the bytes of its path; None if it is not among them."""
        return self.places.get(path)

    def new(self, found: Iterable[Plan]) -> list[Plan]:
        """Return the plans among those an engine found that lead to a yes and are not known yet, each once."""
        fresh: dict[bytes, Plan] = {}
        for plan in found:
            key = plan.path.tobytes()
            if plan.status == "ok" and plan.valid and key not in self.places:
                fresh.setdefault(key, plan)
        return list(fresh.values())

    def within(self, space: ActionSpace) -> Pool:
        """Return the pool of the plans that are legal in a tighter space at every step."""
        legal = [plan for plan in self.plans if space.allows(plan.path[:1], plan.path[1:]).all()]
        return self if len(legal) == len(self) else Pool(self.space, legal)

    def comparisons(self) -> Comparisons:
        """Return how the plans compare in the eyes of a person, by the targets they lead to."""
        targets = np.stack([plan.path[-1] for plan in self.plans])
        first, second = np.triu_indices(len(self), 1)
        burden = np.zeros((len(self), len(self)))
        burden[first, second] = self.space.changed(targets[first], targets[second]).sum(axis=1)
        changes = np.nan_to_num(targets - self.plans[0].path[0])[:, self._free]
        return Comparisons.of(burden + burden.T, changes)

"""How common each family of effort matrices and each kind of answering is: EM, with a few people like the default added.

E: how likely each person is of each family and kind. M: their mean, with `PSEUDO` people who are as the start says.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from reap._typing import Array
from reap.belief.answers import people
from reap.belief.learning.marginal import responsibilities
from reap.belief.prior import ALIKE, PEOPLE

#: People like the start who are added to those who answered.
PSEUDO = 10.0
_ROUNDS = 200
#: Every family that a learnt prior may use, with its weight before any answer.
FAMILIES = {**PEOPLE, **dict.fromkeys(ALIKE, 0.5)}


@dataclass(frozen=True, eq=False)
class Shares:
    """Shares of families `(f,)` and of kinds of people `(t,)`; each sums to 1.

    Examples
    --------
    >>> Shares.default().kinds.tolist(), Shares.start().families.shape
    ([0.6, 0.3, 0.1], (9,))
    """

    families: Array
    kinds: Array

    @classmethod
    def default(cls) -> Shares:
        """Return the shares of the default prior: nobody of the families for people who are alike."""
        weights = np.array([PEOPLE.get(name, 0.0) for name in FAMILIES])
        return cls(weights / weights.sum(), people().share)

    @classmethod
    def start(cls) -> Shares:
        """Return the shares from which learning starts, and towards which it is drawn."""
        weights = np.array(list(FAMILIES.values()))
        return cls(weights / weights.sum(), people().share)

    def learnt(self, logs: Array) -> Shares:
        """Return the shares under which log-likelihoods `(n, f, t)` are most likely, drawn towards these."""
        families, kinds = self.families, self.kinds
        for _ in range(_ROUNDS):
            found = responsibilities(logs, families, kinds)
            before = families
            families = PSEUDO * self.families + found.sum(axis=(0, 2))
            kinds = PSEUDO * self.kinds + found.sum(axis=(0, 1))
            families, kinds = families / families.sum(), kinds / kinds.sum()
            if np.abs(families - before).max() < 1e-6:
                break
        return Shares(families, kinds)

"""Simulated people closer to real ones: what they mind besides the changes, and how they read a question.

They need the space, to know what a feature is, and where they stand, to know how long a plan takes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from reap._errors import InputError
from reap._typing import Array, Bools
from reap.research.subjects import Mahalanobis
from reap.space import ActionSpace

#: Chance that a row of a question makes somebody who tires answer at random.
TIRING = 0.07
#: Share of first answers given at random by somebody who settles, and what it falls by with every answer.
FIRST, SETTLING = 0.5, 0.6
#: Rows that somebody reads who does not read them all.
READ = 2


@dataclass(eq=False)
class Minding(Mahalanobis):
    """A person with effort ``ΔᵀAΔ + h·k + w·τ²``: k actions, τ months over the horizon.

    Parameters
    ----------
    matrix : (d, d) array
    space : ActionSpace
    start : (d,) array
        Where the person stands.
    changes, waiting : float
        h and w.

    Examples
    --------
    >>> import pandas as pd, reap
    >>> space = reap.ActionSpace.from_frame(pd.DataFrame({"income": [1.0, 2.0], "debts": [0.0, 3.0]}))
    >>> person = Minding(np.eye(2), space=space, start=np.zeros(2), changes=5.0)
    >>> person.effort([0.5, 0.5]), person.answer([[0.5, 0.5], [1.0, 0.0]])
    (10.5, 1)
    """

    space: ActionSpace = field(kw_only=True)
    start: Array = field(kw_only=True)
    changes: float = 0.0
    waiting: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if min(self.changes, self.waiting) < 0:
            raise InputError(f"changes is {self.changes}, waiting {self.waiting}; give 0 or more")

    def effort(self, moves: Array) -> float:
        """Return the effort of a whole change `(d,)`, or of the moves `(s, d)` of a path."""
        counts = counted(self.space, self.start, np.atleast_2d(moves).sum(axis=0))
        return super().effort(moves) + self.changes * counts[0] + self.waiting * counts[1] ** 2


def counted(space: ActionSpace, start: Array, change: Array) -> tuple[int, float]:
    """Return the number of actions and the time, in horizons, of a change (d,)."""
    end = start + change
    acts = np.array([feature.is_action for feature in space.features])
    months = float(np.nan_to_num(space.months(start, end[None])[0])) if space.timed else 0.0
    return int(space.encoding.changed(start[None], end[None])[0][acts].sum()), months / space.horizon


@dataclass(eq=False)
class QuestionReader(Mahalanobis):
    """A person who reads a question as people do; their effort is ``ΔᵀAΔ`` all the same.

    Parameters
    ----------
    matrix : (d, d) array
    space : ActionSpace
    reading : {"tiring", "narrow", "settling"}
        "tiring": every row shown makes a random answer likelier, ``1 − (1 − .07)^rows``. "narrow": of the rows that differ
        they attend to the two that ask most of them, and see no other. "settling": half of their first answers are
        random, then ever fewer, by a factor of .6 an answer.
    """

    space: ActionSpace = field(kw_only=True)
    reading: Literal["tiring", "narrow", "settling"] = "tiring"

    def __post_init__(self) -> None:
        super().__post_init__()
        self._given = 0

    def answer(self, question: Any) -> int | Literal["same"]:
        """Answer a question: the index of the option that seems easier, or "same"."""
        options = [np.atleast_2d(getattr(o, "moves", o)) for o in getattr(question, "options", question)]
        self._given += 1
        if self._rng.random() < self._careless(options):
            return int(self._rng.integers(len(options)))
        if self.reading == "narrow":
            options = self._seen(options)
        return super().answer(options)

    def _careless(self, options: Sequence[Array]) -> float:
        if self.reading == "tiring":
            return float(1 - (1 - TIRING) ** self._differ(options).sum())
        return FIRST * SETTLING ** (self._given - 1) if self.reading == "settling" else 0.0

    def _seen(self, options: Sequence[Array]) -> list[Array]:
        """Return the options with nothing but what this person attends to."""
        ends = np.stack([V.sum(axis=0) for V in options])
        differ = np.flatnonzero(self._differ(options))
        columns = [
            np.arange(len(self.matrix))[self.space.slices[self.space.features[i].name]] for i in differ
        ]
        asked = [max(float(v[c] @ self.matrix[np.ix_(c, c)] @ v[c]) for v in ends) for c in columns]
        seen = np.zeros(len(self.matrix), dtype=bool)
        for i in np.argsort(asked)[::-1][:READ]:
            seen[columns[i]] = True
        return [np.where(seen, v, 0.0)[None] for v in ends]

    def _differ(self, options: Sequence[Array]) -> Bools:
        """Return in which features (f,) some option differs from the first."""
        ends = np.stack([V.sum(axis=0) for V in options])
        starts = [self.space.slices[f.name].start for f in self.space.features]
        apart = np.maximum.reduceat(np.abs(ends - ends[0]) > 1e-9, starts, axis=1).any(axis=0)
        own = [feature.is_set for feature in self.space.features]
        return np.asarray(apart & np.array(own))

"""What a question can compare: the plans of a pool, or, in the paper's questions, accepted rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from reap._typing import Array
from reap.belief import Belief
from reap.plan import Plan
from reap.questions import Choice, Strategy
from reap.recourse import Candidates


def key(plan: Plan) -> bytes:
    """Return what makes a plan the same as another: where it leads; for a path every stage of it."""
    return (plan.path if plan.along else plan.path[[0, -1]]).tobytes()


def at(name: bytes, dimension: int) -> tuple[Array, Array]:
    """Return where the plan of a ``key`` leads and where it starts, (d,) each."""
    path = np.frombuffer(name).reshape(-1, dimension)
    return path[-1], path[0]


def asked(place: Callable[[bytes], int | None], shown: Iterable[Iterable[bytes]]) -> list[Sequence[int]]:
    """Return questions by the places of their options; one with an option that has left cannot come again."""
    places = [[place(name) for name in names] for names in shown]
    return [[i for i in here if i is not None] for here in places if None not in here]


class Rows:
    """Rows that the model accepts, as one-step plans from where a person stands; made by ``Engine.candidates``.

    Parameters
    ----------
    candidates : Candidates
    start : (d,)
    """

    def __init__(self, candidates: Candidates, start: Array) -> None:
        self.candidates, self.start = candidates, start
        self.moves = candidates.moves

    def __getitem__(self, i: int) -> Plan:
        return self.candidates[i]

    def place(self, name: bytes) -> int | None:
        """Return the position of the row that a plan leads to, by its ``key``; None if it is not among them."""
        deviation = at(name, len(self.start))[0] - self.start
        hits = np.flatnonzero((np.abs(self.moves - np.nan_to_num(deviation)) < 1e-12).all(axis=1))
        return int(hits[0]) if len(hits) else None

    def choose(
        self,
        strategy: Strategy,
        belief: Belief | Array,
        shown: Iterable[Iterable[bytes]],
        rng: np.random.Generator,
    ) -> Choice | None:
        """Return the next question, other than those shown; None where nothing is left to ask."""
        if len(self.moves) < 2:
            return None
        return strategy.choose(self.moves, belief, asked=asked(self.place, shown), random_state=rng)

"""What strategies share that ask where an answer saves effort: what can be set, and what they look at."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from reap._typing import Array, Ints, Seed
from reap.belief.answers import People, people
from reap.questions.greedy import Found, shortlist
from reap.questions.losing import Losing
from reap.questions.options import Options
from reap.questions.shown import Shown
from reap.questions.strategy import (
    Choice,
    Moves,
    Sampled,
    check_burden,
    check_number,
    check_options,
    samples_of,
)

if TYPE_CHECKING:
    from reap.belief import Belief


class Known(NamedTuple):
    """Plans, and what samples of a belief make of them.

    Parameters
    ----------
    plans : Options
        All that could be recommended.
    kept : (n,)
        Those worth asking about, as positions.
    efforts : (samples, n)
        Of those kept, for each sample.
    weights : (samples,)
        Of the samples; their sum is 1.
    samples : Sampled
    people : People
        How people answer.
    losing : Losing, optional
        What answers have said of the plans kept.
    shown : Shown, optional
        How many rows a question may show.
    """

    plans: Options
    kept: Ints
    efforts: Array
    weights: Array
    samples: Sampled
    people: People
    losing: Losing | None = None
    shown: Shown | None = None


@dataclass(frozen=True)
class Saving(ABC):
    """A question that is asked for the effort its answer saves; see `AnswerValue` and `Decision`.

    Parameters
    ----------
    options : int
        Options to a question, at most.
    min_gain : float
        Nothing is asked that saves a smaller share of the effort.
    tolerance : float
        With a `burden`, questions whose gain is within this share of the best count as equal, and the one
        whose options differ in fewest features is asked.
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
        parts: Moves = (),
        losing: Losing | None = None,
        shown: Shown | None = None,
    ) -> Choice | None:
        """Return the question that saves most, or None where none saves `min_gain`; see `Strategy.choose`.

        Parameters
        ----------
        parts : array (M, d) or list of M arrays (s, d)
            What is asked about and never recommended. Its options count on after the moves, in `asked`, in `burden`
            (N + M, N + M) and in `Choice.options`. `Decision` asks about plans only.
        losing : Losing, optional
            Which of the N plans have lost a comparison, and what another loss would do. Without it a plan that lost may be
            recommended all the same.
        shown : Shown, optional
            How many features more than two options may differ in together; `burden` tells of two. `Decision` does without.
        """
        samples, plans = samples_of(belief, type(self).__name__), Options(moves)
        if len(plans) < 2:
            return None
        rng = np.random.default_rng(random_state)
        weights = samples.weights / samples.weights.sum()
        kept, efforts = shortlist(plans, samples, weights, rng)
        losing = None if losing is None else losing.some(kept)
        single = least(weights @ efforts, losing)
        if single <= 0.0:
            return None  # a plan is free for everybody: nothing to save
        known = Known(
            plans, kept, efforts, weights, samples, getattr(belief, "people", None) or people(), losing, shown
        )
        found = self._best(known, asked, check_burden(burden, len(plans) + len(parts)), parts, rng)
        if found is None or found.value < self.min_gain:
            return None
        return Choice(found.options, (1 - found.value) * single, found.examined, found.value)

    @abstractmethod
    def _best(
        self,
        known: Known,
        asked: Iterable[Sequence[int]],
        burden: Array | None,
        parts: Moves,
        rng: np.random.Generator,
    ) -> Found | None:
        """Return the question of the largest gain, ``value``, in places among moves and parts."""


def least(efforts: Array, losing: Losing | None) -> float:
    """Return the least of efforts (n,) of plans that may be recommended; of all where none may."""
    fine = np.ones(len(efforts), dtype=bool) if losing is None else ~losing.beaten
    return float(efforts[fine].min() if fine.any() else efforts.min())

"""What every strategy answers: one ``choose`` with all it needs, and the checks that strategies share."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, Self, TypeAlias

import numpy as np

from reap._errors import InputError
from reap._typing import Array, Bools, Ints, Seed
from reap.belief import Sampled

if TYPE_CHECKING:
    from reap.belief import Belief

#: Options of a question: ``(N, d)``, one step each, or N arrays of moves ``(s, d)``.
Moves: TypeAlias = Array | Sequence[Array]


@dataclass(frozen=True)
class Choice:
    """The question a strategy chose.

    Parameters
    ----------
    options : tuple of int
        Indices into the moves given, ascending; all different.
    score : float
        The value the strategy optimised; each strategy says what it is.
    examined : int
        How many questions were compared to find this one.
    gain : float
        Share of the expected effort the answer saves, ``nan`` where the strategy does not know it.

    Examples
    --------
    >>> Choice(options=(0, 3), score=0.25, examined=6)
    Choice(options=(0, 3), score=0.25, examined=6, gain=nan)
    """

    options: tuple[int, ...]
    score: float
    examined: int
    gain: float = math.nan


@dataclass(frozen=True, eq=False)
class Burden:
    """How much there is to read in a question.

    Parameters
    ----------
    rows : (N, N), optional
        In how many features two options differ; infinite for two that never stand together. By default every two may, and
        none is easier to read.
    apart : sequence of (n, n, f) arrays
        In which features two options differ, for blocks of options that count on one after the other: of four options, each
        two may differ in three features and all of them in five.
    most : float
        Features in which all options of a question may differ together.

    Examples
    --------
    >>> ends = np.array([[1, 1, 0, 0], [0, 0, 1, 0], [0, 1, 0, 0], [1, 0, 1, 0]])
    >>> apart = ends[:, None] != ends[None]
    >>> burden = Burden(apart.sum(axis=-1), [apart], most=3)
    >>> burden.beside([0, 1], np.array([2, 3])).tolist(), burden.clash(np.array([[0, 1, 2], [0, 2, 3]])).tolist()
    ([True, True], [False, False])
    """

    rows: Array | None = None
    apart: Sequence[Bools] = ()
    most: float = math.inf

    @classmethod
    def of(cls, burden: Array | Self | None, count: int) -> Self:
        """Return what is known of the burden of N options: nothing, their rows (N, N), or all of it; checked."""
        if burden is None:
            return cls()
        made = burden if isinstance(burden, cls) else cls(np.asarray(burden, dtype=float))
        if made.rows is not None and np.shape(made.rows) != (count, count):
            raise InputError(f"burden has shape {np.shape(made.rows)}; {count} options need {(count, count)}")
        return made

    def between(self, first: Ints, second: Ints) -> Array:
        """Return in how many features options differ, pair by pair, in the shape of the two together."""
        if self.rows is None:
            return np.zeros(np.broadcast_shapes(first.shape, second.shape))
        return np.asarray(self.rows[first, second])

    def beside(self, chosen: Sequence[int], more: Ints) -> Bools:
        """Return which of more options (m,) may join those chosen, (m,)."""
        fair: Bools = np.asarray(np.isfinite(self.between(np.array(chosen)[:, None], more)).all(axis=0))
        first = 0
        for block in self.apart:
            last = first + len(block)
            if first <= chosen[0] < last:
                inside = (more >= first) & (more < last)
                own = block[chosen[0] - first]  # a feature is a row where one differs from the first
                rows = own[[i - first for i in chosen]].any(axis=0) | own[more[inside] - first]
                fair[inside] &= rows.sum(axis=1) <= self.most
            first = last
        return fair

    def clash(self, questions: Ints) -> Bools:
        """Return which questions (n, k), by the indices of their options, must not be shown, (n,)."""
        clash = np.zeros(len(questions), dtype=bool)
        for i, j in itertools.combinations(questions.T, 2):
            clash |= np.isinf(self.between(i, j))
        if self.apart and questions.shape[1] > 2:
            for n in np.flatnonzero(~clash):
                *chosen, last = questions[n].tolist()
                clash[n] = not self.beside(chosen, np.array([last]))[0]
        return clash


class Strategy(Protocol):
    """Anything that can say which options to show next.

    A strategy never repeats a question (a set of options in ``asked``, in any order), never shows two
    options that are the same change, and breaks ties by ``random_state``: same input, same question.

    Examples
    --------
    >>> import numpy as np
    >>> class First:
    ...     def choose(self, moves, belief, asked=(), burden=None, *, plans=None, random_state=0):
    ...         return None if (0, 1) in asked else Choice((0, 1), score=0.0, examined=1)
    >>> strategy: Strategy = First()
    >>> strategy.choose(np.eye(2), np.eye(2)).options
    (0, 1)
    """

    def choose(
        self,
        moves: Moves,
        belief: Belief | Array,
        asked: Iterable[Sequence[int]] = (),
        burden: Array | Burden | None = None,
        *,
        plans: int | None = None,
        random_state: Seed = 0,
    ) -> Choice | None:
        """Return the next question, or None where nothing is left to ask.

        Parameters
        ----------
        moves : array (N, d) or list of N arrays (s, d)
            The options there are: one-step deviations, or the moves of whole plans.
        belief : Belief or array (d, d)
            What is known about the effort matrix; a matrix where the strategy needs no more.
        asked : iterable of index tuples
            Questions already shown; the order inside a tuple does not matter.
        burden : array (N, N) or Burden, optional
            How many features two options differ in; used to prefer the easier of near-equal questions. Two
            options whose burden is infinite are never shown together.
        plans : int, optional
            How many of the options, the first ones, could be recommended; the others, parts of plans, are only asked
            about. By default all of them.
        random_state : int or Generator
            Breaks ties.
        """


def check_number(name: str, value: float, least: float) -> None:
    """Refuse a parameter under `least` (or not a finite number)."""
    if not (math.isfinite(value) and value >= least):
        raise InputError(f"{name} is {value}; give a number of at least {least:g}")


def check_options(options: int) -> None:
    """Refuse a number of options that makes no question."""
    if options != int(options) or options < 2:
        raise InputError(f"options is {options}; a question shows a whole number of options, at least 2")


def matrix_of(belief: Belief | Array, dimension: int) -> Array:
    """The effort matrix (d, d) a belief stands for, or the matrix itself, checked."""
    known = belief if isinstance(belief, np.ndarray) else belief.estimate()
    matrix = np.asarray(known, dtype=float)
    if matrix.shape != (dimension, dimension):
        raise InputError(
            f"the effort matrix has shape {matrix.shape}; these moves need ({dimension}, {dimension})"
        )
    if not np.isfinite(matrix).all() or not np.allclose(matrix, matrix.T):
        raise InputError("the effort matrix must be finite and symmetric; give (A + A.T) / 2")
    return matrix


def samples_of(belief: object, who: str) -> Sampled:
    """The belief, if it has samples; an error that names the strategies for beliefs that have none."""
    if isinstance(belief, Sampled):
        return belief
    raise InputError(
        f"{who} needs a belief with samples, such as Posterior, and was given {type(belief).__name__}; "
        "with a matrix or a ConfidenceSet use SimilarCost, Exhaustive or Random"
    )

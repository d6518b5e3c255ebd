"""What every strategy answers, and the checks and habits they share."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeAlias, runtime_checkable

import numpy as np

from reap._errors import InputError
from reap._typing import Array, Bools, Ints, Seed

if TYPE_CHECKING:
    from reap.belief import Belief
    from reap.questions.options import Options

#: Options of a question: ``(N, d)``, one step each, or N arrays of moves ``(s, d)``.
Moves: TypeAlias = Array | Sequence[Array]
#: Questions already asked, each as the labels of its options.
Asked: TypeAlias = set[frozenset[int]]


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


class Strategy(Protocol):
    """Anything that can say which options to show next.

    A strategy never repeats a question (a set of options in ``asked``, in any order), never shows two
    options that are the same change, and breaks ties by ``random_state``: same input, same question.

    Examples
    --------
    >>> import numpy as np
    >>> class First:
    ...     def choose(self, moves, belief, asked=(), burden=None, *, random_state=0):
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
        burden: Array | None = None,
        *,
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
        burden : array (N, N), optional
            How many features two options differ in; used to prefer the easier of near-equal questions. Two
            options whose burden is infinite are never shown together.
        random_state : int or Generator
            Breaks ties.
        """


@runtime_checkable
class Sampled(Protocol):
    """A belief made of weighted samples of the effort matrix, such as `reap.Posterior`."""

    weights: Array

    def efforts(self, options: Moves) -> Array:
        """Effort of each option under each sample, ``(particles, N)``."""


def check_number(name: str, value: float, least: float) -> None:
    """Refuse a parameter under `least` (or not a finite number)."""
    if not (math.isfinite(value) and value >= least):
        raise InputError(f"{name} is {value}; give a number of at least {least:g}")


def check_options(options: int) -> None:
    """Refuse a number of options that makes no question."""
    if options != int(options) or options < 2:
        raise InputError(f"options is {options}; a question shows a whole number of options, at least 2")


def check_burden(burden: Array | None, count: int) -> Array | None:
    """The burden (N, N) of `count` options as numbers, or an error about its shape."""
    if burden is None:
        return None
    wanted = (count, count)
    if np.shape(burden) != wanted:
        raise InputError(f"burden has shape {np.shape(burden)}; {count} options need {wanted}")
    return np.asarray(burden, dtype=float)


def clashing(burden: Array | None, questions: Ints) -> Bools:
    """Which questions (n, k), given by the indices of their options, have two that are never shown together."""
    clash = np.zeros(len(questions), dtype=bool)
    if burden is not None:
        for i, j in itertools.combinations(questions.T, 2):
            clash |= np.isinf(burden[i, j])
    return clash


def matrix_of(belief: Belief | Array, options: Options) -> Array:
    """The effort matrix (d, d) a belief stands for, or the matrix itself, checked."""
    if hasattr(belief, "estimate"):
        belief = belief.estimate()
    matrix = np.asarray(belief, dtype=float)
    d = options.dimension
    if matrix.shape != (d, d):
        raise InputError(f"the effort matrix has shape {matrix.shape}; these moves need ({d}, {d})")
    if not np.isfinite(matrix).all() or not np.allclose(matrix, matrix.T):
        raise InputError("the effort matrix must be finite and symmetric; give (A + A.T) / 2")
    return matrix


def samples_of(belief: object, strategy: str) -> Sampled:
    """The belief, if it has samples; an error that names the strategies for beliefs that have none."""
    if isinstance(belief, Sampled):
        return belief
    raise InputError(
        f"{strategy} needs a belief with samples, such as Posterior, and was given {type(belief).__name__}; "
        "with a matrix or a ConfidenceSet use SimilarCost, Exhaustive or Random"
    )


def first_above(efforts: Array, gap: float) -> Ints:
    """For each of n ascending efforts the position of the first later one that is larger by at least `gap`; n if none."""
    least = efforts + gap - 1e-12 * (np.abs(efforts) + gap)  # a gap that is met up to rounding is met
    return np.maximum(np.searchsorted(efforts, least), np.arange(len(efforts)) + 1)


def best_unasked(scores: Array, sets: Ints, asked: Asked) -> int | None:
    """Position of the lowest finite score whose set was not asked; None if there is none.

    Parameters
    ----------
    scores : (n,); ``inf`` marks a question that must not be shown.
    sets : (n, k) labels, no set twice; so only the ``len(asked) + 1`` lowest scores can matter.
    """
    head = min(len(scores), len(asked) + 1)
    if head == 0:
        return None
    lowest = np.argpartition(scores, head - 1)[:head]
    for i in lowest[np.argsort(scores[lowest], kind="stable")]:
        if np.isfinite(scores[i]) and frozenset(sets[i].tolist()) not in asked:
            return int(i)
    return None

"""What a strategy is given, what it answers, and how it sees options: their efforts, and which of them are the same."""

from __future__ import annotations

import itertools
import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias, cast

import numpy as np

from reap import effort
from reap._arrays import row_keys
from reap._errors import InputError
from reap._typing import Array, Bools, Ints, Seed
from reap.belief import ConfidenceSet, Sampled

if TYPE_CHECKING:
    from reap.belief import Belief

#: Options of a question: ``(N, d)``, one step each, or N arrays of moves ``(s, d)``.
Moves: TypeAlias = Array | Sequence[Array]
#: Two options closer than this, relative to their size, are one option: nobody can tell them apart.
RESOLUTION = 1e-9
#: Numbers gathered at a time: pairs are measured in the cache, whatever their number.
_CHUNK = 1 << 14


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


class Task:
    """What there is to choose from: N options, the cuts ``M_ij = V_iᵀV_i − V_jᵀV_j`` between them, and what `choose` was told.

    One-step options are kept as deviations, so that a cut has rank two and no digit is lost between near
    rows; options of several steps are kept as Gram matrices, flattened.

    Attributes
    ----------
    vectors : (N, d) deviations if `single`, else (N, d²) Gram matrices.
    sizes : (N,) ``‖V_iᵀV_i‖_F²``, which is ``|δ|⁴`` for one step.
    labels : (N,) the first index of an equal option; δ and −δ are equal too, as no answer tells them apart.
    asked : set of frozensets of labels
        Questions that were shown: where (2, 5) was and option 7 equals 5, (2, 7) counts as shown too.

    Examples
    --------
    >>> task = Task(np.array([[1.0, 0.0], [0.0, 1.0], [0.0, -1.0]]), np.eye(2))
    >>> task.efforts(np.diag([1.0, 3.0]))
    array([1., 3., 3.])
    >>> task.labels
    array([0, 1, 1])
    >>> task.distances(np.diag([1.0, 3.0]), np.array([0, 1]), np.array([1, 2])).round(4)
    array([1.4142,    inf])
    """

    def __init__(
        self,
        moves: Moves,
        belief: Belief | Array,
        asked: Iterable[Sequence[int]] = (),
        burden: Array | None = None,
        plans: int | None = None,
        chances: Array | None = None,
        random_state: Seed = 0,
    ) -> None:
        self.moves, self.belief, self.rng = moves, belief, np.random.default_rng(random_state)
        self.single, self.vectors, self.dimension = _stack(moves)
        if not np.isfinite(self.vectors).all():
            raise InputError("the moves contain NaN or infinity; a feature that stays as it is moves by 0")
        # ``einsum`` here and below, not ``reap.effort``: a pair's bound, efforts and cut must round in one way.
        squares = np.einsum("nd,nd->n", self.vectors, self.vectors)
        self.sizes: Array = squares**2 if self.single else squares
        self.labels = _labels(self.vectors, mirrored=self.single)
        self.burden = None if burden is None else np.asarray(burden, dtype=float)
        n = len(self)
        if self.burden is not None and self.burden.shape != (n, n):
            raise InputError(f"burden has shape {self.burden.shape}; {n} options need {(n, n)}")
        self.asked = set[frozenset[int]]()
        for question in map(list, asked):
            if wrong := [i for i in question if not 0 <= i < n]:
                raise InputError(f"an asked question names option {wrong[0]}; there are {n}, counted from 0")
            self.asked.add(frozenset(self.labels[question].tolist()))
        self.plans = n if plans is None else plans
        self.chances = np.ones(self.plans) if chances is None else np.asarray(chances, dtype=float)
        if self.chances.shape != (self.plans,) or not (self.chances > 0).all():
            raise InputError(
                f"chances has shape {self.chances.shape}; give {self.plans} numbers above 0, one a plan"
            )

    def __len__(self) -> int:
        return len(self.vectors)

    def distinct(self, count: int | None = None) -> Ints:
        """One index of every distinct option of the first ``count``, in random order (which is what breaks ties)."""
        count = len(self) if count is None else count
        shuffled = self.rng.permutation(count)
        if np.array_equal(self.labels[:count], np.arange(count)):
            return shuffled
        first = np.unique(self.labels[shuffled], return_index=True)[1]
        kept: Ints = shuffled[np.sort(first)]
        return kept

    def efforts(self, matrix: Array) -> Array:
        """Effort ``⟨A, V_iᵀV_i⟩`` of every option under A (d, d): (N,)."""
        if self.single:
            efforts: Array = np.einsum("nd,nd->n", self.vectors @ matrix, self.vectors)
        else:
            efforts = self.vectors @ matrix.ravel()
        return efforts

    def ascending(self, matrix: Array) -> tuple[Ints, Array]:
        """Distinct options in the order of effort under A (n,), ties at random, and their efforts (n,)."""
        order = self.distinct()
        efforts = self.efforts(matrix)[order]
        sorting = np.argsort(efforts)
        if (np.diff(efforts[sorting]) == 0).any():  # the quick sort may order ties differently elsewhere
            sorting = np.argsort(efforts, kind="stable")
        return order[sorting], efforts[sorting]

    def distances(self, matrix: Array, i: Ints, j: Ints) -> Array:
        """Distance ``|⟨A, M_ij⟩| / ‖M_ij‖_F`` of A to the cut of each pair: (n,), inf for equal options.

        With ``a = δ_i + δ_j`` and ``b = δ_i − δ_j`` a one-step cut is ``⟨A, M⟩ = aᵀAb`` and
        ``‖M‖² = (|a|²|b|² + (a·b)²)/2``, exact to the last digits where the two rows are near.
        """
        scores = np.full(len(i), np.inf)
        chunk = max(1, _CHUNK // self.vectors.shape[1])
        for start in range(0, len(i), chunk):
            part = slice(start, start + chunk)
            gaps, norms = self._cuts(matrix, i[part], j[part])
            different = norms > RESOLUTION * np.sqrt(self.sizes[i[part]] + self.sizes[j[part]])
            np.divide(np.abs(gaps), norms, out=scores[part], where=different)
        return scores

    def _cuts(self, matrix: Array, i: Ints, j: Ints) -> tuple[Array, Array]:
        """``⟨A, M_ij⟩`` and ``‖M_ij‖_F`` of each pair, both (n,)."""
        first, second = self.vectors[i], self.vectors[j]
        if not self.single:
            cuts = first - second
            return cuts @ matrix.ravel(), np.sqrt(np.einsum("nd,nd->n", cuts, cuts))
        a, b = first + second, first - second
        lengths = np.einsum("nd,nd->n", a, a) * np.einsum("nd,nd->n", b, b)
        norms = np.sqrt((lengths + np.einsum("nd,nd->n", a, b) ** 2) / 2)
        return np.einsum("nd,nd->n", a @ matrix, b), norms

    @property
    def matrix(self) -> Array:
        """The effort matrix (d, d) that the belief stands for, checked."""
        known, d = self.belief, self.dimension
        matrix = np.asarray(known if isinstance(known, np.ndarray) else known.estimate(), dtype=float)
        if matrix.shape != (d, d):
            raise InputError(f"the effort matrix has shape {matrix.shape}; these moves need ({d}, {d})")
        if not np.isfinite(matrix).all() or not np.allclose(matrix, matrix.T):
            raise InputError("the effort matrix must be finite and symmetric; give (A + A.T) / 2")
        return matrix

    def rows(self, first: Ints, second: Ints) -> Array:
        """Return in how many features options differ, pair by pair, in the shape of the two together."""
        if self.burden is None:
            return np.zeros(np.broadcast_shapes(first.shape, second.shape))
        return np.asarray(self.burden[first, second])

    def clash(self, questions: Ints) -> Bools:
        """Return which questions (n, k) show two options that must not stand together, (n,)."""
        clash = np.zeros(len(questions), dtype=bool)
        if self.burden is not None:
            for i, j in itertools.combinations(questions.T, 2):
                clash |= np.isinf(self.burden[i, j])
        return clash

    def lowest(self, scores: Array, questions: Ints) -> int | None:
        """Return the place of the lowest finite score (n,) of questions (n, k) that were not asked; None if there is none.

        No question is listed twice; so only the ``len(asked) + 1`` lowest scores can matter.
        """
        head = min(len(scores), len(self.asked) + 1)
        if head == 0:
            return None
        lowest = np.argpartition(scores, head - 1)[:head]
        for i in lowest[np.argsort(scores[lowest], kind="stable")]:
            new = frozenset(self.labels[questions[i]].tolist()) not in self.asked
            if np.isfinite(scores[i]) and new:
                return int(i)
        return None


class Strategy(ABC):
    """Says which options to show next: a subclass answers ``best``.

    A strategy never repeats a question (a set of options in ``asked``, in any order), never shows two
    options that are the same change, and breaks ties by ``random_state``: same input, same question.

    Examples
    --------
    >>> import numpy as np
    >>> class First(Strategy):
    ...     def best(self, task):
    ...         return None if task.asked else Choice((0, 1), score=0.0, examined=1)
    >>> First().choose(np.eye(2), np.eye(2)).options
    (0, 1)
    """

    def choose(
        self,
        moves: Moves,
        belief: Belief | Array,
        asked: Iterable[Sequence[int]] = (),
        burden: Array | None = None,
        *,
        plans: int | None = None,
        chances: Array | None = None,
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
        plans : int, optional
            How many of the options, the first ones, could be recommended; the others, parts of plans, are only asked
            about. By default all of them.
        chances : array (plans,), optional
            How likely each plan is to lead to a yes: a recommendation keeps effort ÷ chance low. By default 1.
        random_state : int or Generator
            Breaks ties.
        """
        task = Task(moves, belief, asked, burden, plans, chances, random_state)
        return self.best(task) if len(task) > 1 else None

    @abstractmethod
    def best(self, task: Task) -> Choice | None:
        """Return the best question there is to ask, or None."""


def _stack(moves: Moves) -> tuple[bool, Array, int]:
    """Whether all options are one step, their deviations or Gram matrices (N, ·), and d."""
    if isinstance(moves, np.ndarray) and moves.ndim == 2:
        return True, moves.astype(float, copy=False), moves.shape[1]
    plans = [np.atleast_2d(np.asarray(plan, dtype=float)) for plan in moves]
    if not plans:
        return True, np.empty((0, 0)), 0
    d = plans[0].shape[-1]
    if any(plan.ndim != 2 or plan.shape[1] != d for plan in plans):
        shapes = ", ".join(str(plan.shape) for plan in plans[:5])
        raise InputError(
            f"the options' moves have shapes {shapes}; give (s, {d}) each, or all of them as (N, d)"
        )
    if all(len(plan) == 1 for plan in plans):
        return True, np.vstack(plans), d
    return False, effort.grams(plans).reshape(len(plans), d * d), d


def _labels(vectors: Array, *, mirrored: bool) -> Ints:
    """Label equal rows (n,) by the first of them; with `mirrored` also rows that differ by their sign."""
    rows = vectors / max(
        np.abs(vectors).max(initial=0.0), np.finfo(float).tiny
    )  # of 1 at most, and keys know 1e-9
    if mirrored and rows.size:
        lead = np.argmax(np.abs(rows) > RESOLUTION, axis=1)
        rows = rows * np.where(rows[np.arange(len(rows)), lead] < 0, -1.0, 1.0)[:, None]
    _, first, inverse = np.unique(row_keys(rows), return_index=True, return_inverse=True)
    return first[inverse]


def first_above(efforts: Array, gap: float) -> Ints:
    """For each of n ascending efforts the position of the first later one that is larger by at least `gap`; n if none."""
    least = efforts + gap - 1e-12 * (np.abs(efforts) + gap)  # a gap that is met up to rounding is met
    return np.maximum(np.searchsorted(efforts, least), np.arange(len(efforts)) + 1)


def check_number(name: str, value: float, least: float) -> None:
    """Refuse a parameter under `least` (or not a finite number)."""
    if not (math.isfinite(value) and value >= least):
        raise InputError(f"{name} is {value}; give a number of at least {least:g}")


def check_options(options: int) -> None:
    """Refuse a number of options that makes no question."""
    if options != int(options) or options < 2:
        raise InputError(f"options is {options}; a question shows a whole number of options, at least 2")


def samples_of(belief: Belief | Array, who: str) -> Sampled:
    """Return the belief as one with samples; an error names the strategies for a matrix and for a confidence set."""
    if isinstance(belief, np.ndarray | ConfidenceSet):
        raise InputError(
            f"{who} needs a belief with samples, such as Posterior, and was given {type(belief).__name__}; "
            "with a matrix or a ConfidenceSet use SimilarCost, Exhaustive or Random"
        )
    return cast("Sampled", belief)

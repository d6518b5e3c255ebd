"""Options as the strategies see them: efforts, distances of cuts, and which of them are the same."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import TypeAlias

import numpy as np

from reap import effort
from reap._errors import InputError
from reap._typing import Array, Ints
from reap.questions.strategy import Moves

#: Questions already asked, each as the labels of its options.
Asked: TypeAlias = set[frozenset[int]]
#: Two options closer than this, relative to their size, are one option: nobody can tell them apart.
RESOLUTION = 1e-9
#: Numbers gathered at a time: pairs are weighed in the cache, whatever their number.
_CHUNK = 1 << 14


class Options:
    """N options and the cuts ``M_ij = V_iᵀV_i − V_jᵀV_j`` between them.

    One-step options are kept as deviations, so that a cut has rank two and no digit is lost between near
    rows; options of several steps are kept as Gram matrices, flattened.

    Parameters
    ----------
    moves : array (N, d), or a list of N arrays (d,) or (s, d)

    Attributes
    ----------
    vectors : (N, d) deviations if `single`, else (N, d²) Gram matrices.
    sizes : (N,) ``‖V_iᵀV_i‖_F²``, which is ``|δ|⁴`` for one step.
    labels : (N,) the first index of an equal option; δ and −δ are equal too, as no answer tells them apart.

    Examples
    --------
    >>> options = Options(np.array([[1.0, 0.0], [0.0, 1.0], [0.0, -1.0]]))
    >>> options.efforts(np.diag([1.0, 3.0]))
    array([1., 3., 3.])
    >>> options.labels
    array([0, 1, 1])
    >>> options.distances(np.diag([1.0, 3.0]), np.array([0, 1]), np.array([1, 2])).round(4)
    array([1.4142,    inf])
    """

    def __init__(self, moves: Moves) -> None:
        self.moves: Moves = moves
        self.single, vectors, self.dimension = _stack(moves)
        if not np.isfinite(vectors).all():
            raise InputError("the moves contain NaN or infinity; a feature that stays as it is moves by 0")
        self.vectors: Array = vectors
        # ``einsum`` here and below, not ``reap.effort``: a pair's bound, efforts and cut must round in one way.
        squares = np.einsum("nd,nd->n", vectors, vectors)
        self.sizes: Array = squares**2 if self.single else squares
        self.labels: Ints = _labels(vectors, mirrored=self.single)

    def __len__(self) -> int:
        return len(self.vectors)

    def distinct(self, rng: np.random.Generator, count: int | None = None) -> Ints:
        """One index of every distinct option of the first ``count``, in random order (which is what breaks ties)."""
        count = len(self) if count is None else count
        shuffled = rng.permutation(count)
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

    def ascending(self, matrix: Array, rng: np.random.Generator) -> tuple[Ints, Array]:
        """Distinct options in the order of effort under A (n,), ties at random, and their efforts (n,)."""
        order = self.distinct(rng)
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

    def asked(self, asked: Iterable[Sequence[int]]) -> Asked:
        """Return the asked questions as sets of labels.

        Equal options share a label: where (2, 5) was asked and option 7 equals 5, (2, 7) counts as asked too.
        """
        sets: Asked = set()
        for question in asked:
            for index in question:
                if not 0 <= index < len(self):
                    raise InputError(
                        f"an asked question names option {index}; there are {len(self)}, counted from 0"
                    )
            sets.add(frozenset(self.labels[list(question)].tolist()))
        return sets


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
    labels = np.arange(len(vectors))
    largest = np.abs(vectors).max(initial=0.0)
    if largest == 0.0:
        return np.zeros_like(labels)
    # Equal rows are neighbours in every projection: only those few need comparing in full.
    direction = _direction(vectors.shape[1])
    shadow = vectors @ direction
    shadow = np.abs(shadow) if mirrored else shadow
    order = np.argsort(shadow)
    near = np.diff(shadow[order]) <= 2 * RESOLUTION * largest * np.abs(direction).sum()
    twins = np.sort(order[np.append(near, False) | np.append(False, near)])
    if twins.size:
        rows = vectors[twins] / (RESOLUTION * largest)
        if mirrored:
            lead = np.argmax(np.abs(rows) > 1, axis=1)
            rows *= np.where(rows[np.arange(len(rows)), lead] < 0, -1.0, 1.0)[:, None]
        # The odd offset keeps round numbers away from the edges of the cells.
        cells = np.floor(rows + 0.381966)
        _, first, inverse = np.unique(cells, axis=0, return_index=True, return_inverse=True)
        labels[twins] = twins[first][inverse.ravel()]
    return labels


@lru_cache(maxsize=8)
def _direction(dimension: int) -> Array:
    """Return a vector (d,) that stands askew to everything; always the same."""
    return np.random.default_rng(0).normal(size=dimension)


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

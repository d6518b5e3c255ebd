"""What a person may answer, what every belief learns from it, and how likely an answer is, given efforts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, Self, TypeAlias, runtime_checkable

import numpy as np
from scipy.special import expit

from reap._errors import InputError
from reap._typing import Array, Ints, Seed
from reap.effort import Efforts

#: One option: ``(d,)`` for one step, ``(s, d)`` for a plan of s steps.
Moves: TypeAlias = Array
#: The options that were not chosen: one, or a list of them.
Others: TypeAlias = Array | Sequence[Array]

#: "Same" is said where the largest and the least effort differ by about this share of their mean, or less.
SAME = 0.1
#: A few kinds of people, for what need not tell every single one apart: sharpness and lapse, each of the same share.
KINDS = ((30.0, 0.02), (8.0, 0.05), (2.0, 0.2))
#: Changes that are no further apart are the same.
_ALIKE = 1e-9
_TINY = 1e-300


@dataclass(frozen=True)
class Answer:
    """One answer: "preferred" (the first option, over each of the others) or "same", and the options' moves."""

    kind: Literal["preferred", "same"]
    options: tuple[Array, ...]


class Belief(Protocol):
    """What the answers so far say about the effort matrix ``A`` (d, d).

    Strategies and engines ask a belief these questions only, so a new one plugs in by answering them.
    """

    @property
    def dimension(self) -> int:
        """Number of encoded columns d."""
        ...

    def update(self, chosen: Moves, others: Others) -> None:
        """Learn that `chosen` asks no more effort than each of `others`."""
        ...

    def update_same(self, options: Sequence[Moves]) -> None:
        """Learn that the options ask about the same effort."""
        ...

    def estimate(self) -> Array:
        """One matrix (d, d) to plan with."""
        ...

    def copy(self) -> Self:
        """Return an independent copy."""
        ...


@runtime_checkable
class Sampled(Belief, Protocol):
    """A belief made of n people who may be the one who answers, some more likely than others, such as `reap.Posterior`.

    Whoever asks such a belief weighs what single people say by ``weights``, and never takes a plain mean.
    """

    @property
    def weights(self) -> Array:
        """How likely the person is each of the n people, (n,), of sum 1."""
        ...

    def sample(self, n: int, random_state: Seed | None = None) -> Efforts | Array:
        """Draw people by their weights: `Efforts`, or the matrices (n, d, d) of people who differ in nothing else."""
        ...

    def efforts(self, options: Sequence[Moves] | Array) -> Array:
        """Return what each of m options asks of each of the n people, (n, m)."""
        ...

    def expected(self, options: Sequence[Moves] | Array) -> Array:
        """Return the expected effort of each of m options, (m,), as well as the belief knows it."""
        ...

    def answer_probabilities(
        self, efforts: Array, people: Ints | None = None, *, slips: bool = True
    ) -> Array:
        """Return how likely each person is to choose each option of q questions with k options, (s, q, k), of sum 1 over k.

        Parameters
        ----------
        efforts : (s, q, k) array
            What the options ask of each of s people.
        people : (s,) positions, optional
            Which of the n people they are; by default all of them, in their order.
        slips : bool
            Whether answers by mistake are counted; without them every answer is meant as it is given.
        """
        ...


def as_moves(moves: object, dimension: int, what: str = "an option") -> Array:
    """Return a copy of the moves as a float array (s, d), or say what is wrong with them.

    Examples
    --------
    >>> as_moves([1, 2], 2)
    array([[1., 2.]])
    """
    try:
        rows = np.atleast_2d(np.array(moves, dtype=np.float64))
    except (TypeError, ValueError):
        raise InputError(f"{what} must be numbers of shape ({dimension},) or (steps, {dimension})") from None
    if rows.ndim != 2 or rows.shape[1] != dimension or rows.shape[0] == 0:
        raise InputError(
            f"{what} has shape {rows.shape}; give moves of shape ({dimension},) or (steps, {dimension})"
        )
    if not np.isfinite(rows).all():
        raise InputError(f"{what} has values that are not finite; use 0 where a feature does not move")
    return rows


def stacked(options: Sequence[Array] | Array, dimension: int) -> tuple[Array, Ints]:
    """Return the moves (r, d) of m options one below the other, and where each begins (m,)."""
    if isinstance(options, np.ndarray) and options.shape[1:] == (dimension,) and len(options):
        rows = as_moves(options, dimension)
        return rows, np.arange(len(rows))
    each = [as_moves(option, dimension) for option in options]
    lengths = [len(rows) for rows in each]
    rows = np.concatenate(each) if each else np.empty((0, dimension))
    return rows, np.cumsum([0, *lengths[:-1]]) if each else np.empty(0, dtype=np.intp)


def as_seen(options: Sequence[Array], features: Ints) -> list[Array]:
    """Return the changes `(1, d)` of options in the features that a question shows as different; empty where that is all.

    Who reads "both options include this" may compare the rest alone. What a change adds to another, `A_ij`, is then not
    weighed, nor what comes by itself and has no row.

    Parameters
    ----------
    options : sequence of (s, d) arrays
        Moves of the options.
    features : (d,)
        The feature of each column; −1 where it has no row of its own. One of several columns differs where one of these does.

    Examples
    --------
    >>> [V.tolist() for V in as_seen([np.array([[1.0, 2.0]]), np.array([[1.0, 0.0]])], np.arange(2))]
    [[[0.0, 2.0]], [[0.0, 0.0]]]
    >>> as_seen([np.array([[1.0, 0.0]]), np.array([[0.0, 1.0]])], np.arange(2))
    []
    """
    ends = np.stack([option.sum(axis=0) for option in options])
    differ = (np.abs(ends - ends[0]) > _ALIKE).any(axis=0)
    rows = np.isin(features, features[differ & (features >= 0)])
    return [np.where(rows, end, 0.0)[None] for end in ends] if ends[:, ~rows].any() else []


def chances(efforts: Array, sizes: Array, sharpness: Array, lapse: Array) -> Array:
    """Return how likely each of k options is to be chosen, (…, k).

    ``P(i) = η/k + (1−η) softmax_i(−κ e_i/ē)``: what counts is effort relative to ē, the mean size of what is shown.

    Parameters
    ----------
    efforts, sizes : (…, k)
        e, and the same with what is welcome counted as if it were not.
    sharpness, lapse : (…)
        κ and η of who answers.

    Examples
    --------
    >>> efforts = np.array([1.0, 1.5])
    >>> chances(efforts, efforts, np.array(8.0), np.array(0.1)).round(3).tolist()
    [0.915, 0.085]
    """
    k = efforts.shape[-1]
    slope = sharpness / np.maximum(sizes.mean(axis=-1), _TINY)
    if k == 2:
        first = expit(slope * (efforts[..., 1] - efforts[..., 0]))
        attentive = np.stack([first, 1 - first], axis=-1)
    else:
        powers = np.exp(-slope[..., None] * (efforts - efforts.min(axis=-1, keepdims=True)))
        attentive = powers / powers.sum(axis=-1, keepdims=True)
    return np.asarray((lapse / k)[..., None] + (1 - lapse)[..., None] * attentive)


def same_chance(efforts: Array, sizes: Array, sharpness: Array, lapse: Array) -> Array:
    """Return how well "same" fits efforts (n, k) of k options, for each of n people (n,).

    ``η/k + (1−η) [σ(κ(x+τ)) − σ(κ(x−τ))]`` with ``x = (max e − min e)/ē`` and τ = .1: two thresholds on the scale of choices.
    """
    x = (efforts.max(axis=-1) - efforts.min(axis=-1)) / np.maximum(sizes.mean(axis=-1), _TINY)
    within = expit(sharpness * (x + SAME)) - expit(sharpness * (x - SAME))
    return np.asarray(lapse / efforts.shape[-1] + (1 - lapse) * within)


def by_kinds(efforts: Array, kinds: Sequence[tuple[float, float]] = KINDS) -> Array:
    """Return how likely each of k options with efforts (…, k) is to be chosen, over kinds of people of the same share.

    Examples
    --------
    >>> by_kinds(np.ones(4)).tolist()
    [0.25, 0.25, 0.25, 0.25]
    """
    each = [chances(efforts, efforts, *map(np.asarray, kind)) for kind in kinds]
    return np.asarray(np.mean(each, axis=0))


def check_answering(lapse: float | None, sharpness: float | None) -> None:
    """Refuse a lapse or a sharpness that nobody can have."""
    if lapse is not None and not 0 <= lapse <= 1:
        raise InputError(f"lapse is {lapse}; it is a share of answers, from 0 to 1.")
    if sharpness is not None and not 0 < sharpness < np.inf:
        raise InputError(f"sharpness is {sharpness}; it must be a positive, finite number.")

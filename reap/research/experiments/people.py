"""The people of the experiments: the k-th of each kind is the same for every method and subject."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from reap import effort
from reap._errors import InputError
from reap._typing import Array
from reap.research import costs
from reap.research.humans import Minding, Reader, counted
from reap.research.subjects import L1, Mahalanobis, Person
from reap.space import ActionSpace

#: Kinds of people: how their effort is drawn, then what they mind besides, then how they read. The last two are Gaussian.
MINDING = ("counting", "waiting")
READING = ("tiring", "narrow", "settling")
KINDS = ("gaussian", "uniform", "rank-one", "diagonal", "lqr", "scm", "l1", *MINDING, *READING)
#: What an action more, or waiting for half the horizon, is to those who mind it, in efforts of a usual plan.
MUCH = 2.0


@dataclass(frozen=True, eq=False)
class Place:
    """Where a simulated person stands: what those need who mind the number of changes, or read like people.

    Parameters
    ----------
    space : ActionSpace
    start : (d,)
    usual : (d,)
        The change of the plan for everybody.
    """

    space: ActionSpace
    start: Array
    usual: Array


def matrix(kind: str, dimension: int, k: int, seed: int) -> Array:
    """Return the k-th effort matrix (d, d) of a kind; the same whatever else is run. Closer people are Gaussian.

    Examples
    --------
    >>> np.linalg.eigvalsh(matrix("gaussian", 3, 0, 0))[-1].round(9)
    np.float64(1.0)
    """
    drawn = "gaussian" if kind in (*MINDING, *READING) else kind
    return costs.draw(dimension, _stream(kind, k, seed), drawn)


def matrices(kind: str, dimension: int, count: int, seed: int) -> Array:
    """Return the first effort matrices of a kind, (count, d, d)."""
    return np.stack([matrix(kind, dimension, k, seed) for k in range(count)])


def person(
    kind: str,
    dimension: int,
    k: int,
    seed: int,
    *,
    lapse: float = 0.0,
    subject: int = 0,
    place: Place | None = None,
) -> Person:
    """Return the k-th person of a kind, in the place of a subject; lapses have a stream of their own."""
    answers = np.random.default_rng([seed, k, subject, 7])
    if kind == "l1":
        weights = _stream(kind, k, seed).random(dimension)
        return L1(weights, lapse=lapse, random_state=answers)
    A = matrix(kind, dimension, k, seed)
    if kind in READING and place is not None:
        return Reader(A, space=place.space, reading=kind, lapse=lapse, random_state=answers)  # type: ignore[arg-type]
    if kind in MINDING and place is not None:
        much = MUCH * effort.of_moves(A, place.usual)
        actions, _ = counted(place.space, place.start, place.usual)
        minds = {"changes": much / max(actions, 1)} if kind == "counting" else {"waiting": 4 * much}
        who = {"space": place.space, "start": place.start, "lapse": lapse, "random_state": answers}
        return Minding(A, **who, **minds)  # type: ignore[arg-type]
    if kind in (*MINDING, *READING):
        raise InputError(f"people who are {kind} need a place to stand; give place=…")
    return Mahalanobis(A, lapse=lapse, random_state=answers)


def _stream(kind: str, k: int, seed: int) -> np.random.Generator:
    return np.random.default_rng([seed, k, KINDS.index(kind)])

"""The people of the experiments, and the best plan of somebody whose effort is known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from reap import effort
from reap._errors import InputError
from reap._typing import Array
from reap.recourse import Engine
from reap.research import costs
from reap.research.humans import Minding, QuestionReader, counted
from reap.research.subjects import L1, Curved, Mahalanobis, Person
from reap.space import ActionSpace, Limits

#: Kinds of people: how their effort is drawn, then what they mind besides, then how they read. Those who mind or read are
#: Gaussian. Last, people as they answered in studies.
MINDING = ("counting", "waiting")
READING = ("tiring", "narrow", "settling")
ANSWERED = "answered"
KINDS = ("gaussian", "uniform", "rank-one", "diagonal", "lqr", "scm", "l1", *MINDING, *READING, ANSWERED)
#: What an action more, or waiting for half the horizon, is to those who mind it, in efforts of a usual plan.
MUCH = 2.0
#: Shares of the horizon within which plans are looked for, for somebody who minds waiting.
_SHARES = (0.0, 0.125, 0.25, 0.5)


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

    @classmethod
    def of(cls, engine: Engine, x: Any) -> Place:
        """Return the place of a subject."""
        plan = engine.plans(x, effort.identity(engine.space.dimension))[0]
        start = engine.space.vector(x)
        return cls(engine.space, start, effort.changes(plan.path[-1], start))


def matrix(kind: str, dimension: int, k: int, seed: int) -> Array:
    """Return the k-th effort matrix (d, d) of a kind; the same whatever else is run. Closer people are Gaussian.

    Examples
    --------
    >>> np.linalg.eigvalsh(matrix("gaussian", 3, 0, 0))[-1].round(9)
    np.float64(1.0)
    """
    return costs.draw(dimension, _stream(kind, k, seed), "gaussian" if kind in (*MINDING, *READING) else kind)


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
    if kind == ANSWERED:  # they have slips of their own
        return Curved.as_people_answered(dimension, _stream(kind, k, seed))
    said: dict[str, Any] = {"lapse": lapse, "random_state": np.random.default_rng([seed, k, subject, 7])}
    if kind == "l1":
        return L1(_stream(kind, k, seed).random(dimension), **said)
    A = matrix(kind, dimension, k, seed)
    if kind not in (*MINDING, *READING):
        return Mahalanobis(A, **said)
    if place is None:
        raise InputError(f"people who are {kind} need a place to stand; give place=…")
    if kind in READING:
        return QuestionReader(A, space=place.space, reading=kind, **said)  # type: ignore[arg-type]
    much = MUCH * effort.of_moves(A, place.usual)
    actions, _ = counted(place.space, place.start, place.usual)
    minds: dict[str, Any] = (
        {"changes": much / max(actions, 1)} if kind == "counting" else {"waiting": 4 * much}
    )
    return Minding(A, space=place.space, start=place.start, **said, **minds)


def _stream(kind: str, k: int, seed: int) -> np.random.Generator:
    return np.random.default_rng([seed, k, KINDS.index(kind)])


# the best plan --------------------------------------------------------------------------------------------------


def oracles(engine: Engine, x: Any, persons: Sequence[Person]) -> list[float]:
    """Return, for each person in the place of a subject, the effort of the engine's plan for their true effort.

    Somebody who minds the number of changes, or waiting, also gets the best of plans with fewer changes, or ready sooner.
    An L1 person's `Σ w|v|` is the effort of ``diag(w)`` with curvature ½.
    """
    d = engine.space.dimension
    best = np.full(len(persons), np.inf)
    matrices = np.stack([_matrix(person, d) for person in persons])
    powers = [_power(person) for person in persons]
    minding = any(isinstance(person, Minding) for person in persons)
    within: list[Limits | None] = [None]
    for limits in within + (_tighter(engine.space) if minding else []):
        for k, plan in enumerate(engine.plans(x, effort.Efforts.of(matrices, powers), limits)):
            if plan.status == "ok":
                best[k] = min(best[k], persons[k].effort(plan.moves))
    return best.tolist()


def _tighter(space: ActionSpace) -> list[Limits]:
    """Return limits under which the easiest plan may be the best for somebody who minds changes, or waiting."""
    soon = {max(1, round(space.horizon * share)) for share in _SHARES} if space.timed else ()
    return [*(Limits(max_changes=k) for k in (1, 2)), *(Limits(within_months=m) for m in sorted(soon))]


def _power(person: Person) -> float:
    """Return the curvature p of a person's effort."""
    return person.power if isinstance(person, Curved) else 0.5 if isinstance(person, L1) else 1.0


def _matrix(person: Person, dimension: int) -> Array:
    """Return the matrix (d, d) of a person's effort; of those without one their weights."""
    if isinstance(person, Mahalanobis):
        return person.matrix
    if isinstance(person, Curved):
        return np.diag(person.weights)
    assert isinstance(person, L1)
    return np.diag(np.ones(dimension) if person.weights is None else person.weights)

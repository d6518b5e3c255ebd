"""The engine's plan for somebody whose effort is known: the oracle, but for plans that others found."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from reap._typing import Array
from reap.recourse import Engine
from reap.research.humans import Minding
from reap.research.subjects import L1, Mahalanobis, Person
from reap.space import ActionSpace, Limits

#: Rounds of the search for an L1 person's plan, and the change below which a column counts as this far.
_ROUNDS, _LEAST = 6, 1e-3
#: Shares of the horizon within which plans are looked for, for somebody who minds waiting.
_SHARES = (0.0, 0.125, 0.25, 0.5)


def oracles(engine: Engine, x: Any, persons: Sequence[Person]) -> list[float]:
    """Return, for each person in the place of a subject, the effort of the engine's plan for their true effort.

    Somebody who minds the number of changes, or waiting, also gets the best of plans with fewer changes, or ready sooner.
    For an L1 person the engine is asked again and again: `Σ w|v| ≤ ½ Σ w(v²/u + u)` for every u > 0, with equality at
    `u = |v|`. So the plan for `A = diag(w/u)`, u the change of the plan before, is no harder than that plan.
    """
    d = engine.space.dimension
    best = np.full(len(persons), np.inf)
    matrices = np.stack([_first(person, d) for person in persons])
    for _ in range(_ROUNDS if any(isinstance(person, L1) for person in persons) else 1):
        for k, plan in enumerate(engine.plans(x, matrices)):
            if plan.status != "ok":
                continue
            best[k] = min(best[k], persons[k].effort(plan.moves))
            if isinstance(persons[k], L1):
                far = np.maximum(np.abs(plan.moves).sum(axis=0), _LEAST)
                matrices[k] = np.diag(np.diag(_first(persons[k], d)) / far)
    if any(isinstance(person, Minding) for person in persons):
        for limits in _tighter(engine.space):
            for k, plan in enumerate(engine.plans(x, matrices, limits)):
                if plan.status == "ok":
                    best[k] = min(best[k], persons[k].effort(plan.moves))
    return best.tolist()


def _tighter(space: ActionSpace) -> list[Limits]:
    """Return limits under which the easiest plan may be the best for somebody who minds changes, or waiting."""
    few = [Limits(max_changes=k) for k in (1, 2)]
    if not space.timed:
        return few
    soon = sorted({max(1, round(space.horizon * share)) for share in _SHARES})
    return [*few, *(Limits(within_months=m) for m in soon)]


def _first(person: Person, dimension: int) -> Array:
    if isinstance(person, Mahalanobis):
        return person.matrix
    assert isinstance(person, L1)
    return np.diag(np.ones(dimension) if person.weights is None else person.weights)

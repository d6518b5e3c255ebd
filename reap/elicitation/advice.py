"""What a dialogue ends in: the plan for what is known of the person, and what to relax where there is none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from reap._typing import Array
from reap.belief import ConfidenceSet
from reap.elicitation.answers import Answer, teach
from reap.elicitation.pool import Pool
from reap.elicitation.protocols import Engine
from reap.plan import Confidence, Plan
from reap.space import Limits

#: A plan counts as best while no other is easier by more than this.
WITHIN = 0.05


def best_expected(engine: Engine, x: Any, belief: Any, pool: Pool, limits: Limits) -> Plan:
    """Return the cheapest plan at the belief's estimate, with how sure we are of it.

    Effort is linear in A, so the plan that is cheapest at the (relatively weighted) mean has the least expected
    (relative) effort; the plans known already compete with the one the engine finds for it.
    """
    A = belief.estimate(pool.moves)
    found = engine.plans(x, A[None], limits)[0]
    new = [found] if found.status == "ok" and found.valid else []
    known: list[Plan] = [*pool, *new]
    moves = [*pool.moves, *(plan.moves for plan in new)]
    efforts = [float(np.einsum("si,ij,sj->", steps, A, steps)) for steps in moves]
    best = int(np.argmin(efforts))
    confidence = Confidence(
        within=float(belief.probability_best(moves, tolerance=WITHIN)[best]),
        excess=float(belief.expected_excess(moves)[best]),
    )
    return known[best].with_(confidence=confidence, cost=efforts[best])


def consistent(belief: Any, answers: Sequence[Answer], tolerance: float) -> Any:
    """Return a confidence set without the answers that the tolerance leaves aside as contradictory."""
    allowed = int(np.floor(tolerance * len(answers)))
    if not isinstance(belief, ConfidenceSet) or allowed == 0:
        return belief
    dropped = set(belief.relaxed_center(violations=allowed).dropped)
    kept = [answer for i, answer in enumerate(answers) if i not in dropped]
    return teach(ConfidenceSet(belief.dimension, epsilon=belief.epsilon), kept)


def center(belief: Any, kind: Any) -> Array:
    """Return the matrix (d, d) that stands for a belief: the centre of a confidence set, or the estimate."""
    return np.asarray(belief.center(kind).matrix if isinstance(belief, ConfidenceSet) else belief.estimate())


def relaxations(engine: Engine, x: Any, limits: Limits) -> list[str]:
    """Return the limits, each of which alone would have to go for a plan to exist."""
    A = np.eye(engine.space.dimension)[None]
    return [name for name in limits.names if engine.plans(x, A, limits.without(name))[0].status == "ok"]


def with_advice(plan: Plan, engine: Engine, x: Any, limits: Limits) -> Plan:
    """Return a plan that could not be made, with the limits that would have to go."""
    if plan.status in ("ok", "already_accepted"):
        return plan
    labels = [
        "number of changes" if name == "max_changes" else engine.space.feature(name).label
        for name in relaxations(engine, x, limits)
    ]
    if not labels:
        return plan
    named = " or ".join(f"“{label}”" for label in labels)
    return plan.with_(note=f"{plan.note} Without your limit on {named} there is a plan.".strip())

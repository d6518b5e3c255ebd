"""What a session ends in: the plan for what is known of the person."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from reap._typing import Array
from reap.belief import ConfidenceSet
from reap.effort import of_moves
from reap.elicitation.answers import Answer, teach
from reap.elicitation.pool import Pool
from reap.plan import Confidence, Plan
from reap.recourse import Engine
from reap.space import Limits

#: A plan counts as best while no other is easier by more than this.
WITHIN = 0.05


def best_expected(engine: Engine, x: Any, belief: Any, pool: Pool, limits: Limits) -> Plan:
    """Return the cheapest plan at the belief's estimate, with how sure we are of it.

    Effort is linear in A, so the plan that is cheapest at the mean has the least expected effort; the plans known
    already compete with the one the engine finds for it.
    """
    A = belief.estimate()
    found = engine.plans(x, A[None], limits)[0]
    new = [found] if found.status == "ok" and found.valid else []
    known: list[Plan] = [*pool, *new]
    moves = [*pool.moves, *(plan.moves for plan in new)]
    efforts = [of_moves(A, V) for V in moves]
    best = int(np.argmin(efforts))
    confidence = Confidence(
        within=float(belief.probability_best(moves, tolerance=WITHIN)[best]),
        excess=float(belief.expected_excess(moves)[best]),
    )
    return known[best].with_(confidence=confidence, effort=efforts[best])


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

"""What a session ends in: the plan for what is known of the person."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Protocol, runtime_checkable

import numpy as np

from reap._typing import Array, Frame, Seed
from reap.belief import Belief, ConfidenceSet
from reap.effort import of_moves
from reap.elicitation.answers import Answer, teach
from reap.elicitation.pool import Pool
from reap.plan import Confidence, Plan
from reap.recourse import Engine
from reap.space import Limits

Center = Literal["published", "chebyshev", "analytic"]
#: A plan counts as best while no other is easier by more than this.
WITHIN = 0.05


@runtime_checkable
class Sampled(Belief, Protocol):
    """A belief that can be asked which plans may still be best, such as ``reap.Posterior``; a confidence set cannot."""

    def sample(self, n: int, random_state: Seed | None = None) -> Array:
        """Draw n matrices (n, d, d)."""

    def probability_best(self, options: Sequence[Array], tolerance: float = 0.0) -> Array:
        """Return for each option the probability that no other is easier by more than the tolerance."""

    def expected_excess(self, options: Sequence[Array]) -> Array:
        """Return for each option its expected extra effort, relative to the best."""


def best_expected(engine: Engine, x: Frame, belief: Sampled, known: Pool, limits: Limits) -> Plan:
    """Return the plan of least effort at the belief's estimate, with how sure we are of it.

    Effort is linear in A, so the plan that is easiest at the mean has the least expected effort; the plans known
    already compete with the one the engine finds for it.
    """
    A = belief.estimate()
    pool = known
    efforts = [of_moves(A, V) for V in pool.moves]
    best = int(np.argmin(efforts))
    confidence = Confidence(
        within=float(belief.probability_best(pool.moves, tolerance=WITHIN)[best]),
        excess=float(belief.expected_excess(pool.moves)[best]),
    )
    return pool[best].with_(confidence=confidence, effort=efforts[best])


def consistent(belief: Belief, answers: Sequence[Answer], tolerance: float) -> Belief:
    """Return a confidence set without the answers that the tolerance leaves aside as contradictory."""
    allowed = int(np.floor(tolerance * len(answers)))
    if not isinstance(belief, ConfidenceSet) or allowed == 0:
        return belief
    dropped = set(belief.relaxed_center(violations=allowed).dropped)
    kept = [answer for i, answer in enumerate(answers) if i not in dropped]
    return teach(ConfidenceSet(belief.dimension, epsilon=belief.epsilon), kept)


def center(belief: Belief, kind: Center) -> Array:
    """Return the matrix (d, d) that stands for a belief: the centre of a confidence set, or the estimate."""
    return np.asarray(belief.center(kind).matrix if isinstance(belief, ConfidenceSet) else belief.estimate())

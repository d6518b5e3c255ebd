"""What a session ends in: the plan for what is known of the person."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, Protocol, runtime_checkable

import numpy as np

from reap._typing import Array, Ints, Seed
from reap.belief import Belief, ConfidenceSet
from reap.effort import of_moves
from reap.elicitation.answers import Answer, teach
from reap.elicitation.pool import Pool
from reap.elicitation.verdicts import Verdicts
from reap.language import _, listed
from reap.plan import Confidence, Plan
from reap.space.words import lowered

Center = Literal["published", "chebyshev", "analytic"]
#: A plan counts as best while no other is easier by more than this.
WITHIN = 0.05
#: Other plans to choose from ask for at most this many times the effort of the best one.
AFFORDABLE = 2.0


@runtime_checkable
class Sampled(Belief, Protocol):
    """A belief that can be asked which plans may still be best, such as ``reap.Posterior``; a confidence set cannot."""

    def sample(self, n: int, random_state: Seed | None = None) -> Array:
        """Draw n matrices (n, d, d)."""

    def probability_best(self, options: Sequence[Array], tolerance: float = 0.0) -> Array:
        """Return for each option the probability that no other is easier by more than the tolerance."""

    def expected_excess(self, options: Sequence[Array]) -> Array:
        """Return for each option its expected extra effort, relative to the best."""


def worth_recommending(pool: Pool, verdicts: Verdicts) -> Ints:
    """Return the places (n,) of the plans neither set aside nor beaten; where none is left, not set aside; then all."""
    every = np.ones(len(pool), dtype=bool)
    open_ = ~verdicts.aside(pool.plans)
    for kept in (open_ & ~verdicts.beaten(pool.plans), open_, every):
        if kept.any():
            return np.flatnonzero(kept)
    return np.flatnonzero(every)


def best_expected(belief: Sampled, pool: Pool, verdicts: Verdicts) -> Plan:
    """Return the plan of least effort at the belief's estimate, with how sure we are of it.

    Effort is linear in A, so the plan that is easiest at the mean has the least expected effort. A plan that was set
    aside is not looked at; one that was beaten is not recommended, but another may be compared with it.
    """
    A = belief.estimate()
    efforts = np.array([of_moves(A, V) for V in pool.moves])
    worth = worth_recommending(pool, verdicts)
    best = int(worth[np.argmin(efforts[worth])])
    others = np.flatnonzero(~verdicts.aside(pool.plans) | np.isin(np.arange(len(pool)), worth))
    moves = [pool.moves[i] for i in others]
    place = int(np.searchsorted(others, best))
    confidence = Confidence(
        within=float(belief.probability_best(moves, tolerance=WITHIN)[place]),
        excess=float(belief.expected_excess(moves)[place]),
    )
    return pool[best].with_(confidence=confidence, effort=float(efforts[best]))


def different(best: Plan, others: Sequence[Plan], price: Callable[[Plan], float], count: int) -> list[Plan]:
    """Return a plan and up to ``count − 1`` clearly different ones, each with what could not be met in its note.

    In turn the plan that shares fewest features with those before it, then the easiest by ``price``, of those within
    ``AFFORDABLE`` times the effort of the first; a plan that changes the same features as one before it is not different.
    """
    chosen, limit = [best], AFFORDABLE * price(best)
    efforts = {id(plan): price(plan) for plan in others}
    while len(chosen) < count:
        taken = [features(plan) for plan in chosen]
        before = set().union(*taken)
        left = [
            p for p in others if efforts[id(p)] <= limit and not any(features(p) == set(t) for t in taken)
        ]
        if not left:
            break
        plan = min(left, key=lambda p: (len(features(p) & before), efforts[id(p)]))
        labels = [lowered(c.label) for c in plan.changes if c.feature in before]
        note = _(
            "It shares {features} with a plan above: anything else would ask more than twice as much of you."
        )
        made = plan.with_(
            effort=efforts[id(plan)], note=note.format(features=listed(labels)) if labels else None
        )
        chosen.append(made)
    return chosen


def features(plan: Plan) -> set[str]:
    """Return the features that a plan changes."""
    return {change.feature for change in plan.changes}


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

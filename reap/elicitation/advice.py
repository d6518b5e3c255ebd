"""What a dialogue ends in: the plan for what is known of the person, and what to relax where there is none."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterable, Sequence
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
#: So many sets of limits are tried for a smaller one.
TRIES = 60


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


def relaxations(engine: Engine, x: Any, limits: Limits) -> list[tuple[str, ...]]:
    """Return the sets of limits, each of which would have to go for a plan to exist, by their names.

    Where single limits suffice, these; else one set, the smallest that is found: first limits are put back one by one
    while a plan remains, then smaller sets are tried, `TRIES` at most. Empty where the limits are not to blame.
    """
    A = np.eye(engine.space.dimension)[None]

    def suffices(lifted: Iterable[str]) -> bool:
        left = functools.reduce(Limits.without, lifted, limits)
        return engine.plans(x, A, left)[0].status == "ok"

    names = limits.names
    single: list[tuple[str, ...]] = [(name,) for name in names if suffices((name,))]
    if single:
        return single
    if len(names) < 2 or not suffices(names):
        return []
    needed = list(names)
    for name in names:
        if len(needed) > 2 and suffices(rest := [other for other in needed if other != name]):
            needed = rest
    smaller = (itertools.combinations(names, size) for size in range(2, len(needed)))
    tried = itertools.islice(itertools.chain.from_iterable(smaller), TRIES)
    return [next(filter(suffices, tried), tuple(needed))]


def together(names: Sequence[str]) -> str:
    """Return names that go together in words.

    Examples
    --------
    >>> together(["age"]), together(["age", "amount"]), together(["age", "amount", "savings"])
    ('age', 'age together with amount', 'age together with amount and savings')
    """
    first, *more = names
    if not more:
        return first
    return f"{first} together with " + " and ".join(filter(None, (", ".join(more[:-1]), more[-1])))


def with_advice(plan: Plan, engine: Engine, x: Any, limits: Limits) -> Plan:
    """Return a plan that could not be made, with the limits that would have to go."""
    if plan.status in ("ok", "already_accepted"):
        return plan

    def label(name: str) -> str:
        return f"“{'number of changes' if name == 'max_changes' else engine.space.feature(name).label}”"

    found = relaxations(engine, x, limits)
    if not found:
        return plan
    named = " or ".join(together([label(name) for name in names]) for names in found)
    return plan.with_(note=f"{plan.note} Without your limit on {named} there is a plan.".strip())

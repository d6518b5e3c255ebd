"""What else is to be said of a plan: the cliffs it stands on, what holding asks for, and which limits would have to go.

*Cliffs* are changes too small to notice that flip the decision by a wide jump of the score. "Reduce capital gains from 3,137 to
3,100 $": .04 → .93. Such a plan is cheap, and no advice: it lives on a flaw of the model. A plan says so, and an audit lists the
cliffs for whoever made the model. A plan stands on a cliff where one number, taken back from its end by no more than people
notice (``Feature.notice``, else its ``step``), costs the decision and at least ``JUMP`` of ``expit(logit − boundary)``: 30 points
of 100 at a threshold of 50.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import expit

from reap import effort, words
from reap._typing import Array
from reap.language import _, listed
from reap.models import Classifier
from reap.plan import Cliff, Plan
from reap.space import ActionSpace, Feature, Limits

if TYPE_CHECKING:
    from reap.recourse.engine import Engine

#: How far the score jumps at a cliff, of 1.
JUMP = 0.3
#: A plan is called safer where so many of the model's possible updates accept it.
SAFE = 0.95
#: Sets of limits that are tried at most to find a smaller one.
_TRIES = 60


def warned(classifier: Classifier, plans: Sequence[Plan]) -> list[Plan]:
    """Return plans with the cliffs on which they stand; all rows are scored in one batch.

    Examples
    --------
    >>> import numpy as np, pandas as pd, reap
    >>> X = pd.DataFrame({"gains": np.arange(3000, 3200)})
    >>> space = reap.ActionSpace([reap.Feature("gains", "integer", range=(3000, 3200), notice=50)])
    >>> model = lambda rows: np.where(rows["gains"] < 3120, 0.93, 0.04)
    >>> engine = reap.Recourse(model, space).fit(X)
    >>> engine.plans(X.iloc[[137]], np.eye(1))[0].cliffs[0].feature
    'gains'
    """
    tried: list[tuple[int, Feature, Array]] = []
    for place, plan in enumerate(plans):
        if plan.status == "ok":
            tried += [
                (place, feature, row) for feature, row in _back(plan.space, plan.path[0], plan.done[-1])
            ]
    if not tried:
        return list(plans)
    ends = sorted({place for place, _, _ in tried})
    rows = [plans[place].path[-1] for place in ends] + [row for *_, row in tried]
    Z = np.stack(rows)
    u = expit(classifier.logit(Z) - classifier.boundary)
    of = {place: k for k, place in enumerate(ends)}
    at = [k for k, (place, *_) in enumerate(tried, len(ends)) if u[k] <= 0.5 and u[of[place]] - u[k] >= JUMP]
    if not at:
        return list(plans)
    scores = classifier.score(Z)
    found: dict[int, list[Cliff]] = {}
    for k in at:
        place, feature, row = tried[k - len(ends)]
        values = plans[place].space.values(row), plans[place].space.values(plans[place].path[-1])
        found.setdefault(place, []).append(
            Cliff(
                feature.name,
                feature.label,
                feature.show(values[0][feature.name]),
                feature.show(values[1][feature.name]),
                float(scores[k]),
                float(scores[of[place]]),
            )
        )
    return [replace(p, cliffs=tuple(found[i])) if i in found else p for i, p in enumerate(plans)]


def _back(space: ActionSpace, start: Array, end: Array) -> list[tuple[Feature, Array]]:
    """Return the end of a plan with one number at a time taken back by no more than people notice."""
    made = []
    for k, feature in enumerate(space.features):
        least = feature.notice or feature.step
        if not feature.is_action or not feature.is_number or least is None:
            continue
        column = space.slices[feature.name].start
        change = end[column] - start[column]
        if not abs(change) > 1e-9:
            continue
        row = end.copy()
        row[column] -= np.sign(change) * min(abs(change), least / space.encoding.scale[k])
        row = space.legal.follow(space.encoding.snap(row[None]), start)[0]
        if abs(row[column] - end[column]) > 1e-9:
            made.append((feature, space.legal.brought(row[None], start)[0]))
    return made


# plans that hold, and plans that today's model alone accepts ------------------------------------------------


def priced(
    engine: Engine,
    plan: Plan,
    x: Any,
    matrix: Array,
    limits: Limits | None = None,
    effort_of: Callable[[Plan], float] | None = None,
) -> Plan:
    """Return a plan with what holding asks for: its effort against that of the plan today's model alone accepts.

    ``effort_of`` says what a plan asks of this person; by default its effort for the matrix.
    """
    if plan.status != "ok" or plan.along or engine.acceptance_.exact:
        return plan
    easier = engine.holding(0).plans(x, matrix, limits)[0]
    if easier.status != "ok":
        return plan
    least, own = (
        effort.of_moves(matrix, one.moves) if effort_of is None else effort_of(one) for one in (easier, plan)
    )
    return plan.with_(price=max(0.0, own / least - 1)) if least > 0 else plan


def easier(engine: Engine, plan: Plan, x: Any, matrix: Array, limits: Limits | None = None) -> Plan | None:
    """Return the plan that today's model alone accepts, said as one that may not hold.

    None where nothing must hold, or where it is not notably easier than the ``plan`` that holds. Where none was found that
    holds, it is all there is.
    """
    if plan.along or engine.acceptance_.exact:
        return None
    if plan.status == "ok" and not (plan.price is not None and plan.price >= words.NOTABLE):
        return None
    if plan.status not in ("ok", "none_found", "infeasible"):
        return None
    found = engine.holding(0).plans(x, matrix, limits)[0]
    if found.status != "ok":
        return None
    return found.with_(note=words.fragile(found))


def safer(
    engine: Engine,
    plan: Plan,
    x: Any,
    matrix: Array,
    limits: Limits | None,
    effort_of: Callable[[Plan], float],
) -> Plan | None:
    """Return the easiest plan that ``SAFE`` of the model's possible updates accept, its price in the note.

    None where the engine does not weigh chances, where the ``plan`` itself is as safe, or where there is no such plan.
    """
    if not engine.acceptance_.by_chance or plan.status != "ok" or (plan.durability or 0.0) >= SAFE:
        return None
    found = engine.holding(SAFE).plans(x, matrix, limits)[0]
    if found.status != "ok" or (found.durability or 0.0) <= (plan.durability or 0.0):
        return None
    if asks_for_less(found) > asks_for_less(plan):  # nobody is safer with less than they came for
        return None
    more = effort_of(found) / max(effort_of(plan), 1e-12) - 1
    return found.with_(note=words.safety(more), effort=effort_of(found))


def asks_for_less(plan: Plan) -> bool:
    """Whether a plan changes what people are advised last: it asks for less than they came for."""
    return any(plan.space.feature(change.feature).advice == "last" for change in plan.changes)


# where limits leave no plan ----------------------------------------------------------------------------------


def possible(engine: Engine, x: Any) -> Callable[[Limits], bool]:
    """Return whether an engine has a plan for somebody within limits, to be asked of ``relaxations``."""
    A = effort.identity(engine.space.dimension)[None]
    return lambda limits: engine.plans(x, A, limits)[0].status == "ok"


def relaxations(limits: Limits, possible: Callable[[Limits], bool]) -> list[tuple[str, ...]]:
    """Return the sets of limits, each of which would have to go for a plan to exist, by their names.

    Where single limits suffice, these; else one set, the smallest that is found: first limits are put back one by one
    while a plan remains, then smaller sets are tried. Empty where the limits are not to blame.
    """

    def suffices(lifted: Iterable[str]) -> bool:
        return possible(functools.reduce(Limits.without, lifted, limits))

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
    tried = itertools.islice(itertools.chain.from_iterable(smaller), _TRIES)
    return [next(filter(suffices, tried), tuple(needed))]


def advised(engine: Engine, plan: Plan, x: Any, limits: Limits) -> Plan:
    """Return a plan that could not be made, with a sentence on the limits that would have to go; any other as it is."""
    if plan.status in ("ok", "already_accepted") or not limits:
        return plan
    said = advice(engine.space, relaxations(limits, possible(engine, x)))
    return plan.with_(note=" ".join(filter(None, (plan.note, said))))


def advice(space: ActionSpace, found: Sequence[Sequence[str]]) -> str:
    """Return a sentence on the sets of limits that would have to go; empty where none would help."""

    whole = {"max_changes": _("number of changes"), "within_months": _("time")}

    def label(name: str) -> str:
        return f"“{whole[name] if name in whole else space.feature(name).label}”"

    if not found:
        return ""
    named = listed((together([label(name) for name in names]) for names in found), "or")
    return _("Without your limit on {limits} there is a plan.").format(limits=named)


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
    return _("{first} together with {others}").format(first=first, others=listed(more))

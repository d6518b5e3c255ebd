"""Which plans may be recommended, by what the person said of them, and which stand beside the first to choose from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from reap._typing import Bools, Ints
from reap.elicitation.pool import Pool, key
from reap.language import _, listed
from reap.plan import Plan
from reap.recourse.advice import asks_for_less, easier, safer
from reap.space import Limits
from reap.space.words import lowered

if TYPE_CHECKING:
    from reap.elicitation.session import Elicitation

#: Other plans to choose from ask for at most this many times the effort of the best one.
AFFORDABLE = 2.0


def aside(session: Elicitation, pool: Pool) -> Bools:
    """Return which plans (n,) were set aside: refused, or neither of two, with those that ask for all of one and more."""
    plans = list(session._refused)
    for question, choice, impossible in session.history:
        if choice == "neither" and not impossible:  # what is named is for the limits
            plans += question.options
    return pool.covered([plan for plan in plans if _from_here(session, plan)], alike=True)


def may_be_recommended(session: Elicitation, pool: Pool) -> Ints:
    """Return the places (n,) of the plans that may be recommended: not set aside, and not just refused for another.

    A plan that was refused in favour of one still on the table is not recommended right after; later it may win again
    if the belief says so. Where none is left, those that were refused, then all.
    """
    out = aside(session, pool)
    lost = np.zeros(len(pool), dtype=bool)
    for question, choice, _impossible in session.history[-1:]:
        winner = (
            pool.place(key(question.options[choice])) if isinstance(choice, int) and question.whole else None
        )
        if winner is not None and not out[winner] and _from_here(session, question.options[0]):
            lost = pool.covered([option for i, option in enumerate(question.options) if i != choice])
    for kept in (~out & ~lost, ~out):
        if kept.any():
            return np.flatnonzero(kept)
    return np.arange(len(pool))


def _from_here(session: Elicitation, plan: Plan) -> bool:
    return np.array_equal(plan.path[0], session.here, equal_nan=True)


def to_choose_from(session: Elicitation, best: Plan, count: int, *, today: bool) -> list[Plan]:
    """Return the best plan and clearly different ones, as ``Elicitation.plans`` says."""
    engine, x, A, limits, made = session.engine, session._x, session.matrix, session.limits, [best]

    def offered(plan: Plan | None) -> bool:
        return plan is not None and not aside(session, Pool(session.space, [plan]))[0]

    if best.status == "ok" and best.valid:
        known, shown = list(session.pool), [best]
        while len(shown) < count:  # ask for a plan that leaves alone what the ones before it change
            apart = limits.merge(Limits(fixed=tuple(sorted(set().union(*map(_features, shown))))))
            found = Pool(session.space).new(engine.plans(x, A[None], apart))
            if not found:
                break
            known, shown = known + found, shown + found
        pool = Pool(session.space, known, session.pool.sizes)
        others = [pool[int(i)] for i in may_be_recommended(session, pool)]
        others = _different(session, best, others, count)
        safe = safer(engine, best, x, A, limits, session.effort)
        if count > 1 and safe is not None and offered(safe):
            others = [safe, *(plan for plan in others if _features(plan) != _features(safe))][: count - 1]
        made += sorted(others, key=asks_for_less)
    if today and (lighter := easier(engine, best, x, A, limits)) is not None and offered(lighter):
        made.append(lighter)
    return made


def _different(session: Elicitation, best: Plan, others: Sequence[Plan], count: int) -> list[Plan]:
    """Return up to ``count − 1`` plans clearly different from a plan, each with what could not be met in its note.

    In turn the plan that shares fewest features with those before it, then the easiest, of those within ``AFFORDABLE``
    times the effort of the first; a plan that changes the same features as one before it is not different.
    """
    chosen, least = [best], session.effort(best)
    efforts = {id(plan): session.effort(plan) for plan in others}
    beaten = {
        key(option)
        for question, choice, _impossible in session.history
        if isinstance(choice, int) and question.whole and key(question.options[choice]) == key(best)
        for option in question.options
    }
    while len(chosen) < count:
        taken = [_features(plan) for plan in chosen]
        before = set().union(*taken)
        left = [p for p in others if efforts[id(p)] <= AFFORDABLE * least and _features(p) not in taken]
        if not left:
            break
        plan = min(left, key=lambda p: (len(_features(p) & before), efforts[id(p)]))
        labels = [lowered(c.label) for c in plan.changes if c.feature in before]
        note = _(
            "Like a plan above, it changes {features}: any other plan would ask more than twice as much of you."
        )
        said = note.format(features=listed(labels)) if labels else plan.note
        if (
            plan.chance is not None and efforts[id(plan)] < least and key(plan) not in beaten
        ):  # they said it asks for more
            said = _("This plan asks less of you than the first, but a yes is less likely to last.")
        chosen.append(plan.with_(effort=efforts[id(plan)], note=said))
    return chosen[1:]


def _features(plan: Plan) -> set[str]:
    return {change.feature for change in plan.changes}

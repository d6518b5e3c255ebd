"""Single checks of engines whose plans people are to follow, over small worlds; see ``cases`` for what they take."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from reap import effort
from reap.checks.calls import Case, Make, asked
from reap.checks.cases import calls
from reap.checks.judge import dominates
from reap.checks.known_worlds import four_things_world
from reap.checks.promises import EVERY, keep
from reap.checks.promises import FOR_PEOPLE as OF_PLANS
from reap.checks.report import require
from reap.checks.worlds import World, random_world
from reap.plan import Plan


def plans_for_people(
    make: Make, seeds: Iterable[int] = range(40), people: int = 3, matrices: int = 4
) -> None:
    """Random spaces with rules, gaps and derived features: no needless action, no dominated plan, few single steps."""
    statuses = [
        plan.status
        for call in calls(make, seeds, people, matrices, {**EVERY, **OF_PLANS}, rich=True)
        for plan in call.plans
    ]
    require(
        statuses.count("ok") > len(statuses) / 2, f"only {statuses.count('ok')} of {len(statuses)} have plans"
    )


def sessions_for_people(make: Make, seeds: Iterable[int] = range(6), questions: int = 3) -> None:
    """No plan in a session's pool asks for all that another asks for, and more; no question shows such a pair."""
    compared = 0
    for seed in seeds:
        world = random_world(seed, rows=50, kind="logistic")
        engine, x = make(world.model, world.space).fit(world.X), world.rejected.iloc[[0]]
        truth, own = world.matrices(1, seed)[0], world.space.values(world.space.vector(x))
        session = engine.elicit(x, questions=questions)
        while question := session.ask():
            compared += _apart(world, own, question.options, f"a question in random world {seed}")
            session.answer(int(np.argmin([effort.of_moves(truth, plan.moves) for plan in question.options])))
        compared += _apart(world, own, session.pool, f"the pool in random world {seed}")
    require(compared >= 20, f"only {compared} pairs of plans were compared; the worlds are too easy")


def _apart(world: World, own: Any, plans: Iterable[Plan], where: str) -> int:
    """Raise where one of the plans dominates another; return how many pairs were compared."""
    rows = [world.space.values(plan.path[-1]) for plan in plans]
    for less in rows:
        for more in rows:
            require(
                not dominates(world.space, own, less, more),
                f"{where}: {more} asks for all of {less}, and more",
            )
    return len(rows) * (len(rows) - 1)


def more_changes_are_said(make: Make) -> None:
    """Where nothing but four changes is accepted the plan has four, and its note says so."""
    world = four_things_world()
    engine, x = make(world.model, world.space).fit(world.X), world.rejected.iloc[[0]]
    call = asked(engine, world, x, world.matrices(3))
    keep(call, {**EVERY, **OF_PLANS})
    counts = [len(plan.changes) for plan in call.plans]
    require(counts == [4, 4, 4], f"four changes are needed; the plans have {counts}")


FOR_PEOPLE: tuple[Case, ...] = (more_changes_are_said, sessions_for_people, plans_for_people)

"""Single checks over small worlds. Each takes ``make(model, space)``, which returns an engine that is not fitted yet.

>>> import reap
>>> for check in reap.checks.CASES[:2]:
...     check(reap.Recourse)

``CASES`` is for every engine, ``FOR_PEOPLE`` for engines whose plans people are to follow, ``WITH_TIME_LIMIT`` for engines
with that setting. All outcomes are known beforehand, so no check can excuse itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import numpy as np

from reap import effort
from reap.checks.calls import Call, Case, Make, asked
from reap.checks.judge import Judge
from reap.checks.known_worlds import Never, credit_world
from reap.checks.manners import (
    awkward_dtypes,
    bad_input_is_refused,
    frames_keep_their_form,
    input_is_untouched,
    pickle_and_clone,
    same_plans,
    same_seed_same_answer,
    silence,
)
from reap.checks.promises import EVERY, Promise, keep
from reap.checks.report import require
from reap.checks.worlds import World, random_world

# every engine -----------------------------------------------------------------------------------------


def random_worlds(make: Make, seeds: Iterable[int] = range(40), people: int = 2, matrices: int = 2) -> None:
    """Random spaces, models and rows: valid means accepted, nothing illegal, efforts and scores as stated."""
    statuses = [plan.status for call in calls(make, seeds, people, matrices, EVERY) for plan in call.plans]
    require(
        statuses.count("ok") > len(statuses) / 2, f"only {statuses.count('ok')} of {len(statuses)} have plans"
    )


def calls(
    make: Make,
    seeds: Iterable[int],
    people: int,
    matrices: int,
    promises: Mapping[str, Promise],
    rich: bool = False,
) -> Iterator[Call]:
    """Yield the calls of an engine for rejected people of random worlds, after its promises were checked."""
    for seed in seeds:
        world = random_world(seed, rows=50, rich=rich)
        engine, rejected = make(world.model, world.space).fit(world.X), world.rejected
        for i in range(min(people, len(rejected))):
            call = asked(engine, world, rejected.iloc[[i]], world.matrices(matrices, seed))
            keep(call, promises, f"in random world {seed}, ")
            yield call


def limits_are_kept(make: Make) -> None:
    """A person's limits are kept, and leave no trace on the next call."""
    world = credit_world()
    engine, A = make(world.model, world.space).fit(world.X), np.eye(world.space.dimension)[None]
    for i in range(4):
        x = world.rejected.iloc[[i]]
        free = engine.plans(x, A)[0]
        require(free.status == "ok", f"{x.index[0]} could earn more, but the engine says {free.status}")
        fixed = world.space.limits(fixed=[free.changes[0].feature])
        call = asked(engine, world, x, A, fixed)
        keep(call, EVERY)
        require(
            call.plans[0].status == "ok", f"with {fixed.fixed[0]} fixed there is another way for {x.index[0]}"
        )
        same_plans([free], engine.plans(x, A), "after a call with limits")


def candidates_are_plans(make: Make) -> None:
    """Candidates are different one-step plans to accepted, legal rows."""
    world = credit_world()
    engine, x = make(world.model, world.space).fit(world.X), world.rejected.iloc[[0]]
    found = engine.candidates(x)
    require(len(found) >= 2, f"{len(found)} candidates; half of the table is accepted")
    require(found.moves.shape == (len(found), world.space.dimension), f"moves have shape {found.moves.shape}")
    require(len(np.unique(found.moves.round(9), axis=0)) == len(found), "a candidate occurs twice")
    plans = found[:20]
    require(all(len(plan.path) == 2 for plan in plans), "a candidate has more than one step")
    identity = np.repeat(effort.identity(world.space.dimension)[None], len(plans), axis=0)
    keep(Call(Judge.of_world(world), x, identity, plans), EVERY)


def accepted_people(make: Make) -> None:
    """An accepted subject is no error: a plan without steps that says so."""
    world = credit_world()
    engine = make(world.model, world.space).fit(world.X)
    x = world.X[world.probability(world.X) > 0.5].iloc[[0]]
    call = asked(engine, world, x, np.eye(world.space.dimension)[None])
    keep(call, EVERY)
    plan = call.plans[0]
    require(plan.status == "already_accepted", f"an accepted person gets the status {plan.status!r}")
    require(
        (plan.effort, len(plan.steps)) == (0.0, 0), "the plan of an accepted person has an effort or steps"
    )
    require(len(engine.candidates(x)) == 0, "an accepted person gets candidates")


def nobody_is_accepted(make: Make) -> None:
    """Where the model accepts nobody there is no plan, no candidate, and a status that says so."""
    world = credit_world()
    world = World(world.X, world.space, Never())
    engine, x = make(world.model, world.space).fit(world.X), world.X.iloc[[0]]
    call = asked(engine, world, x, np.eye(world.space.dimension)[None])
    keep(call, EVERY)
    status = call.plans[0].status
    require(
        status in ("unreachable", "none_found", "infeasible"), f"nobody is accepted; the status is {status!r}"
    )
    require(len(engine.candidates(x)) == 0, "nobody is accepted, and yet there are candidates")


def impossible_limits(make: Make) -> None:
    """Limits that leave no legal row are told as such, not as a failed search."""
    world = credit_world()
    engine, x = make(world.model, world.space).fit(world.X), world.rejected.iloc[[0]]
    limits = world.space.limits(at_least={"income": int(world.X["income"].max()) + 10_000})
    plan = engine.plans(x, np.eye(world.space.dimension), limits)[0]
    require(plan.status == "infeasible", f"no legal row is left; the status is {plan.status!r}")
    require(plan.note, "no legal row is left, and no note says why")
    require(len(engine.candidates(x, limits)) == 0, "no legal row is left, and yet there are candidates")


# engines with a time limit ----------------------------------------------------------------------------


def out_of_time(make: Make) -> None:
    """Out of time: a valid plan whose note says so, or the status "time_limit"; never another excuse."""
    world = credit_world()
    for model, allowed in ((world.model, ("ok", "time_limit")), (Never(), ("time_limit",))):
        engine = make(model, world.space).set_params(time_limit=1e-9).fit(world.X)
        call = asked(engine, World(world.X, world.space, model), world.rejected.iloc[[0]], world.matrices(2))
        keep(call, EVERY)
        for plan in call.plans:
            require(plan.status in allowed, f"out of time, and the status is {plan.status!r}")
            require("time" in str(plan), f"out of time, and the plan does not say so: {plan}")


CASES: tuple[Case, ...] = (
    limits_are_kept,
    candidates_are_plans,
    input_is_untouched,
    frames_keep_their_form,
    awkward_dtypes,
    same_seed_same_answer,
    pickle_and_clone,
    accepted_people,
    nobody_is_accepted,
    impossible_limits,
    silence,
    bad_input_is_refused,
    random_worlds,
)
WITH_TIME_LIMIT: tuple[Case, ...] = (out_of_time,)

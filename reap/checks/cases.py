"""Single checks over small worlds. Each takes ``make(model, space)``, which returns an engine that is not fitted yet.

>>> import reap
>>> for check in reap.checks.CASES[:2]:
...     check(reap.Recourse)

``CASES`` is for every engine, ``FOR_PEOPLE`` for engines whose plans people are to follow, ``WITH_TIME_LIMIT`` for engines
with that setting. All outcomes are known beforehand, so no check can excuse itself.
"""

from __future__ import annotations

import io
import pickle
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import redirect_stderr, redirect_stdout
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone

from reap import effort
from reap._errors import InputError
from reap.checks.judge import Judge, dominates
from reap.checks.net import tables
from reap.checks.promises import EVERY, Call, Case, Make, Promise, asked, keep, summary
from reap.checks.promises import FOR_PEOPLE as OF_PLANS
from reap.checks.report import Line, Report, require
from reap.checks.worlds import Never, World, awkward_world, credit_world, four_things_world, random_world
from reap.plan import Plan

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
    effects: bool = False,
) -> Iterator[Call]:
    """Yield the calls of an engine for rejected people of random worlds, after its promises were checked."""
    for seed in seeds:
        world = random_world(seed, rows=50, rich=rich, effects=effects)
        engine, rejected = make(world.model, world.space).fit(world.X), world.rejected
        for i in range(min(people, len(rejected))):
            call = asked(engine, world, rejected.iloc[[i]], world.matrices(matrices, seed))
            keep(call, promises, f"in random world {seed}, ")
            yield call


def effects(
    make: Make, worlds: int = 1_000, seed: int = 0, *, people: int = 2, matrices: int = 2, raises: bool = True
) -> Report:
    """Check an engine on random worlds in which features move each other: every promise, of what people do and where it leads.

    Parameters
    ----------
    make : function from a model and a space to an engine that is not fitted yet
    worlds : int
        Random spaces, tables and models; the first of them has the seed ``seed``.
    people, matrices : int
        Rejected people of each, and matrices that each is asked about.
    raises : bool
        Raise ``CheckFailed`` where a promise is broken; False: only report it.
    """
    promises, counts = {**EVERY, **OF_PLANS}, dict.fromkeys(("spaces", "plans", "brought"), 0)
    lines = {name: Line(name, summary(promise)) for name, promise in promises.items()}
    for number in range(seed, seed + worlds):
        world = random_world(number, rows=50, rich=number % 2 == 1, effects=True)
        counts["spaces"] += any(feature.effect for feature in world.space.features)
        engine = make(world.model, world.space).fit(world.X)
        for x in (world.rejected.iloc[[i]] for i in range(min(people, len(world.rejected)))):
            call = asked(engine, world, x, world.matrices(matrices, number))
            counts["plans"] += sum(plan.status == "ok" for plan in call.plans)
            counts["brought"] += sum(
                any(world.space.feature(one.feature).effect for one in plan.follows) for plan in call.plans
            )
            for name, promise in promises.items() if not any(p.along for p in call.plans) else EVERY.items():
                lines[name].cases += len(call.plans)
                lines[name].broken += [f"in random world {number}, {said}" for said in promise(call)]
    title = (
        "{spaces:,} spaces with effects, {plans:,} plans, in {brought:,} of which something is brought along"
    )
    return Report(title.format(**counts), [line for line in lines.values() if line.cases]).settle(raises)


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


# manners: what stays as it was, comes back in the same form, is repeated or refused --------------------


def input_is_untouched(make: Make) -> None:
    """Frames, rows and matrices that go in come out as they were."""
    world = random_world(4)
    X, x, matrices = world.X.copy(), world.rejected.iloc[[0]], world.matrices(2)
    row, kept = x.copy(), matrices.copy()
    engine = make(world.model, world.space).fit(X)
    engine.plans(row, matrices)
    engine.candidates(row)
    engine.recommend(row)
    require(X.equals(world.X), "fit changed the table")
    require(row.equals(x), "a call changed the subject's row")
    require(np.array_equal(matrices, kept), "a call changed the matrices")


def frames_keep_their_form(make: Make) -> None:
    """``recommend`` returns the subjects' index and dtypes, and says the truth beside them."""
    for world in (random_world(2), random_world(4), random_world(11), credit_world()):
        X = world.X.iloc[:6]
        table = make(world.model, world.space).fit(world.X).recommend(X)
        rows, valid, status = table[list(X.columns)], table["recourse_valid"], table["recourse_status"]
        names = [f"recourse_{name}" for name in ("valid", "effort", "status", "changes", "months")]
        require(table.index.equals(X.index), "recommend returns another index")
        require(list(table.columns) == [*X.columns, *names], f"recommend returns {list(table.columns)}")
        require(rows.dtypes.equals(X.dtypes), f"recommend returns {rows.dtypes.to_dict()}")
        require((world.probability(rows) > 0.5)[valid].all(), "a row marked valid is rejected")
        stays = ~valid | (status == "already_accepted")
        pd.testing.assert_frame_equal(rows[stays], X[stays], obj="the rows of people without a plan")
        accepted = (world.probability(X) > 0.5).tolist()
        require(
            (status == "already_accepted").tolist() == accepted,
            f"accepted are {accepted}, said is {list(status)}",
        )


def awkward_dtypes(make: Make) -> None:
    """Nullable numbers and truths, categories, text, small integers and missing values; frames and Series alike."""
    world = awkward_world()
    engine, A = make(world.model, world.space).fit(world.X), np.eye(world.space.dimension)[None]
    for i in range(4):
        x = world.rejected.iloc[[i]]
        call = asked(engine, world, x, A)
        require(
            call.plans[0].status == "ok",
            f"{x.index[0]} could earn more; the engine says {call.plans[0].status}",
        )
        keep(call, EVERY)
        same_plans(call.plans, engine.plans(world.rejected.iloc[i], A), "for a Series instead of a frame")
    table = engine.recommend(world.rejected.iloc[:4])[list(world.X.columns)]
    require(table.dtypes.equals(world.X.dtypes), f"recommend returns {table.dtypes.to_dict()}")


def same_seed_same_answer(make: Make) -> None:
    """Two engines made alike give the same plans; asking for something else in between changes nothing."""
    for seed in (3, 9):
        world = random_world(seed, rows=120)
        x, matrices = world.rejected.iloc[[0]], world.matrices(5)
        one, two = (make(world.model, world.space).fit(world.X) for _ in range(2))
        two.plans(world.rejected.iloc[[1]], matrices)
        two.plans(x, world.matrices(3, seed=7))
        same_plans(one.plans(x, matrices), two.plans(x, matrices), "from an engine made alike")


def pickle_and_clone(make: Make) -> None:
    """A fitted engine survives pickling; a clone has the settings and the fitted model, but is not fitted."""
    world = random_world(6, rows=80)
    x, A = world.rejected.iloc[[0]], world.matrices(2)
    engine = make(world.model, world.space).fit(world.X)
    before = engine.plans(x, A)
    same_plans(before, pickle.loads(pickle.dumps(engine)).plans(x, A), "after pickling")
    twin = clone(engine)
    require(type(twin) is type(engine) and twin.model is engine.model, "a clone has another type or model")
    require(
        set(twin.get_params(deep=False)) == set(engine.get_params(deep=False)), "a clone has other settings"
    )
    refused(lambda: twin.plans(x, A), "not fitted")
    same_plans(before, twin.fit(world.X).plans(x, A), "from a clone")


def silence(make: Make) -> None:
    """Nothing is printed and nothing is warned about."""
    world = random_world(3)
    said = io.StringIO()
    with warnings.catch_warnings(), redirect_stdout(said), redirect_stderr(said):
        warnings.simplefilter("error")
        make(world.model, world.space).fit(world.X).recommend(world.X.iloc[:3])
    require(not said.getvalue(), f"the engine prints {said.getvalue()[:60]!r}")


def bad_input_is_refused(make: Make) -> None:
    """Wrong shapes, unknown columns and unfitted engines end in one clear sentence."""
    world = credit_world()
    engine = make(world.model, world.space)
    x, d = world.rejected.iloc[[0]], world.space.dimension
    refused(lambda: engine.plans(x, np.eye(d)), "not fitted")
    engine.fit(world.X)
    refused(lambda: engine.plans(x, np.eye(d + 1)), "matrices")
    refused(lambda: engine.plans(x, np.full((d, d), np.nan)), "matrices")
    refused(lambda: engine.plans(x.rename(columns={"income": "incme"}), np.eye(d)), "incme")
    refused(lambda: engine.plans(world.X.iloc[:2], np.eye(d)), "one subject")
    refused(lambda: engine.fit(world.X.drop(columns="income")), "income")


def refused(call: Callable[[], object], words: str) -> None:
    """Raise unless a call ends in an ``InputError`` with these words."""
    try:
        call()
    except InputError as error:
        require(words in str(error), f"the error should speak of {words!r}; it says: {error}")
    else:
        require(False, f"an InputError about {words!r} was expected; the call went through")


def same_plans(one: Iterable[Plan], two: Iterable[Plan], when: str) -> None:
    """Raise unless plans are the same."""
    for a, b in zip(one, two, strict=True):
        alike = a.status == b.status and np.array_equal(a.path, b.path, equal_nan=True)
        require(alike, f"a plan is another {when}: {a} / {b}")


# engines whose plans people are to follow --------------------------------------------------------------


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


def features_that_move_each_other(make: Make) -> None:
    """Random spaces with effects: effort is of what people do, and what is legal and accepted is where that leads."""
    effects(make, worlds=30)


def tables_of_users(make: Make) -> None:
    """A sample of random tables as users have them, with the models they have: every promise of ``reap.checks.tables``."""
    tables(make, cases=16, progress=False)


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
FOR_PEOPLE: tuple[Case, ...] = (
    more_changes_are_said,
    sessions_for_people,
    plans_for_people,
    features_that_move_each_other,
    tables_of_users,
)

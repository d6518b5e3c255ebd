"""Single checks over small worlds. Each takes ``make(model, space)``, which returns an engine that is not fitted yet.

>>> import reap
>>> for check in reap.checks.CASES[:2]:
...     check(reap.Recourse)

``CASES`` is for every engine, ``FOR_PEOPLE`` for engines whose plans people are to follow, ``WITH_TIME_LIMIT`` for engines
with that setting. All outcomes are known beforehand, so no check can excuse itself.
"""

from __future__ import annotations

import inspect
import io
import pickle
import warnings
from collections.abc import Callable, Iterable, Mapping
from contextlib import redirect_stderr, redirect_stdout
from itertools import permutations
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
from reap.checks.report import CheckFailed, Line, Report, require
from reap.checks.worlds import Never, World, awkward_world, credit_world, four_things_world, random_world
from reap.plan import Plan

# every engine -----------------------------------------------------------------------------------------


def random_worlds(
    make: Make,
    seeds: Iterable[int] = range(40),
    people: int = 2,
    matrices: int = 2,
    promises: Mapping[str, Promise] = EVERY,
    rich: bool = False,
) -> None:
    """Random spaces, models and rows: valid means accepted, nothing illegal, efforts and scores as stated."""
    statuses = []
    for seed in seeds:
        world = random_world(seed, rows=50, rich=rich)
        engine, rejected = make(world.model, world.space).fit(world.X), world.rejected
        for i in range(min(people, len(rejected))):
            call = asked(engine, world, rejected.iloc[[i]], world.matrices(matrices, seed))
            keep(call, promises, f"in random world {seed}, ")
            statuses += [plan.status for plan in call.plans]
    found = statuses.count("ok")
    require(found > len(statuses) / 2, f"only {found} of {len(statuses)} have plans")


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
        said = f"with {fixed.fixed[0]} fixed there is another way for {x.index[0]}"
        require(call.plans[0].status == "ok", said)
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


def _told(make: Make, world: World, x: Any, statuses: tuple[str, ...], why: str, limits: Any = None) -> Plan:
    """Return the plan of somebody for whom nothing is to be found; there is no candidate, and the status says why."""
    engine = make(world.model, world.space).fit(world.X)
    call = asked(engine, world, x, np.eye(world.space.dimension)[None], limits)
    keep(call, {} if limits else EVERY)
    plan = call.plans[0]
    require(plan.status in statuses, f"{why}; the status is {plan.status!r}")
    require(len(engine.candidates(x, limits)) == 0, f"{why}, and yet there are candidates")
    return plan


def accepted_people(make: Make) -> None:
    """An accepted subject is no error: a plan without steps that says so."""
    world = credit_world()
    x = world.X[world.probability(world.X) > 0.5].iloc[[0]]
    plan = _told(make, world, x, ("already_accepted",), "the person is accepted")
    require((plan.effort, len(plan.steps)) == (0.0, 0), "the plan of an accepted person has effort or steps")


def nobody_is_accepted(make: Make) -> None:
    """Where the model accepts nobody there is no plan, no candidate, and a status that says so."""
    world = credit_world()
    world, known = World(world.X, world.space, Never()), ("unreachable", "none_found", "infeasible")
    _told(make, world, world.X.iloc[[0]], known, "nobody is accepted")


def impossible_limits(make: Make) -> None:
    """Limits that leave no legal row are told as such, not as a failed search."""
    world = credit_world()
    limits = world.space.limits(at_least={"income": int(world.X["income"].max()) + 10_000})
    plan = _told(make, world, world.rejected.iloc[[0]], ("infeasible",), "no legal row is left", limits)
    require(plan.note, "no legal row is left, and no note says why")


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
        told = (status == "already_accepted").tolist()
        require(told == accepted, f"accepted are {accepted}, said is {list(status)}")


def awkward_dtypes(make: Make) -> None:
    """Nullable numbers and truths, categories, text, small integers and missing values; frames and Series alike."""
    world = awkward_world()
    engine, A = make(world.model, world.space).fit(world.X), np.eye(world.space.dimension)[None]
    for i in range(4):
        x = world.rejected.iloc[[i]]
        call = asked(engine, world, x, A)
        status = call.plans[0].status
        require(status == "ok", f"{x.index[0]} could earn more; the engine says {status}")
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
    before, settings = engine.plans(x, A), set(engine.get_params(deep=False))
    same_plans(before, pickle.loads(pickle.dumps(engine)).plans(x, A), "after pickling")
    twin = clone(engine)
    require(type(twin) is type(engine) and twin.model is engine.model, "a clone has another type or model")
    require(set(twin.get_params(deep=False)) == settings, "a clone has other settings")
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
    random_worlds(make, seeds, people, matrices, {**EVERY, **OF_PLANS}, rich=True)


def features_that_move_each_other(make: Make) -> None:
    """Random spaces with effects: effort is of what people do, and what is legal and accepted is where that leads."""
    tables(make, cases=30, effects=True, progress=False)


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
            compared += _apart(world, own, question.options, "a question")
            session.answer(int(np.argmin([effort.of_moves(truth, plan.moves) for plan in question.options])))
        compared += _apart(world, own, session.pool, "the pool")
    require(compared >= 20, f"only {compared} pairs of plans were compared; the worlds are too easy")


def _apart(world: World, own: Any, plans: Iterable[Plan], where: str) -> int:
    """Raise where one of the plans dominates another; return how many pairs were compared."""
    pairs = list(permutations([world.space.values(plan.path[-1]) for plan in plans], 2))
    for less, more in pairs:
        said = f"{where} in {world.name}: {more} asks for all of {less}, and more"
        require(not dominates(world.space, own, less, more), said)
    return len(pairs)


def more_changes_are_said(make: Make) -> None:
    """Where nothing but four changes is accepted the plan has four, and its note says so."""
    world = four_things_world()
    engine, x = make(world.model, world.space).fit(world.X), world.rejected.iloc[[0]]
    call = asked(engine, world, x, world.matrices(3))
    keep(call, {**EVERY, **OF_PLANS})
    counts = [len(plan.changes) for plan in call.plans]
    require(counts == [4, 4, 4], f"four changes are needed; the plans have {counts}")


CASES: tuple[Case, ...] = (
    *(limits_are_kept, candidates_are_plans, input_is_untouched, frames_keep_their_form, awkward_dtypes),
    *(same_seed_same_answer, pickle_and_clone, accepted_people, nobody_is_accepted, impossible_limits),
    *(silence, bad_input_is_refused, random_worlds),
)
WITH_TIME_LIMIT: tuple[Case, ...] = (out_of_time,)
FOR_PEOPLE: tuple[Case, ...] = (
    *(more_changes_are_said, sessions_for_people, plans_for_people),
    *(features_that_move_each_other, tables_of_users),
)


def every(make: Make) -> Report:
    """Run every case on an engine; those of a time limit only where it has one."""
    timed = WITH_TIME_LIMIT if "time_limit" in inspect.signature(make).parameters else ()
    report = Report(f"reap.checks on {getattr(make, '__name__', 'an engine')}")
    for case in (*CASES, *timed, *FOR_PEOPLE):
        line = Line(case.__name__.replace("_", " "), summary(case), cases=1)
        report.lines.append(line)
        try:
            case(make)
        except CheckFailed as error:
            line.broken.append(str(error))
        except Exception as error:
            line.broken.append(f"{type(error).__name__}: {error}")
    return report

"""The promises on random tables as users have them, judged by the user's model itself.

Everything an engine is asked here is public: ``make(model, space).fit``, ``plans``, ``recommend``, ``elicit``, and what a plan
says of itself. The judge knows the table, the declarations and the model, and nothing of how the plan was found.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
from rich.console import Console
from rich.progress import track

from reap._errors import InputWarning
from reap._typing import Array
from reap.checks.judge import Judge
from reap.checks.legality import missing
from reap.checks.promises import EVERY, FOR_PEOPLE, Call, Promise, alike, summary
from reap.checks.raw_tables import raw_table
from reap.checks.report import Line, Report
from reap.checks.worlds import World, random_world
from reap.recourse import Recourse

#: In one of so many tables each: a second engine is asked, and a session is held.
_AGAIN, _SESSIONS = 4, 16
_WRITTEN = "the row that was given is another after the call"


def tables(
    make: Callable[..., Any] = Recourse,
    cases: int = 200,
    seed: int = 0,
    *,
    effects: bool = False,
    progress: bool = True,
    raises: bool = True,
) -> Report:
    """Check an engine on random tables as users have them: long tails, gaps, copies, many levels, any model.

    Parameters
    ----------
    make : function
        From a model, a space and settings (target, threshold, output, unit) to an engine that is not fitted yet.
    cases : int
        How many tables. Each has one person, four efforts, and every fourth a session.
    seed : int
        The first table; the others follow. ``cases=1`` with the seed of a failure repeats it.
    effects : bool
        Random spaces in which features move each other instead: plans are judged by where they lead, effort by what people do.
    progress : bool
        Show a progress bar.
    raises : bool
        Raise ``CheckFailed`` where a promise is broken; False: only report it.

    Returns
    -------
    Report
        ``report.broken`` holds every failure, each with the seed that repeats it.

    Examples
    --------
    >>> import reap
    >>> print(reap.checks.tables(reap.Recourse, cases=2, seed=11, progress=False).line("legal"))
    ✓ legal            held in 8 cases
    """
    lines = {name: Line(name, sentence) for name, sentence in PROMISES.items()}
    kind = "spaces with effects" if effects else "tables"
    console = Console(stderr=True)
    for one in track(range(seed, seed + cases), f"Random {kind}", console=console, disable=not progress):
        world = random_world(one, 50, rich=one % 2 == 1, effects=True) if effects else raw_table(one)
        for name, count, faults in _case(make, world, one):
            lines[name].cases += count
            said = [f"{world.name}: {fault}" for fault in dict.fromkeys(faults)]
            lines[name].broken += [fault for fault in said if fault not in lines[name].broken[-20:]]
    title = f"{getattr(make, '__name__', 'engine')} on {cases:,} random {kind}"
    looked_at = [line for line in lines.values() if line.cases]  # a few tables may hold no session
    return Report(title, looked_at).settle(raises)


def found(call: Call) -> Iterator[str]:
    """There is a plan where the legal values of a row of the table are accepted."""
    judge, space, X = call.judge, call.judge.space, call.judge.like
    for plan in call.plans:
        if plan.valid:
            continue
        rows = pd.concat([call.x] * len(X), ignore_index=True)
        for f in space.features:
            if f.actionable and not missing(call.own[f.name]):
                rows[f.name] = X[f.name].to_numpy() if X[f.name].dtype == object else X[f.name].array
        others = [judge.row(row) for row in rows.astype(X.dtypes).to_dict("records")]
        for i in np.flatnonzero(judge.accepts(others)):
            near = {
                n: v if judge.legal(call.own, {**call.own, n: v}) else call.own[n]
                for n, v in others[i].items()
            }
            if judge.accepts([near])[0] and judge.legal(call.own, near):
                yield f"the status is {plan.status!r} ({plan.note}), but the legal values of row {i} are accepted"
                break


#: Promises of plans; what tables as they are cannot break (they have no retrainings and no paces) is left out.
_OF_PLANS: dict[str, Promise] = {**EVERY, "found": found, **FOR_PEOPLE}
for _nothing in ("lasting", "months"):
    del _OF_PLANS[_nothing]
#: What is looked at, by the names that reports use.
PROMISES = {
    "runs": "no exception and no warning",
    **{name: summary(promise) for name, promise in _OF_PLANS.items()},
    "manners": "the same question gets the same plan; rows that go in stay as they are and come back in their dtypes",
    "sessions": "questions compare different plans of which none dominates another; the advice keeps the promises",
}


def _case(make: Callable[..., Any], world: World, seed: int) -> Iterator[tuple[str, int, list[str]]]:
    """Yield what was looked at in one table: the name of a promise, how many cases, the sentences of what breaks it."""
    rng, refused = np.random.default_rng((seed, 1)), world.rejected
    x = (refused if len(refused) else world.X).sample(1, random_state=seed)
    matrices = efforts(world.space.dimension, rng)
    matrices = matrices[[seed % 4]] if world.slow else matrices
    given = x.copy()

    def engine() -> Any:
        return make(world.model, world.space, **world.settings).fit(
            world.X if world.train is None else world.train
        )

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", InputWarning)  # a model drawn at random may prefer what nobody means
        try:
            first = engine()
            plans = first.plans(x, matrices)
            if seed % _AGAIN == 0:
                second = engine()
                again = second.plans(x, matrices)
                back = second.recommend(x, matrix=matrices[0])
            words = list(map(str, plans))
        except Exception as error:
            yield "runs", 1, [f"{type(error).__name__}: {error}"]
            return
        yield "runs", 1, [] if all(words) else ["a plan has no words"]
        most = first.get_params(deep=False).get("max_changes")
        call = Call(Judge.of_world(world), given, matrices, plans, max_changes=most)
        for name, promise in _OF_PLANS.items():
            yield name, len(call.made if name in FOR_PEOPLE else plans), list(promise(call))
        if seed % _AGAIN == 0:
            faults = list(alike(call, replace(call, plans=again))) if x.equals(given) else [_WRITTEN]
            wrong = [c for c in x if back[c].dtype != x[c].dtype]
            faults += [f"recommend gives {c} back as {back[c].dtype}; it was {x[c].dtype}" for c in wrong]
            yield "manners", 1, faults
        if seed % _SESSIONS == 2 and len(refused):
            try:
                yield "sessions", 1, list(_session(first, call, rng))
            except Exception as error:
                yield "runs", 1, [f"in a session, {type(error).__name__}: {error}"]


def efforts(d: int, rng: np.random.Generator) -> Array:
    """Return matrices (4, d, d) with largest eigenvalue 1: the identity, a dense one, a diagonal one, nearly rank one."""
    G = rng.normal(size=(d, d))
    g = rng.normal(size=d)
    made = np.stack(
        [np.eye(d), G @ G.T, np.diag(rng.uniform(0.01, 1, d)), np.outer(g, g) / (g @ g) + 1e-3 * np.eye(d)]
    )
    return np.asarray(made / np.linalg.eigvalsh(made)[:, -1, None, None])


#: Nobody says by which matrix a session reckons; parts of plans lead to no yes.
_OF_SESSIONS = {name: promise for name, promise in _OF_PLANS.items() if name != "effort"}
_OF_PARTS = {name: _OF_PLANS[name] for name in ("legal", "listed", "undominated")}


def _session(engine: Any, call: Call, rng: np.random.Generator) -> Iterator[str]:
    """Hold a session of three questions that are answered at random."""
    session, asked = engine.elicit(call.x.iloc[0], questions=3), set[frozenset[str]]()

    def kept(plans: Any, promises: Mapping[str, Promise], what: str) -> Iterator[str]:
        made = replace(call, plans=list(plans))
        for name, promise in promises.items():
            yield from (f"{what} breaks {name!r}: {fault}" for fault in promise(made))

    while question := session.ask():
        yield from kept(question.options, _OF_SESSIONS if question.whole else _OF_PARTS, "an option")
        said = sorted(call.of(plan) for plan in question.options)
        yield from (f"a question offers the same plan twice: {a}" for a, b in pairwise(said) if a == b)
        if frozenset(said) in asked:
            yield f"a question comes twice, the second time as a {question.kind}: {' / '.join(said)}"
        asked.add(frozenset(said))
        session.answer(int(rng.integers(len(said))))
    yield from kept([session.recommend()], _OF_SESSIONS, "the advice")

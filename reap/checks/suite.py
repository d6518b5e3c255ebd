"""The promises of plans, checked on somebody's own engine and their own rows."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from reap._errors import InputError
from reap._typing import Frame
from reap.checks.calls import Call
from reap.checks.judge import Judge
from reap.checks.promises import EVERY, FOR_PEOPLE, Promise
from reap.checks.report import Line, Report
from reap.checks.worlds import random_matrices
from reap.recourse import Engine


def engine(
    engine: Engine | Callable[[], Engine],
    X: Frame,
    *,
    people: int = 20,
    matrices: int = 4,
    for_people: bool | None = None,
    random_state: int = 0,
    raises: bool = True,
) -> Report:
    """Check what an engine promises, on rows of your own.

    Parameters
    ----------
    engine : Engine, or a function without arguments that makes one
        Fitted, or not fitted yet: then it is fitted on ``X``.
    X : DataFrame
        People; those the model rejects get plans.
    people, matrices : int
        How many rejected people are tried, and under how many random matrices each.
    for_people : bool, optional
        Whether to ask for what plans for people promise as well: nothing needless, few changes, single steps. By default
        wherever effort is that of the whole change.
    random_state : int
    raises : bool
        Raise ``CheckFailed`` where a promise is broken; False: only report it.

    Returns
    -------
    Report
        Prints itself.

    Examples
    --------
    >>> import pandas as pd, reap
    >>> X = pd.DataFrame({"income": range(1000, 5000, 100), "debts": [0, 1, 2, 3] * 10})
    >>> space = reap.ActionSpace.from_frame(X)
    >>> model = lambda rows: 1 / (1 + np.exp(3 - rows["income"] / 1000 + rows["debts"] / 2))
    >>> report = reap.checks.engine(reap.PoolRecourse(X, model, space), X, people=5, for_people=False)
    >>> report.ok
    True
    """
    made = engine if isinstance(engine, Engine) else engine()
    if not isinstance(made, Engine):
        raise InputError(
            f"an engine is needed, not {type(made).__name__}; subclass reap.recourse.Engine, or give its rows to PoolRecourse"
        )
    if not hasattr(made, "classifier_"):
        made.fit(X)
    judge = Judge.of_engine(made, X)
    rejected = judge.like[~judge.scale.enough(judge.score(judge.like))]
    chosen = np.random.default_rng(random_state).permutation(len(rejected))[:people]
    matrix = random_matrices(made.space.dimension, matrices, random_state)
    calls = [
        Call(
            judge,
            x,
            matrix,
            made.plans(x, matrix),
            max_changes=made.get_params(deep=False).get("max_changes"),
        )
        for x in (rejected.iloc[[i]] for i in chosen)
    ]
    if for_people is None:
        for_people = not any(plan.along for call in calls for plan in call.plans)
    report = Report(f"{type(made).__name__} on {len(calls)} people, {matrices} matrices each")
    for name, promise in {**EVERY, **(FOR_PEOPLE if for_people else {})}.items():
        report.lines.append(_line(name, promise, calls))
    report.lines.append(_manners(made, X, calls))
    return report.settle(raises)


def _line(name: str, promise: Promise, calls: list[Call]) -> Line:
    line = Line(name, summary(promise))
    for call in calls:
        line.cases += len(call.plans)
        line.broken += promise(call)
    return line


def _manners(engine: Engine, X: Frame, calls: list[Call]) -> Line:
    line = Line("manners", "the same question gets the same plan; rows that go in come out as they were")
    for call in calls[:5]:
        x, matrices = call.x.copy(), call.matrices.copy()
        again = engine.plans(x, matrices)
        line.cases += 1
        for first, second in zip(call.plans, again, strict=True):
            if not np.array_equal(first.path, second.path, equal_nan=True):
                line.broken.append(f"{call.of(first)} is another when asked for again: {call.of(second)}")
        if not x.equals(call.x) or not np.array_equal(matrices, call.matrices):
            line.broken.append(f"the row or the matrices of {x.index[0]!r} were changed by the engine")
    return line


def summary(promise: Callable[..., Any]) -> str:
    """Return the first sentence of what something promises."""
    return (inspect.getdoc(promise) or "").split("\n")[0].rstrip(".")

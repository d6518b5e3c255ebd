"""The promises of engines and models, checked on somebody's own and their own rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from reap._errors import InputError
from reap._typing import Frame
from reap.checks.judge import Judge
from reap.checks.promises import EVERY, FOR_PEOPLE, Call, alike, summary
from reap.checks.report import Line, Report
from reap.checks.worlds import random_matrices
from reap.models import wrap
from reap.recourse import Engine
from reap.space import ActionSpace


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
    most = made.get_params(deep=False).get("max_changes")
    calls = [
        Call(judge, x, matrix, made.plans(x, matrix), max_changes=most)
        for x in (rejected.iloc[[i]] for i in chosen)
    ]
    if for_people is None:
        for_people = not any(plan.along for call in calls for plan in call.plans)
    report = Report(f"{type(made).__name__} on {len(calls)} people, {matrices} matrices each")
    for name, promise in {**EVERY, **(FOR_PEOPLE if for_people else {})}.items():
        broken = [sentence for call in calls for sentence in promise(call)]
        report.lines.append(Line(name, summary(promise), sum(len(call.plans) for call in calls), broken))
    said = "the same question gets the same plan; rows that go in come out as they were"
    report.lines.append(manners := Line("manners", said, len(calls[:5])))
    for call in calls[:5]:
        x, given = call.x.copy(), matrix.copy()
        manners.broken += alike(call, replace(call, plans=made.plans(x, given)))
        if not x.equals(call.x) or not np.array_equal(given, matrix):
            manners.broken.append(f"the row or the matrices of {x.index[0]!r} were changed by the engine")
    return report.settle(raises)


# models -----------------------------------------------------------------------------------------------


def model(
    model: Any,
    space: ActionSpace,
    X: Frame,
    *,
    target: Any = 1,
    threshold: float = 0.5,
    raises: bool = True,
) -> Report:
    """Check a model on rows: the library sees what the model sees, and the model answers steadily.

    Parameters
    ----------
    model : fitted classifier, Pipeline, function or torch model
        See ``reap.models.wrap``.
    space : ActionSpace
    X : DataFrame
        Some that it accepts and some that it rejects.
    target, threshold : as for an engine
    raises : bool
        Raise ``CheckFailed`` where a promise is broken; False: only report it.

    Examples
    --------
    >>> import pandas as pd, reap
    >>> X = pd.DataFrame({"income": [1000, 2500, 4000], "debts": [0, 1, 2]})
    >>> space = reap.ActionSpace.from_frame(X)
    >>> report = reap.checks.model(lambda rows: rows["income"] / 5000, space, X)
    >>> print(report.line("same scores"))
    ✓ same scores      held in 3 cases
    """
    seen = wrap(model, space, target=target, threshold=threshold)
    Z = space.encode(X)
    scores = seen.probability(Z)

    def same_scores() -> Iterator[str]:
        """Vectors get the scores that the model gives to their rows; what only exists behind ``wrap`` has no others."""
        own = scores
        if hasattr(seen.model, "predict_proba"):
            own = seen.model.predict_proba(X)[:, list(seen.model.classes_).index(seen.target)]
        elif callable(seen.model) and not space.encoded:
            own = np.asarray(seen.model(X), dtype=float)
            own = own[:, -1] if own.ndim == 2 else own
        for i in np.flatnonzero(~np.isclose(own, scores, atol=1e-5)):
            yield f"row {i} scores {own[i]:.4f}, its vector {scores[i]:.4f}; is a column missing in the space?"

    def probabilities() -> Iterator[str]:
        """Scores lie between 0 and 1."""
        for i in np.flatnonzero(~((scores >= 0) & (scores <= 1))):
            yield f"row {i} scores {scores[i]}"

    def steady() -> Iterator[str]:
        """A row's score is the same alone, in a table and again."""
        again, alone = seen.probability(Z[::-1])[::-1], [seen.probability(z)[0] for z in Z[:10]]
        for i in np.flatnonzero(np.abs(scores - again) > 1e-6):
            yield f"row {i} scores {scores[i]:.6f}, and {again[i]:.6f} in another order"
        for i in np.flatnonzero(np.abs(scores[:10] - alone) > 1e-6):
            yield f"row {i} scores {scores[i]:.6f} in the table and {alone[i]:.6f} alone"

    def both_verdicts() -> Iterator[str]:
        """Some rows are accepted, some rejected."""
        accepted = seen.accepts(Z)
        if accepted.all() or not accepted.any():
            yield f"{int(accepted.sum())} of {len(Z)} rows are accepted; is {seen.target!r} the favourable class?"

    def gradient() -> Iterator[str]:
        """The gradient is that of the log-odds."""
        some, step = np.nan_to_num(Z[:20]), 1e-5
        stated = seen.gradient(some)
        for j, side in enumerate(step * np.eye(Z.shape[1])):
            here = seen.logit(some)
            up, down = (seen.logit(some + side) - here) / step, (here - seen.logit(some - side)) / step
            smooth = np.abs(up - down) <= 1e-3 * (
                1 + np.abs(up)
            )  # at a kink of a network there is no gradient
            measured = (up + down) / 2
            wrong = smooth & (np.abs(stated[:, j] - measured) > 1e-2 * (1 + np.abs(measured)))
            for i in np.flatnonzero(wrong):
                yield f"row {i}, column {j}: the gradient is stated as {stated[i, j]:.4f} and measured as {measured[i]:.4f}"

    cases = {same_scores: len(Z), probabilities: len(Z), steady: len(Z), both_verdicts: len(Z)}
    if seen.has_gradient:
        cases[gradient] = len(Z[:20])
    lines = [
        Line(look.__name__.replace("_", " "), summary(look), count, list(look()))
        for look, count in cases.items()
    ]
    return Report(f"{type(model).__name__} on {len(Z)} rows", lines).settle(raises)

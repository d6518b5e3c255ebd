"""The promises on random tables as users have them, judged by the user's model itself.

Everything an engine is asked here is public: ``make(model, space).fit``, ``plans``, ``recommend``, ``elicit``, and what a plan
says of itself. The judge knows the table, the declarations and the model, and nothing of how the plan was found.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from rich.console import Console
from rich.progress import track

from reap import effort
from reap._errors import InputWarning
from reap._typing import Array, Frame
from reap.checks.judge import Judge, dominates
from reap.checks.legality import Row, missing, violations
from reap.checks.raw_tables import RawTable, raw_table
from reap.checks.report import Line, Report
from reap.plan import Plan
from reap.recourse import Recourse

#: Scores nearer to the threshold than this are float noise: a row may score otherwise alone than among others.
_NOISE = 1e-9
#: In one of so many tables each: a second engine is asked, and a session is held.
_AGAIN, _SESSIONS = 4, 16


def tables(
    make: Callable[..., Any] = Recourse,
    cases: int = 200,
    seed: int = 0,
    *,
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
    for one in track(
        range(seed, seed + cases), "Random tables", console=Console(stderr=True), disable=not progress
    ):
        table = raw_table(one)
        for name, faults in _case(make, table, one):
            lines[name].cases += 1
            said = [f"{table.name}: {fault}" for fault in faults]
            lines[name].broken += [fault for fault in said if fault not in lines[name].broken[-20:]]
    title = f"{getattr(make, '__name__', 'engine')} on {cases:,} random tables"
    looked_at = [line for line in lines.values() if line.cases]  # a few tables may hold no session
    return Report(title, looked_at).settle(raises)


#: What is looked at, by the names that reports use.
PROMISES = {
    "runs": "no exception and no warning",
    "accepted": "a plan marked valid is accepted by the model",
    "found": "there is a plan where a row of the table can be reached and is accepted",
    "legal": "what stays, directions, ranges, steps and known levels are kept",
    "irreducible": "no change can be left out and no number taken back a step",
    "real changes": "no listed change is a change of nothing",
    "untouched": "what is not listed comes back equal to the bit, with its dtype",
    "effort": "the effort stated is ΔᵀAΔ",
    "few changes": "at most max_changes, or the note says why",
    "same plan": "the same question gets the same plan",
    "sessions": "questions compare different plans of which none dominates another; the advice keeps the promises",
}


@dataclass(frozen=True)
class _Asked:
    """One plan for one person of a table, with what it takes to judge it; ``matrix`` is None where nobody knows it."""

    table: RawTable
    x: Frame
    plan: Plan
    matrix: Array | None = None
    most: int | None = None

    @cached_property
    def judge(self) -> Judge:
        return Judge(self.table.space, self.table.score, self.table.X)

    @cached_property
    def own(self) -> Row:
        """The person's row in units."""
        return _row(self.x)

    @cached_property
    def end(self) -> Row:
        """The row that the plan leads to, in units."""
        target = self.plan.target
        return {name: target[name] for name in self.own}

    @cached_property
    def said(self) -> str:
        """The plan as a sentence names it."""
        return "; ".join(f"{c.feature} {c.before!r} → {c.after!r}" for c in self.plan.changes)


def _row(x: Frame) -> dict[str, Any]:
    return {str(c): x[c].iloc[0] for c in x.columns}


def _case(make: Callable[..., Any], table: RawTable, seed: int) -> Iterator[tuple[str, list[str]]]:
    """Yield what was looked at in one table: the name of a promise and the sentences of what breaks it."""
    rng = np.random.default_rng((seed, 1))
    refused = table.X[~table.accepts(table.X)]
    x = (refused if len(refused) else table.X).sample(1, random_state=seed)
    matrices = efforts(table.space.dimension, rng)
    matrices = matrices[[seed % 4]] if table.smooth else matrices
    given = x.copy()

    def engine() -> Any:
        return make(table.model, table.space, **table.settings).fit(table.train)

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
            yield "runs", [f"{type(error).__name__}: {error}"]
            return
        most = first.get_params(deep=False).get("max_changes")
        asked = [_Asked(table, x, p, A, most) for p, A in zip(plans, matrices, strict=True)]
        yield "runs", [] if all(words) else ["a plan has no words"]
        for one in asked:
            for name, promise in _OF_PLANS.items():
                if one.plan.status == "ok" or name in _ALWAYS:
                    yield name, list(promise(one))
        if seed % _AGAIN == 0:
            yield "same plan", list(_again(asked, again, back))
            yield "untouched", [] if x.equals(given) else ["the row that was given is another after the call"]
        if seed % _SESSIONS == 2 and len(refused):
            try:
                yield "sessions", list(_session(first, table, x, rng, most))
            except Exception as error:
                yield "runs", [f"in a session, {type(error).__name__}: {error}"]


def efforts(d: int, rng: np.random.Generator) -> Array:
    """Return matrices (4, d, d) with largest eigenvalue 1: the identity, a dense one, a diagonal one, nearly rank one."""
    G = rng.normal(size=(d, d))
    g = rng.normal(size=d)
    made = np.stack(
        [np.eye(d), G @ G.T, np.diag(rng.uniform(0.01, 1, d)), np.outer(g, g) / (g @ g) + 1e-3 * np.eye(d)]
    )
    return np.asarray(made / np.linalg.eigvalsh(made)[:, -1, None, None])


# promises of one plan -----------------------------------------------------------------------------------


def _accepted(one: _Asked) -> Iterator[str]:
    """A plan marked valid leads to a row that the model accepts, asked about that row alone."""
    plan = one.plan
    if plan.valid:
        score = one.table.score(one.judge.frame([one.end]))[0]
        if not score > one.table.threshold:
            yield f"the plan ({one.said}) is marked valid; the model gives {score!r}, needed is more than {one.table.threshold}"
    if plan.valid != (plan.status in ("ok", "already_accepted")):
        yield f"the plan ({one.said}) has the status {plan.status!r}, but valid is {plan.valid}"
    accepted = bool(one.table.accepts(one.x)[0])
    if (plan.status == "already_accepted") != accepted:
        yield f"the model {'accepts' if accepted else 'refuses'} the person; the status is {plan.status!r}"


def _found(one: _Asked) -> Iterator[str]:
    """Where there is no plan, no row of the table can be reached and is accepted either."""
    if one.plan.valid:
        return
    space, X = one.table.space, one.table.X
    rows = pd.concat([one.x] * len(X), ignore_index=True)
    for f in space.features:
        if f.actionable and not missing(one.own[f.name]):
            rows[f.name] = X[f.name].to_numpy() if X[f.name].dtype == object else X[f.name].array
    rows = rows.astype(X.dtypes)
    for i in np.flatnonzero(one.table.accepts(rows, _NOISE)):
        near = {n: v if _reached(one, n, v) else one.own[n] for n, v in _row(rows.iloc[[i]]).items()}
        if one.table.accepts(one.judge.frame([near]), _NOISE)[0] and not violations(space, one.own, near):
            yield f"the status is {one.plan.status!r} ({one.plan.note}), but the legal values of row {i} are accepted"
            return


def _reached(one: _Asked, name: str, value: Any) -> bool:
    """Return whether one value alone is a legal change."""
    return not violations(one.table.space, one.own, {**one.own, name: value})


def _legal(one: _Asked) -> Iterator[str]:
    """Nothing that may not change does; numbers keep to their range, step and direction, levels are known."""
    for name, value in one.end.items():
        feature = one.table.space.feature(name)
        if missing(value):
            continue
        if feature.levels and value not in feature.levels:
            yield f"{name} becomes {value!r}, which is no level of it"
            return
        if feature.kind == "integer" and float(value) != round(float(value)):
            yield f"{name} becomes {value!r}, which is no whole number"
    if wrong := violations(one.table.space, one.own, one.end):
        yield f"the plan ({one.said}) is illegal: {'; '.join(wrong)}"


def _irreducible(one: _Asked) -> Iterator[str]:
    """The model refuses the row without any of the changes, and with any number or ordered level a step back."""
    less = [
        (said, row)
        for said, row in one.judge.less(one.own, one.end)
        if not violations(one.table.space, one.own, row)
    ]
    if less:
        frame = one.judge.frame([row for _, row in less])
        scores = one.table.score(frame)
        for i in np.flatnonzero(one.table.accepts(frame, _NOISE))[:1]:
            yield f"the plan ({one.said}) is accepted {less[i][0]}: {scores[i]!r}, needed is more than {one.table.threshold}"


def _real_changes(one: _Asked) -> Iterator[str]:
    """Every listed change goes from the person's own value to another one, by more than float noise."""
    for change in one.plan.changes:
        own, end = one.own[change.feature], one.end[change.feature]
        if missing(own) or missing(end):
            yield f"{change.feature} goes from {own!r} to {end!r}: nothing can be done about what is missing"
        elif own == end or (
            one.table.space.feature(change.feature).is_number
            and abs(float(end) - float(own)) <= _NOISE * max(abs(float(end)), abs(float(own)))
        ):
            yield f"{change.feature} goes from {own!r} to {end!r}, a change of nothing"
        elif change.before_text == change.after_text:
            yield f"{change.feature} goes from {own!r} to {end!r}, and people read {str(change)!r}"
        if not (_equal(change.before, own) and _equal(change.after, end)):
            yield f"{change.feature} is listed as {change.before!r} → {change.after!r}; it goes from {own!r} to {end!r}"


def _untouched(one: _Asked) -> Iterator[str]:
    """Columns that are not listed come back equal to the bit; what is missing stays missing."""
    listed = {change.feature for change in one.plan.changes}
    for name, own in one.own.items():
        if name not in listed and not _equal(own, one.end[name]):
            yield f"{name} is not listed, and goes from {own!r} to {one.end[name]!r}"


def _equal(one: Any, two: Any) -> bool:
    if missing(one) or missing(two):
        return missing(one) and missing(two)
    return bool(one == two)


def _effort(one: _Asked) -> Iterator[str]:
    """The effort is that of the whole change between the two rows, encoded, and so are the moves."""
    if one.matrix is None:
        return
    encoder = one.table.space.encoder().fit(one.table.X)
    before, after = np.asarray(encoder.transform(pd.concat([one.x, one.judge.frame([one.end])])))
    delta = np.nan_to_num(after - before)
    expected = effort.of_moves(one.matrix, delta[None])
    if not np.isclose(one.plan.effort, expected, rtol=1e-6, atol=1e-9):
        yield f"the plan ({one.said}) states an effort of {one.plan.effort!r}; it is {expected!r}"
    if not np.allclose(np.sum(one.plan.moves, axis=0), delta, atol=1e-7):
        yield f"the plan ({one.said}) has moves that do not lead from the person's row to its target"


def _few(one: _Asked) -> Iterator[str]:
    """At most ``max_changes`` changes; where there are more, the note says that there had to be."""
    count = len(one.plan.changes)
    if count == 0:
        yield "the plan has the status 'ok' and no change"
    if one.most is not None and count > one.most and f"{one.most} change" not in one.plan.note:
        yield f"the plan ({one.said}) has {count} changes, and its note is {one.plan.note!r}"


Promise = Callable[[_Asked], Iterator[str]]
_OF_PLANS: dict[str, Promise] = {
    "accepted": _accepted,
    "found": _found,
    "legal": _legal,
    "irreducible": _irreducible,
    "real changes": _real_changes,
    "untouched": _untouched,
    "effort": _effort,
    "few changes": _few,
}
#: Those that are asked of somebody without a plan too.
_ALWAYS = ("accepted", "found", "untouched")
_OF_PARTS = {name: _OF_PLANS[name] for name in ("legal", "real changes", "untouched")}


# promises of calls and sessions -------------------------------------------------------------------------


def _again(asked: list[_Asked], again: list[Plan], back: Frame) -> Iterator[str]:
    """An engine made alike gives the same plans, and ``recommend`` a row in the dtypes of the table."""
    for one, plan in zip(asked, again, strict=True):
        two = replace(one, plan=plan)
        for name, value in two.end.items():
            if one.plan.status != plan.status or not _equal(value, one.end[name]):
                yield f"an engine made alike says {two.said or plan.status}, not {one.said or one.plan.status}"
                break
    for c, dtype in asked[0].x.dtypes.items():
        if back[c].dtype != dtype:
            yield f"recommend gives {c} back as {back[c].dtype}; it was {dtype}"


def _session(
    engine: Any, table: RawTable, x: Frame, rng: np.random.Generator, most: int | None
) -> Iterator[str]:
    """Hold a session of three questions that are answered at random."""
    session, asked = engine.elicit(x.iloc[0], questions=3), set[frozenset[str]]()
    while question := session.ask():
        options = [_Asked(table, x, plan, most=most) for plan in question.options]
        kept = _OF_PLANS if question.whole else _OF_PARTS  # parts of plans lead to no yes
        for one in options:
            yield from _keeps(one, kept, "an option")
        for less in options:
            for more in options:
                if dominates(table.space, less.own, less.end, more.end):
                    yield f"a question offers ({more.said}) beside ({less.said}), which asks for less"
        shown = frozenset(one.said for one in options)
        if len(shown) < len(options):
            yield f"a question offers the same plan twice: {options[0].said}"
        if shown in asked:
            yield f"a question comes twice, the second time as a {question.kind}: {' / '.join(sorted(shown))}"
        asked.add(shown)
        session.answer(int(rng.integers(len(options))))
    yield from _keeps(_Asked(table, x, session.recommend(), most=most), _OF_PLANS, "the advice")


def _keeps(one: _Asked, promises: dict[str, Promise], what: str) -> Iterator[str]:
    for name, promise in promises.items():
        for fault in promise(one) if one.plan.status == "ok" or name in _ALWAYS else ():
            yield f"{what} breaks {name!r}: {fault}"

"""What a plan promises. Each promise looks at one call of an engine and yields a sentence for every plan that breaks it.

``EVERY`` holds for any engine. ``FOR_PEOPLE`` is asked of engines that make plans for people to follow: plans whose effort
is that of the whole change, not of a path.
"""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from reap import effort
from reap._typing import Array, Frame
from reap.checks.judge import Judge, dominates
from reap.checks.legality import (
    Row,
    actions,
    at,
    brought,
    done,
    missing,
    needed,
    same,
    time_of,
    violations,
)
from reap.checks.report import require
from reap.checks.worlds import World
from reap.models.durable import needed as enough
from reap.plan import Plan
from reap.recourse import Engine
from reap.space import Limits

Promise = Callable[["Call"], Iterator[str]]
#: From a model and a space to an engine that is not fitted yet; and a single check of such engines.
Make = Callable[..., Engine]
Case = Callable[[Make], None]


@dataclass(frozen=True)
class Call:
    """One call of an engine: who asked, under which matrices and limits, and the plans that came back.

    Parameters
    ----------
    judge : Judge
    x : one-row DataFrame
    matrices : (b, d, d)
    plans : list of Plan, b of them
    limits : Limits, optional
    max_changes : int, optional
        The number of actions that the engine promises not to exceed without saying so.
    """

    judge: Judge
    x: Frame
    matrices: Array
    plans: Sequence[Plan]
    limits: Limits | None = None
    max_changes: int | None = None

    @cached_property
    def own(self) -> Row:
        """The subject, in units."""
        return self.judge.row({name: self.x[name].iloc[0] for name in self.x})

    @cached_property
    def stages(self) -> list[list[Row]]:
        """The rows of each plan's path, in units; the last as the plan itself tells it."""
        return [[*self.judge.rows(p.path[:-1]), self.judge.row(p.target)] for p in self.plans]

    @property
    def made(self) -> list[tuple[Plan, list[Row]]]:
        """The plans that lead somewhere, with their stages."""
        return [(p, rows) for p, rows in zip(self.plans, self.stages, strict=True) if p.status == "ok"]

    def of(self, plan: Plan) -> str:
        """Return a plan as it is named in a sentence."""
        said = "; ".join(str(change) for change in plan.changes) or plan.status
        return f"the plan of {self.x.index[0]} ({said})"


def summary(promise: Callable[..., Any]) -> str:
    """Return the first sentence of what something promises."""
    return (inspect.getdoc(promise) or "").split("\n")[0].rstrip(".")


def asked(engine: Engine, world: World, x: Any, matrices: Array, limits: Limits | None = None) -> Call:
    """Return one call of an engine."""
    most = engine.get_params(deep=False).get("max_changes")
    return Call(Judge.of_world(world), x, matrices, engine.plans(x, matrices, limits), limits, most)


# of every engine --------------------------------------------------------------------------------------


def truthful(call: Call) -> Iterator[str]:
    """A valid plan's target, asked about alone, is accepted; scores are the model's own; a refusal leads nowhere."""
    scores = call.judge.scores([row for rows in call.stages for row in rows])
    ends = np.cumsum([len(rows) for rows in call.stages])
    accepted = call.judge.scale.enough(call.judge.scores([call.own]))[0]
    for plan, score, rows in zip(call.plans, np.split(scores, ends[:-1]), call.stages, strict=True):
        who = call.of(plan)
        if (plan.status == "already_accepted") != accepted:
            yield f"the model {'accepts' if accepted else 'refuses'} the person; the status is {plan.status!r}"
        if not np.allclose(plan.scores, score, atol=1e-6 * max(1.0, call.judge.scale.spread)):
            yield f"{who} states the scores {plan.scores.round(4)}; the model gives {score.round(4)}"
        if plan.status in ("ok", "already_accepted"):
            (alone,) = call.judge.scores(rows[-1:])
            if not (plan.valid and call.judge.scale.enough(alone)):
                yield f"{who} has the status {plan.status!r} and ends at a score of {alone:.4f}"
        elif plan.valid or len(plan.path) != 1 or not np.isnan(plan.effort):
            yield f"{who} has the status {plan.status!r}, but a target, an effort or a yes"


def lasting(call: Call) -> Iterator[str]:
    """A plan is accepted by as many retrainings as it states, and by as many as were asked for."""
    judge, made = call.judge, call.made
    count = enough(judge.durability, len(judge.others))
    for (plan, rows), share in zip(made, judge.holding([rows[-1] for _, rows in made]), strict=True):
        if judge.others and (plan.durability is None or not np.isclose(plan.durability, share)):
            yield f"{call.of(plan)} states that {plan.durability} of the retrainings accept it; {share:.4g} do"
        if judge.others and share * len(judge.others) < count - 1e-9:
            yield f"{call.of(plan)} is accepted by {share:.0%} of {len(judge.others)} retrainings; {count} were asked for"
        if judge.margin and not judge.accepts([rows[-1]])[0]:
            yield f"{call.of(plan)} keeps less than the margin of {judge.margin:g}"


def legal(call: Call) -> Iterator[str]:
    """Every stage is legal from where the person stands; of a path, from the stage before as well."""
    space = call.judge.space
    for plan, rows in zip(call.plans, call.stages, strict=True):
        moved = [f.name for f in space.features if not same(f, call.own[f.name], rows[0][f.name])]
        if moved:
            yield f"{call.of(plan)} starts with another {moved[0]} than the person's own"
        for before, after in itertools.pairwise(rows):
            wrong = violations(space, call.own, after, call.limits)
            wrong += violations(space, before, after, call.limits) if plan.along else []
            if wrong:
                yield f"{call.of(plan)} is illegal: {'; '.join(dict.fromkeys(wrong))}"


def counted(call: Call) -> Iterator[str]:
    """A plan's effort is ``ΔᵀAΔ`` of its moves (of a path ``Σ vᵀAv``), for the matrix that was asked about."""
    for plan, A in zip(call.plans, call.matrices, strict=True):
        if plan.status != "ok":
            continue
        path = plan.path if plan.along else plan.path[[0, -1]]
        moves = np.nan_to_num(np.diff(call.judge.doing(call.own, path), axis=0))
        expected = effort.of_moves(A, moves)
        if not np.allclose(plan.moves, moves, atol=1e-9):
            yield f"{call.of(plan)} has moves that are not those between its rows"
        if not np.isclose(plan.effort, expected, rtol=1e-7, atol=1e-12):
            yield f"{call.of(plan)} states an effort of {plan.effort:.6g}; it is {expected:.6g}"


def listed(call: Call) -> Iterator[str]:
    """What is listed is what changes, by more than float noise and in words; what is not comes back equal to the bit."""
    kinds = call.judge.like.dtypes
    for plan, rows in zip(call.plans, call.stages, strict=True):
        said = {change.feature: change for change in plan.changes}
        if plan.status == "ok" and not said:
            yield "a plan has the status 'ok' and no change"
        does = done(call.judge.space, call.own, rows[-1])
        for feature in call.judge.space.features:
            own, end = call.own[feature.name], does[feature.name]
            change = said.get(feature.name)
            if feature.effect is not None and same(feature, end, own if change is None else change.after):
                continue  # what others bring has been taken out, to all but the last digits
            if change is None:
                if feature.is_action and not _equal(own, end):
                    yield f"{feature.name} is not listed, and goes from {own!r} to {end!r}"
            elif not (
                _equal(change.before, own, kinds.get(feature.name))
                and _equal(change.after, end, kinds.get(feature.name))
            ):
                yield f"{feature.name} is listed as {change.before!r} → {change.after!r}; it goes from {own!r} to {end!r}"
            elif same(feature, own, end) or change.before_text == change.after_text:
                yield f"{feature.name} goes from {own!r} to {end!r}, a change of nothing ({change})"


def alike(call: Call, again: Call) -> Iterator[str]:
    """The same question gets the same plans."""
    for first, second, one, two in zip(call.plans, again.plans, call.stages, again.stages, strict=True):
        if first.status != second.status or not all(
            _equal(one[-1][name], two[-1][name]) for name in call.own
        ):
            yield f"{call.of(first)} is another when asked for again: {again.of(second)}"


def _equal(one: Any, two: Any, dtype: Any = None) -> bool:
    """Return whether two values are the same: numbers of a 32-bit column as that column holds them."""
    if missing(one) or missing(two):
        return missing(one) and missing(two)
    if dtype == np.float32:
        return bool(np.float32(one) == np.float32(two))
    return bool(one == two)


# of plans for people ----------------------------------------------------------------------------------


def irreducible(call: Call) -> Iterator[str]:
    """No action can be left out, no number or level taken back a step, and the plan still be legal and accepted."""
    tried: list[tuple[Plan, str, Row]] = []
    for plan, rows in call.made:
        for said, less in call.judge.less(call.own, rows[-1]):
            if call.judge.legal(call.own, less, call.limits):
                tried.append((plan, said, less))
    for (plan, said, _), fine in zip(tried, call.judge.accepts([row for *_, row in tried]), strict=True):
        if fine:
            yield f"{call.of(plan)} is accepted {said}"


def undominated(call: Call) -> Iterator[str]:
    """No plan asks for all that another asks for, and for more."""
    space, targets = call.judge.space, [(plan, rows[-1]) for plan, rows in call.made]
    for (one, less), (two, more) in itertools.permutations(targets, 2):
        if dominates(space, call.own, less, more):
            yield f"{call.of(two)} asks for all that {call.of(one)} asks for, and more"


def few(call: Call) -> Iterator[str]:
    """At most ``max_changes`` actions, or the note says why there are more."""
    for plan, rows in call.made:
        count = len(actions(call.judge.space, call.own, rows[-1]))
        if count != len(plan.changes):
            yield f"{call.of(plan)} lists {len(plan.changes)} changes; there are {count}"
        if (
            call.max_changes is not None
            and count > call.max_changes
            and f"{call.max_changes} change" not in plan.note
        ):
            yield f"{call.of(plan)} has {count} changes; {call.max_changes} were promised, and its note does not say why"


def single(call: Call) -> Iterator[str]:
    """Every step is one action, what is chosen on the day, a wait, or what no order could part; no feature changes twice."""
    space = call.judge.space
    for plan, rows in call.made:
        made: list[str] = []
        for before, after in itertools.pairwise([done(space, call.own, row) for row in rows]):
            names = [
                f.name for f in space.features if f.is_set and not same(f, before[f.name], after[f.name])
            ]
            made += names
            if parted := _parted(call, before, after, names):
                yield f"{call.of(plan)} has a step of {len(names)} actions; {' and '.join(parted)} could come first"
            waited = _took(call, after) > _took(call, before)
            if not names and not waited:
                yield f"{call.of(plan)} has a step in which nothing is done"
        if len(set(made)) != len(made):
            yield f"{call.of(plan)} changes a feature in more than one step"


def _took(call: Call, own: Row) -> int:
    """Return the months of a row of what a person does."""
    return time_of(call.judge.space, call.own, brought(call.judge.space, call.own, own)) or 0


def _parted(call: Call, before: Row, after: Row, names: Sequence[str]) -> tuple[str, ...]:
    """Return actions of a step that could be a step of their own, followed by the others."""
    space = call.judge.space
    day = tuple(name for name in names if space.feature(name).when == "application")
    parts = [(name,) for name in names if name not in day] + ([day] if day else [])
    waited = _took(call, before)
    for count in range(1, len(parts)):
        for some in itertools.combinations(parts, count):
            first = tuple(itertools.chain(*some))
            between = {**before, **{name: after[name] for name in first}}
            between = at(space, call.own, between, max(waited, needed(space, call.own, between)))
            if call.judge.legal(call.own, between, call.limits):
                return first
    return ()


def dated(call: Call) -> Iterator[str]:
    """A plan states the months it takes, and they are within the horizon and the person's limit."""
    space, limits = call.judge.space, call.limits
    within = limits.within_months if limits else None
    for plan, rows in call.made:
        months = time_of(space, call.own, rows[-1], limits)
        if months is None or plan.months != months:
            yield f"{call.of(plan)} states {plan.months} months; it takes {months}"
        if within is not None and plan.months > within:
            yield f"{call.of(plan)} takes {plan.months} months; {within} are allowed"


def open_about_setbacks(call: Call) -> Iterator[str]:
    """A score that falls on the way is said in words, and not called a rise."""
    for plan, _ in call.made:
        falls = np.flatnonzero(np.diff(plan.rising) < -1e-9)
        text = str(plan)
        if len(falls) and ("score rises" in text or f"step {falls[0] + 1} " not in text.lower()):
            yield f"{call.of(plan)} does not say that the score falls at step {falls[0] + 1}"


#: Promises by name, as reports list them.
EVERY: dict[str, Promise] = {
    "truthful": truthful,
    "lasting": lasting,
    "legal": legal,
    "effort": counted,
    "listed": listed,
}
FOR_PEOPLE: dict[str, Promise] = {
    "irreducible": irreducible,
    "undominated": undominated,
    "few changes": few,
    "single steps": single,
    "months": dated,
    "setbacks": open_about_setbacks,
}


def keep(call: Call, promises: Mapping[str, Promise], where: str = "") -> None:
    """Raise the first promise that a call breaks."""
    for promise in promises.values():
        for sentence in promise(call):
            require(False, where + sentence)

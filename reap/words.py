"""Plans in plain words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from reap.language import N_, _, ngettext, number
from reap.space import Change
from reap.space.words import lowered, ratios

if TYPE_CHECKING:
    from reap.plan import Cliff, Plan, Step

#: From this much more effort on, what holding asks for is worth a sentence.
NOTABLE = 0.05
#: From this much more on a figure says nothing to a person: ten times the effort.
MANY = 9.0
_WITHOUT = {
    "already_accepted": N_("Nothing needs to change: the model accepts you as you are."),
    "none_found": N_("No plan was found."),
    "unreachable": N_("No accepted position of other people can be reached from where you are."),
    "infeasible": N_("No plan is possible within the limits."),
    "time_limit": N_("No plan was found in the time allowed."),
}


def plan(made: Plan, start: Any = None) -> str:
    """Return a plan as a person reads it: the headline, its actions in order, then what else is true of it.

    With the day it begins, ``start``, dates are months of the calendar.
    """
    if made.status != "ok":
        return " ".join(filter(None, (_(_WITHOUT[made.status]), made.note)))
    lines = [headline(made)]
    scored = _("score {score}")
    steps = [
        f"{step}  ({', '.join(filter(None, (date(made, step, start), scored.format(score=made.scale.number(step.score)))))})"
        for step in made.steps
    ]
    if stepwise(made):
        lines += steps if len(steps) > 1 else [str(step) for step in made.steps]
    else:  # a path goes through rows of other people: what it comes to stands first
        lines += [f"- {change}" for change in made.changes]
        lines += [_("In these stages:"), *steps]
    return "\n".join([*lines, *remarks(made)])


def headline(made: Plan) -> str:
    """Return one sentence on what a plan asks and brings; a score that falls on the way is not called a rise."""
    months, count = made.months, len(made.changes)
    if not count and months:
        asks = ngettext("wait {n} month", "wait {n} months", months).format(n=number(months))
    else:
        asks = ngettext("{n} change", "{n} changes", count).format(n=number(count))
        if made.space.timed and months:
            ready = ngettext("in about {n} month", "in about {n} months", months).format(n=number(months))
            asks = _("{changes}, ready {time}").format(changes=asks, time=ready)
        elif made.space.timed:
            asks = _("{changes}, ready at once").format(changes=asks)
    said = (
        _("Your plan: {asks}, and the score rises from {now} to {then} (needed: {needed}).")
        if made.setback is None
        else _("Your plan: {asks}, and the score goes from {now} to {then} (needed: {needed}).")
    )
    scale = made.scale
    return said.format(
        asks=asks, now=scale.number(made.scores[0]), then=scale.say(made.score), needed=scale.needed
    )


def step(made: Step) -> str:
    """Return what is done in a step, without its number."""
    if made.changes:
        said = listed(made.changes)
        return _("When you apply: {action}").format(action=lowered(said)) if made.on_the_day else said
    return _("Wait until month {month}").format(month=made.month) if made.month else listed(made.follows)


def date(made: Plan, step: Step, start: Any = None) -> str:
    """Return when a step is done, in words: "in month 5"; nothing where nothing is timed, or the step says it itself."""
    if not made.space.timed or step.on_the_day or (not step.changes and start is None):
        return ""
    return made.space.time.when(step.month, start)


def remarks(made: Plan) -> list[str]:
    """Return what else is to be said: what follows, where the score falls, how sure we are, how it was found."""
    said = []
    if made.follows:
        said.append(_("As a result: {changes}.").format(changes=listed(made.follows)))
    said += ratios(made.space, made.path[0], made.path[-1])
    if made.setback is not None:
        falls = _(
            "After step {number} the score is lower than before it ({score}); only all steps together lead to a yes."
        )
        said.append(falls.format(number=made.setback.number, score=made.scale.say(made.setback.score)))
    if made.durability is not None:
        said.append(durability(made))
    said += flaws(made)
    if made.price is not None and made.price >= NOTABLE:
        said.append(price(made.price))
    if made.confidence is not None:
        said.append(_("How sure: {confidence}.").format(confidence=made.confidence))
    if made.note:
        said.append(made.note)
    return said


def flaws(made: Plan) -> list[str]:
    """Return what is to be said against a plan: that it gives less than the person came for, and cliffs."""
    less = any(made.space.feature(change.feature).advice == "last" for change in made.changes)
    said = [_("It gives you less than you came for.")] if less else []
    return said + [cliff(made, one) for one in made.cliffs]


def durability(made: Plan) -> str:
    """Return how a plan stands: how many of the model's possible updates accept it; no plan is called safe."""
    count = made.refits or 0
    return ngettext(
        "The computer would say yes today, and so would {some} of {count} possible update of it. That is not a promise.",
        "The computer would say yes today, and so would {some} of {count} possible updates of it. That is not a promise.",
        count,
    ).format(some=round((made.durability or 0) * count), count=count)


def price(more: float) -> str:
    """Return what holding asks for, against the plan that today's model alone accepts.

    Examples
    --------
    >>> price(0.12)
    'The easiest plan asks a little less of you, but it is less likely to last.'
    >>> price(2.4)
    'It asks 3.4 times as much of you as the easiest plan, which is less likely to last.'
    >>> price(97.3)  # a plan that asks next to nothing is a poor measure
    'It asks more than ten times as much of you as the easiest plan, which is less likely to last.'
    """
    if more < 0.5:
        return _("The easiest plan asks a little less of you, but it is less likely to last.")
    if more >= MANY:
        return _(
            "It asks more than ten times as much of you as the easiest plan, which is less likely to last."
        )
    said = _("It asks {times} times as much of you as the easiest plan, which is less likely to last.")
    return said.format(times=number(1 + more, 1))


def safety(more: float) -> str:
    """Return what a safer plan asks for, against the first one.

    Examples
    --------
    >>> safety(0.2)
    'This plan is safer, and asks a little more of you than the first.'
    >>> safety(1.4)
    'This plan is safer, and asks 2.4 times as much of you as the first.'
    """
    if more < 0.5:
        return _("This plan is safer, and asks a little more of you than the first.")
    if more >= MANY:
        return _("This plan is safer, and asks more than ten times as much of you as the first.")
    said = _("This plan is safer, and asks {times} times as much of you as the first.")
    return said.format(times=number(1 + more, 1))


def fragile(made: Plan) -> str:
    """Return the warning on a plan that today's model alone was asked about."""
    if made.durability is None:
        return _("This plan asks for less, but it ends close to what is needed: it may not hold.")
    return _("This plan asks for less, but it may not hold: if the computer is updated, it may say no.")


def cliff(made: Plan, at: Cliff) -> str:
    """Return the warning that a tiny change decides: no advice, but a flaw of the model."""
    return _(
        "A tiny difference decides here: with {label} at {below} instead of {above} the score would be {lower} instead of "
        "{higher}. That is a flaw of the computer; do not rely on it."
    ).format(
        label=lowered(at.label),
        below=at.below,
        above=at.above,
        lower=made.scale.number(at.score_below),
        higher=made.scale.say(at.score_above),
    )


def stepwise(made: Plan) -> bool:
    """Return whether the steps are the actions, each feature in one of them only."""
    return sum(len(step.changes) for step in made.steps) == len(made.changes)


def listed(changes: Sequence[Change]) -> str:
    """Return changes as one sentence, without its full stop."""
    return "; ".join(str(c) if i == 0 else lowered(str(c)) for i, c in enumerate(changes))


def counted(count: int, noun: str) -> str:
    """Return a number of things.

    Examples
    --------
    >>> counted(1, "change"), counted(3, "change")
    ('1 change', '3 changes')
    """
    return f"{count:,} {noun}{'' if count == 1 else 's'}"

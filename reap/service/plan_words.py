"""What is said of a plan on its pages: the headline, the money in it, what an action brings, where the score falls."""

from __future__ import annotations

from reap import language
from reap.language import N_, _, ngettext
from reap.plan import Plan
from reap.scores import Scale

#: Units that are money, so that what several actions move can be summed up.
MONEY = frozenset(
    ("$", "€", "£", "DM", "USD", "EUR", "GBP", "CHF", "CAD", "AUD", "SEK", "NOK", "DKK", "PLN", "TWD", "NT$")
)
_HEADLINES = {
    "already_accepted": N_("Nothing needs to change: you would be accepted as you are."),
    "none_found": N_("We found no plan within your wishes."),
    "unreachable": N_(
        "From where you are, no accepted position of other people can be reached within your wishes."
    ),
    "infeasible": N_("No plan is possible within your wishes."),
    "time_limit": N_("We found no plan in the time allowed."),
}


def headline(made: Plan) -> str:
    """Return what a plan asks, in a line: "3 changes, ready in about 5 months"."""
    if made.status != "ok":
        return _(_HEADLINES[made.status])
    count, months = len(made.changes), made.months
    if not count:
        return ngettext("Wait {n} month", "Wait {n} months", months).format(n=months)
    asks = ngettext("{n} change", "{n} changes", count).format(n=count)
    if not made.space.timed:
        return asks
    if not months:
        return _("{changes}, ready at once").format(changes=asks)
    ready = ngettext("in about {n} month", "in about {n} months", months).format(n=months)
    return _("{changes}, ready {time}").format(changes=asks, time=ready)


def money(made: Plan) -> str:
    """Return what several actions in the same money come to together; empty where fewer than two are in one."""
    moved: dict[str, list[float]] = {}
    for change in made.changes:
        feature = made.space.feature(change.feature)
        if feature.is_number and feature.unit in MONEY:
            moved.setdefault(change.feature, []).append(abs(float(change.after) - float(change.before)))
    units = {made.space.feature(name).unit for name in moved}
    if len(moved) < 2 or len(units) != 1:
        return ""
    amount = made.space.feature(next(iter(moved))).show(sum(sum(part) for part in moved.values()))
    return _("The amounts that change come to {money} together.").format(money=amount)


def gain(scale: Scale, before: float, after: float) -> str:
    """Return what an action brings: "+12 points"; a sign stands before it, so that a loss cannot be overlooked."""
    if scale.output == "probability":
        n = round(100 * (after - before))
        sign = "+" if n > 0 else "−" if n < 0 else "±"
        return ngettext("{sign}{n} point", "{sign}{n} points", abs(n)).format(sign=sign, n=abs(n))
    sign = "+" if after > before else "−" if after < before else "±"
    return f"{sign}{language.number(abs(after - before), scale.decimals)} {scale.unit}".strip()


def setback(made: Plan) -> str:
    """Return a sentence on the step that lowers the score; empty where none does."""
    step = made.setback
    if step is None:
        return ""
    said = _(
        "After step {number} the score is lower than before it ({score}). Only all of them together lead to a yes."
    )
    return said.format(number=step.number, score=made.scale.number(step.score))

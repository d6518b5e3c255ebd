"""A plan from outside: which are on offer, all that is true of one in words and units, the one chosen, and what is done of it.

*Parts.* The page, the file and "I have done this" ask one function, ``stand``, where somebody stands who has done some of a
plan's actions, and today's model what it says there. So a plan that says "+12 points" brings 12 points once it is reported, and
a part of a plan that today's model accepts already is said (``_enough``).
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection
from datetime import date
from itertools import combinations

import numpy as np

from reap import language, words
from reap._errors import InputError
from reap._typing import Array
from reap.elicitation import Event
from reap.elicitation.events import read_plans
from reap.language import N_, _, listed, ngettext
from reap.plan import Plan
from reap.recourse.advice import possible, relaxations
from reap.scores import Scale
from reap.service import acts
from reap.service import schemas as out
from reap.service.case import Case
from reap.service.desk import Desk, Live, StaleError
from reap.service.log import Entry, Sent
from reap.service.promises import months_on, running
from reap.service.views import position
from reap.space import Change
from reap.space.encoding import UNCHANGED
from reap.space.words import ratios
from reap.words import stepwise

#: Plans to choose from: the best, and two clearly different ones; beside them one that is easier and may not hold.
CHOICES = 3
#: Actions of which every part is tried; of more only what is done first.
_EVERY = 6
#: Units that are money, so that what several actions move can be summed up.
_MONEY = frozenset(
    ("$", "€", "£", "DM", "USD", "EUR", "GBP", "CHF", "CAD", "AUD", "SEK", "NOK", "DKK", "PLN", "NT$")
)
_HEADLINES = {
    "already_accepted": N_("Nothing needs to change: you would be accepted as you are."),
    "none_found": N_("We found no plan within your wishes."),
    "unreachable": N_("With your wishes we found no way from where you are to where other people got a yes."),
    "infeasible": N_("No plan is possible within your wishes."),
    "time_limit": N_("We found no plan in the time allowed."),
}


def name_of(made: Plan) -> str:
    """Return what a plan is called in a form: it depends on where the plan leads, so that no stale form chooses another."""
    return hashlib.sha256(made.path[[0, -1]].round(9).tobytes()).hexdigest()[:16]


# which are on offer -------------------------------------------------------------------------------------


def offered(desk: Desk, live: Live) -> list[Plan]:
    """Return the plans to choose from: the one recommended, clearly different ones, and last an easier one that may not hold.

    Where no plan holds, that last one is all there is.
    """
    best = desk.plan(live)
    if best.status == "already_accepted":
        return []
    spoken = _spoken(live)
    if live.offers is None or live.offers[0] != spoken:
        names, plans = {name_of(best)}, [best] if best.status == "ok" else []
        for other in live.session.plans(CHOICES, today=True):
            if name_of(other) not in names and other.valid and not turned_down(desk, live, other):
                names.add(name_of(other))
                plans.append(other)
        live.offers = spoken, plans
    return live.offers[1]


def _spoken(live: Live) -> tuple[int, str]:
    """Return what the words of a plan depend on: when it was stored, and the language."""
    stored = next(entry.revision for entry in reversed(live.line) if entry.type == "recommended")
    return stored, language.current()


def turned_down(desk: Desk, live: Live, made: Plan) -> bool:
    """Return whether the person has said that a plan is not for them; such a plan is back only where no other is left."""
    said = [entry.payload["plans"] for entry in live.line if entry.type == "refused"]
    return name_of(made) in {name_of(plan) for plans in said for plan in read_plans(plans, live.space)}


def may_not_hold(case: Case, made: Plan) -> bool:
    """Return whether a plan ends where today's model says yes, and those that should agree do not."""
    judge = case.engine.acceptance_
    if judge.exact or made.status != "ok":
        return False
    return not bool(judge.classifier.accepts(made.path[-1:])[0])


# what is true of one ------------------------------------------------------------------------------------


def advice(desk: Desk, live: Live) -> out.Advice:
    """Return the plan of this state with all that is said about it; worked out once a language, since it is looked at often."""
    made = desk.plan(live)
    spoken = _spoken(live)
    if live.explained is None or live.explained[0] != spoken:
        with desk.solving(live, "explain"):
            live.explained = spoken, _advice(desk, live, made)
    return live.explained[1]


def taken(desk: Desk, live: Live) -> out.Advice:
    """Return the plan that goes on paper: the one chosen where it is still on offer, else the one recommended."""
    shown, entry = advice(desk, live), last(live)
    if entry is None:
        return shown
    made = plan_of(live, entry)
    return _advice(desk, live, made) if name_of(made) in {other.id for other in shown.others} else shown


def _advice(desk: Desk, live: Live, made: Plan) -> out.Advice:
    session, scale = live.session, made.scale
    before = scale.rough(float(made.scores[0]))
    sure = made.confidence
    known = session.learned().difficulties if session.answered or session.difficulties else ()
    shown = plan(desk, live, made)
    if promised(live) and name_of(made) == name_of(desk.plan(live)):
        shown.stands += " " + _("So this is simply the easiest plan that we know for you.")
    return out.Advice(
        **shown.model_dump(),
        revision=live.revision,
        score_now=before,
        said_now=scale.say(before),
        needed=scale.needed,
        threshold=made.threshold,
        fit=sure.words(asking=session.ask() is not None) if sure else "",
        price=words.price(made.price) if made.price is not None and made.price >= words.NOTABLE else "",
        difficulties=[
            out.Hard(feature=d.feature, label=d.label, level=d.level, words=_(d.words))
            for d in known
            if live.space.feature(d.feature).actionable and d.level != 3
        ],
        conflicts=_conflicts(live),
        relax=_relax(desk, live, made),
        others=[plan(desk, live, other) for other in offered(desk, live)[made.status == "ok" :]],
        refused=made.status == "ok" and turned_down(desk, live, made),
    )


def plan(desk: Desk, live: Live, made: Plan) -> out.PlanOut:
    """Return a plan to choose from, with all that is true of it whoever reads it."""
    scale, fragile = made.scale, may_not_hold(live.case, made)
    after = scale.rough(made.score)
    parts = DatedActions(live.case, made, date.fromisoformat(live.kept.created[:10]))
    stages = [] if stepwise(made) else [(step, scale.rough(step.score)) for step in made.steps]
    cautions = [words.fragile(made)] if fragile else []
    return out.PlanOut(
        id=name_of(made),
        status=made.status,
        valid=made.valid,
        headline=headline(made),
        stands=stands(live, made) if made.status == "ok" else "",
        enough=parts.enough(),
        note="" if fragile else made.note,
        score=after,
        said=scale.say(after),
        months=made.months if made.space.timed else None,
        changes=parts.actions(),
        follows=[str(change) for change in made.follows],
        money=" ".join(filter(None, (*ratios(made.space, made.path[0], made.path[-1]), _money(made)))),
        cautions=[*cautions, *words.flaws(made)],
        may_not_hold=fragile,
        stages=[
            out.Stage(
                number=s.number, changes=[str(c) for c in s.changes], score=score, said=scale.say(score)
            )
            for s, score in stages
        ],
        target=live.space.values(made.path[-1]),
    )


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


def promised(live: Live) -> date | None:
    """Return the last day of a promise that still runs: until then the rules by which the session began count."""
    return live.honoured_until if running(live.entries[0]) else None


def stands(live: Live, made: Plan) -> str:
    """Return how a plan stands: what is promised of it, or how many of the model's possible updates accept it."""
    if (until := promised(live)) is None:
        if made.durability is not None:
            return words.durability(made)
        return _("The computer would say yes today; that is not a promise.")
    begun = date.fromisoformat(live.kept.created[:10])
    days = {"until": language.day(until), "begun": language.day(begun)}
    if months_on(begun, made.months) > until:
        said = _(
            "The rules of {begun} count for you until {until}. This plan takes longer, and what counts then nobody can say."
        )
    else:
        said = _(
            "If you do this by {until}, the computer will say yes: the rules of {begun} count for you until then."
        )
    return said.format(**days)


def _money(made: Plan) -> str:
    """Return what several actions in the same money come to together; empty where fewer than two are in one."""
    moved = [(made.space.feature(change.feature), change) for change in made.changes]
    sums = [(f, abs(float(c.after) - float(c.before))) for f, c in moved if f.is_number and f.unit in _MONEY]
    if len(sums) < 2 or len({feature.unit for feature, _amount in sums}) != 1:
        return ""
    amount = sums[0][0].show(sum(amount for _feature, amount in sums))
    return _("The amounts that change come to {money} together.").format(money=amount)


def _conflicts(live: Live) -> list[list[int]]:
    """Return groups of answers in tension, as positions in the list of everything answered."""
    choices = [past.choice for past in live.session.history]
    told = [i for i, choice in enumerate(choices) if choice == "same" or isinstance(choice, int)]
    return [[told[k] for k in group] for group in live.session.conflicts()]


def _relax(desk: Desk, live: Live, made: Plan) -> list[out.Named]:
    """Return the limits of which one has to go. Limits that only help together are in the note: a button lifts one."""
    session = live.session
    if made.status in ("ok", "already_accepted"):
        return []
    whole = {"max_changes": _("Number of changes"), "within_months": _("Time")}
    found = relaxations(session.limits, possible(session.engine, live.space.decode(session.here[None])))
    single = [names[0] for names in found if len(names) == 1 and names[0] in session.limits.names]
    return [
        out.Named(feature=name, label=whole[name] if name in whole else live.space.feature(name).label)
        for name in single
    ]


# its parts ----------------------------------------------------------------------------------------------


def stand(made: Plan, done: Collection[str], here: Array | None = None) -> Array:
    """Return where somebody stands (d,) who has done these of a plan's actions, what follows from them and their time included.

    ``here`` is where they stand now: what the plan does not touch stays so, and so does what is done of it already.
    """
    space, start, end = made.space, made.path[0], made.done[-1]
    here = None if here is None else space.legal.done(here, start)[0]
    actions = [change.feature for change in made.changes]
    here = start if here is None else here
    arrived = [
        name
        for name in actions
        if np.allclose(here[space.slices[name]], end[space.slices[name]], rtol=0, atol=UNCHANGED)
    ]
    whole = {*actions} <= {*done, *arrived}
    row = np.array(end if whole else start)
    for feature in space.features:
        columns = space.slices[feature.name]
        if feature.name in actions:
            row[columns] = (end if feature.name in done or feature.name in arrived else here)[columns]
        elif feature.is_set:
            row[columns] = np.where(start[columns] == here[columns], row[columns], here[columns])
    row = row if whole and here is start else space.legal.follow(row[None], start)[0]
    return np.asarray(space.legal.brought(row[None], start)[0])


class DatedActions:
    """The actions of a plan in the order of their dates, and what today's model says once some of them are done.

    Parameters
    ----------
    case : Case
    made : Plan
    start : date
        The day from which months count.
    """

    def __init__(self, case: Case, made: Plan, start: date) -> None:
        steps = {c.feature: step for step in made.steps for c in step.changes} if stepwise(made) else {}
        self.made, self.start, self.steps, self.changes = made, start, steps, list(made.changes)
        self.scores: dict[frozenset[str], float] = {}
        if not steps:  # a path has no actions of its own
            return
        # What the application itself asks for comes last; what has one date stays in the plan's own order.
        self.changes.sort(key=lambda c: (steps[c.feature].on_the_day, steps[c.feature].month))
        names = [change.feature for change in self.changes]
        sizes = range(1, len(names)) if len(names) <= _EVERY else ()
        some = [frozenset(part) for size in sizes for part in combinations(names, size)]
        some += [frozenset(names[: i + 1]) for i in range(len(names))]
        rows = np.stack([stand(made, part) for part in some])
        self.scores = dict(zip(some, case.engine.classifier_.score(rows).tolist(), strict=True))

    def actions(self) -> list[out.Action]:
        """Return the actions, each with when it is done and what it brings, together with others where alone it helps nothing."""
        made, scale = self.made, self.made.scale
        names = [change.feature for change in self.changes]
        parts = [frozenset(names[: i + 1]) for i in range(len(names))] if self.scores else []
        scores = [
            scale.rough(score) for score in (float(made.scores[0]), *(self.scores[part] for part in parts))
        ]
        kept = [len(parts)]  # after how many actions the score is said: it never falls from one to the next
        for i in reversed(range(1, len(parts))):
            if _rising(scale, scores[0]) < _rising(scale, scores[i]) < _rising(scale, scores[kept[-1]]):
                kept.append(i)
        before = dict(zip(kept, [*kept[1:], 0], strict=True))

        def action(i: int, change: Change) -> out.Action:
            feature, step = made.space.feature(change.feature), self.steps.get(change.feature)
            ends = [
                position(feature, v, (change.before, change.after)) for v in (change.before, change.after)
            ]
            shown = out.Action(
                feature=change.feature,
                label=change.label,
                text=change.text,
                before=change.before_text,
                after=change.after_text,
                signed=change.signed,
                bar=None if ends[0] is None or ends[1] is None else (ends[0], ends[1]),
            )
            if step is None:
                return shown
            shown.step = i
            if i in before:
                shown.score, shown.said = scores[i], scale.say(scores[i])
                brings = _gain(scale, scores[before[i]], scores[i])
                shown.brings = _("{gain} together").format(gain=brings) if i - before[i] > 1 else brings
            if made.space.timed:
                shown.month = made.months if step.on_the_day else step.month
                date = words.date(made, step, self.start) or _("at once")
                shown.when = _("when you apply") if step.on_the_day else date
            return shown

        return [action(i, change) for i, change in enumerate(self.changes, 1)]

    def enough(self) -> list[str]:
        """Return a sentence for each smallest part of the plan that today's model accepts already."""
        scale, whole = self.made.scale, len(self.changes)
        fine = [
            part for part, score in self.scores.items() if len(part) < whole and bool(scale.enough(score))
        ]
        least = [part for part in fine if not any(other < part for other in fine)]
        numbers = [
            [i for i, change in enumerate(self.changes, 1) if change.feature in part] for part in least
        ]
        said, single = [], [places[0] for places in numbers if len(places) == 1]
        if len(single) > 1:
            text = _(
                "Any one of the steps {steps} would already do for today’s computer. The rest is for safety."
            )
            said.append(text.format(steps=listed(map(str, sorted(single)))))
        for places in numbers:
            if len(places) == 1 and len(single) > 1:
                continue
            if places[-1] == len(places):
                text = _("After step {steps} today’s computer would already say yes. The rest is for safety.")
                places = places[-1:]
            else:
                text = ngettext(
                    "Step {steps} alone would already do for today’s computer. The rest is for safety.",
                    "Steps {steps} alone would already do for today’s computer. The rest is for safety.",
                    len(places),
                )
            said.append(text.format(steps=listed(map(str, places))))
        return said


def _rising(scale: Scale, score: float) -> float:
    """Return a score such that more is better: of a range, how far within it."""
    return score if scale.output == "probability" else float(scale.logit(np.array([score]))[0])


def _gain(scale: Scale, before: float, after: float) -> str:
    """Return what an action brings: "+12 points"; a sign stands before it."""
    sign = "+" if after > before else "−" if after < before else "±"
    if scale.output == "probability":
        n = abs(round(100 * (after - before)))
        return ngettext("{sign}{n} point", "{sign}{n} points", n).format(sign=sign, n=n)
    return f"{sign}{language.number(abs(after - before), scale.decimals)} {scale.unit}".strip()


# the one chosen, and what is done of it -----------------------------------------------------------------


def choose(desk: Desk, live: Live, name: str, key: str | None = None) -> Entry:
    """Store which of the plans on offer the person chose; the same request again returns the stored entry."""
    sent = Sent.of(key, "chosen", name)
    if (done := desk.repeated(live, sent)) is not None:
        return done
    known = {name_of(made): made for made in offered(desk, live)}
    if name not in known:
        raise StaleError
    day = live.honoured_until
    payload = {
        "plan": known[name].to_dict(standalone=False),
        "place": list(known).index(name),
        "answered": live.session.answered,
        "honoured_until": None if day is None else day.isoformat(),
        "model": live.case.model,
    }
    return desk.append(live, Event("chosen", payload), sent)


def last(live: Live) -> Entry | None:
    """Return the entry of the plan chosen last; None where none was."""
    return next((entry for entry in reversed(live.entries) if entry.type == "chosen"), None)


def plan_of(live: Live, entry: Entry) -> Plan:
    """Return the plan that was chosen."""
    return Plan.from_dict(entry.payload["plan"], live.space)


def chosen(desk: Desk, live: Live) -> out.Chosen | None:
    """Return the plan chosen last, in words; None where none was."""
    if (entry := last(live)) is None:
        return None
    made, until = plan_of(live, entry), entry.payload["honoured_until"]
    return out.Chosen(
        id=name_of(made),
        at=language.day(entry.time.date()),
        headline=headline(made),
        changes=[str(change) for change in made.changes],
        honoured_until=None if until is None else language.day(date.fromisoformat(until)),
        model=entry.payload["model"],
    )


def to_do(made: Plan) -> list[Change]:
    """Return what can be reported as done: a plan's actions, or the time that must have passed where there are none."""
    return list(made.changes or made.follows)


def report(desk: Desk, live: Live, done: list[str], key: str | None = None) -> Entry:
    """Store what the person has done of the chosen plan, and go on from there: the row is scored again."""
    sent = Sent.of(key, "reported", *done)
    if (before := desk.repeated(live, sent)) is not None:
        return before
    if (entry := last(live)) is None:
        raise InputError(_("choose a plan first; then say what of it you have done"))
    made = plan_of(live, entry)
    known = [change.feature for change in to_do(made)]
    for name in done:
        if name not in known:
            raise InputError(_("the plan you chose does not ask to change “{feature}”").format(feature=name))
    if not done:
        raise InputError(_("tick at least one thing that you have done"))
    z = stand(made, done, live.session.here)
    reported = {
        "of": entry.revision,
        "done": list(done),
        "subject": live.space.values(z),
        "accepted": live.case.accepts(z),
        "model": live.case.model,
    }
    return desk.act(live, lambda: acts.moved(desk, live, z), None, sent, first=Event("reported", reported))

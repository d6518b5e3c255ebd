"""What a plan looks like from outside: its actions, and all that is true of it, in words and units."""

from __future__ import annotations

from datetime import date

import numpy as np

from reap import language, words
from reap.elicitation import Elicitation
from reap.elicitation.learned import Learned
from reap.language import _
from reap.plan import Plan
from reap.recourse.advice import possible, relaxations
from reap.service import plan_schemas as out
from reap.service.compared import position
from reap.service.desk import Desk
from reap.service.live import Live
from reap.service.offers import everybody, may_not_hold, name_of, offered, turned_down
from reap.service.plan_words import gain, headline, money, setback
from reap.service.schemas import Named
from reap.space import Change
from reap.space.words import lowered
from reap.words import stepwise

__all__ = ["alternative", "changes", "headline", "plan", "taken"]


def plan(desk: Desk, live: Live) -> out.PlanOut:
    """Return the plan of this state with all that is said about it; worked out once a language, since it is looked at often."""
    made = desk.plan(live)
    stored = next(entry.revision for entry in reversed(live.line) if entry.type == "recommended")
    spoken = stored, language.current()
    if live.explained is None or live.explained[0] != spoken:
        with desk.solving(live, "explain"):
            live.explained = spoken, _explain(desk, live, made)
    return live.explained[1]


def taken(desk: Desk, live: Live) -> out.PlanOut:
    """Return the plan that goes on paper: the one chosen where it is still on offer, else the one recommended."""
    shown = plan(desk, live)
    last = next((entry for entry in reversed(live.entries) if entry.type == "chosen"), None)
    if last is None:
        return shown
    made = Plan.from_dict(last.payload["plan"], desk.space)
    if name_of(made) == shown.id or name_of(made) not in {other.id for other in shown.others}:
        return shown
    return _explain(desk, live, made)


def _explain(desk: Desk, live: Live, made: Plan) -> out.PlanOut:
    session = live.session
    known, fragile = session.learned(), may_not_hold(desk, made)
    start = date.fromisoformat(live.kept.created[:10])
    before, after = (made.scale.rough(float(score)) for score in made.scores[[0, -1]])
    return out.PlanOut(
        revision=live.revision,
        id=name_of(made),
        status=made.status,
        valid=made.valid,
        headline=headline(made),
        note="" if fragile else made.note,
        score_now=before,
        score=after,
        said_now=made.scale.say(before),
        said=made.scale.say(after),
        needed=made.scale.needed,
        threshold=made.threshold,
        months=made.months if made.space.timed else None,
        changes=changes(made, start),
        follows=[str(change) for change in made.follows],
        setback=setback(made),
        money=money(made),
        fragile=words.fragile(made) if fragile else "",
        cliffs=[words.cliff(made, one) for one in made.cliffs],
        price=words.price(made.price) if made.price is not None and made.price >= words.NOTABLE else "",
        stages=_stages(made),
        target=desk.space.values(made.path[-1]),
        durability=words.durability(made) if made.durability is not None else "",
        effort=_effort(desk, live, made),
        confidence=None
        if (sure := made.confidence) is None
        else out.Sure(
            within=sure.within,
            excess=sure.excess,
            text=sure.words(asking=session.ask() is not None),
        ),
        difficulties=[
            out.Hard(feature=d.feature, label=d.label, level=d.level, words=_(d.words))
            for d in known.difficulties
            if desk.space.feature(d.feature).actionable
        ],
        pairs=_pairs(known),
        conflicts=_conflicts(session),
        relax=_relax(desk, session, made),
        others=[alternative(desk, other) for other in offered(desk, live)[made.status == "ok" :]],
        refused=made.status == "ok" and turned_down(desk, live, made),
    )


def alternative(desk: Desk, made: Plan) -> out.Alternative:
    """Return a plan to choose from, in short."""
    return out.Alternative(
        id=name_of(made),
        headline=headline(made),
        changes=[str(change) for change in made.changes],
        labels=[change.label for change in made.changes],
        months=made.months if made.space.timed else None,
        score=made.scale.rough(made.score),
        note=made.note,
        may_not_hold=may_not_hold(desk, made),
        durability=words.durability(made) if made.durability is not None else "",
    )


def changes(made: Plan, start: date) -> list[out.ChangeOut]:
    """Return the actions in order, each with when it is done and what it brings; a path has scores by stage only."""
    done = {c.feature: step for step in made.steps for c in step.changes} if stepwise(made) else {}
    # Rounded first, so that what the actions bring adds up to what is shown.
    scores = [made.scale.rough(float(score)) for score in made.scores]

    def change(c: Change) -> out.ChangeOut:
        step, feature = done.get(c.feature), made.space.feature(c.feature)
        both = c.before, c.after
        ends = position(feature, c.before, both), position(feature, c.after, both)
        shown = out.ChangeOut(
            feature=c.feature,
            label=c.label,
            text=c.text,
            before=c.before_text,
            after=c.after_text,
            signed=c.signed,
            step=None if step is None else step.number,
            score=None if step is None else scores[step.number],
            said=None if step is None else made.scale.say(scores[step.number]),
            bar=None if ends[0] is None or ends[1] is None else (ends[0], ends[1]),
        )
        if step is None:
            return shown
        # What is done in one step has one gain, which its last action says for all.
        if c.feature == step.changes[-1].feature:
            brings = gain(made.scale, scores[step.number - 1], scores[step.number])
            shown.brings = brings if len(step.changes) == 1 else _("{gain} together").format(gain=brings)
        if made.space.timed:
            shown.month = 0 if step.on_the_day else step.month
            shown.when = (
                _("when you apply") if step.on_the_day else words.date(made, step, start) or _("at once")
            )
        return shown

    return [change(c) for c in made.changes]


def _stages(made: Plan) -> list[out.Stage]:
    if stepwise(made):
        return []
    scores = [made.scale.rough(step.score) for step in made.steps]
    return [
        out.Stage(
            number=s.number, changes=[str(c) for c in s.changes], score=score, said=made.scale.say(score)
        )
        for s, score in zip(made.steps, scores, strict=True)
    ]


def _pairs(known: Learned) -> list[out.Pair]:
    """Return the pairs of changes that clearly help or hinder each other, two at most."""
    strong = [pair for pair in known.pairs if abs(pair.strength) >= 0.3][:2]
    easier = _("{first} and {second} are easier together for you.")
    harder = _("{first} and {second} are harder together for you.")
    return [
        out.Pair(
            first=p.first,
            second=p.second,
            strength=p.strength,
            words=(easier if p.strength < 0 else harder).format(first=p.first, second=lowered(p.second)),
        )
        for p in strong
    ]


def _relax(desk: Desk, session: Elicitation, made: Plan) -> list[Named]:
    """Return the limits of which one has to go. Limits that only help together are in the note: a button lifts one."""
    if made.status in ("ok", "already_accepted"):
        return []
    whole = {"max_changes": _("Number of changes"), "within_months": _("Time")}
    found = relaxations(session.limits, possible(session.engine, desk.space.decode(session.here[None])))
    single = [names[0] for names in found if len(names) == 1 and names[0] in session.limits.names]
    return [
        Named(feature=name, label=whole[name] if name in whole else desk.space.feature(name).label)
        for name in single
    ]


def _effort(desk: Desk, live: Live, made: Plan) -> out.Effort | None:
    if made.status != "ok" or not live.session.answered:  # nothing was learnt yet
        return None
    alike = everybody(desk, live)
    if alike.status != "ok":
        return None
    mine, theirs = (live.session.effort(p) for p in (made, alike))
    if theirs <= 0:
        return None
    share = mine / theirs
    if np.array_equal(made.path, alike.path) or share > 0.99:
        text = _("For you the one-size-fits-all plan is just as good.")
    else:
        text = _(
            "As far as your answers tell, it takes you {percent} % of the effort of the one-size-fits-all plan."
        ).format(percent=round(100 * share))
    return out.Effort(plan=mine, everybody=theirs, share=share, text=text)


def _conflicts(session: Elicitation) -> list[list[int]]:
    """Return groups of answers in tension, as positions in the list of everything answered."""
    told = [
        i
        for i, (_question, choice, _impossible) in enumerate(session.history)
        if choice == "same" or isinstance(choice, int)
    ]
    return [[told[k] for k in group] for group in session.conflicts()]

"""What a plan looks like from outside: its actions, and all that is true of it, in words and units."""

from __future__ import annotations

import numpy as np

from reap import effort
from reap.elicitation import Elicitation
from reap.elicitation.learned import Learned
from reap.plan import Plan
from reap.service import plan_schemas as out
from reap.service.desk import Desk
from reap.service.live import Live
from reap.service.schemas import Named
from reap.space import Change
from reap.space.words import lowered
from reap.words import counted, stepwise

_HEADLINES = {
    "already_accepted": "Nothing needs to change: you would be accepted as you are.",
    "none_found": "We found no plan within your wishes.",
    "unreachable": "From where you are, no accepted position can be reached within your wishes.",
    "infeasible": "No plan is possible within your wishes.",
    "time_limit": "We found no plan in the time allowed.",
}


def plan(desk: Desk, live: Live) -> out.PlanOut:
    """Return the plan of this state with all that is said about it; worked out once, since it is looked at often."""
    made = desk.plan(live)
    stored = next(entry.revision for entry in reversed(live.line) if entry.type == "recommended")
    if live.explained is None or live.explained[0] != stored:
        with desk.solving(live, "explain"):
            live.explained = stored, _explain(desk, live, made)
    return live.explained[1]


def _explain(desk: Desk, live: Live, made: Plan) -> out.PlanOut:
    session = live.session
    known = session.learned()
    return out.PlanOut(
        revision=live.revision,
        status=made.status,
        valid=made.valid,
        headline=_headline(made),
        note=made.note,
        score_now=float(made.scores[0]),
        score=made.score,
        said_now=made.scale.say(made.scores[0]),
        said=made.scale.say(made.score),
        needed=made.scale.needed,
        threshold=made.threshold,
        changes=_changes(made),
        follows=[str(change) for change in made.follows],
        setback=_setback(made),
        stages=_stages(made),
        target=desk.space.values(made.path[-1]),
        effort=_effort(desk, live, made),
        confidence=_confidence(made),
        difficulties=[
            out.Hard(feature=d.feature, label=d.label, level=d.level, words=d.words)
            for d in known.difficulties
            if desk.space.feature(d.feature).actionable
        ],
        pairs=_pairs(known),
        conflicts=_conflicts(session),
        relax=_relax(desk, session, made),
    )


def _headline(made: Plan) -> str:
    if made.status != "ok":
        return _HEADLINES[made.status]
    count = len(made.changes)
    return f"{'One change' if count == 1 else counted(count, 'change')} to a score that is accepted"


def _changes(made: Plan) -> list[out.ChangeOut]:
    """Return the actions in order, each with the score once it is done; a path has scores by stage only."""
    done = {c.feature: step for step in made.steps for c in step.changes} if stepwise(made) else {}

    def change(c: Change) -> out.ChangeOut:
        step = done.get(c.feature)
        return out.ChangeOut(
            feature=c.feature,
            label=c.label,
            text=c.text,
            before=c.before_text,
            after=c.after_text,
            signed=c.signed,
            step=None if step is None else step.number,
            score=None if step is None else step.score,
            said=None if step is None else made.scale.say(step.score),
        )

    return [change(c) for c in made.changes]


def _stages(made: Plan) -> list[out.Stage]:
    if stepwise(made):
        return []
    return [
        out.Stage(
            number=s.number, changes=[str(c) for c in s.changes], score=s.score, said=made.scale.say(s.score)
        )
        for s in made.steps
    ]


def _setback(made: Plan) -> str:
    """Return a sentence on the step that lowers the score; empty where none does."""
    step = made.setback
    if step is None:
        return ""
    what = "step" if stepwise(made) else "stage"
    score = made.scale.number(step.score)
    return f"After {what} {step.number} the score is lower than before it ({score}). Only all of them together lead to a yes."


def _confidence(made: Plan) -> out.Sure | None:
    sure = made.confidence
    if sure is None:
        return None
    return out.Sure(within=sure.within, excess=sure.excess, text=str(sure), detail=sure.detail)


def _pairs(known: Learned) -> list[out.Pair]:
    """Return the pairs of changes that clearly help or hinder each other, four at most."""
    strong = [pair for pair in known.pairs if abs(pair.strength) >= 0.15][:4]
    return [
        out.Pair(
            first=p.first,
            second=p.second,
            strength=p.strength,
            words=f"{p.first} and {lowered(p.second)} are {'easier' if p.strength < 0 else 'harder'} together",
        )
        for p in strong
    ]


def _relax(desk: Desk, session: Elicitation, made: Plan) -> list[Named]:
    """Return the limits of which one has to go. Limits that only help together are in the note: a button lifts one."""
    if made.status in ("ok", "already_accepted"):
        return []
    single = [name for name in session.relaxations() if name in session.limits.names]
    return [
        Named(
            feature=name,
            label="Number of changes" if name == "max_changes" else desk.space.feature(name).label,
        )
        for name in single
    ]


def everybody(desk: Desk, live: Live) -> Plan:
    """Return the plan for somebody to whom every change is equally hard: one size for all."""
    here = desk.space.decode(live.session.here[None])
    alike = effort.identity(desk.space.dimension)[None]
    return desk.case.engine.plans(here, alike, live.session.limits)[0]


def _effort(desk: Desk, live: Live, made: Plan) -> out.Effort | None:
    if made.status != "ok":
        return None
    alike = everybody(desk, live)
    if alike.status != "ok":
        return None
    mine, theirs = (live.session.effort(p) for p in (made, alike))
    if theirs <= 0:
        return None
    share = mine / theirs
    if np.array_equal(made.path, alike.path) or share > 0.99:
        text = "For you the one-size-fits-all plan is just as good."
    else:
        text = f"As far as your answers tell, it takes you {share:.0%} of the effort of the one-size-fits-all plan."
    return out.Effort(plan=mine, everybody=theirs, share=share, text=text)


def _conflicts(session: Elicitation) -> list[list[int]]:
    """Return groups of answers in tension, as positions in the list of everything answered."""
    told = [i for i, (_, choice) in enumerate(session.history) if choice == "same" or isinstance(choice, int)]
    return [[told[k] for k in group] for group in session.conflicts()]

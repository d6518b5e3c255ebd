"""What a dialogue looks like from outside: the state, the plan, the schema, in words and units."""

from __future__ import annotations

from typing import Literal

import numpy as np

from reap import __version__
from reap.elicitation import Elicitation, Question, rounds
from reap.plan import Plan
from reap.service import schemas as out
from reap.service.case import Case
from reap.service.desk import Desk, Live
from reap.service.log import ACTS
from reap.service.wishes import sentences
from reap.space import Change
from reap.space.words import lowered

_HEADLINES = {
    "already_accepted": "Nothing needs to change: you would be accepted as you are.",
    "none_found": "We found no plan within your wishes.",
    "unreachable": "From where you are, no accepted position can be reached within your wishes.",
    "infeasible": "No plan is possible within your wishes.",
    "time_limit": "We found no plan in the time allowed.",
}


def schema(case: Case) -> out.Schema:
    """Return the fields of a row."""
    features = []
    for f in case.engine.space.features:
        low, high = f.bounds or f.range or (None, None)
        features.append(
            out.FeatureOut(
                name=f.name,
                label=f.label,
                kind=f.kind,
                unit=f.unit,
                levels=list(f.levels),
                least=low if f.is_number else None,
                most=high if f.is_number else None,
                step=f.step,
                may_change=f.actionable and f.derived is None,
                required=not f.missing and f.derived is None,
                describe=f.describe(),
            )
        )
    return out.Schema(
        title=case.title,
        features=features,
        threshold=case.threshold,
        model=case.model,
        data=case.data,
        version=__version__,
    )


def state(desk: Desk, live: Live) -> out.State:
    """Return a session as it stands."""
    talk = live.dialogue
    question = talk.ask()
    z = rounds.here(talk)
    score, accepted = desk.case.score(z), desk.case.accepts(z)
    return out.State(
        revision=live.revision,
        status=_status(talk, accepted),
        question=None if question is None else _question(question),
        progress=_progress(talk),
        answers=_answers(talk),
        wishes=[
            out.Wish(feature=name, text=text, limit=limit)
            for name, text, limit in sentences(talk.space, talk.limits, talk.difficulties)
        ],
        subject=talk.space.values(z),
        score=score,
        threshold=desk.case.threshold,
        accepted=accepted,
        can_undo=any(e.type in ACTS for e in live.line),
        expires=live.kept.expires,
    )


def _status(talk: Elicitation, accepted: bool) -> Literal["asking", "finished", "accepted", "no_plan"]:
    if talk.ask() is not None:
        return "asking"
    return "accepted" if accepted else "no_plan" if rounds.stuck(talk) else "finished"


def _question(question: Question) -> out.Asked:
    changed = {c.feature: c.label for option in question.options for c in option.changes}
    return out.Asked(
        id=question.id,
        number=question.number,
        why=_why(question),
        options=[
            out.Option(
                name=name,
                changes=[str(c) for c in option.changes],
                steps=[str(step) for step in option.steps],
                score=option.probability,
            )
            for name, option in zip(question.names, question.options, strict=True)
        ],
        differences=[
            out.Different(label=d.label, now=d.now, values=list(d.values), signed=list(d.signed))
            for d in question.differences
        ],
        shared=[str(c) for c in question.shared],
        same_target=question.same_target,
        could_be_impossible=[out.Named(feature=f, label=label) for f, label in changed.items()],
    )


def _why(question: Question) -> str:
    if np.isnan(question.gain):
        return question.why
    share = question.gain
    saved = "a little" if share < 0.05 else f"about {share:.0%}" if share < 0.5 else "half or more"
    return f"Why we ask: each of these could be the best plan for you. Your answer may save you {saved} of the effort."


def _progress(talk: Elicitation) -> out.Progress:
    progress = talk.progress
    if progress.most == 0:
        text = f"{progress.answered} answered, nothing left to ask"
    else:
        low, high = progress.answered + progress.least, progress.answered + progress.most
        usual = f"about {low}" if low == high else f"{low} to {high}"
        text = f"Question {progress.answered + 1}, usually {usual}"
    return out.Progress(answered=progress.answered, least=progress.least, most=progress.most, text=text)


def _answers(talk: Elicitation) -> list[out.Given]:
    impossible = rounds.impossible(talk)
    given = []
    for position, (question, choice) in enumerate(talk.history):
        given.append(
            out.Given(
                position=position,
                question=question.id,
                choice=choice,
                words=words(question, choice),
                impossible=impossible[position],
                options=[_short(question, i) for i in range(len(question.options))],
            )
        )
    return given


def words(question: Question, choice: int | str) -> str:
    """Return an answer as the person would say it."""
    if isinstance(choice, int):
        return f"{question.names[choice]} is easier"
    return {"same": "About the same", "neither": "I can’t do either", "skip": "Skipped"}[choice]


def _short(question: Question, i: int) -> str:
    """Return what sets one option apart, in a line."""
    if question.same_target:
        steps = len(question.options[i].path) - 1
        return f"the same change in {steps} step{'s' if steps != 1 else ''}"
    parts = [
        f"{lowered(d.label)} {d.values[i]}" if d.signed[i] != "no change" else f"{lowered(d.label)} as it is"
        for d in question.differences
    ]
    return ", ".join(parts)


def plan(desk: Desk, live: Live) -> out.PlanOut:
    """Return the plan of this state with all that is said about it; worked out once, since it is looked at often."""
    made = desk.plan(live)
    stored = next(event.revision for event in reversed(live.line) if event.type == "recommended")
    if live.explained is None or live.explained[0] != stored:
        with desk.solving(live, "explain"):
            live.explained = stored, _explain(desk, live, made)
    found: out.PlanOut = live.explained[1]
    return found


def _explain(desk: Desk, live: Live, made: Plan) -> out.PlanOut:
    talk = live.dialogue
    lines = talk.learned()
    lifted = talk.relaxations() if made.status not in ("ok", "already_accepted") else []
    # Limits that only help together are named in the note; a button lifts one.
    relax = [name for name in lifted if name in talk.limits.names]
    return out.PlanOut(
        revision=live.revision,
        status=made.status,
        valid=made.valid,
        headline=_headline(made),
        note=made.note,
        score_now=float(made.probabilities[0]),
        score=made.probability,
        threshold=made.threshold,
        steps=[
            out.StepOut(number=s.number, changes=[_change(c) for c in s.changes], score=s.probability)
            for s in made.steps
        ],
        changes=[_change(c) for c in made.changes],
        target=desk.space.values(made.path[-1]),
        effort=_effort(desk, live, made),
        confidence=None
        if made.confidence is None
        else out.Sure(
            within=made.confidence.within, excess=made.confidence.excess, text=str(made.confidence)
        ),
        difficulties=[
            out.Hard(feature=d.feature, label=d.label, level=d.level, words=_hardness(d.level))
            for d in lines.difficulties
            if desk.space.feature(d.feature).actionable
        ],
        pairs=[
            out.Pair(
                first=p.first,
                second=p.second,
                strength=p.strength,
                words=f"{p.first} and {lowered(p.second)} are "
                + ("easier together" if p.strength < 0 else "harder together"),
            )
            for p in lines.pairs
            if abs(p.strength) >= 0.15
        ][:4],
        conflicts=_conflicts(talk),
        relax=[
            out.Named(
                feature=n, label="Number of changes" if n == "max_changes" else desk.space.feature(n).label
            )
            for n in relax
        ],
    )


def _headline(made: Plan) -> str:
    if made.status != "ok":
        return _HEADLINES[made.status]
    count = len(made.steps)
    return f"{'One step' if count == 1 else f'{count} steps'} to a score that is accepted"


def _change(c: Change) -> out.ChangeOut:
    return out.ChangeOut(
        feature=c.feature,
        label=c.label,
        text=c.text,
        before=c.before_text,
        after=c.after_text,
        signed=c.signed,
    )


def everybody(desk: Desk, live: Live) -> Plan:
    """Return the plan for somebody to whom every change is equally hard: one size for all."""
    talk = live.dialogue
    here = desk.space.decode(rounds.here(talk)[None])
    found: Plan = desk.case.engine.plans(here, np.eye(desk.space.dimension)[None], talk.limits)[0]
    return found


def _effort(desk: Desk, live: Live, made: Plan) -> out.Effort | None:
    if made.status != "ok":
        return None
    alike = everybody(desk, live)
    if alike.status != "ok":
        return None
    mine, theirs = (rounds.effort(live.dialogue, p) for p in (made, alike))
    if theirs <= 0:
        return None
    share = mine / theirs
    if np.array_equal(made.path, alike.path) or share > 0.99:
        text = "For you the one-size-fits-all plan is just as good."
    else:
        text = f"As far as your answers tell, it takes you {share:.0%} of the effort of the one-size-fits-all plan."
    return out.Effort(plan=mine, everybody=theirs, share=share, text=text)


def _conflicts(talk: Elicitation) -> list[list[int]]:
    """Return groups of answers in tension, as positions in the list of everything answered."""
    told = [i for i, (_, choice) in enumerate(talk.history) if choice == "same" or isinstance(choice, int)]
    return [[told[k] for k in group] for group in talk.conflicts()]


def _hardness(level: float) -> str:
    if level < 0.4:
        return "much easier than most"
    if level < 0.8:
        return "easier than most"
    return "about average" if level <= 1.25 else "harder than most" if level <= 2 else "much harder than most"

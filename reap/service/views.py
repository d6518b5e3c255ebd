"""What a session looks like from outside: its state and the fields of a row, in words and units."""

from __future__ import annotations

from typing import Literal

from reap import __version__
from reap._typing import Array
from reap.elicitation import Elicitation, Question
from reap.service import schemas as out
from reap.service.case import Case
from reap.service.desk import Desk, TrialsError
from reap.service.live import Live
from reap.service.wishes import sentences
from reap.space.words import lowered
from reap.words import counted


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
                may_change=f.is_action,
                required=not f.missing and f.derived is None,
                describe=f.describe(),
            )
        )
    return out.Schema(
        title=case.title,
        features=features,
        output=case.scale.output,
        unit=case.scale.unit,
        threshold=case.scale.threshold,
        model=case.model,
        data=case.data,
        version=__version__,
    )


def state(desk: Desk, live: Live) -> out.State:
    """Return a session as it stands."""
    session = live.session
    question = session.ask()
    z = session.here
    score, accepted, scale = desk.case.rough(z), desk.case.accepts(z), desk.case.scale
    return out.State(
        revision=live.revision,
        status=_status(session, accepted),
        question=None if question is None else _question(question),
        progress=_progress(session),
        answers=_answers(session),
        wishes=[
            out.Wish(feature=name, text=text, limit=limit)
            for name, text, limit in sentences(session.space, session.limits, session.difficulties)
        ],
        subject=session.space.values(z),
        score=score,
        said=scale.say(score),
        needed=scale.needed,
        threshold=scale.threshold,
        accepted=accepted,
        can_undo=session.revision > 0,
        expires=live.kept.expires,
    )


def trial(desk: Desk, live: Live, z: Array) -> out.Score:
    """Return the score of a row that the person tries; one trial less is left."""
    if not desk.store.tried(live.kept, desk.settings.trials):
        raise TrialsError
    return hypothetical(desk, live, z)


def hypothetical(desk: Desk, live: Live, z: Array) -> out.Score:
    """Return the score of a row, and whether the person could get there."""
    session = live.session
    accepted, score, scale = desk.case.accepts(z), desk.case.rough(z), desk.case.scale
    return out.Score(
        score=score,
        said=scale.say(score),
        needed=scale.needed,
        threshold=scale.threshold,
        accepted=accepted,
        allowed=bool(session.space.tighten(session.limits).allows(session.here[None], z[None])[0]),
    )


def _status(session: Elicitation, accepted: bool) -> Literal["asking", "finished", "accepted", "no_plan"]:
    if session.ask() is not None:
        return "asking"
    return "accepted" if accepted else "no_plan" if session.stuck else "finished"


def _question(question: Question) -> out.Asked:
    changed = {c.feature: c.label for option in question.options for c in option.changes}
    return out.Asked(
        id=question.id,
        number=question.number,
        why=question.why,
        options=[
            out.Option(
                name=name,
                changes=[str(c) for c in option.changes],
                stages=[str(step) for step in option.steps] if option.along else [],
                score=option.score,
                said=option.scale.say(option.score),
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


def _progress(session: Elicitation) -> out.Progress:
    progress = session.progress
    if progress.most == 0:
        text = f"{progress.answered} answered, nothing left to ask"
    else:
        text = f"Question {progress.answered + 1} of at most {progress.answered + progress.most}"
    return out.Progress(answered=progress.answered, least=progress.least, most=progress.most, text=text)


def _answers(session: Elicitation) -> list[out.Given]:
    impossible = session.impossible
    given = []
    for position, (question, choice) in enumerate(session.history):
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
        return f"the same changes in {counted(len(question.options[i].steps), 'stage')}"
    parts = [
        f"{lowered(d.label)} {d.values[i]}" if d.signed[i] != "no change" else f"{lowered(d.label)} as it is"
        for d in question.differences
    ]
    return ", ".join(parts)

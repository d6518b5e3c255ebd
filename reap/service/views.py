"""What a session looks like from outside: its state and the fields of a row, in words and units."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from reap import __version__
from reap._errors import InputError
from reap._typing import Array
from reap.elicitation import Elicitation, Question
from reap.language import _, listed, ngettext
from reap.service import schemas as out
from reap.service.case import Case
from reap.service.compared import compared
from reap.service.desk import Desk
from reap.service.live import Live
from reap.service.refusals import TrialsError
from reap.service.wishes import sentences
from reap.space import Feature
from reap.space.table import doubtful
from reap.space.words import lowered


def schema(case: Case) -> out.Schema:
    """Return the fields of a row."""
    return out.Schema(
        title=case.heading,
        features=[_field(f) for f in case.engine.space.features],
        output=case.scale.output,
        unit=case.scale.unit,
        threshold=case.scale.threshold,
        model=case.model,
        data=case.data,
        version=__version__,
    )


def _field(f: Feature) -> out.FeatureOut:
    low, high = f.bounds or f.range or (None, None)
    return out.FeatureOut(
        **{name: getattr(f, name) for name in ("name", "label", "kind", "unit", "step")},
        levels=list(f.levels),
        least=low if f.is_number else None,
        most=high if f.is_number else None,
        may_change=f.is_action,
        required=not f.missing and f.derived is None,
        describe=f.describe(),
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
        question=None if question is None else _question(question, live),
        progress=_progress(session),
        answers=_answers(live),
        wishes=_wishes(session),
        screening=_screening(session),
        subject=session.space.values(z),
        score=score,
        said=scale.say(score),
        needed=scale.needed,
        threshold=scale.threshold,
        accepted=accepted,
        can_undo=session.revision > 0,
        expires=live.kept.expires,
        held_until=None if (held := desk.held_until(live.kept)) is None else held.isoformat(),
    )


def trial(desk: Desk, live: Live, z: Array) -> out.Score:
    """Return the score of a row that the person tries; one trial less is left, unless it could not be computed."""
    made = hypothetical(desk, live, z)
    if not desk.store.tried(live.kept, desk.settings.trials):
        raise TrialsError
    return made


def hypothetical(desk: Desk, live: Live, z: Array) -> out.Score:
    """Return the score of a row, and whether the person could get there."""
    session, scale = live.session, desk.case.scale
    accepted = desk.case.accepts(z)
    score = desk.case.rough(z)
    reachable = bool(session.space.tighten(session.limits).allows(session.here[None], z[None])[0])
    verdict = _("This would be accepted.") if accepted else _("This would not be accepted.")
    needed = _("Needed is {needed}.").format(needed=scale.needed)
    away = "" if reachable else _("But you could not get there from where you are.")
    return out.Score(
        score=score,
        said=scale.say(score),
        needed=scale.needed,
        threshold=scale.threshold,
        accepted=accepted,
        allowed=reachable,
        text=" ".join(filter(None, (verdict, away, needed))),
    )


def _status(session: Elicitation, accepted: bool) -> Literal["asking", "finished", "accepted", "no_plan"]:
    if session.ask() is not None:
        return "asking"
    return "accepted" if accepted else "finished" if len(session.pool) else "no_plan"


def _screened(session: Elicitation) -> dict[str, Any]:
    """Return what the last screening said; nothing where there was none, or it was skipped."""
    said = next((event.payload for event in reversed(session.events) if event.type == "screened"), None)
    return dict(said or {"changeable": None, "difficulty": {}})


def _screening(session: Elicitation) -> out.Screening:
    said, space = _screened(session), session.space
    return out.Screening(
        answered=session.screened,
        offered=[out.Named(feature=name, label=space.feature(name).label) for name in session.changeable],
        changeable=said["changeable"],
        difficulty=said["difficulty"],
    )


def _wishes(session: Elicitation) -> list[out.Wish]:
    """Return what the person wished for; what the screening left out is one sentence, not one for each feature."""
    said = _screened(session)
    named = said["changeable"]
    aside = () if named is None else tuple(name for name in session.changeable if name not in named)
    found = [
        out.Wish(feature=name, text=text, limit=limit)
        for name, text, limit in sentences(session.space, session.limits, session.difficulties, aside)
    ]
    if named is not None:
        could = listed(lowered(session.space.feature(name).label) for name in named)
        text = _("Only this could change: {features}").format(features=could)
        found.insert(0, out.Wish(feature="", text=text, limit=False))
    return found


def reasons(desk: Desk, live: Live, n: int = 4) -> list[out.Reason]:
    """Return the principal reasons of a refusal, most important first; none for somebody who is accepted."""
    here = desk.space.decode(live.session.here[None])
    try:
        found = desk.case.engine.reasons(here, n)
    except InputError:  # the engine knows nobody who is accepted
        return []
    traits = {feature.name for feature in doubtful(desk.space.features)}
    return [
        out.Reason(feature=r.feature, label=r.label, text=r.text, doubtful=r.feature in traits) for r in found
    ]


def _question(question: Question, live: Live) -> out.Asked:
    rows = compared(question)
    live.told[_name(question)] = _abouts(question, rows)  # for when it is answered
    changed = {c.feature: c.label for option in question.options for c in option.changes}
    return out.Asked(
        id=question.id,
        number=question.number,
        asks=question.asks,
        why=question.because,
        also=question.also,
        shared=[str(c) for c in question.shared],
        options=[
            out.Option(
                name=name,
                title=title[:1].upper() + title[1:],
                changes=[str(c) for c in option.changes],
                stages=[str(step) for step in option.steps] if option.along else [],
                score=(score := option.scale.rough(option.score)),
                said=option.scale.say(score),
            )
            for name, title, option in zip(question.names, question.titles, question.options, strict=True)
        ],
        differences=[
            out.Different(label=d.label, now=d.now, values=list(d.values), signed=list(d.signed))
            for d in question.differences
        ],
        rows=rows,
        promise=question.promise,
        same_target=question.same_target,
        could_be_impossible=[out.Named(feature=f, label=label) for f, label in changed.items()],
    )


def _screen(session: Elicitation) -> int:
    """Return the number of the question on the table since the person's situation last changed; whatever was shown counts."""
    number = 1
    for event in session.events:
        number = 1 if event.type == "replanned" else number + (event.type == "answered")
    return number


def _progress(session: Elicitation) -> out.Progress:
    """Return how far the session is, in screens. The total is fixed when it starts, so that it never grows."""
    progress, asked = session.progress, session.events[0].payload["settings"]
    total = asked["questions"]
    if progress.most == 0:
        said = ngettext("{n} question answered", "{n} questions answered", progress.answered)
        text = said.format(n=progress.answered)
    else:
        number = _screen(session)
        text = _("Question {number} of at most {most}").format(number=number, most=total)
        if number > total:  # one that was skipped, or that suited nobody, may have been asked anew
            text = _("One more question")
    return out.Progress(
        answered=progress.answered,
        least=progress.least,
        most=progress.most,
        screen=min(_screen(session), total),
        screens=total,
        text=text,
        ended=session.ended or "",
    )


def _answers(live: Live) -> list[out.Given]:
    """Return what was answered so far; what an option was about is put into words once."""
    session = live.session

    def about(question: Question) -> list[str]:
        if (name := _name(question)) not in live.told:
            live.told[name] = _abouts(question, compared(question))
        return live.told[name]

    return [
        out.Given(
            position=position,
            question=question.id,
            choice=choice,
            words=words(question, choice),
            impossible=list(impossible),
            options=about(question),
        )
        for position, (question, choice, impossible) in enumerate(session.history)
    ]


def words(question: Question, choice: int | str) -> str:
    """Return an answer as the person would say it."""
    match choice:
        case int():
            return _("{option} is easier").format(option=question.names[choice])
        case "same":
            return _("About the same")
        case "neither":
            return _("I can’t do either")
        case _:
            return _("Skipped")


def _name(question: Question) -> tuple[bytes, ...]:
    """Return what tells a question's options from those of another."""
    return tuple(option.path.tobytes() for option in question.options)


def _abouts(question: Question, rows: Sequence[out.Compared]) -> list[str]:
    """Return what sets each option apart, in a line, from the rows of the question."""
    if not question.same_target:
        return ["; ".join(row.cells[i].text for row in rows) for i in range(len(question.options))]
    counts = [len(option.steps) for option in question.options]
    return [
        ngettext("the same changes in {n} stage", "the same changes in {n} stages", n).format(n=n)
        for n in counts
    ]

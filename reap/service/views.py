"""What a session looks like from outside, in words and units: its state, its question, the answers and wishes so far."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any, Literal

from reap import __version__
from reap._errors import InputError
from reap._typing import Array
from reap.elicitation import Elicitation, Question
from reap.elicitation.learned import WORDS
from reap.elicitation.question import takes
from reap.language import _, listed, ngettext, quoted
from reap.service import schemas as out
from reap.service.case import Case
from reap.service.desk import Desk, Live
from reap.space import ActionSpace, Change, Feature
from reap.space.table import doubtful
from reap.space.words import lowered, sentences

Status = Literal["asking", "finished", "accepted", "no_plan"]


def schema(case: Case) -> out.Schema:
    """Return the fields of a row, and which model decides."""
    scale = case.scale
    return out.Schema(
        title=case.heading,
        features=[_field(f) for f in case.engine.space.features],
        **{name: getattr(scale, name) for name in ("output", "unit", "threshold")},
        model=case.model,
        data=case.data,
        version=__version__,
    )


def _field(f: Feature) -> out.FeatureOut:
    low, high = (f.bounds or f.range or (None, None)) if f.is_number else (None, None)
    return out.FeatureOut(
        **{name: getattr(f, name) for name in ("name", "label", "kind", "unit", "step")},
        levels=list(f.levels),
        least=low,
        most=high,
        may_change=f.is_action,
        required=not f.missing and f.derived is None,
        describe=f.describe(),
    )


def state(desk: Desk, live: Live) -> out.State:
    """Return a session as it stands."""
    session, scale = live.session, live.case.scale
    question, z = session.ask(), session.here
    score, accepted, held = live.case.rough(z), live.case.accepts(z), desk.held_until(live.kept)
    ended: Status = "accepted" if accepted else "finished" if len(session.pool) else "no_plan"
    return out.State(
        revision=live.revision,
        status=ended if question is None else "asking",
        question=None if question is None else asked(question),
        progress=_progress(session),
        answers=[
            out.EarlierAnswer(
                position=position,
                question=past.question.id,
                choice=past.choice,
                words=_answer(past.question, past.choice),
                impossible=list(past.impossible),
                dropped=past.dropped,
                options=_abouts(past.question, live),
            )
            for position, past in enumerate(session.history)
        ],
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
        held_until=None if held is None else held.isoformat(),
    )


def shown(space: ActionSpace, values: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return a row as labels and values in words."""
    return [(feature.label, feature.show(values[feature.name])) for feature in space.features]


def hypothetical(desk: Desk, live: Live, z: Array) -> out.Score:
    """Return the score of a row, and whether the person could get there."""
    session, scale, accepted = live.session, live.case.scale, live.case.accepts(z)
    reachable = bool(session.space.tighten(session.limits).allows(session.here[None], z[None])[0])
    said = [_("This would be accepted.") if accepted else _("This would not be accepted.")]
    if not reachable:
        said.append(_("But you could not get there from where you are."))
    said.append(_("Needed is {needed}.").format(needed=scale.needed))
    return out.Score(
        score=(score := live.case.rough(z)),
        said=scale.say(score),
        needed=scale.needed,
        threshold=scale.threshold,
        accepted=accepted,
        allowed=reachable,
        text=" ".join(said),
    )


def reasons(desk: Desk, live: Live, n: int = 4) -> tuple[list[out.RefusalReason], str]:
    """Return the principal reasons of a refusal, most important first, and what is to be said of traits that count.

    What the law may keep out of a decision, such as sex or age, is no reason for the person to read, unless the operator
    allows it on purpose; that something of the kind counts is said as such. None for somebody who is accepted.
    """
    traits = {f.name for f in doubtful(live.space.features)} - set(desk.settings.allow_traits)
    try:
        found = live.case.engine.reasons(live.space.decode(live.session.here[None]), n + len(traits))
    except InputError:  # the engine knows nobody who is accepted
        return [], ""
    kept = [
        out.RefusalReason(feature=r.feature, label=r.label, text=r.text)
        for r in found
        if r.feature not in traits
    ]
    if any(r.feature in traits for r in found[:n]):
        return kept[:n], _(
            "Something may count here that the law forbids to count, such as sex or age. "
            "You can ask a person to look at the decision."
        )
    allowed = [lowered(live.space.feature(name).label) for name in live.case.traits if name not in traits]
    said = _("The decision also looks at this, because the lender says that the law allows it: {features}.")
    return kept[:n], said.format(features=listed(allowed)) if allowed else ""


# questions ----------------------------------------------------------------------------------------------


def asked(question: Question) -> out.Asked:
    """Return a question as it is shown."""
    changed = {c.feature: c.label for option in question.options for c in option.changes}
    return out.Asked(
        id=question.id,
        number=question.number,
        kind="plans" if question.whole else "steps",
        asks=question.asks,
        why=question.because,
        also=question.also,
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
        rows=compared(question),
        promise=question.promise,
        same_target=question.same_target,
        could_be_impossible=[out.Named(feature=f, label=label) for f, label in changed.items()],
    )


def _progress(session: Elicitation) -> out.SessionProgress:
    """Return how far the session is, in screens. The total is fixed when it starts, so that it never grows."""
    progress, total = session.progress, session.events[0].payload["settings"]["questions"]
    number = 1  # of the question on the table, since the person's situation last changed
    for event in session.events:
        number = 1 if event.type == "replanned" else number + (event.type == "answered")
    if progress.most == 0:
        text = ngettext("{n} question answered", "{n} questions answered", progress.answered)
    elif number > total:  # one that was skipped, or that suited nobody, may have been asked anew
        text = _("One more question")
    else:
        text = _("Question {number} of at most {most}")
    return out.SessionProgress(
        answered=progress.answered,
        least=progress.least,
        most=progress.most,
        screen=min(number, total),
        screens=total,
        text=text.format(n=progress.answered, number=number, most=total),
        ended=session.ended or "",
    )


def _answer(question: Question, choice: int | str) -> str:
    """Return an answer as the person would say it."""
    if isinstance(choice, int):
        return _("{option} is easier").format(option=question.names[choice])
    said = {"same": _("About the same"), "neither": _("I can’t do either")}
    return said.get(choice, _("Skipped"))


def _abouts(question: Question, live: Live) -> list[str]:
    """Return what sets each option apart, in a line; put into words once, since every page lists the answers."""
    name = tuple(option.path.tobytes() for option in question.options)
    if name not in live.told:
        counts = [len(option.steps) for option in question.options]
        rows = compared(question)
        live.told[name] = (
            [
                ngettext("the same changes in {n} stage", "the same changes in {n} stages", n).format(n=n)
                for n in counts
            ]
            if question.same_target
            else ["; ".join(row.cells[i].text for row in rows) for i in range(len(counts))]
        )
    return live.told[name]


def compared(question: Question) -> list[out.Compared]:
    """Return the rows of a question: a feature that some option changes and not all alike, then the time where it differs.

    What one deed brings is one row.
    """
    space = question.options[0].space
    own = [{c.feature: c for c in changes} for changes in question.apart]
    now = space.values(question.options[0].path[0])
    deeds: dict[str, list[Feature]] = {}
    for feature in space.features:
        if any(feature.name in changes for changes in own):
            deeds.setdefault(feature.deed or f"\0{feature.name}", []).append(feature)
    rows = []
    for feature, *others in deeds.values():
        here = now[feature.name]
        seen = [here, *(changes[feature.name].after for changes in own if feature.name in changes)]
        names = [feature.name, *(other.name for other in others)]
        cells = [
            _cell(
                feature, here, [changes[name] for name in names if name in changes], seen, slow, bool(others)
            )
            for changes, slow in zip(own, question.slowest, strict=True)
        ]
        rows.append(out.Compared(label=feature.label, now=feature.show(here), cells=cells))
    for name, brought in question.brought.items():
        rows.append(_brought(space.feature(name), now[name], brought))
    if question.times[0]:
        cells = [
            out.Cell(text=ready, value=time, changes=True, mark="other", bar=None)
            for ready, time in zip(question.ready, question.times, strict=True)
        ]
        rows.append(out.Compared(label=_("When"), now="", cells=cells))
    return rows


def _brought(feature: Feature, now: object, each: Sequence[Change | None]) -> out.Compared:
    """Return the row of what options bring along."""
    shown, stays = feature.show(now), _("{label}: {value}, as now")
    same = stays.format(label=feature.label, value=shown)
    cells = [
        out.Cell(text=same, value=shown, changes=False, mark="same", bar=None)
        if change is None
        else out.Cell(text=str(change), value=change.after_text, changes=False, mark="other", bar=None)
        for change in each
    ]
    return out.Compared(label=feature.label, now=shown, cells=cells)


def _cell(
    feature: Feature,
    now: object,
    done: Sequence[Change],
    seen: Sequence[object],
    slowest: Mapping[str, int],
    joint: bool,
) -> out.Cell:
    """Return what an option asks of a feature; ``joint``: together with others by one deed, which have no common scale."""
    if not done:
        stays = _("{label}: {value}, as now").format(label=feature.label, value=feature.show(now))
        bar = None if joint else _way(feature, now, now, seen)
        return out.Cell(text=stays, value=feature.show(now), changes=False, mark="same", bar=bar)
    if joint:
        (said,) = sentences(done, lambda _: "one")
        return out.Cell(text=said, value=done[0].after_text, changes=True, mark="other", bar=None)
    (change,) = done
    bar = _way(feature, change.before, change.after, seen)
    mark: Literal["up", "down", "other"] = (
        "other" if bar is None or bar[0] == bar[1] else "up" if bar[1] > bar[0] else "down"
    )
    text = takes([change], slowest[change.feature]) if change.feature in slowest else change.text
    return out.Cell(text=text, value=change.after_text, changes=True, mark=mark, bar=bar)


def _way(
    feature: Feature, before: object, after: object, seen: Sequence[object]
) -> tuple[float, float] | None:
    first, last = position(feature, before, seen), position(feature, after, seen)
    return None if first is None or last is None else (first, last)


def position(feature: Feature, value: object, seen: Sequence[object] = ()) -> float | None:
    """Return where a value lies on the feature's scale, 0 to 100; None for categories, which have no order.

    The scale is wide enough for all values ``seen`` beside it, so that somebody far out sees their bar move too.

    Examples
    --------
    >>> position(Feature("months", "integer", range=(0, 40)), 10), position(Feature("job", "categorical", levels=("a", "b")), "a")
    (25.0, None)
    >>> position(Feature("cards", "integer", range=(0, 10)), 15, (15, 20))
    75.0
    """
    if value is None or feature.kind in ("categorical", "binary"):
        return None
    if feature.kind == "ordinal":
        return 100.0 * feature.levels.index(value) / max(len(feature.levels) - 1, 1)
    low, high = feature.span or feature.range or (0.0, 1.0)
    known = [float(other) for other in seen if isinstance(other, int | float) and isfinite(other)]
    low, high = min([low, *known]), max([high, *known])
    if not isinstance(value, int | float) or high <= low:
        return None
    return min(max(100.0 * (float(value) - low) / (high - low), 0.0), 100.0)


# wishes -------------------------------------------------------------------------------------------------


def _screened(session: Elicitation) -> Mapping[str, Any]:
    """Return what the last screening said; nothing where there was none, or it was skipped."""
    said = next((event.payload for event in reversed(session.events) if event.type == "screened"), None)
    return said or {"changeable": None, "difficulty": {}}


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
    space, limits, named = session.space, session.limits, _screened(session)["changeable"]
    aside = () if named is None else [name for name in session.changeable if name not in named]
    said: list[out.Wish] = []

    def say(name: str, text: str, limit: bool = True, **values: Any) -> None:
        if name in space.names:
            values["label"] = space.feature(name).label
        said.append(out.Wish(feature=name, text=text.format(**values), limit=limit))

    if named is not None:
        could = listed(lowered(space.feature(name).label) for name in named)
        say("", _("Only this could change: {features}"), limit=False, features=could)
    for name in limits.fixed:
        if name not in aside:
            say(name, _("{label} stays as it is"))
    for name, value in limits.at_least.items():
        say(name, _("{label} is at least {value}"), value=space.feature(name).show(value))
    for name, value in limits.at_most.items():
        say(name, _("{label} is at most {value}"), value=space.feature(name).show(value))
    for name, levels in limits.exclude.items():
        shown = listed([quoted(space.feature(name).show(level)) for level in levels], "or")
        say(name, _("{label} does not become {levels}"), levels=shown)
    if (most := limits.max_changes) is not None:
        say("max_changes", ngettext("At most {n} thing changes", "At most {n} things change", most), n=most)
    if (months := limits.within_months) is not None:
        say("within_months", ngettext("Done within {n} month", "Done within {n} months", months), n=months)
    for name, level in session.difficulties.items():
        text = _("Changing this is {difficulty} for you: {feature}")
        label = lowered(space.feature(name).label)
        say(name, text, limit=False, difficulty=_(WORDS[level]), feature=label)
    return said

"""What a person can say or do in a session: each checked, stored once, and followed by the next question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from reap._errors import InputError
from reap._typing import Array
from reap.elicitation import ACTS, Event, events
from reap.language import _
from reap.plan import Plan
from reap.service.desk import Desk, Live, StaleError
from reap.service.log import Entry, Sent
from reap.space import Limits


def answer(
    desk: Desk,
    live: Live,
    *,
    question: str,
    revision: int,
    choice: int | str,
    impossible: Sequence[str] = (),
    key: str | None = None,
) -> Entry:
    """Store an answer and ask the next question; the same request again returns the stored answer."""

    def said() -> Event:
        pending = live.session.ask()
        if pending is None or pending.id != question:
            raise StaleError
        return events.answered(live.space, pending, choice, impossible)

    return desk.act(live, said, revision, Sent.of(key, "answered", question, choice, list(impossible)))


def revise(
    desk: Desk,
    live: Live,
    *,
    position: int,
    revision: int,
    choice: int | str,
    impossible: Sequence[str] = (),
    key: str | None = None,
) -> Entry:
    """Change an earlier answer; later ones stay."""

    def said() -> Event:
        questions = [given.question for given in live.session.history]
        return events.revised(live.space, questions, position, choice, impossible)

    return desk.act(live, said, revision, Sent.of(key, "revised", position, choice, list(impossible)))


def screen(
    desk: Desk,
    live: Live,
    changeable: Sequence[str] | None,
    difficulty: Mapping[str, int] | None = None,
    *,
    revision: int | None = None,
    key: str | None = None,
) -> Entry:
    """Store what the person could change at all, and how hard that is; None where they skip it."""
    levels = dict(difficulty or {})
    sent = Sent.of(key, "screened", None if changeable is None else list(changeable), levels)

    def said() -> Event:
        return events.screened(live.space, live.session.changeable, changeable, levels)

    return desk.act(live, said, revision, sent)


def constrain(
    desk: Desk,
    live: Live,
    feature: str,
    wanted: Mapping[str, Any],
    *,
    whole: bool = False,
    revision: int | None = None,
    key: str | None = None,
) -> Entry:
    """Store a wish about one feature: keep it, bound it, exclude levels, say how hard it is.

    ``whole``: it is all that they wish for the feature, so what was wished before and is not wanted any more is taken back.
    """
    sent = Sent.of(key, "wished" if whole else "constrained", feature, wanted)
    if not whole:
        return desk.act(live, lambda: _wished(desk, live, feature, wanted), revision, sent)
    if (done := desk.repeated(live, sent)) is not None:
        return done
    limits = live.session.limits
    asked = _wished(desk, live, feature, wanted) if wanted else None
    loosened = feature in limits.names and (asked is None or _loosens(limits, feature, wanted))
    lifted = events.released(limits, feature) if loosened else None
    said = asked or lifted
    if said is None:
        raise InputError(_("say what you wish for “{label}”").format(label=live.space.feature(feature).label))
    return desk.act(live, lambda: said, revision, sent, first=lifted if asked else None)


def _wished(desk: Desk, live: Live, feature: str, wanted: Mapping[str, Any]) -> Event:
    """Return the event of a wish; one that leaves the feature no value from where the person stands is refused."""
    said, here = events.constrained(live.space, feature, **wanted), live.session.here
    try:
        live.space.tighten(Limits.from_dict(said.payload["limits"])).legal.box(here)
    except InputError:
        about = live.space.feature(feature)
        text = _("{label}: no value would be left; leave at least one").format(label=about.label)
        if about.is_number:
            low, high = (live.space.values(end)[feature] for end in live.space.legal.box(here))
            reach = _("From where you are it goes from {low} to {high}.")
            text += f". {reach.format(low=about.show(low, unit=False), high=about.show(high))}"
        raise InputError(text) from None
    return said


def _loosens(limits: Limits, feature: str, wanted: Mapping[str, Any]) -> bool:
    """Return whether a limit on a feature is not among what is wanted now."""
    return bool(
        (feature in limits.fixed and not wanted.get("fixed"))
        or (feature in limits.at_least and limits.at_least[feature] != wanted.get("at_least"))
        or (feature in limits.at_most and limits.at_most[feature] != wanted.get("at_most"))
        or set(limits.exclude.get(feature, ())) - set(wanted.get("exclude", ()))
    )


def release(
    desk: Desk, live: Live, feature: str, *, revision: int | None = None, key: str | None = None
) -> Entry:
    """Take back the limits on a feature."""
    sent = Sent.of(key, "released", feature)
    return desk.act(live, lambda: events.released(live.session.limits, feature), revision, sent)


def refuse(
    desk: Desk, live: Live, plans: Sequence[Plan], *, revision: int | None = None, key: str | None = None
) -> Entry:
    """Store that none of the plans on offer is for the person; the questions go on."""
    sent = Sent.of(key, "refused")
    return desk.act(live, lambda: events.refused(live.space, plans), revision, sent)


def replan(desk: Desk, live: Live, z: Array, *, revision: int | None = None, key: str | None = None) -> Entry:
    """Go on from where the person is now."""
    sent = Sent.of(key, "replanned", live.space.values(z))
    return desk.act(live, lambda: moved(desk, live, z), revision, sent)


def moved(desk: Desk, live: Live, z: Array) -> Event:
    """Return the event of a new situation; every one is scored, so a session has a number of them, undone ones included."""
    most = desk.settings.situations
    if sum(entry.type == "replanned" for entry in live.entries) >= most:
        said = _(
            "This session has changed its situation {most} times, which is as often as it may; please start a new one."
        )
        raise InputError(said.format(most=most))
    return events.replanned(live.space, z)


def undo(desk: Desk, live: Live, *, revision: int | None = None, key: str | None = None) -> Entry:
    """Take back the last thing the person said."""

    def said() -> Event:
        last = next((entry for entry in reversed(live.line) if entry.type in ACTS), None)
        if last is None:
            raise InputError("there is nothing to take back")
        return Event("undone", {"of": last.revision})

    return desk.act(live, said, revision, Sent.of(key, "undone"))

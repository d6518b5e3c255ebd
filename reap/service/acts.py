"""What a person can say or do in a session: each checked, stored once, and followed by the next question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from reap._errors import InputError
from reap._typing import Array
from reap.elicitation import ACTS, Event, events
from reap.service.desk import Desk, StaleError
from reap.service.live import Live
from reap.service.log import Entry, Sent


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
        return events.answered(desk.space, pending, choice, impossible)

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
        return events.revised(desk.space, live.session.history, position, choice, impossible)

    return desk.act(live, said, revision, Sent.of(key, "revised", position, choice, list(impossible)))


def constrain(
    desk: Desk,
    live: Live,
    feature: str,
    wish: Mapping[str, Any],
    *,
    revision: int | None = None,
    key: str | None = None,
) -> Entry:
    """Store a wish about one feature: keep it, bound it, exclude levels, say how hard it is."""
    sent = Sent.of(key, "constrained", feature, wish)
    return desk.act(live, lambda: events.constrained(desk.space, feature, **wish), revision, sent)


def release(
    desk: Desk, live: Live, feature: str, *, revision: int | None = None, key: str | None = None
) -> Entry:
    """Take back the limits on a feature."""
    sent = Sent.of(key, "released", feature)
    return desk.act(live, lambda: events.released(live.session.limits, feature), revision, sent)


def replan(desk: Desk, live: Live, z: Array, *, revision: int | None = None, key: str | None = None) -> Entry:
    """Go on from where the person is now."""
    sent = Sent.of(key, "replanned", desk.space.values(z))
    return desk.act(live, lambda: events.replanned(desk.space, z), revision, sent)


def undo(desk: Desk, live: Live, *, revision: int | None = None, key: str | None = None) -> Entry:
    """Take back the last thing the person said."""

    def said() -> Event:
        last = next((entry for entry in reversed(live.line) if entry.type in ACTS), None)
        if last is None:
            raise InputError("there is nothing to take back")
        return Event("undone", {"of": last.revision})

    return desk.act(live, said, revision, Sent.of(key, "undone"))

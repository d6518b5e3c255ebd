"""That a person came back, or took the plan with them: notes for the operator's funnel, a few at most for each session."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from reap.elicitation import Event
from reap.service.desk import Desk
from reap.service.live import Live

#: Somebody who was away for so long comes back.
AWAY = timedelta(minutes=30)


def note(desk: Desk, live: Live) -> None:
    """Note that somebody came back after a while."""
    if datetime.now(UTC) - live.entries[-1].time > AWAY:
        desk.append(live, Event("returned", {}))


def printed(desk: Desk, live: Live) -> None:
    """Note, once for each plan, that somebody took it with them."""
    for entry in reversed(live.entries):
        if entry.type == "printed":
            return
        if entry.type in ("recommended", "chosen"):
            break
    desk.append(live, Event("printed", {}))

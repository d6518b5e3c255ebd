"""What a session keeps beside its events: plans to compare later, and for the operator's funnel who came back and printed."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from reap._errors import InputError
from reap.elicitation import Event
from reap.service.desk import Desk
from reap.service.live import Live
from reap.service.log import Entry, Sent

#: Somebody who was away for so long comes back.
AWAY = timedelta(minutes=30)


def returned(desk: Desk, live: Live) -> None:
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


def keep(desk: Desk, live: Live, key: str | None = None) -> Entry:
    """Keep the plan of this state; the same request again returns the stored entry."""
    sent = Sent.of(key, "bookmarked")
    if (done := desk.repeated(live, sent)) is not None:
        return done
    plan = desk.plan(live)
    if plan.status != "ok":
        raise InputError("there is no plan to keep")
    payload = {"plan": plan.to_dict(standalone=False), "answered": live.session.answered}
    return desk.append(live, Event("bookmarked", payload), sent)


def forget(desk: Desk, live: Live, revision: int) -> None:
    """Forget a kept plan, named by the revision it was kept at; one that is gone already is no error."""
    if revision in (entry.revision for entry in kept(live)):
        desk.append(live, Event("unmarked", {"of": revision}))


def kept(live: Live) -> list[Entry]:
    """Return the entries of the plans kept, oldest first."""
    gone = {entry.payload["of"] for entry in live.entries if entry.type == "unmarked"}
    return [entry for entry in live.entries if entry.type == "bookmarked" and entry.revision not in gone]

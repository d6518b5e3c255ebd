"""Ask a person to look at it: the request in the person's own words, the operator's queue, and the answer."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime
from typing import Literal

from pydantic import BaseModel

from reap import language
from reap._errors import InputError
from reap.elicitation import Event
from reap.language import N_, _
from reap.service.desk import Desk, Live, MissingError
from reap.service.log import Entry, Sent
from reap.service.store import SESSIONS, ConflictError, Store

#: Characters that a request and its answer may have.
LONGEST = 2000
#: What an operator can decide, as the person reads it.
DECISIONS = {
    "stands": N_("The decision stands."),
    "changed": N_("The decision was changed: yes."),
    "more": N_("We need to know more from you."),
}
Decision = Literal["stands", "changed", "more"]


class Request(BaseModel):
    """A request that waits for the operator, or was answered."""

    session: str
    revision: int
    at: str
    words: str
    accepted: bool | None
    waiting_hours: float
    answered: bool


class OperatorAnswer(BaseModel):
    """What somebody at the operator's answered."""

    at: str
    decided: str
    words: str


class Review(BaseModel):
    """What a person asked a human to look at, null where nothing waits, and what was answered, latest first."""

    waiting: str | None
    since: str | None
    answers: list[OperatorAnswer]


def ask(desk: Desk, live: Live, words: str, key: str | None = None) -> Entry:
    """Store a person's request for a human look; the same request again returns the stored entry."""
    said = _checked(words)
    if not said:
        raise InputError(_("say in a few words what should be looked at"))
    sent = Sent.of(key, "review asked", said)
    if (done := desk.repeated(live, sent)) is not None:
        return done
    payload = {"words": said, "accepted": live.case.accepts(live.session.here)}
    return desk.append(live, Event("review asked", payload), sent)


def _checked(words: str) -> str:
    said = words.replace("\r\n", "\n").replace("\x00", "").strip()
    if len(said) > LONGEST:
        raise InputError(
            _("the text has {given} characters; at most {most} are taken").format(
                given=language.number(len(said)), most=language.number(LONGEST)
            )
        )
    return said


def open_request(live: Live) -> Entry | None:
    """Return the request that was not answered yet; None where there is none."""
    done = {entry.payload["of"] for entry in live.entries if entry.type == "review answered"}
    waiting = [e for e in live.entries if e.type == "review asked" and e.revision not in done]
    return waiting[-1] if waiting else None


def answers(live: Live) -> list[OperatorAnswer]:
    """Return what the operator answered, latest first."""
    return [
        OperatorAnswer(
            at=language.day(entry.time.date()),
            decided=_(DECISIONS[entry.payload["decision"]]),
            words=entry.payload["words"],
        )
        for entry in reversed(live.entries)
        if entry.type == "review answered"
    ]


def review(live: Live) -> Review:
    """Return where a person's request stands."""
    waiting = open_request(live)
    return Review(
        waiting=None if waiting is None else waiting.payload["words"],
        since=None if waiting is None else language.day(waiting.time.date()),
        answers=answers(live),
    )


def queue(store: Store) -> list[Request]:
    """Return every request, those that wait first, the oldest of them on top."""
    answered = {(e.session, e.payload["of"]) for e in store.entries("review answered")}
    now = datetime.now(UTC)
    found = [
        Request(
            session=e.session,
            revision=e.revision,
            at=e.created[:16].replace("T", " "),
            words=e.payload["words"],
            accepted=e.payload.get("accepted"),
            waiting_hours=round((now - e.time).total_seconds() / 3600, 1),
            answered=(e.session, e.revision) in answered,
        )
        for e in store.entries("review asked")
    ]
    return sorted(found, key=lambda request: (request.answered, request.at))


def answer(store: Store, session: str, revision: int, decision: str, words: str) -> Entry:
    """Store the operator's answer to a request, at the end of its log whatever happens meanwhile; a request is answered once."""
    if decision not in DECISIONS:
        raise InputError(f"the decision is {decision!r}; give one of {', '.join(DECISIONS)}")
    payload = {"of": revision, "decision": decision, "words": _checked(words)}
    while (kept := store.row(SESSIONS.c.id == session)) is not None:
        entries = store.events(session)
        if not any(e.type == "review asked" and e.revision == revision for e in entries):
            break
        known = [e for e in entries if e.type == "review answered" and e.payload["of"] == revision]
        if known:
            return known[0]
        with suppress(ConflictError):  # somebody wrote since we looked
            return store.append(kept, kept.events, kept.head, [("review answered", payload)])[0]
    raise MissingError

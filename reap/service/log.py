"""The log of a session as it is kept: events that are only ever added, each bound to the one before it by a hash.

What the events of a session mean, and how one is taken back, says ``reap.elicitation.events``. The service adds entries of its
own, *notes*: they are only kept, no engine hears of them, undo leaves them, and they do not make a page that somebody has open
stale. A new note is one line in ``NOTES``.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any

from reap._errors import unknown
from reap.elicitation import VERBS, Event

#: The service's own entries, each with what it says. At most 32 characters a name.
NOTES = {
    "chosen": "the plan that the person chose",
    "reported": "what the person has done of it",
    "printed": "the person took the plan with them, on paper or as a file",
    "returned": "the person came back after a while",
    "review asked": "the person wants somebody to look at the decision",
    "review answered": "what somebody at the operator's decided",
}
#: What a session shows; it has happened to the session in memory when it is stored.
SHOWN = ("asked", "recommended")
TYPES = (*VERBS, *NOTES)


def check(kind: str) -> str:
    """Return a type of entry, or refuse one that no release knows.

    Examples
    --------
    >>> check("review asked")
    'review asked'
    """
    if kind not in TYPES:
        raise unknown("type of entry", kind, TYPES)
    return kind


def quiet(kind: str) -> bool:
    """Whether an entry changes nothing that the person sees, so that the revision stays."""
    return kind == "recommended" or kind in NOTES


@dataclass(frozen=True)
class Entry:
    """An event of a session as it is stored: with its place, time and key, and the hash that binds it to the one before.

    Parameters
    ----------
    session : str
        Whose it is; a random name that is not the token.
    revision : int
        Its place, 0 for the first.
    type : str
    text : str
        The payload as JSON, kept to the byte because the hash is over it.
    key : str, optional
        The client's name for the request that made it: the same key again makes no second event.
    created : str
        ISO time in UTC.
    previous, hash : str
        The hash of the event before, and of this one.
    milliseconds : float, optional
        How long it took to compute; not part of the hash.
    request : str, optional
        The hash of what the request with this key said; not part of the hash.
    """

    session: str
    revision: int
    type: str
    text: str
    key: str | None
    created: str
    previous: str
    hash: str
    milliseconds: float | None = None
    request: str | None = None

    @cached_property
    def payload(self) -> dict[str, Any]:
        """The payload."""
        data: dict[str, Any] = json.loads(self.text)
        return data

    @property
    def event(self) -> Event:
        """What happened, without what the service adds."""
        return Event(self.type, self.payload)

    @property
    def time(self) -> datetime:
        """When it was made."""
        return datetime.fromisoformat(self.created)

    @property
    def intact(self) -> bool:
        """Whether its hash is the hash of what it says."""
        parts = (self.session, self.revision, self.type, self.text, self.key, self.created, self.previous)
        try:
            return self.hash == digest(*parts)
        except TypeError:  # SQLite holds bytes in a column of texts, if somebody puts them there
            return False


@dataclass(frozen=True)
class Sent:
    """A request as its client names it: a key, and the hash of what it says. A key belongs to one request."""

    key: str
    digest: str

    @classmethod
    def of(cls, key: str | None, *said: object) -> Sent | None:
        """Return the name of a request that says this; None where the client gave no key."""
        return None if key is None else cls(key, hashlib.sha256(json.dumps(said).encode()).hexdigest())


def sealed(
    session: str,
    revision: int,
    kind: str,
    payload: Mapping[str, Any],
    key: str | None,
    created: str,
    previous: str,
    milliseconds: float | None = None,
    request: str | None = None,
) -> Entry:
    """Return an event as an entry with its hash."""
    text = json.dumps(payload, separators=(",", ":"), allow_nan=False)
    seal = digest(session, revision, kind, text, key, created, previous)
    return Entry(session, revision, kind, text, key, created, previous, seal, milliseconds, request)


def digest(
    session: str, revision: int, kind: str, text: str, key: str | None, created: str, previous: str
) -> str:
    """Return the hash of an event: sha256 over its parts and the hash of the event before it.

    Examples
    --------
    >>> digest("a", 0, "started", "{}", None, "2026-01-01T00:00:00+00:00", "")[:16]
    '8528728d9a300dae'
    """
    parts = json.dumps([session, revision, kind, text, key, created, previous], separators=(",", ":"))
    return hashlib.sha256(parts.encode()).hexdigest()


def fault(entries: Sequence[Entry], count: int, head: str) -> str | None:
    """Return what is wrong with the log of one session, in a sentence; None where nothing is.

    Parameters
    ----------
    entries : sequence of Entry
        In order of revision.
    count, head : int, str
        How many there should be, and the hash of the last, as the session's row says.
    """
    previous = ""
    for place, entry in enumerate(entries):
        if entry.revision != place:
            return f"event {place} is missing"
        if entry.previous != previous:
            return f"event {place} does not follow the one before it"
        if not entry.intact:
            return f"event {place} was changed after it was written"
        previous = entry.hash
    if len(entries) != count or previous != head:
        return f"the log ends after {len(entries)} events, but {count} were written"
    return None

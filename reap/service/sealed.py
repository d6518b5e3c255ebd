"""A database that tells whether somebody changed it by hand: only somebody with the server's key can sign what is in it.

The chain of a session's events is made of plain hashes, so whoever can write to the database can make it anew. The row of
the session is signed with the key: whose it is, what it was made with, how many events it has and the hash of the last. How
many sessions were started and removed is signed too, so that one that was taken out is missed.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Iterator
from dataclasses import dataclass

import sqlalchemy as sa

from reap.service.database import NOTED, Database
from reap.service.log import Entry, fault
from reap.service.tables import EVENTS, NOTES, SESSIONS, Kept
from reap.service.tokens import same

COLUMNS = [SESSIONS.c[name] for name in Kept.__dataclass_fields__]

# Built once: putting a statement together costs as much as running it.
_SINCE = (
    EVENTS.select()
    .where(EVENTS.c.session == sa.bindparam("name"), EVENTS.c.revision >= sa.bindparam("since"))
    .order_by(EVENTS.c.revision)
)
_COUNTED = sa.select(NOTES.c.value).where(NOTES.c.name == "count").with_for_update()
_RECOUNT = NOTES.update().where(NOTES.c.name == "count").values(value=sa.bindparam("counted"))


def seal(key: str, kept: Kept, events: int, head: str) -> str:
    """Return the signature of a session's row once it has so many events, the last with this hash."""
    parts = [kept.id, kept.token_hash, kept.created, kept.expires, kept.model, kept.data, kept.version]
    return _sign(key, "session", *parts, events, head)


def _sign(key: str, *parts: object) -> str:
    return hmac.new(key.encode(), json.dumps(parts).encode(), hashlib.sha256).hexdigest()


@dataclass(frozen=True)
class Count:
    """How many sessions were ever started, and how many were removed on purpose or when their time was over.

    Examples
    --------
    >>> written = Count(5, 2).written("key")
    >>> Count.read("key", written)
    Count(started=5, removed=2)
    >>> Count.read("key", written.replace("5", "4")) is None
    True
    """

    started: int = 0
    removed: int = 0

    def written(self, key: str) -> str:
        """Return it as signed text."""
        said = [self.started, self.removed]
        return json.dumps([*said, _sign(key, "count", *said)])

    @classmethod
    def read(cls, key: str, text: str) -> Count | None:
        """Return what was written, or None where it was not written with this key."""
        try:
            started, removed, signature = json.loads(text)
            good = hmac.compare_digest(signature, _sign(key, "count", started, removed))
        except (ValueError, TypeError):
            return None
        return cls(started, removed) if good else None


class Sealed(Database):
    """Signs what is stored, and finds what was changed without the key; see ``Store``."""

    def __init__(self, url: str, key: str = "") -> None:
        super().__init__(url)
        self.key, self.keyless = key, not key

    def events(self, session: str, since: int = 0) -> list[Entry]:
        """Return the events of a session from one revision on, in order."""
        with self.reading() as connection:
            rows = connection.execute(_SINCE, {"name": session, "since": since}).all()
        return [Entry(**row._mapping) for row in rows]

    def _sign_all(self, connection: sa.Connection) -> None:
        """Sign what is there: nothing yet, or what an earlier release left. From now on a change by hand is told."""
        rows = [Kept(**row._mapping) for row in connection.execute(sa.select(*COLUMNS))]
        for kept in rows:
            signed = seal(self.key, kept, kept.events, kept.head)
            connection.execute(SESSIONS.update().where(SESSIONS.c.id == kept.id).values(signature=signed))
        made = NOTES.insert().values(name="count", value=Count(len(rows), 0).written(self.key))
        connection.execute(made)

    def renew(self) -> None:
        """Sign everything with the key in use and count anew: after the key was changed, once ``faults`` found nothing else."""
        with self.writing() as connection:
            connection.execute(NOTES.delete().where(NOTES.c.name == "count"))
            self._sign_all(connection)

    def _count(self, connection: sa.Connection, *, started: int = 0, removed: int = 0) -> None:
        """Count sessions, in the transaction that starts or removes them; a count that was edited stays wrong."""
        known = Count.read(self.key, connection.execute(_COUNTED).scalar_one_or_none() or "")
        if known is not None:
            new = Count(known.started + started, known.removed + removed).written(self.key)
            connection.execute(_RECOUNT, {"counted": new})

    def faults(self) -> Iterator[tuple[str, str]]:
        """Walk every chain and look at every signature; yield (session, what is wrong) for each that is broken."""
        with self.reading() as connection:
            rows = connection.execute(sa.select(*COLUMNS, SESSIONS.c.signature).order_by(SESSIONS.c.created))
            every = [(Kept(*row[:-1]), row[-1]) for row in rows]
            noted = connection.execute(NOTED, {"name": "count"}).scalar_one_or_none()
        for kept, signature in every:
            wrong = fault(self.events(kept.id), kept.events, kept.head)
            if wrong is None and not same(seal(self.key, kept, kept.events, kept.head), signature):
                wrong = "its row was edited, its chain was made anew, or it was signed with another key"
            if wrong is not None:
                yield kept.id, wrong
        known = sa.select(SESSIONS.c.id)
        with self.reading() as connection:
            stray = connection.execute(
                sa.select(EVENTS.c.session).distinct().where(EVENTS.c.session.not_in(known))
            ).scalars()
            yield from ((name, "its events belong to no session") for name in stray)
        count = Count.read(self.key, noted or "")
        if count is None:
            yield "all", "the count of sessions was edited, or signed with another key"
        elif count.started - count.removed != len(every):
            left = count.started - count.removed
            yield (
                "all",
                f"{left} sessions should be here, and {len(every)} are: somebody removed or added some",
            )

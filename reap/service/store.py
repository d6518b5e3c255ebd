"""Where logs are kept: an append-only log for every session."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import sqlalchemy as sa

from reap.service import vocabulary
from reap.service.database import NOTED, ConflictError, UnavailableError
from reap.service.log import Entry, Sent, sealed
from reap.service.migrations import migrate
from reap.service.sealed import COLUMNS, Sealed, seal
from reap.service.tables import EVENTS, SESSIONS, Kept, now

#: Names the lock under which one worker changes the schema of PostgreSQL while the others wait.
_LOCK = 7_203_101
#: How often a note looks for its place again while somebody else writes.
_PATIENCE = 50
_logger = logging.getLogger("reap.service")

# Built once: putting a statement together costs as much as running it.
_FIND = sa.select(*COLUMNS).where(SESSIONS.c.token_hash == sa.bindparam("token"))
_HEAD = sa.select(SESSIONS.c.head).where(
    SESSIONS.c.id == sa.bindparam("name"), SESSIONS.c.events == sa.bindparam("place")
)
_MOVE = (
    SESSIONS.update()
    .where(
        SESSIONS.c.id == sa.bindparam("name"),
        SESSIONS.c.events == sa.bindparam("place"),
        SESSIONS.c.head == sa.bindparam("previous"),
    )
    .values(
        events=SESSIONS.c.events + sa.bindparam("count"),
        head=sa.bindparam("sealed"),
        signature=sa.bindparam("signed"),
    )
)
_TRY = (
    SESSIONS.update()
    .where(SESSIONS.c.id == sa.bindparam("name"), SESSIONS.c.trials < sa.bindparam("most"))
    .values(trials=SESSIONS.c.trials + 1)
)
_ADD = EVENTS.insert()
_BEGIN = SESSIONS.insert()


class Store(Sealed):
    """An append-only log for every session, on SQLite or PostgreSQL.

    Parameters
    ----------
    url : str
        A SQLAlchemy address, such as ``sqlite:///reap.db``.
    key : str
        Signs what is stored. Empty: one is drawn once and kept in the database, where whoever can write there can read it.

    Examples
    --------
    >>> store = Store("sqlite://")
    >>> store.prepare()
    >>> made, _ = store.create("ab" * 32, days=1, model="m", data="d", version="1", payload={"seed": 0})
    >>> store.append(made, 1, "asked", {"number": 1}).revision
    1
    >>> [event.type for event in store.events(made.id)], list(store.faults())
    (['started', 'asked'], [])
    """

    def prepare(self) -> None:
        """Make the tables, or bring those of an earlier release to this one's; several workers may do it at once."""
        with self.writing() as connection:
            if not self.sqlite:
                connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_LOCK})")
            migrate(connection)
        self.key = self.key or self.note("secret", secrets.token_hex(32))
        with self.writing() as connection:
            if connection.execute(NOTED, {"name": "count"}).scalar_one_or_none() is None:
                self._sign_all(connection)

    # sessions ----------------------------------------------------------------------------------------

    def create(
        self,
        token_hash: str,
        *,
        days: float,
        model: str,
        data: str,
        version: str,
        payload: Mapping[str, Any],
        asked: Mapping[str, Any] | None = None,
        milliseconds: float | None = None,
    ) -> tuple[Kept, list[Entry]]:
        """Start a session: its row, its first event and, where given, its first question, all or none."""
        created = now()
        expires = (datetime.now(UTC) + timedelta(days=days)).isoformat(timespec="microseconds")
        name = secrets.token_hex(8)
        events = [sealed(name, 0, "started", payload, None, created, "", None)]
        if asked is not None:
            events.append(sealed(name, 1, "asked", asked, None, now(), events[0].hash, milliseconds))
        row = Kept(name, token_hash, created, expires, model, data, version, len(events), events[-1].hash)
        signed = seal(self.key, row, row.events, row.head)
        with self.writing("begun") as connection:
            connection.execute(_BEGIN, {"signature": signed, **vars(row)})
            connection.execute(_ADD, [_columns(event) for event in events])
            self._count(connection, started=1)
        return row, events

    def find(self, token_hash: str, *, expired: bool = False) -> Kept | None:
        """Return the session of a token, or None: unknown, deleted and, unless asked for, expired look alike."""
        with self.reading() as connection:
            found = connection.execute(_FIND, {"token": token_hash}).one_or_none()
        kept = Kept(**found._mapping) if found else None
        return None if kept is None or (kept.expired and not expired) else kept

    def row(self, session: str) -> Kept | None:
        """Return the row of a session by its id, or None."""
        with self.reading() as connection:
            found = connection.execute(sa.select(*COLUMNS).where(SESSIONS.c.id == session)).one_or_none()
        return Kept(**found._mapping) if found else None

    def delete(self, session: str) -> bool:
        """Remove a session and every event of it."""
        with self.writing("deleted") as connection:
            connection.execute(EVENTS.delete().where(EVENTS.c.session == session))
            gone = connection.execute(SESSIONS.delete().where(SESSIONS.c.id == session)).rowcount
            self._count(connection, removed=gone)
        self._wipe()
        return gone > 0

    def purge(self, hold_days: int = 0) -> int:
        """Remove the sessions whose time is over; return how many. Those of the last ``hold_days`` stay: the law wants them."""
        over = SESSIONS.c.expires <= now()
        if hold_days:  # whole days, as `Desk.held_until` counts
            last = datetime.now(UTC).date() - timedelta(days=hold_days - 1)
            over = sa.and_(over, SESSIONS.c.created < last.isoformat())
        with self.writing() as connection:
            old = sa.select(SESSIONS.c.id).where(over)
            connection.execute(EVENTS.delete().where(EVENTS.c.session.in_(old)))
            gone = connection.execute(SESSIONS.delete().where(over)).rowcount
            self._count(connection, removed=gone)
        self._wipe()
        return int(gone)

    def _wipe(self) -> None:
        """Empty the write-ahead file of SQLite, in which removed rows would stay; it waits for readers."""
        if not self.sqlite:
            return
        try:
            with self.reading() as connection:
                busy = connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)").one()[0]
        except UnavailableError:  # the rows are gone all the same
            busy = True
        if busy:
            _logger.warning("the write-ahead file could not be emptied; the next deletion tries again")

    def sessions(self) -> list[Kept]:
        """Return every session, oldest first."""
        with self.reading() as connection:
            rows = connection.execute(sa.select(*COLUMNS).order_by(SESSIONS.c.created, SESSIONS.c.id)).all()
        return [Kept(**row._mapping) for row in rows]

    def tried(self, kept: Kept, most: int) -> bool:
        """Count a trial of a session; return False, and count nothing, where there were ``most`` already."""
        with self.writing() as connection:
            return connection.execute(_TRY, {"name": kept.id, "most": most}).rowcount == 1

    # events ------------------------------------------------------------------------------------------

    def append(
        self,
        kept: Kept,
        revision: int,
        kind: str,
        payload: Mapping[str, Any],
        sent: Sent | None = None,
        milliseconds: float | None = None,
        previous: str | None = None,
    ) -> Entry:
        """Add one event at a place that must still be free, or raise ``ConflictError`` and store nothing.

        ``previous`` is the hash of the event before, where it is known; else it is looked up.
        """
        return self.append_all(kept, revision, [(kind, payload)], sent, milliseconds, previous)[0]

    def append_all(
        self,
        kept: Kept,
        revision: int,
        said: Sequence[tuple[str, Mapping[str, Any]]],
        sent: Sent | None = None,
        milliseconds: float | None = None,
        previous: str | None = None,
    ) -> list[Entry]:
        """Add events of one request, types and payloads, all or none.

        The last that is not only shown has the request's key; ``milliseconds`` is what the last of all took to compute.
        """
        for kind, _ in said:
            vocabulary.check(kind)
        place = {"name": kept.id, "place": revision}
        named = max((i for i, (kind, _) in enumerate(said) if kind not in vocabulary.SHOWN), default=None)
        if previous is None:
            with self.reading() as connection:
                previous = connection.execute(_HEAD, place).scalar_one_or_none()
            if previous is None:
                raise ConflictError
        events: list[Entry] = []
        for i, (kind, payload) in enumerate(said):
            key, request = (sent.key, sent.digest) if sent is not None and i == named else (None, None)
            head = events[-1].hash if events else previous
            took = milliseconds if i == len(said) - 1 else None
            events.append(sealed(kept.id, revision + i, kind, payload, key, now(), head, took, request))
        sealing = {"count": len(events), "previous": previous, "sealed": events[-1].hash}
        signed = seal(self.key, kept, revision + len(events), events[-1].hash)
        with self.writing(None if named is None else "stored") as connection:
            if connection.execute(_MOVE, {**place, **sealing, "signed": signed}).rowcount != 1:
                raise ConflictError
            connection.execute(_ADD, [_columns(event) for event in events])
        return events

    def add_note(
        self, session: str, kind: str, payload: Mapping[str, Any], sent: Sent | None = None
    ) -> Entry | None:
        """Add a note at the end of a log, whatever happens to the session meanwhile; None where there is no such session.

        For notes that somebody other than the person makes, such as an operator's answer to "please look at this".
        """
        for _ in range(_PATIENCE):
            if (kept := self.row(session)) is None:
                return None
            try:
                return self.append(kept, kept.events, kind, payload, sent)
            except ConflictError:
                done = [e for e in self.events(session) if sent is not None and e.key == sent.key]
                if done:
                    return done[0]
        raise ConflictError

    def entries(self, *kinds: str) -> list[Entry]:
        """Return every entry of these types, of all sessions, oldest first."""
        known = [vocabulary.check(kind) for kind in kinds]
        chosen = EVENTS.select().where(EVENTS.c.type.in_(known)).order_by(EVENTS.c.created, EVENTS.c.session)
        with self.reading() as connection:
            return [Entry(**row._mapping) for row in connection.execute(chosen)]


def _columns(entry: Entry) -> dict[str, Any]:
    return {name: getattr(entry, name) for name in Entry.__dataclass_fields__}

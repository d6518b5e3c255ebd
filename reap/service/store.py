"""Where logs are kept: an append-only log for every session, on SQLite or PostgreSQL, signed so that a change by hand is told.

The chain of a session's events is made of plain hashes, so whoever can write to the database can make it anew. The row of
the session is signed with the server's key: whose it is, what it was made with, how many events it has and the hash of the
last. How many sessions were started and removed is signed too, so that one that was taken out is missed.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import logging
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Self

import sqlalchemy as sa
from itsdangerous import BadSignature, Signer, URLSafeSerializer
from sqlalchemy.exc import ArgumentError, DBAPIError, IntegrityError, NoSuchModuleError

from reap._errors import InputError
from reap.service import log
from reap.service.log import Entry, Sent, sealed

#: Seconds that a write waits for another one.
BUSY = 5
#: Names the lock under which one worker changes the schema of PostgreSQL while the others wait.
_LOCK = 7_203_101
#: What the tables are, as the database itself says; those of another release are refused.
_LAYOUT = "1"
#: Characters that a look at whether something can be stored takes for a moment: more than a page of SQLite has left.
_ROOM = 10_000
_logger = logging.getLogger("reap.service")

META = sa.MetaData()
SESSIONS = sa.Table(
    "sessions",
    META,
    sa.Column("id", sa.String(32), primary_key=True),
    sa.Column("token_hash", sa.String(64), nullable=False, unique=True),
    sa.Column("created", sa.String(40), nullable=False, index=True),
    sa.Column("expires", sa.String(40), nullable=False, index=True),
    sa.Column("model", sa.String(64), nullable=False),
    sa.Column("data", sa.String(64), nullable=False),
    sa.Column("version", sa.String(40), nullable=False),
    sa.Column("events", sa.Integer, nullable=False),
    sa.Column("head", sa.String(64), nullable=False),
    sa.Column("trials", sa.Integer, nullable=False, default=0),
    sa.Column("signature", sa.String(64), nullable=False),
)
EVENTS = sa.Table(
    "events",
    META,
    sa.Column("session", sa.ForeignKey("sessions.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("revision", sa.Integer, primary_key=True),
    sa.Column("type", sa.String(32), nullable=False),
    sa.Column("text", sa.Text, nullable=False),
    sa.Column("key", sa.String(64)),
    sa.Column("created", sa.String(40), nullable=False),
    sa.Column("previous", sa.String(64), nullable=False),
    sa.Column("hash", sa.String(64), nullable=False),
    sa.Column("milliseconds", sa.Float),
    sa.Column("request", sa.String(64)),
    sa.UniqueConstraint("session", "key"),
    sa.Index("events_by_type", "type", "created"),
)
NOTES = sa.Table(
    "notes", META, sa.Column("name", sa.String(32), primary_key=True), sa.Column("value", sa.Text)
)


class ConflictError(Exception):
    """Another request wrote first; look at the log again."""


class UnavailableError(Exception):
    """The database cannot be reached or cannot be written. A commit that fails so may have succeeded."""


@dataclass(frozen=True)
class Kept:
    """The row of a session: what is known without its events."""

    id: str
    token_hash: str
    created: str
    expires: str
    model: str
    data: str
    version: str
    events: int
    head: str

    @property
    def expired(self) -> bool:
        """Whether the link has stopped working."""
        return self.expires <= now()


_COLUMNS = [SESSIONS.c[name] for name in Kept.__dataclass_fields__]
_NOTED = sa.select(NOTES.c.value).where(NOTES.c.name == sa.bindparam("name"))


def now() -> str:
    """Return the time as text that sorts."""
    return datetime.now(UTC).isoformat(timespec="microseconds")


def fingerprint(token: str) -> str:
    """Return what is stored of a token: its hash, from which it cannot be guessed.

    Examples
    --------
    >>> len(fingerprint("abc"))
    64
    """
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def same(given: str, wanted: str) -> bool:
    """Return whether two secrets are equal, in constant time; an empty one never is."""
    return bool(wanted) and hmac.compare_digest(given.encode("utf-8", "surrogatepass"), wanted.encode())


def connect(url: str) -> sa.Engine:
    """Return the database at an address, or say why it cannot be used.

    SQLite keeps its file safely: write-ahead log, full sync, deleted data overwritten.
    """
    try:
        address = sa.make_url(url)
        if address.get_backend_name() != "sqlite":
            return sa.create_engine(address, pool_size=8, max_overflow=8, pool_timeout=5, pool_pre_ping=True)
        options: dict[str, Any] = {"connect_args": {"timeout": BUSY, "check_same_thread": False}}
        if address.database in (None, "", ":memory:"):
            options["poolclass"] = sa.StaticPool
        engine = sa.create_engine(address, isolation_level="AUTOCOMMIT", **options)
    except (ArgumentError, NoSuchModuleError, ImportError) as error:
        raise InputError(
            f"the database address {url!r} cannot be used: {error}; give sqlite:///FILE or postgresql+psycopg://…"
        ) from None

    @sa.event.listens_for(engine, "connect")
    def _prepare(connection: Any, _record: Any) -> None:
        for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON", "secure_delete=ON"):
            connection.execute(f"PRAGMA {pragma}")

    return engine


class Store:
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
    >>> made, _ = store.create("ab" * 32, days=1, model="m", data="d", version="1", said=[("started", {"seed": 0})])
    >>> [entry.revision for entry in store.append(made, 1, made.head, [("asked", {"number": 1})])]
    [1]
    >>> [event.type for event in store.events(made.id)], list(store.faults())
    (['started', 'asked'], [])
    """

    def __init__(self, url: str, key: str = "") -> None:
        self.engine = connect(url)
        self.sqlite = self.engine.dialect.name == "sqlite"
        self._reader = self.engine.execution_options(
            isolation_level="AUTOCOMMIT"
        )  # one select, no transaction
        self.key, self.keyless = key, not key

    @classmethod
    def opened(cls, url: str, key: str = "") -> Self:
        """Return the store at an address, its tables made; say in a sentence why it cannot be used."""
        made = cls(url, key)
        try:
            made.prepare()
        except UnavailableError as error:
            made.engine.dispose()
            raise InputError(
                f"the database cannot be reached or written ({error}); check that it runs, and --database"
            ) from None
        return made

    # transactions and notes --------------------------------------------------------------------------

    @contextmanager
    def _guard(self) -> Iterator[None]:
        try:
            yield
        except IntegrityError as error:
            raise ConflictError from error
        except (DBAPIError, sa.exc.TimeoutError, OSError) as error:
            raise UnavailableError(type(error).__name__) from error

    @contextmanager
    def writing(self) -> Iterator[sa.Connection]:
        """Open a transaction: all of it is stored or nothing."""
        with self._guard(), self.engine.connect() as connection:
            if self.sqlite:  # take the write lock now, or wait for it; upgrading a read lock could fail
                connection.exec_driver_sql("BEGIN IMMEDIATE")
            try:
                yield connection
            except BaseException:
                connection.rollback()
                raise
            connection.commit()

    @contextmanager
    def reading(self) -> Iterator[sa.Connection]:
        """Open a connection that only looks."""
        with self._guard(), self._reader.connect() as connection:
            yield connection

    def noted(self, name: str) -> str | None:
        """Return a stored value; None where there is none."""
        with self.reading() as connection:
            value: str | None = connection.execute(_NOTED, {"name": name}).scalar_one_or_none()
        return value

    def note(self, name: str, value: str) -> str:
        """Return a stored value, storing this one where there is none; the first worker to ask decides."""
        known = self.noted(name)
        if known is not None:
            return known
        try:
            with self.writing() as connection:
                connection.execute(NOTES.insert().values(name=name, value=value))
        except ConflictError:
            return self.note(name, value)
        return value

    def ping(self) -> None:
        """Write something; raise ``UnavailableError`` where the database is away, full, or locked."""
        self.note("ready", "")
        with self.writing() as connection:
            for value in ("x" * _ROOM, now()):  # what fits where something stood tells nothing of a full disk
                connection.execute(NOTES.update().where(NOTES.c.name == "ready").values(value=value))

    def prepare(self) -> None:
        """Make the tables, or refuse those of another release; several workers may do it at once."""
        with self.writing() as connection:
            if not self.sqlite:
                connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_LOCK})")
            if META.tables.keys().isdisjoint(sa.inspect(connection).get_table_names()):
                META.create_all(connection)
                if self.keyless:
                    self.key = secrets.token_hex(32)
                    connection.execute(NOTES.insert().values(name="secret", value=self.key))
                connection.execute(NOTES.insert().values(name="layout", value=_LAYOUT))
                connection.execute(NOTES.insert().values(name="count", value=self._counts.dumps([0, 0])))
            elif connection.execute(_NOTED, {"name": "layout"}).scalar_one_or_none() != _LAYOUT:
                raise InputError(
                    "the database was written by another release; start that release, or name another database"
                )
        self.key = self.key or self.note("secret", secrets.token_hex(32))

    # sessions ----------------------------------------------------------------------------------------

    def create(
        self,
        token_hash: str,
        *,
        days: float,
        model: str,
        data: str,
        version: str,
        said: Sequence[tuple[str, Mapping[str, Any]]],
        milliseconds: float | None = None,
    ) -> tuple[Kept, list[Entry]]:
        """Start a session: its row and its first events, types and payloads, all or none."""
        expires = (datetime.now(UTC) + timedelta(days=days)).isoformat(timespec="microseconds")
        name = secrets.token_hex(8)
        events = _chained(name, 0, "", said, None, milliseconds)
        made = Kept(
            name, token_hash, events[0].created, expires, model, data, version, len(events), events[-1].hash
        )
        signed = self._signature(made, made.events, made.head)
        with self.writing() as connection:
            connection.execute(SESSIONS.insert(), {"signature": signed, **vars(made)})
            connection.execute(EVENTS.insert(), [_row(event) for event in events])
            self._recount(connection, started=1)
        return made, events

    def find(self, token_hash: str, *, expired: bool = False) -> Kept | None:
        """Return the session of a token, or None: unknown, deleted and, unless asked for, expired look alike."""
        kept = self.row(SESSIONS.c.token_hash == token_hash)
        return None if kept is None or (kept.expired and not expired) else kept

    def row(self, which: sa.ColumnElement[bool]) -> Kept | None:
        """Return the session of which something holds, such as ``SESSIONS.c.id == session``; None where there is none."""
        with self.reading() as connection:
            found = connection.execute(sa.select(*_COLUMNS).where(which)).one_or_none()
        return Kept(**found._mapping) if found else None

    def sessions(self) -> list[Kept]:
        """Return every session, oldest first."""
        with self.reading() as connection:
            rows = connection.execute(sa.select(*_COLUMNS).order_by(SESSIONS.c.created, SESSIONS.c.id)).all()
        return [Kept(**row._mapping) for row in rows]

    def delete(self, session: str) -> bool:
        """Remove a session and every event of it."""
        return self._remove(SESSIONS.c.id == session) > 0

    def purge(self, hold_days: int = 0) -> int:
        """Remove the sessions whose time is over; return how many. Those of the last ``hold_days`` stay: the law wants them."""
        over = SESSIONS.c.expires <= now()
        if hold_days:  # whole days, as `Desk.held_until` counts
            last = datetime.now(UTC).date() - timedelta(days=hold_days - 1)
            over = sa.and_(over, SESSIONS.c.created < last.isoformat())
        return self._remove(over)

    def _remove(self, which: sa.ColumnElement[bool]) -> int:
        with self.writing() as connection:
            connection.execute(
                EVENTS.delete().where(EVENTS.c.session.in_(sa.select(SESSIONS.c.id).where(which)))
            )
            gone = connection.execute(SESSIONS.delete().where(which)).rowcount
            self._recount(connection, removed=gone)
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

    def tried(self, kept: Kept, most: int) -> bool:
        """Count a trial of a session; return False, and count nothing, where there were ``most`` already."""
        allowed = SESSIONS.update().where(SESSIONS.c.id == kept.id, SESSIONS.c.trials < most)
        with self.writing() as connection:
            return connection.execute(allowed.values(trials=SESSIONS.c.trials + 1)).rowcount == 1

    # events ------------------------------------------------------------------------------------------

    def append(
        self,
        kept: Kept,
        place: int,
        head: str,
        said: Sequence[tuple[str, Mapping[str, Any]]],
        sent: Sent | None = None,
        milliseconds: float | None = None,
    ) -> list[Entry]:
        """Add events of one request at a place that must still be free, or raise ``ConflictError``: all are stored or none.

        Parameters
        ----------
        kept : Kept
        place, head : int, str
            How many events there are, and the hash of the last.
        said : sequence of (str, mapping)
            Types and payloads. The last that is not only shown has the request's key.
        sent : Sent, optional
            The request.
        milliseconds : float, optional
            What the last of them took to compute.
        """
        events = _chained(kept.id, place, head, said, sent, milliseconds)
        free = SESSIONS.update().where(
            SESSIONS.c.id == kept.id, SESSIONS.c.events == place, SESSIONS.c.head == head
        )
        total, last = place + len(events), events[-1].hash
        moved = free.values(events=total, head=last, signature=self._signature(kept, total, last))
        with self.writing() as connection:
            if connection.execute(moved).rowcount != 1:
                raise ConflictError
            connection.execute(EVENTS.insert(), [_row(event) for event in events])
        return events

    def events(self, session: str, since: int = 0) -> list[Entry]:
        """Return the events of a session from one revision on, in order."""
        mine = EVENTS.select().where(EVENTS.c.session == session, EVENTS.c.revision >= since)
        return self._entries(mine.order_by(EVENTS.c.revision))

    def entries(self, *kinds: str) -> list[Entry]:
        """Return every entry of these types, of all sessions, oldest first."""
        chosen = EVENTS.select().where(EVENTS.c.type.in_([log.check(kind) for kind in kinds]))
        return self._entries(chosen.order_by(EVENTS.c.created, EVENTS.c.session))

    def logs(self, since: str) -> list[list[Entry]]:
        """Return the logs of the sessions that began since a time, oldest first."""
        begun = sa.select(EVENTS.c.session).where(EVENTS.c.type == "started", EVENTS.c.created >= since)
        chosen = EVENTS.select().where(EVENTS.c.session.in_(begun))
        found: dict[str, list[Entry]] = {}
        for entry in self._entries(chosen.order_by(EVENTS.c.session, EVENTS.c.revision)):
            found.setdefault(entry.session, []).append(entry)
        return sorted(found.values(), key=lambda entries: entries[0].created)

    def _entries(self, chosen: sa.Select[Any]) -> list[Entry]:
        with self.reading() as connection:
            return [Entry(**row._mapping) for row in connection.execute(chosen)]

    # signatures --------------------------------------------------------------------------------------

    def _signature(self, kept: Kept, events: int, head: str) -> str:
        """Return the signature of a session's row once it has so many events, the last with this hash."""
        return self._signer.get_signature(_told(kept, events, head)).decode()

    @property
    def _signer(self) -> Signer:
        return Signer(self.key, salt="session", digest_method=hashlib.sha256)

    def renew(self) -> None:
        """Sign everything with the key in use and count anew: after the key was changed, once ``faults`` found nothing else."""
        with self.writing() as connection:
            rows = [Kept(**row._mapping) for row in connection.execute(sa.select(*_COLUMNS))]
            for kept in rows:
                signed = self._signature(kept, kept.events, kept.head)
                connection.execute(SESSIONS.update().where(SESSIONS.c.id == kept.id).values(signature=signed))
            counted = NOTES.update().where(NOTES.c.name == "count")
            connection.execute(counted.values(value=self._counts.dumps([len(rows), 0])))

    @property
    def _counts(self) -> URLSafeSerializer:
        """Writes and reads how many sessions were ever started, and how many were removed on purpose or in time."""
        return URLSafeSerializer(self.key, salt="count", signer_kwargs={"digest_method": hashlib.sha256})

    def _recount(self, connection: sa.Connection, *, started: int = 0, removed: int = 0) -> None:
        """Count sessions, in the transaction that starts or removes them; a count that was edited stays wrong."""
        noted = connection.execute(_NOTED.with_for_update(), {"name": "count"}).scalar_one_or_none()
        try:
            before, gone = self._counts.loads(noted or "")
        except BadSignature:
            return
        written = self._counts.dumps([before + started, gone + removed])
        connection.execute(NOTES.update().where(NOTES.c.name == "count").values(value=written))

    def faults(self) -> Iterator[tuple[str, str]]:
        """Walk every chain and look at every signature; yield (session, what is wrong) for each that is broken."""
        with self.reading() as connection:
            rows = connection.execute(sa.select(*_COLUMNS, SESSIONS.c.signature).order_by(SESSIONS.c.created))
            every = [(Kept(*row[:-1]), str(row[-1])) for row in rows]
            noted = connection.execute(_NOTED, {"name": "count"}).scalar_one_or_none()
        for kept, signature in every:
            wrong = log.fault(self.events(kept.id), kept.events, kept.head)
            if wrong is None and not self._signer.verify_signature(
                _told(kept, kept.events, kept.head), signature
            ):
                wrong = "its row was edited, its chain was made anew, or it was signed with another key"
            if wrong is not None:
                yield kept.id, wrong
        known = sa.select(SESSIONS.c.id)
        with self.reading() as connection:
            stray = connection.execute(
                sa.select(EVENTS.c.session).distinct().where(EVENTS.c.session.not_in(known))
            ).scalars()
            yield from ((name, "its events belong to no session") for name in stray)
        try:
            started, removed = self._counts.loads(noted or "")
        except BadSignature:
            yield "all", "the count of sessions was edited, or signed with another key"
            return
        if (left := started - removed) != len(every):
            yield (
                "all",
                f"{left} sessions should be here, and {len(every)} are: somebody removed or added some",
            )


def _chained(
    session: str,
    place: int,
    head: str,
    said: Sequence[tuple[str, Mapping[str, Any]]],
    sent: Sent | None,
    milliseconds: float | None,
) -> list[Entry]:
    """Return events as entries, each with the hash of the one before."""
    named = max((i for i, (kind, _) in enumerate(said) if kind not in log.SHOWN), default=None)
    events: list[Entry] = []
    for i, (kind, payload) in enumerate(said):
        key, request = (sent.key, sent.digest) if sent is not None and i == named else (None, None)
        took = milliseconds if i == len(said) - 1 else None
        events.append(sealed(session, place + i, log.check(kind), payload, key, now(), head, took, request))
        head = events[-1].hash
    return events


def _row(entry: Entry) -> dict[str, Any]:
    return {name: getattr(entry, name) for name in Entry.__dataclass_fields__}


def _told(kept: Kept, events: int, head: str) -> str:
    """Return what is signed of a session's row, as text."""
    parts = [kept.id, kept.token_hash, kept.created, kept.expires, kept.model, kept.data, kept.version]
    return json.dumps([*parts, events, head])

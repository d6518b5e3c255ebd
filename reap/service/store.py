"""Where logs are kept: two tables and a note, the same on SQLite and PostgreSQL."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy.exc import ArgumentError, DBAPIError, IntegrityError, NoSuchModuleError

from reap._errors import InputError
from reap.service.log import Event, digest, fault

_meta = sa.MetaData()
SESSIONS = sa.Table(
    "sessions",
    _meta,
    sa.Column("id", sa.String(32), primary_key=True),
    sa.Column("token_hash", sa.String(64), nullable=False, unique=True),
    sa.Column("created", sa.String(40), nullable=False, index=True),
    sa.Column("expires", sa.String(40), nullable=False, index=True),
    sa.Column("model", sa.String(64), nullable=False),
    sa.Column("data", sa.String(64), nullable=False),
    sa.Column("version", sa.String(40), nullable=False),
    sa.Column("events", sa.Integer, nullable=False),
    sa.Column("head", sa.String(64), nullable=False),
)
EVENTS = sa.Table(
    "events",
    _meta,
    sa.Column("session", sa.ForeignKey("sessions.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("revision", sa.Integer, primary_key=True),
    sa.Column("type", sa.String(16), nullable=False),
    sa.Column("text", sa.Text, nullable=False),
    sa.Column("key", sa.String(64)),
    sa.Column("created", sa.String(40), nullable=False),
    sa.Column("previous", sa.String(64), nullable=False),
    sa.Column("hash", sa.String(64), nullable=False),
    sa.Column("milliseconds", sa.Float),
    sa.UniqueConstraint("session", "key"),
    sa.Index("events_by_type", "type", "created"),
)
NOTES = sa.Table(
    "notes", _meta, sa.Column("name", sa.String(32), primary_key=True), sa.Column("value", sa.Text)
)


class ConflictError(Exception):
    """Another request wrote first; look at the log again."""


class UnavailableError(Exception):
    """The database cannot be reached or cannot be written; nothing was stored."""


@dataclass(frozen=True)
class Kept:
    """The row of a session: what is known without its events."""

    id: str
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

# Built once: putting a statement together costs as much as running it.
_FIND = sa.select(*_COLUMNS).where(SESSIONS.c.token_hash == sa.bindparam("token"))
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
    .values(events=sa.bindparam("place") + 1, head=sa.bindparam("sealed"))
)
_ADD = EVENTS.insert()
_SINCE = (
    EVENTS.select()
    .where(EVENTS.c.session == sa.bindparam("name"), EVENTS.c.revision >= sa.bindparam("since"))
    .order_by(EVENTS.c.revision)
)


class Store:
    """An append-only log for every session, on SQLite or PostgreSQL.

    Parameters
    ----------
    url : str
        A SQLAlchemy address, such as ``sqlite:///reap.db``.

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

    def __init__(self, url: str) -> None:
        try:
            address = sa.make_url(url)
            sqlite = address.get_backend_name() == "sqlite"
            if sqlite:
                self.engine = _sqlite(address)
            else:
                self.engine = sa.create_engine(
                    address, pool_pre_ping=True, pool_size=8, max_overflow=8, pool_timeout=5
                )
        except (ArgumentError, NoSuchModuleError, ImportError) as error:
            raise InputError(
                f"the database address {url!r} cannot be used: {error}; give sqlite:///FILE or postgresql+psycopg://…"
            ) from None
        self._sqlite = sqlite
        self._reader = self.engine.execution_options(
            isolation_level="AUTOCOMMIT"
        )  # one select, no transaction

    def prepare(self) -> None:
        """Make the tables where they are missing; several workers may do it at once."""
        with self._guard():
            for attempt in range(5):
                try:
                    _meta.create_all(self.engine)
                    return
                except (DBAPIError, IntegrityError):  # another worker makes them at this moment
                    if attempt == 4:
                        raise

    @contextmanager
    def _guard(self) -> Iterator[None]:
        try:
            yield
        except IntegrityError as error:
            raise ConflictError from error
        except (DBAPIError, sa.exc.TimeoutError, OSError) as error:
            raise UnavailableError(type(error).__name__) from error

    @contextmanager
    def _write(self) -> Iterator[sa.Connection]:
        with self._guard(), self.engine.connect() as connection:
            if self._sqlite:  # take the write lock now, or wait for it; upgrading a read lock could fail
                connection.exec_driver_sql("BEGIN IMMEDIATE")
            with connection.begin() if not self._sqlite else _commit(connection):
                yield connection

    @contextmanager
    def _read(self) -> Iterator[sa.Connection]:
        with self._guard(), self._reader.connect() as connection:
            yield connection

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
    ) -> tuple[Kept, list[Event]]:
        """Start a session: its row, its first event and, where given, its first question, all or none."""
        created = now()
        expires = (datetime.now(UTC) + timedelta(days=days)).isoformat(timespec="microseconds")
        name = secrets.token_hex(8)
        events = [_event(name, 0, "started", payload, None, created, "", None)]
        if asked is not None:
            events.append(_event(name, 1, "asked", asked, None, now(), events[0].hash, milliseconds))
        row = Kept(name, created, expires, model, data, version, len(events), events[-1].hash)
        with self._write() as connection:
            connection.execute(SESSIONS.insert().values(token_hash=token_hash, **vars(row)))
            connection.execute(_ADD, [_columns(event) for event in events])
        return row, events

    def find(self, token_hash: str) -> Kept | None:
        """Return the session of a token, or None: unknown, deleted and expired look alike."""
        with self._read() as connection:
            found = connection.execute(_FIND, {"token": token_hash}).one_or_none()
        kept = Kept(**found._mapping) if found else None
        return None if kept is None or kept.expired else kept

    def delete(self, session: str) -> bool:
        """Remove a session and every event of it."""
        with self._write() as connection:
            connection.execute(EVENTS.delete().where(EVENTS.c.session == session))
            gone = connection.execute(SESSIONS.delete().where(SESSIONS.c.id == session)).rowcount
        return gone > 0

    def purge(self) -> int:
        """Remove the sessions whose time is over; return how many."""
        old = sa.select(SESSIONS.c.id).where(SESSIONS.c.expires <= now())
        with self._write() as connection:
            connection.execute(EVENTS.delete().where(EVENTS.c.session.in_(old)))
            gone = connection.execute(SESSIONS.delete().where(SESSIONS.c.expires <= now())).rowcount
        return int(gone)

    def sessions(self) -> list[Kept]:
        """Return every session, oldest first."""
        with self._read() as connection:
            rows = connection.execute(sa.select(*_COLUMNS).order_by(SESSIONS.c.created, SESSIONS.c.id)).all()
        return [Kept(**row._mapping) for row in rows]

    # events ------------------------------------------------------------------------------------------

    def append(
        self,
        kept: Kept,
        revision: int,
        kind: str,
        payload: Mapping[str, Any],
        key: str | None = None,
        milliseconds: float | None = None,
        previous: str | None = None,
    ) -> Event:
        """Add one event at a place that must still be free, or raise ``ConflictError`` and store nothing.

        ``previous`` is the hash of the event before, where it is known; else it is looked up.
        """
        place = {"name": kept.id, "place": revision}
        with self._write() as connection:
            if previous is None:
                previous = connection.execute(_HEAD, place).scalar_one_or_none()
                if previous is None:
                    raise ConflictError
            event = _event(kept.id, revision, kind, payload, key, now(), previous, milliseconds)
            moved = connection.execute(_MOVE, {**place, "previous": previous, "sealed": event.hash})
            if moved.rowcount != 1:
                raise ConflictError
            connection.execute(_ADD, _columns(event))
        return event

    def events(self, session: str, since: int = 0) -> list[Event]:
        """Return the events of a session from one revision on, in order."""
        with self._read() as connection:
            rows = connection.execute(_SINCE, {"name": session, "since": since}).all()
        return [Event(**row._mapping) for row in rows]

    def by_key(self, session: str, key: str) -> Event | None:
        """Return the event that a request with this key made, if there was one."""
        with self._read() as connection:
            row = connection.execute(
                EVENTS.select().where(EVENTS.c.session == session, EVENTS.c.key == key)
            ).one_or_none()
        return None if row is None else Event(**row._mapping)

    def faults(self) -> Iterator[tuple[str, str]]:
        """Walk every chain; yield (session, what is wrong) for each that is broken."""
        kept = self.sessions()
        for row in kept:
            wrong = fault(self.events(row.id), row.events, row.head)
            if wrong is not None:
                yield row.id, wrong
        known = sa.select(SESSIONS.c.id)
        with self._read() as connection:
            stray = connection.execute(
                sa.select(EVENTS.c.session).distinct().where(EVENTS.c.session.not_in(known))
            ).scalars()
            yield from ((name, "its events belong to no session") for name in stray)

    # notes -------------------------------------------------------------------------------------------

    def note(self, name: str, value: str) -> str:
        """Return a stored value, storing this one where there is none; the first worker to ask decides."""
        with self._read() as connection:
            known = connection.execute(
                sa.select(NOTES.c.value).where(NOTES.c.name == name)
            ).scalar_one_or_none()
        if known is not None:
            return str(known)
        try:
            with self._write() as connection:
                connection.execute(NOTES.insert().values(name=name, value=value))
        except ConflictError:
            return self.note(name, value)
        return value

    def ping(self) -> None:
        """Raise ``UnavailableError`` where the database does not answer."""
        with self._read() as connection:
            connection.execute(sa.select(sa.literal(1)))


def now() -> str:
    """Return the time as text that sorts."""
    return datetime.now(UTC).isoformat(timespec="microseconds")


def canonical(payload: Mapping[str, Any]) -> str:
    """Return a payload as the text that is stored and hashed."""
    return json.dumps(payload, separators=(",", ":"), allow_nan=False)


def _event(
    session: str,
    revision: int,
    kind: str,
    payload: Mapping[str, Any],
    key: str | None,
    created: str,
    previous: str,
    milliseconds: float | None,
) -> Event:
    text = canonical(payload)
    sealed = digest(session, revision, kind, text, key, created, previous)
    return Event(session, revision, kind, text, key, created, previous, sealed, milliseconds)


def _columns(event: Event) -> dict[str, Any]:
    return {name: getattr(event, name) for name in Event.__dataclass_fields__}


@contextmanager
def _commit(connection: sa.Connection) -> Iterator[None]:
    try:
        yield
    except BaseException:
        connection.exec_driver_sql("ROLLBACK")
        raise
    connection.exec_driver_sql("COMMIT")


def _sqlite(address: sa.URL) -> sa.Engine:
    """Return an engine that keeps one file safely: write-ahead log, full sync, deleted data overwritten."""
    options: dict[str, Any] = {"connect_args": {"timeout": 15, "check_same_thread": False}}
    if address.database in (None, "", ":memory:"):
        options["poolclass"] = sa.StaticPool
    engine = sa.create_engine(address, isolation_level="AUTOCOMMIT", **options)

    @sa.event.listens_for(engine, "connect")
    def _prepare(connection: Any, _record: Any) -> None:
        for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON", "secure_delete=ON"):
            connection.execute(f"PRAGMA {pragma}")

    return engine

"""The tables in which logs are kept, the same on SQLite and PostgreSQL, and the databases that hold them."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.exc import ArgumentError, NoSuchModuleError

from reap._errors import InputError

#: Seconds that a write waits for another one.
BUSY = 15
#: Seconds after which an unused connection is looked at before it is used again: the database may have been away.
IDLE = 1.0
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
    sa.Column("trials", sa.Integer, nullable=False, server_default="0"),
    sa.Column("signature", sa.String(64), nullable=False, server_default=""),
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


def now() -> str:
    """Return the time as text that sorts."""
    return datetime.now(UTC).isoformat(timespec="microseconds")


def connect(url: str) -> sa.Engine:
    """Return the database at an address, or say why it cannot be used."""
    try:
        address = sa.make_url(url)
        if address.get_backend_name() == "sqlite":
            return _sqlite(address)
        return _postgresql(address)
    except (ArgumentError, NoSuchModuleError, ImportError) as error:
        raise InputError(
            f"the database address {url!r} cannot be used: {error}; give sqlite:///FILE or postgresql+psycopg://…"
        ) from None


def _postgresql(address: sa.URL) -> sa.Engine:
    """Return an engine that looks whether a connection still works before it is used, where it was idle for a while.

    A look before every use costs as much as what follows it. The connection used last is taken first: under load none is idle.
    """
    engine = sa.create_engine(address, pool_size=8, max_overflow=8, pool_timeout=5, pool_use_lifo=True)

    @sa.event.listens_for(engine, "checkin")
    def _leave(_connection: Any, record: Any) -> None:
        record.info["left"] = time.monotonic()

    @sa.event.listens_for(engine, "checkout")
    def _look(connection: Any, record: Any, _proxy: Any) -> None:
        if time.monotonic() - record.info.get("left", math.inf) > IDLE:
            try:
                engine.dialect.do_ping(connection)
            except engine.dialect.loaded_dbapi.Error as error:
                raise sa.exc.DisconnectionError from error  # the pool makes another

    return engine


def _sqlite(address: sa.URL) -> sa.Engine:
    """Return an engine that keeps one file safely: write-ahead log, full sync, deleted data overwritten."""
    options: dict[str, Any] = {"connect_args": {"timeout": BUSY, "check_same_thread": False}}
    if address.database in (None, "", ":memory:"):
        options["poolclass"] = sa.StaticPool
    engine = sa.create_engine(address, isolation_level="AUTOCOMMIT", **options)

    @sa.event.listens_for(engine, "connect")
    def _prepare(connection: Any, _record: Any) -> None:
        for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON", "secure_delete=ON"):
            connection.execute(f"PRAGMA {pragma}")

    return engine

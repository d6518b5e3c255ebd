"""A database, whichever it is: transactions that are whole, faults of two kinds, and a few named notes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError, IntegrityError

from reap.service import receipts
from reap.service.receipts import Deed
from reap.service.tables import BUSY, NOTES, connect, now

NOTED = sa.select(NOTES.c.value).where(NOTES.c.name == sa.bindparam("name"))
#: Characters that a look at whether something can be stored takes for a moment: more than a page of SQLite has left.
_ROOM = 10_000


class ConflictError(Exception):
    """Another request wrote first; look at the log again."""


class UnavailableError(Exception):
    """The database cannot be reached or cannot be written. Whether anything was stored, the request's receipt says."""


class Database:
    """SQLite or PostgreSQL behind one way to read and one way to write.

    Parameters
    ----------
    url : str
        A SQLAlchemy address, such as ``sqlite:///reap.db``.
    """

    def __init__(self, url: str) -> None:
        self.engine = connect(url)
        self.sqlite = self.engine.dialect.name == "sqlite"
        # one select, no transaction
        self._reader = self.engine.execution_options(isolation_level="AUTOCOMMIT")

    @contextmanager
    def _guard(self) -> Iterator[None]:
        try:
            yield
        except IntegrityError as error:
            raise ConflictError from error
        except (DBAPIError, sa.exc.TimeoutError, OSError) as error:
            raise UnavailableError(type(error).__name__) from error

    @contextmanager
    def writing(self, deed: Deed | None = None, patience: int = BUSY) -> Iterator[sa.Connection]:
        """Open a transaction: all of it is stored or nothing. It waits ``patience`` seconds for others.

        ``deed`` is what it does for the person whose request this is; the request's receipt is asked before, and told after.
        """
        receipt = receipts.current()
        with self._guard(), self.engine.connect() as connection:
            if self.sqlite:  # take the write lock now, or wait for it; upgrading a read lock could fail
                connection.exec_driver_sql(f"PRAGMA busy_timeout={1000 * patience}")
                connection.exec_driver_sql("BEGIN IMMEDIATE")
            elif patience != BUSY:
                connection.exec_driver_sql(f"SET LOCAL lock_timeout = '{patience}s'")
            try:
                yield connection
                if deed is not None:
                    receipt.claim()
            except BaseException:
                connection.rollback()
                raise
            connection.commit()
            if deed is not None:
                receipt.confirm(deed)

    @contextmanager
    def reading(self) -> Iterator[sa.Connection]:
        """Open a connection that only looks."""
        with self._guard(), self._reader.connect() as connection:
            yield connection

    # notes -------------------------------------------------------------------------------------------

    def noted(self, name: str) -> str | None:
        """Return a stored value; None where there is none."""
        with self.reading() as connection:
            value: str | None = connection.execute(NOTED, {"name": name}).scalar_one_or_none()
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
        """Write something; raise ``UnavailableError`` where the database is away, full, or locked for seconds."""
        self.note("ready", "")
        with self.writing(patience=2) as connection:
            for value in ("x" * _ROOM, now()):  # what fits where something stood tells nothing of a full disk
                connection.execute(NOTES.update().where(NOTES.c.name == "ready").values(value=value))

"""What a request has stored, as far as anybody knows: nobody is told that nothing was stored while something is.

Two may answer a request: the thread that computes it and, where that takes too long, ``patience`` in its place. Both look at the
request's receipt. The thread looks just before its transaction is committed: where the person has been told by then that nothing
is stored, nothing is.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Literal

from starlette.types import Scope

from reap._clock import LateError
from reap.service.log import Entry

#: What a transaction does that a person asked for.
Deed = Literal["stored", "begun", "deleted"]
#: What is known of a request: one of these; nothing so far; that the database was told and did not reply; that a request with its
#: key was stored before, this one or another with the same key.
Outcome = Literal["nothing", "unknown", "before", Deed]

_CURRENT: ContextVar[Receipt | None] = ContextVar("reap_receipt", default=None)
_NAME = "reap.receipt"


class Receipt:
    """What one request has stored.

    Examples
    --------
    >>> receipt = Receipt()
    >>> receipt.claim()
    >>> receipt.outcome
    'unknown'
    >>> receipt.confirm("stored")
    >>> receipt.outcome
    'stored'
    """

    def __init__(self) -> None:
        self.came = time.monotonic()
        self._outcome: Outcome = "nothing"
        self._closed = False
        self._lock = threading.Lock()

    @property
    def outcome(self) -> Outcome:
        """What is known now."""
        return self._outcome

    def claim(self) -> None:
        """Ask before a commit; ``LateError`` where the person has been told that nothing is stored.

        A commit that fails may have succeeded: the connection can break before the database has said so.
        """
        with self._lock:
            if self._closed:
                raise LateError
            if self._outcome == "nothing":
                self._outcome = "unknown"

    def confirm(self, deed: Deed) -> None:
        """Note that the commit succeeded."""
        if self._outcome == "unknown":
            self._outcome = deed

    def close(self) -> Outcome:
        """Return what is known, for the person's last answer; where that is nothing, it stays so."""
        with self._lock:
            self._closed = self._outcome == "nothing"
            return self._outcome

    def recognise(self, key: str | None, entries: Iterable[Entry]) -> None:
        """Look whether a request with this key was stored before."""
        if self._outcome == "nothing" and key is not None and any(entry.key == key for entry in entries):
            self._outcome = "before"


@contextmanager
def carried(receipt: Receipt) -> Iterator[None]:
    """Let everything inside, other threads included, know the receipt of its request."""
    before = _CURRENT.set(receipt)
    try:
        yield
    finally:
        _CURRENT.reset(before)


def current() -> Receipt:
    """Return the receipt of the request that is computed here; a new one where nobody keeps one."""
    return _CURRENT.get() or Receipt()


def issue(scope: Scope) -> Receipt:
    """Return a new receipt for a request, to be found again by ``closed``."""
    made = scope[_NAME] = Receipt()
    return made


def closed(scope: Scope) -> Outcome:
    """Return what a request has stored, and let it store nothing more where that is nothing."""
    found: Receipt | None = scope.get(_NAME)
    return "nothing" if found is None else found.close()

"""Seals: what only somebody with the server's key can write.

The chain of a session's events is made of plain hashes, so whoever can write to the database can make it anew. The row of
the session is signed with the key: whose it is, what it was made with, how many events it has and the hash of the last. How
many sessions were started and removed is signed too, so that one that was taken out is missed.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from dataclasses import dataclass

from reap.service.tables import Kept


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

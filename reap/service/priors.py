"""The learnt priors of a service: the one that new sessions begin with, and those that older sessions began with.

A session comes back with the prior it began with and no other, so the prior in use is stored, once, as a note named by its
hash. An operator may then learn another, or serve without one: sessions that are under way do not notice.
"""

from __future__ import annotations

from cachetools import LRUCache

from reap._errors import InputError
from reap.belief import LearnedPrior
from reap.service.log import Entry
from reap.service.store import Store


class Priors:
    """Knows the prior of every session.

    Parameters
    ----------
    store : Store
    space : str
        Digest of the action space.
    path : str
        File of the prior for new sessions; empty: the default.
    """

    def __init__(self, store: Store, space: str, path: str = "") -> None:
        self._store, self._noted = store, False
        self._others: LRUCache[str, LearnedPrior] = LRUCache(8)
        self.current = LearnedPrior.load(path) if path else None
        if self.current is not None:
            self.current.fits(space)

    def begin(self) -> LearnedPrior | None:
        """Return the prior for a new session, stored before anything rests on it."""
        if self.current is not None and not self._noted:
            self._store.note(_name(self.current.hash), self.current.to_json())
            self._noted = True
        return self.current

    def of(self, started: Entry) -> LearnedPrior | None:
        """Return the prior that a session began with, by its first entry."""
        wanted = started.payload.get("prior")
        if wanted is None:
            return None
        if self.current is not None and self.current.hash == wanted:
            return self.current
        if wanted not in self._others:
            text = self._store.noted(_name(wanted))
            if text is None:
                raise InputError(
                    f"the session began with the learnt prior {wanted[:12]}, which is not stored here"
                )
            self._others[wanted] = LearnedPrior.from_json(text)
        return self._others[wanted]


def _name(hashed: str) -> str:
    return f"prior:{hashed[:24]}"

"""Who comes and goes: sessions are started, found by their token, kept as long as they must be, and deleted."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, MutableMapping, Sequence
from datetime import UTC, date, datetime, timedelta

from cachetools import LRUCache

from reap import __version__, _clock
from reap._typing import Array
from reap.elicitation import Bayes, Elicitation
from reap.service import receipts
from reap.service.case import Case
from reap.service.live import Live, MissingError
from reap.service.log import Entry
from reap.service.priors import Priors
from reap.service.refusals import HeldError
from reap.service.settings import Settings
from reap.service.store import Store
from reap.service.tables import Kept
from reap.service.tokens import fingerprint, new_token
from reap.service.turns import Turns
from reap.space import Limits

#: The part of its time limit for which a start lets others go first.
_GIVING_WAY = 3


class Reception:
    """Starts, finds and deletes the sessions of one case.

    Parameters
    ----------
    case : Case
    store : Store
    settings : Settings
    solved : callable
        Told the name and seconds of each computation, for metrics.
    """

    def __init__(
        self,
        case: Case,
        store: Store,
        settings: Settings,
        solved: Callable[[str, float], None] = lambda name, seconds: None,
    ) -> None:
        self.case, self.store, self.settings = case, store, settings
        self.space = case.engine.space
        self._solved = solved
        self.priors = Priors(store, self.space.digest, settings.prior)
        self._turns, self._newcomers = Turns(settings.solvers), Turns(1)
        self._live: MutableMapping[str, Live] = LRUCache(settings.live_sessions)
        self._directory = threading.Lock()  # guards the directory, never a computation

    def start(
        self,
        z: Array,
        *,
        questions: int | None = None,
        options: int | None = None,
        limits: Limits | None = None,
        seed: int = 0,
        given: Sequence[str] = (),
    ) -> str:
        """Start a session for a subject (d,) with its first question; return its token, which is kept nowhere.

        ``given`` names the features that the operator vouches for: the person sees them and cannot edit them.
        Both are stored or neither: whoever is told that nothing could be stored has left nothing behind.
        """
        for name in given:
            self.space.feature(name)
        token, begin = new_token(), time.perf_counter()
        came = receipts.current().came
        deadline = came + self.settings.time_limit
        give_way = _clock.giving_way(self._turns.way(self.settings.time_limit / _GIVING_WAY))
        with _clock.until(deadline), self._newcomers.turn(came, deadline), give_way:
            session = Elicitation(
                self.case.engine,
                self.space.decode(z[None]),
                questions=questions or self.settings.questions,
                options=options or self.settings.options,
                limits=limits,
                preset=Bayes(prior=self.priors.begin(), minds=self.settings.minds),
                random_state=seed,
            )
            str(session.ask())  # in words too: what cannot be said is not stored
            _clock.check()  # who has been told that it took too long has no session
        started, asked = session.events
        seconds = time.perf_counter() - begin
        self._solved("ask", seconds)
        kept, entries = self.store.create(
            fingerprint(token),
            days=self.settings.expire_days,
            model=self.case.model,
            data=self.case.data,
            version=__version__,
            payload={
                **started.payload,
                "model": self.case.model,
                "data": self.case.data,
                **({"given": list(given)} if given else {}),
            },
            asked=asked.payload,
            milliseconds=1000 * seconds,
        )
        live = Live(kept, entries=entries, line=list(entries), copy=session)
        with self._directory:
            self._live[kept.id] = live
        return token

    def log(self, token: str) -> tuple[Kept, list[Entry]]:
        """Return a session's row and log; works whatever the model in use."""
        kept = self._find(token)
        return kept, self.store.events(kept.id)

    def delete(self, token: str) -> None:
        """Remove everything that is stored about a person; a link whose time is over still does that."""
        kept = self.row(token)
        if (held := self.held_until(kept)) is not None:
            raise HeldError(held)
        self.store.delete(kept.id)
        with self._directory:
            self._live.pop(kept.id, None)

    def held_until(self, kept: Kept) -> date | None:
        """Return the day until which a session must be kept, where the operator holds it and that day is not over."""
        if not self.settings.hold_days:
            return None
        until = date.fromisoformat(kept.created[:10]) + timedelta(days=self.settings.hold_days)
        return until if until > datetime.now(UTC).date() else None

    def row(self, token: str) -> Kept:
        """Return the row of a session, also after its time is over: it can still be deleted."""
        return self._find(token, expired=True)

    def _find(self, token: str, *, expired: bool = False) -> Kept:
        kept = self.store.find(fingerprint(token), expired=expired)
        if kept is None:
            raise MissingError
        return kept

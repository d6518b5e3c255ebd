"""The desk where sessions are held: every request of a person becomes at most one entry of their log.

A session in memory is only a copy of its log. Under the lock of its session a request first catches up with the
log. Then what the person said happens to the copy, next question included, and only what could be computed is stored: both
with one commit. Where either fails the copy is thrown away. So any worker can go on where another stopped, and a request
that fails leaves nothing behind. Solving is done outside the database transaction.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Literal

from reap import __version__, _clock, language
from reap._clock import LateError
from reap._errors import InputError
from reap.elicitation import VERBS, Elicitation, Event
from reap.elicitation.events import MALFORMED
from reap.plan import Plan
from reap.service import receipts
from reap.service.database import ConflictError, UnavailableError
from reap.service.live import Live, MissingError
from reap.service.log import Entry, Sent
from reap.service.reception import Reception
from reap.service.refusals import ReplacedError, ReusedError, StaleError, UncomputedError
from reap.service.vocabulary import NOTES, SHOWN

#: Seconds that are left, whatever the limit, to show what comes next once what a person said is stored.
GRACE = 0.25


class Desk(Reception):
    """Holds the sessions of one case: one request of each at a time, what is said stored once, what is shown stored first."""

    @contextmanager
    def open(self, token: str, *, key: str | None = None, undoing: bool = False) -> Iterator[Live]:
        """Enter a session: one request of it at a time in this worker, caught up, its question asked.

        ``key`` names the request: where it came before and was stored, its receipt says so, whatever fails from here on.
        ``undoing`` enters also where the last act cannot be computed any more: then the session has its log and nothing else.
        """
        receipt = receipts.current()
        came, kept = receipt.came, self._find(token)
        if (kept.model, kept.data) != (self.case.model, self.case.data):
            raise ReplacedError
        with self._directory:
            live = self._live.setdefault(kept.id, Live(kept))
        deadline = came + self.settings.time_limit
        with _clock.until(deadline), self._held(live, deadline, key):
            live.came, live.key = came, key
            receipt.recognise(key, live.entries)
            if live.spoken != language.current():  # what is kept in words is made again in the other language
                live.forget()
                live.spoken = language.current()
            try:
                if kept.events != len(live.entries):
                    self._catch_up(live)
                self._ask(live)
            except Exception as error:
                if not undoing or isinstance(error, MissingError | UnavailableError):
                    raise
                live.forget()
                live.note(self.store.events(kept.id))
            yield live

    @contextmanager
    def _held(self, live: Live, deadline: float, key: str | None) -> Iterator[None]:
        """Hold a session's lock; another request of it that computes until the deadline leaves no time for this one."""
        if not live.lock.acquire(timeout=max(0.0, deadline - time.monotonic())):
            if key is not None:  # the other may have been the same one, sent before
                receipts.current().recognise(key, self.store.events(live.kept.id))
            raise LateError
        try:
            yield
        finally:
            live.lock.release()

    def _catch_up(self, live: Live) -> None:
        new = self.store.events(live.kept.id, since=len(live.entries))
        if not live.entries and not new:
            raise MissingError
        receipts.current().recognise(live.key, new)
        if new:
            with self.solving(live, "replay"):
                try:
                    live.absorb(self.case.engine, new, self.priors.of((live.entries or new)[0]))
                except MALFORMED as error:
                    if (live.entries or new)[0].payload.get("reap") == __version__:
                        raise
                    raise ReplacedError from error  # another release said it in another way

    def append(
        self,
        live: Live,
        event: Event,
        sent: Sent | None = None,
        milliseconds: float | None = None,
        *,
        first: Event | None = None,
    ) -> Entry:
        """Let an event happen in memory, then store it with the question it leads to; where another worker was first, look again.

        ``first`` is an event that comes before it: all are stored or none.
        """
        begun = live.revision
        said = [event] if first is None else [first, event]
        while True:
            shown: Sequence[Event] = ()
            if event.type not in (*SHOWN, *NOTES):
                shown, milliseconds = self._foresee(live, said)
            # Who is told that it took too long has said nothing. What is shown comes after what was said is stored.
            if event.type not in ("undone", *SHOWN):
                _clock.check()
            try:
                entries = self.store.append_all(
                    live.kept,
                    len(live.entries),
                    [(one.type, one.payload) for one in (*said, *shown)],
                    sent,
                    milliseconds,
                    live.entries[-1].hash,
                )
            except ConflictError:
                before = len(live.entries)
                live.forget()
                self._catch_up(live)
                if event.type in SHOWN:  # another worker may have shown something else: take that
                    raise StaleError from None
                if (done := self.repeated(live, sent)) is not None:
                    return done
                if live.revision != begun:
                    raise StaleError from None
                if len(live.entries) == before:  # nothing new and yet refused: the session is gone
                    raise MissingError from None
                continue
            except BaseException:
                live.forget()  # what is not stored has not happened
                raise
            live.note(entries)
            if event.type not in SHOWN:  # it counts: so there is time to show what comes next
                _clock.grant(GRACE)
            return entries[len(said) - 1]

    def _foresee(self, live: Live, said: Sequence[Event]) -> tuple[Sequence[Event], float | None]:
        """Let what the person says happen to the session in memory and find the next question, before anything is stored.

        Returns the event of that question, none where it is in the log already, and the milliseconds it took. An undo is
        stored whatever comes of it: it only takes away.
        """
        event = said[-1]
        try:
            with self.solving(live, event.type):
                for one in said:
                    if one.type in VERBS:
                        live.imagine(self.case.engine, one, self.priors.of(live.entries[0]))
            begin, before = time.perf_counter(), len(live.session.events)
            with self.solving(live, "ask"):
                str(live.session.ask())  # in words too: what cannot be said is not stored
            return live.session.events[before:], 1000 * (time.perf_counter() - begin)
        except Exception as error:
            if event.type == "undone":
                live.copy = None
                return (), None
            live.forget()
            if isinstance(error, InputError | LateError):
                raise
            raise UncomputedError from error

    @contextmanager
    def solving(self, live: Live, name: str) -> Iterator[None]:
        """Wait for a turn to compute, and tell the metrics how long it took."""
        with self._turns.turn(live.came, live.came + self.settings.time_limit):
            begin = time.perf_counter()
            yield
            self._solved(name, time.perf_counter() - begin)

    # what is shown -----------------------------------------------------------------------------------

    def _ask(self, live: Live) -> None:
        """Choose the next question and store it before anybody sees it."""
        self._show(live, "asked", "ask", lambda session: session.ask())

    def plan(self, live: Live) -> Plan:
        """Return the plan of this state, computed once and stored before anybody sees it."""
        shown = self._show(live, "recommended", "recommend", lambda session: session.recommend())
        return Plan.from_dict(shown.payload["plan"], self.space)

    def _show(
        self,
        live: Live,
        kind: Literal["asked", "recommended"],
        name: str,
        compute: Callable[[Elicitation], object],
    ) -> Entry:
        while (found := live.shown(kind)) is None:
            begin = time.perf_counter()
            try:
                with self.solving(live, name):
                    compute(live.session)
            except BaseException:
                live.forget()  # never half a step
                raise
            seconds = time.perf_counter() - begin
            event = next(event for event in reversed(live.session.events) if event.type == kind)
            try:
                self.append(live, event, milliseconds=1000 * seconds)
            except StaleError:  # another worker was first, or the person said something there
                if kind == "recommended":
                    self._ask(live)
        return found

    def repeated(self, live: Live, sent: Sent | None) -> Entry | None:
        """Return what a request has stored already, when it comes again."""
        done = live.by_key(sent.key) if sent is not None else None
        if done is not None and sent is not None and done.request != sent.digest:
            raise ReusedError
        return done

    def act(
        self,
        live: Live,
        said: Callable[[], Event],
        revision: int | None,
        sent: Sent | None,
        *,
        first: Event | None = None,
    ) -> Entry:
        """Store what the person says, once it is checked and computed; the same request again returns the stored entry.

        ``first`` is an event that comes before it: both are stored or neither.
        """
        if (done := self.repeated(live, sent)) is not None:
            return done
        if revision is not None and live.revision != revision:
            raise StaleError
        entry = self.append(live, said(), sent, first=first)
        if (
            live.copy is None
        ):  # an undo to a state that cannot be computed: it is stored, and one more undo may help
            live.forget()
            self._catch_up(live)
        self._ask(live)
        return entry

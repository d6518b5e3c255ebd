"""The desk where sessions are held: every request of a person becomes at most one entry of their log.

A session in memory is only a copy of its log. Under the lock of its session a request first catches up with the
log. Then what the person said happens to the copy, next question included, and only what could be computed is stored: both
with one commit. Where either fails the copy is thrown away. So any worker can go on where another stopped, and a request
that fails leaves nothing behind. Solving is done outside the database transaction.
"""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable, Iterator, MutableMapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from typing import Literal

from cachetools import LRUCache

from reap import __version__, _clock, language
from reap._clock import LateError
from reap._errors import InputError
from reap._typing import Array
from reap.belief import LearnedPrior
from reap.elicitation import ACTS, VERBS, Bayes, Elicitation, Event, in_force
from reap.elicitation.events import MALFORMED
from reap.language import N_, _
from reap.plan import Plan
from reap.service.case import Case
from reap.service.log import NOTES, Entry, Sent, quiet
from reap.service.promises import Promises, running, until
from reap.service.schemas import Advice
from reap.service.settings import Settings
from reap.service.store import ConflictError, Kept, Store, UnavailableError, fingerprint
from reap.space import ActionSpace, Limits

# why a request is refused ---------------------------------------------------------------------------------


class RefusedError(Exception):
    """A request is refused: with which status, and what people read about it."""

    status = 409
    said = ""

    def __str__(self) -> str:
        return _(self.said)


class MissingError(RefusedError):
    """There is no such session: never was, expired, deleted, or somebody else's."""

    status = 404
    said = N_(
        "There is no such session. The link may be incomplete, its time may be over, or it was deleted."
    )


class StaleError(RefusedError):
    """The request was made on a state that has changed since; the session has moved on."""

    said = N_("The session has moved on since this page was shown; here is where it stands now.")


class ReusedError(StaleError):
    """The key of the request belongs to another one, which said something else."""

    said = N_(
        "The key of this request belongs to an earlier one that said something else, so nothing was stored; take a new key."
    )


class ReplacedError(RefusedError):
    """The session was made with a model, data or release that this service does not use any more."""

    said = N_(
        "The model that decides has been replaced since this session was started. You can still download or delete it; "
        "start again to get a plan for the new model."
    )


class TrialsError(RefusedError):
    """The session has no trial left, or the service allows none."""

    status = 429
    said = N_("This session has no trials left; your plan and its scores are not touched by that.")


class HeldError(RefusedError):
    """The session must be kept for some time, whatever the person wants."""

    said = N_("The law obliges us to keep this until {day}; nothing was deleted.")

    def __init__(self, until: date) -> None:
        self.until = until

    def __str__(self) -> str:
        return _(self.said).format(day=language.day(self.until))


class UncomputedError(RefusedError):
    """The engine failed on what the person said, so it was not stored."""

    status = 500
    said = N_(
        "We could not work out what follows from this, so it was not stored. Everything before it is as it was; "
        "check what you entered, or say something else."
    )


# a session in memory --------------------------------------------------------------------------------------


@dataclass
class Live:
    """One session in memory: a copy of its log, from which it can be made again at any time.

    Parameters
    ----------
    kept : Kept
    case : Case
        The one that decides; or the one it began with, where the lender promised that.
    lock : Lock
        Held by the request that works with it.
    entries : list of Entry
        The log, as far as it is known here.
    line : list of Entry
        The entries in force.
    spoken : str
        The language in which its words were last made.
    explained : ((int, str), Advice), optional
        The plan in words, with the revision at which it was stored and the language.
    offers : ((int, str), list of Plan), optional
        The plans to choose from, of the same revision and language.
    told : dict
        What the options of questions that were answered are about, by where they lead.
    """

    kept: Kept
    case: Case
    lock: threading.Lock = field(default_factory=threading.Lock)
    entries: list[Entry] = field(default_factory=list)
    line: list[Entry] = field(default_factory=list)
    copy: Elicitation | None = None
    spoken: str = "en"
    explained: tuple[tuple[int, str], Advice] | None = None
    offers: tuple[tuple[int, str], list[Plan]] | None = None
    told: dict[tuple[bytes, ...], list[str]] = field(default_factory=dict)

    @property
    def session(self) -> Elicitation:
        """The session; only after catching up."""
        if self.copy is None:
            raise MissingError
        return self.copy

    @property
    def space(self) -> ActionSpace:
        """What may change."""
        return self.case.engine.space

    @property
    def honoured_until(self) -> date | None:
        """The day until which the rules by which the session began count, whatever model decides by then."""
        return until(self.entries[0])

    @property
    def revision(self) -> int:
        """The place of the last entry that changed what the person sees; notes do not count."""
        return max(entry.revision for entry in self.entries if not quiet(entry.type))

    @property
    def given(self) -> frozenset[str]:
        """The features that the operator vouches for; the person sees them and cannot edit them."""
        return frozenset(self.entries[0].payload.get("given", ()))

    def shown(self, kind: str) -> Entry | None:
        """Return the entry of what was shown since the last act: "asked" or "recommended"."""
        for entry in reversed(self.line):
            if entry.type == kind:
                return entry
            if entry.type in ACTS:
                return None
        return None

    def happen(self, events: Sequence[Event], prior: LearnedPrior | None) -> None:
        """Let events happen to the copy; after an undo it is made again, with the prior it began with."""
        told = [event for event in events if event.type in VERBS]
        if self.copy is None or any(event.type == "undone" for event in told):
            every = in_force([*(entry.event for entry in self.entries), *told])
            self.copy = Elicitation.of([e for e in every if e.type in VERBS], self.case.engine, prior=prior)
        else:
            for event in told:
                self.copy.apply(event)

    def note(self, entries: Sequence[Entry]) -> None:
        """Know new entries of the log, which have happened to the copy already."""
        self.entries = [*self.entries, *entries]
        self.line = in_force(self.entries)

    def forget(self) -> None:
        """Know nothing, so that the next look at the log makes everything again."""
        self.copy, self.entries, self.line, self.told = None, [], [], {}


# all of them ----------------------------------------------------------------------------------------------


class Desk:
    """Holds the sessions of one case: one request of each at a time, what is said stored once, what is shown stored first.

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
        self.promises = Promises(case, store, settings)
        self._solved = solved
        self._solvers = threading.BoundedSemaphore(settings.solvers)
        self._live: MutableMapping[str, Live] = LRUCache(settings.live_sessions)
        self._directory = threading.Lock()  # guards the directory, never a computation
        self.prior = LearnedPrior.load(settings.prior) if settings.prior else None
        if self.prior is not None:
            self.prior.fits(self.space.digest)
        self._priors: LRUCache[str, LearnedPrior] = LRUCache(8)

    # who comes and goes ------------------------------------------------------------------------------

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
        The session and its question are stored together. Its token has 128 random bits.
        """
        for name in given:
            self.space.feature(name)
        if self.prior is not None:  # stored before anything rests on it
            self.store.note(_name(self.prior.hash), self.prior.to_json())
        begin = time.perf_counter()
        session = Elicitation(
            self.case.engine,
            self.space.decode(z[None]),
            questions=questions or self.settings.questions,
            options=options or self.settings.options,
            limits=limits,
            preset=Bayes(prior=self.prior, minds=self.settings.minds),
            random_state=seed,
        )
        str(session.ask())  # in words too: what cannot be said is not stored
        _clock.check()
        seconds = time.perf_counter() - begin
        self._solved("ask", seconds)
        started, asked = session.events
        fixed = {
            "model": self.case.model,
            "data": self.case.data,
            **({"honoured_until": self.promises.day} if self.settings.honour_months else {}),
            **({"given": list(given)} if given else {}),
        }
        token = secrets.token_urlsafe(16)
        kept, entries = self.store.create(
            fingerprint(token),
            days=self._days,
            model=self.case.model,
            data=self.case.data,
            version=__version__,
            said=[(started.type, {**started.payload, **fixed}), (asked.type, asked.payload)],
            milliseconds=1000 * seconds,
        )
        with self._directory:
            self._live[kept.id] = Live(kept, self.case, entries=entries, line=list(entries), copy=session)
        return token

    @property
    def _days(self) -> float:
        """How long a new link works: as long as the longest plan, and 90 days more, unless the operator says else."""
        if self.settings.expire_days is not None:
            return self.settings.expire_days
        longest = self.space.horizon if self.space.timed else 0
        return 90.0 + 31.0 * max(longest, self.settings.honour_months)

    def row(self, token: str, *, expired: bool = True) -> Kept:
        """Return the row of a session, also after its time is over: it can still be deleted."""
        kept = self.store.find(fingerprint(token), expired=expired)
        if kept is None:
            raise MissingError
        return kept

    def log(self, token: str) -> tuple[Kept, list[Entry]]:
        """Return a session's row and log; works whatever the model in use."""
        kept = self.row(token, expired=False)
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

    # one request -------------------------------------------------------------------------------------

    @contextmanager
    def open(self, token: str, *, undoing: bool = False) -> Iterator[Live]:
        """Enter a session: one request of it at a time in this worker, caught up, its question asked.

        ``undoing`` enters also where the last act cannot be computed any more: then the session has its log and nothing else.
        """
        kept = self.row(token, expired=False)
        case = self._case_of(kept)
        with self._directory:
            live = self._live.setdefault(kept.id, Live(kept, case))
        if not live.lock.acquire(timeout=_clock.left()):
            raise LateError
        try:
            if live.spoken != language.current():  # what is kept in words is made again in the other language
                live.forget()
                live.spoken = language.current()
            try:
                if kept.events != len(live.entries) or live.copy is None:
                    self._catch_up(live)
                self._show(live, "asked")
            except Exception as error:
                if not undoing or isinstance(error, MissingError | UnavailableError):
                    raise
                live.forget()
                live.note(self.store.events(kept.id))
            yield live
        finally:
            live.lock.release()

    def _case_of(self, kept: Kept) -> Case:
        """Return the case that decides, or the replaced one by which the person was promised to be judged."""
        if (kept.model, kept.data) == (self.case.model, self.case.data):
            return self.case
        if not any(running(first) for first in self.store.events(kept.id)[:1]):
            raise ReplacedError
        return self.promises.of(kept.model)

    def _catch_up(self, live: Live) -> None:
        """Let what is new in the log happen to the copy; never half a step."""
        new = self.store.events(live.kept.id, since=len(live.entries))
        first = next(iter(live.entries or new), None)
        if first is None:
            raise MissingError
        try:
            with self.solving(live, "replay"):
                live.happen([entry.event for entry in new], self._prior_of(first))
        except BaseException as error:
            live.forget()
            if isinstance(error, MALFORMED) and first.payload.get("reap") != __version__:
                raise ReplacedError from error  # another release said it in another way
            raise
        live.note(new)

    def _prior_of(self, started: Entry) -> LearnedPrior | None:
        """Return the prior that a session began with, by its first entry: it comes back with that one and no other."""
        wanted = started.payload.get("prior")
        if wanted is None or (self.prior is not None and self.prior.hash == wanted):
            return None if wanted is None else self.prior
        if wanted not in self._priors:
            text = self.store.noted(_name(wanted))
            if text is None:
                raise InputError(
                    f"the session began with the learnt prior {wanted[:12]}, which is not stored here"
                )
            self._priors[wanted] = LearnedPrior.from_json(text)
        return self._priors[wanted]

    @contextmanager
    def solving(self, live: Live, name: str) -> Iterator[None]:
        """Wait for a place to compute, and tell the metrics how long it took."""
        if not self._solvers.acquire(timeout=_clock.left()):
            raise LateError
        begin = time.perf_counter()
        try:
            yield
            self._solved(name, time.perf_counter() - begin)
        finally:
            self._solvers.release()

    # what the person says ----------------------------------------------------------------------------

    def repeated(self, live: Live, sent: Sent | None) -> Entry | None:
        """Return what a request has stored already, when it comes again."""
        done = next((entry for entry in live.entries if sent is not None and entry.key == sent.key), None)
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

        ``first`` is an event that comes before it: both are stored or neither. Where another worker was first, look again.
        """
        if (done := self.repeated(live, sent)) is not None:
            return done
        begun = live.revision
        if revision is not None and begun != revision:
            raise StaleError
        event = said()
        events = [event] if first is None else [first, event]
        shown, milliseconds = self._imagine(live, events)
        if event.type != "undone":
            _clock.check()  # an undo is stored whatever comes of it: it only takes away
        try:
            entries = self._store(live, [*events, *shown], sent, milliseconds)
        except ConflictError:
            self._look_again(live)
            return self.act(live, said, begun, sent, first=first)
        if live.copy is None:  # undone to what cannot be computed; one more undo may help
            live.forget()
            self._catch_up(live)
        self._show(live, "asked")
        return entries[len(events) - 1]

    def append(self, live: Live, note: Event, sent: Sent | None = None) -> Entry:
        """Store a note, of which no engine hears."""
        return self.act(live, lambda: note, None, sent)

    def _imagine(self, live: Live, events: Sequence[Event]) -> tuple[Sequence[Event], float | None]:
        """Let what the person says happen to the copy and find the next question, before anything is stored.

        Returns the event of that question, none where it is in the log already, and the milliseconds it took.
        """
        said = events[-1].type
        if said in NOTES:
            return (), None
        try:
            with self.solving(live, said):
                live.happen(events, self._prior_of(live.entries[0]))
            begin, before = time.perf_counter(), len(live.session.events)
            with self.solving(live, "ask"):
                str(live.session.ask())  # in words too: what cannot be said is not stored
            return live.session.events[before:], 1000 * (time.perf_counter() - begin)
        except Exception as error:
            if said == "undone":
                live.copy = None
                return (), None
            live.forget()
            if isinstance(error, InputError | LateError):
                raise
            raise UncomputedError from error

    def _store(
        self, live: Live, events: Sequence[Event], sent: Sent | None, milliseconds: float | None
    ) -> list[Entry]:
        """Store what has happened to the copy; what is not stored has not happened."""
        said = [(event.type, event.payload) for event in events]
        try:
            entries = self.store.append(
                live.kept, len(live.entries), live.entries[-1].hash, said, sent, milliseconds
            )
        except ConflictError:
            raise
        except BaseException:
            live.forget()
            raise
        live.note(entries)
        return entries

    def _look_again(self, live: Live) -> None:
        """Catch up where another worker wrote first; a session that was refused and has nothing new is gone."""
        before = len(live.entries)
        live.forget()
        self._catch_up(live)
        if len(live.entries) == before:
            raise MissingError

    # what is shown -----------------------------------------------------------------------------------

    def plan(self, live: Live) -> Plan:
        """Return the plan of this state, computed once and stored before anybody sees it."""
        return Plan.from_dict(self._show(live, "recommended").payload["plan"], self.space)

    def _show(self, live: Live, kind: Literal["asked", "recommended"]) -> Entry:
        """Return what is shown in this state, the next question or the plan, stored before anybody sees it."""
        while (found := live.shown(kind)) is None:
            begin = time.perf_counter()
            try:
                with self.solving(live, "ask" if kind == "asked" else "recommend"):
                    (live.session.ask if kind == "asked" else live.session.recommend)()
            except BaseException:
                live.forget()
                raise
            event = next(event for event in reversed(live.session.events) if event.type == kind)
            try:
                self._store(live, [event], None, 1000 * (time.perf_counter() - begin))
            except ConflictError:  # another worker was first, or the person said something there: take that
                self._look_again(live)
                if kind == "recommended":
                    self._show(live, "asked")
        return found


def _name(prior: str) -> str:
    """Return the name of the note that holds a prior."""
    return f"prior:{prior[:24]}"

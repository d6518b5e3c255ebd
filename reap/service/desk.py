"""The desk where dialogues are held: every request of a person becomes at most one event of their log.

A dialogue in memory is only a copy of its log. Under the lock of its session a request first catches up with the
log, then adds its event, and only what was stored happens to the copy. So any worker can go on where another
stopped, and a request that fails leaves nothing behind. Solving is done outside the database transaction.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from reap import __version__
from reap._errors import InputError
from reap._typing import Array
from reap.elicitation import Elicitation, Question, record, rounds
from reap.plan import Plan
from reap.service import replay, wishes
from reap.service.case import Case
from reap.service.log import ACTS, NOTES, Event, line
from reap.service.settings import Settings
from reap.service.store import ConflictError, Kept, Store
from reap.service.tokens import fingerprint, new_token
from reap.service.turns import Turns
from reap.space import Limits

#: Events that tell what the dialogue in memory has done already; they need not happen to it again.
_SHOWN = ("asked", "recommended")


class MissingError(Exception):
    """There is no such session: never was, expired, deleted, or somebody else's."""


class StaleError(Exception):
    """The request was made on a state that has changed since; the session has moved on."""


class ReplacedError(Exception):
    """The session was made with a model or data that this service does not use any more."""


@dataclass
class Live:
    """One dialogue in memory, beside the log it is a copy of."""

    kept: Kept
    lock: threading.RLock = field(default_factory=threading.RLock)
    events: list[Event] = field(default_factory=list)
    line: list[Event] = field(default_factory=list)
    talk: Elicitation | None = None
    came: float = 0.0  # when the request that holds it came in
    explained: tuple[int, Any] | None = None  # the plan in words, and the revision at which it was stored

    @property
    def revision(self) -> int:
        """The place of the last event that changed what the person sees; notes do not count."""
        return max(e.revision for e in self.events if e.type not in NOTES)

    @property
    def dialogue(self) -> Elicitation:
        """The dialogue; only after catching up."""
        if self.talk is None:
            raise MissingError
        return self.talk

    def since_last_act(self, kind: str) -> Event | None:
        """Return the latest event of a type after the last act in force, if there is one."""
        for event in reversed(self.line):
            if event.type == kind:
                return event
            if event.type in ACTS:
                return None
        return None

    def absorb(self, engine: Any, events: Sequence[Event], *, happened: bool = False) -> None:
        """Let new events of the log happen, unless this dialogue made them; an undo rebuilds it."""
        now = line([*self.events, *events])
        ahead = self.talk is not None and now[: len(self.line)] == self.line
        try:
            if not ahead:
                self.talk = replay.rebuild(engine, now)
            elif not happened:
                for event in now[len(self.line) :]:
                    replay.apply(self.dialogue, event)
        except BaseException:
            self.talk, self.events, self.line = None, [], []  # never half a step: start again from the log
            raise
        self.events, self.line = [*self.events, *events], now


class Desk:
    """Holds the dialogues of one case.

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
        self._turns = Turns(settings.solvers)
        self._live: OrderedDict[str, Live] = OrderedDict()
        self._directory = threading.Lock()  # guards the dictionary, never a computation

    # sessions ----------------------------------------------------------------------------------------

    def start(
        self,
        z: Array,
        *,
        questions: int | None = None,
        options: int | None = None,
        limits: Limits | None = None,
        seed: int = 0,
    ) -> str:
        """Start a session for a subject (d,) with its first question; return its token, which is kept nowhere.

        Both are stored or neither: whoever is told that nothing could be stored has left nothing behind.
        """
        token, begin = new_token(), time.perf_counter()
        payload = {
            "z": record.numbers(z),
            "subject": self.space.values(z),
            "questions": questions or self.settings.questions,
            "options": options or self.settings.options,
            "limits": (limits or Limits()).to_dict(),
            "seed": seed,
            "space": self.space.digest,
            "model": self.case.model,
            "data": self.case.data,
            "reap": __version__,
        }
        with self._turns.turn(time.monotonic()):
            talk = replay.begin(self.case.engine, payload)
            talk.ask()
            shown = {"round": rounds.write(talk)}
        seconds = time.perf_counter() - begin
        self._solved("ask", seconds)
        kept, events = self.store.create(
            fingerprint(token),
            days=self.settings.expire_days,
            model=self.case.model,
            data=self.case.data,
            version=__version__,
            payload=payload,
            asked=shown,
            milliseconds=1000 * seconds,
        )
        with self._directory:
            self._live[kept.id] = Live(kept, events=events, line=line(events), talk=talk)
        return token

    def log(self, token: str) -> tuple[Kept, list[Event]]:
        """Return a session's row and log; works whatever the model in use."""
        kept = self._find(token)
        return kept, self.store.events(kept.id)

    def delete(self, token: str) -> None:
        """Remove everything that is stored about a person."""
        kept = self._find(token)
        self.store.delete(kept.id)
        with self._directory:
            self._live.pop(kept.id, None)

    def _find(self, token: str) -> Kept:
        kept = self.store.find(fingerprint(token))
        if kept is None:
            raise MissingError
        return kept

    @contextmanager
    def open(self, token: str) -> Iterator[Live]:
        """Enter a dialogue: one request of a session at a time in this worker, caught up, its question asked."""
        came = time.monotonic()
        kept = self._find(token)
        if (kept.model, kept.data) != (self.case.model, self.case.data):
            raise ReplacedError
        with self._directory:
            live = self._live.setdefault(kept.id, Live(kept))
            self._live.move_to_end(kept.id)
            while len(self._live) > self.settings.live_sessions:
                self._live.popitem(last=False)
        with live.lock:
            live.came = came
            if kept.events != len(live.events):
                self._catch_up(live)
            self._ask(live)
            yield live

    def _catch_up(self, live: Live) -> None:
        new = self.store.events(live.kept.id, since=len(live.events))
        if not live.events and not new:
            raise MissingError
        if new:
            with self.solving(live, "replay"):
                live.absorb(self.case.engine, new)

    def _append(
        self,
        live: Live,
        kind: str,
        payload: Mapping[str, Any],
        key: str | None = None,
        milliseconds: float | None = None,
    ) -> Event:
        """Store an event and let it happen; where another worker was first, look again."""
        begun = live.revision
        while True:
            try:
                event = self.store.append(
                    live.kept, len(live.events), kind, payload, key, milliseconds, live.events[-1].hash
                )
            except ConflictError:
                before = len(live.events)
                self._catch_up(live)
                same = self._of_key(live, key)
                if same is not None:
                    return same
                if live.revision != begun:
                    raise StaleError from None
                if len(live.events) == before:  # nothing new and yet refused: the session is gone
                    raise MissingError from None
                continue
            if kind in _SHOWN:
                live.absorb(self.case.engine, [event], happened=True)
            else:
                with self.solving(live, kind):
                    live.absorb(self.case.engine, [event])
            return event

    @staticmethod
    def _of_key(live: Live, key: str | None) -> Event | None:
        return next((e for e in live.events if key is not None and e.key == key), None)

    @contextmanager
    def solving(self, live: Live, name: str) -> Iterator[None]:
        """Wait for a turn to compute, and tell the metrics how long it took."""
        with self._turns.turn(live.came):
            begin = time.perf_counter()
            yield
            self._solved(name, time.perf_counter() - begin)

    # the dialogue ------------------------------------------------------------------------------------

    def _ask(self, live: Live) -> None:
        """Choose the next question and store it before anybody sees it."""
        while live.since_last_act("asked") is None:
            begin = time.perf_counter()
            with self.solving(live, "ask"):
                live.dialogue.ask()
                shown = {"round": rounds.write(live.dialogue)}
            try:
                self._append(live, "asked", shown, milliseconds=1000 * (time.perf_counter() - begin))
            except StaleError:  # another worker asked, or the person said something there: take that
                continue

    def answer(
        self,
        live: Live,
        *,
        question: str,
        revision: int,
        choice: int | str,
        impossible: Sequence[str] = (),
        key: str | None = None,
    ) -> Event:
        """Store an answer and ask the next question; the same key again returns the stored answer."""
        done = self._of_key(live, key)
        if done is not None:
            return done
        pending = live.dialogue.ask()
        if pending is None or pending.id != question or live.revision != revision:
            raise StaleError
        payload = {"question": question, **self._said(pending, choice, impossible)}
        event = self._append(live, "answered", payload, key)
        self._ask(live)
        return event

    def revise(
        self,
        live: Live,
        *,
        position: int,
        revision: int,
        choice: int | str,
        impossible: Sequence[str] = (),
        key: str | None = None,
    ) -> Event:
        """Change an earlier answer; later ones stay."""
        history = live.dialogue.history
        if not 0 <= position < len(history):
            raise InputError(f"there is no answer {position + 1}; {len(history)} were given")
        payload = {"position": position, **self._said(history[position][0], choice, impossible)}
        return self._act(live, "revised", payload, revision, key)

    def _said(self, question: Question, choice: int | str, impossible: Sequence[str]) -> dict[str, Any]:
        """Return an answer checked, in the form in which it is stored."""
        given = rounds.reading(question, choice)
        if impossible and given != "neither":
            raise InputError('impossible changes are named with the answer "neither"')
        for name in impossible:
            self.space.feature(name)
        return {"choice": given, "impossible": list(dict.fromkeys(impossible))}

    def constrain(
        self,
        live: Live,
        feature: str,
        wish: Mapping[str, Any],
        *,
        revision: int | None = None,
        key: str | None = None,
    ) -> Event:
        """Store a wish about one feature: keep it, bound it, exclude levels, say how hard it is."""
        wishes.check(self.space, feature, wish)
        return self._act(live, "constrained", {"feature": feature, "wish": dict(wish)}, revision, key)

    def release(
        self, live: Live, feature: str, *, revision: int | None = None, key: str | None = None
    ) -> Event:
        """Take back the limits on a feature."""
        if feature not in live.dialogue.limits.names:
            raise InputError(f"there is no limit on {feature!r}")
        return self._act(live, "released", {"feature": feature}, revision, key)

    def replan(self, live: Live, z: Array, *, revision: int | None = None, key: str | None = None) -> Event:
        """Go on from where the person is now."""
        return self._act(
            live, "replanned", {"z": record.numbers(z), "subject": self.space.values(z)}, revision, key
        )

    def undo(self, live: Live, *, revision: int | None = None, key: str | None = None) -> Event:
        """Take back the last thing the person said."""
        last = next((e for e in reversed(live.line) if e.type in ACTS), None)
        done = self._of_key(live, key)
        if last is None and done is None:
            raise InputError("there is nothing to take back")
        return self._act(live, "undone", {"of": last.revision if last else None}, revision, key)

    def _act(
        self, live: Live, kind: str, payload: Mapping[str, Any], revision: int | None, key: str | None
    ) -> Event:
        done = self._of_key(live, key)
        if done is not None:
            return done
        if revision is not None and live.revision != revision:
            raise StaleError
        event = self._append(live, kind, payload, key)
        self._ask(live)
        return event

    # the plan ----------------------------------------------------------------------------------------

    def plan(self, live: Live) -> Plan:
        """Return the plan of this state, computed once and stored before anybody sees it."""
        while (found := live.since_last_act("recommended")) is None:
            begin = time.perf_counter()
            with self.solving(live, "recommend"):
                plan = live.dialogue.recommend()
                shown = {"plan": plan.to_dict(standalone=False), "round": rounds.write(live.dialogue)}
            try:
                self._append(live, "recommended", shown, milliseconds=1000 * (time.perf_counter() - begin))
            except StaleError:
                self._ask(live)
        return Plan.from_dict(found.payload["plan"], self.space)

    def bookmark(self, live: Live, key: str | None = None) -> Event:
        """Keep the plan of this state, to compare it later."""
        done = self._of_key(live, key)
        if done is not None:
            return done
        plan = self.plan(live)
        if plan.status != "ok":
            raise InputError("there is no plan to keep")
        payload = {"plan": plan.to_dict(standalone=False), "answered": live.dialogue.answered}
        return self._append(live, "bookmarked", payload, key)

    def unmark(self, live: Live, revision: int) -> None:
        """Forget a kept plan, named by the revision it was kept at."""
        if revision not in (event.revision for event in self.bookmarks(live)):
            raise InputError("there is no such kept plan")
        self._append(live, "unmarked", {"of": revision})

    @staticmethod
    def bookmarks(live: Live) -> list[Event]:
        """Return the events of the plans kept, oldest first."""
        gone = {e.payload["of"] for e in live.events if e.type == "unmarked"}
        return [e for e in live.events if e.type == "bookmarked" and e.revision not in gone]

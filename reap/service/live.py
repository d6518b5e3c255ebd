"""A session in memory: a copy of its log, from which it can be made again at any time."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field

from reap.belief import LearnedPrior
from reap.elicitation import ACTS, VERBS, Elicitation, Event, in_force
from reap.plan import Plan
from reap.recourse import Engine
from reap.service.log import Entry
from reap.service.schemas import Advice
from reap.service.tables import Kept
from reap.service.vocabulary import quiet


class MissingError(Exception):
    """There is no such session: never was, expired, deleted, or somebody else's."""


@dataclass
class Live:
    """One session in memory, beside the log it is a copy of.

    Parameters
    ----------
    kept : Kept
    lock : RLock
        Held by the request that works with it.
    entries : list of Entry
        The log, as far as it is known here.
    line : list of Entry
        The entries in force.
    came : float
        When the request that holds it came in.
    key : str, optional
        The name of that request.
    spoken : str
        The language in which its words were last made.
    explained : ((int, str), Advice), optional
        The plan in words, with the revision at which it was stored and the language.
    offers : ((int, str), list of Plan), optional
        The plans to choose from, of the same revision and language.
    told : dict of options to list of str
        What the options of questions that were answered are about, by where they lead.
    """

    kept: Kept
    lock: threading.RLock = field(default_factory=threading.RLock)
    entries: list[Entry] = field(default_factory=list)
    line: list[Entry] = field(default_factory=list)
    copy: Elicitation | None = None
    came: float = 0.0
    key: str | None = None
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
    def revision(self) -> int:
        """The place of the last entry that changed what the person sees; notes do not count."""
        return max(entry.revision for entry in self.entries if not quiet(entry.type))

    @property
    def given(self) -> frozenset[str]:
        """The features that the operator vouches for; the person sees them and cannot edit them."""
        return frozenset(self.entries[0].payload.get("given", ()))

    def by_key(self, key: str) -> Entry | None:
        """Return the entry that a request with this key made, if there was one."""
        return next((entry for entry in self.entries if entry.key == key), None)

    def shown(self, kind: str) -> Entry | None:
        """Return the entry of what was shown since the last act: "asked" or "recommended"."""
        for entry in reversed(self.line):
            if entry.type == kind:
                return entry
            if entry.type in ACTS:
                return None
        return None

    def absorb(self, engine: Engine, entries: Sequence[Entry], prior: LearnedPrior | None = None) -> None:
        """Let new entries of the log happen; after an undo the session is made again, with the prior it began with."""
        now = in_force([*self.entries, *entries])
        try:
            if self.copy is None or now[: len(self.line)] != self.line:
                self.copy = Elicitation.of([e.event for e in now if e.type in VERBS], engine, prior=prior)
            else:
                for entry in now[len(self.line) :]:
                    if entry.type in VERBS:
                        self.copy.apply(entry.event)
        except BaseException:
            self.forget()  # never half a step: start again from the log
            raise
        self.note(entries)

    def imagine(self, engine: Engine, event: Event, prior: LearnedPrior | None = None) -> None:
        """Let an event happen to the session although it is not stored yet."""
        if event.type == "undone":
            left = in_force([*(entry.event for entry in self.entries), event])
            self.copy = Elicitation.of([e for e in left if e.type in VERBS], engine, prior=prior)
        else:
            self.session.apply(event)

    def note(self, entries: Sequence[Entry]) -> None:
        """Know new entries of the log, which have happened to the session already."""
        self.entries = [*self.entries, *entries]
        self.line = in_force(self.entries)

    def forget(self) -> None:
        """Know nothing, so that the next look at the log makes everything again."""
        self.copy, self.entries, self.line, self.told = None, [], [], {}

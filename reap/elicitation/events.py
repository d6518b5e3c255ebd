"""The events of a session: one vocabulary, one undo, one JSON form, for the library and for the service.

A session is the list of its events. ``started`` says who the person is and what was set. ``asked`` and ``recommended`` say
what was shown. The *acts* say what the person did: ``screened``, ``answered``, ``revised``, ``constrained``, ``released``,
``refused``, ``replanned``.
``undone`` takes the last act back. What was shown is in the log, so the same events lead to the same state, to the byte,
and no engine is asked again.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from reap import __version__
from reap._errors import InputError
from reap._formats import Format
from reap._typing import Array
from reap.elicitation.rounds import numbers
from reap.recourse.engine import differences
from reap.space import ActionSpace, Limits

_FORMAT = Format("session", "reap.session", 1, "what Elicitation.to_json wrote")
#: What the person said or did; ``undone`` takes the last of them back.
ACTS = ("screened", "answered", "revised", "constrained", "released", "refused", "replanned")
#: Every type of event of a session; a program may put events of its own between them.
VERBS = ("started", "asked", "recommended", *ACTS, "undone")


@dataclass(frozen=True)
class Event:
    """Something that happened: its type, one of ``VERBS``, and what was said or shown, as plain JSON values."""

    type: str
    payload: Mapping[str, Any]

    def to_dict(self) -> dict[str, Any]:
        """Return plain values: the payload with the type first."""
        return {"type": self.type, **self.payload}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Event:
        """Undo ``to_dict``."""
        return cls(data["type"], {name: value for name, value in data.items() if name != "type"})


class Typed(Protocol):
    """Anything that has the type of an event."""

    @property
    def type(self) -> str:
        """One of ``VERBS``, or a type of the program's own."""


E = TypeVar("E", bound=Typed)


def in_force(events: Iterable[E]) -> list[E]:
    """Return the events that count: ``undone`` takes the last act, and all that was shown after it, away.

    So the state after an undo is the state before the act, with the question that was on the table. Events of a program's
    own, such as a plan that was kept, stay.

    Examples
    --------
    >>> log = [Event(type, {}) for type in ("started", "asked", "answered", "asked", "undone", "constrained")]
    >>> [event.type for event in in_force(log)]
    ['started', 'asked', 'constrained']
    """
    kept: list[E] = []
    for event in events:
        if event.type != "undone":
            kept.append(event)
            continue
        last = max((i for i, e in enumerate(kept) if e.type in ACTS), default=len(kept))
        kept[last:] = [e for e in kept[last:] if e.type not in VERBS]
    return kept


def write(events: Iterable[Event]) -> str:
    """Return the events of a session as JSON."""
    data = {**_FORMAT.head, "events": [event.to_dict() for event in events]}
    return json.dumps(data, ensure_ascii=False)


def read(text: str) -> list[Event]:
    """Return the events that ``write`` wrote, or say why the text is refused."""
    data = _FORMAT.load(text)
    _FORMAT.check(data)
    try:
        return [Event.from_dict(item) for item in data["events"]]
    except (LookupError, TypeError, AttributeError) as error:
        raise InputError(f"the session is damaged: {error}") from None


def started(
    space: ActionSpace,
    z: Array,
    limits: Limits,
    settings: Mapping[str, Any],
    own: Sequence[str],
    engine: Mapping[str, Any],
    prior: str | None = None,
) -> Event:
    """Return the first event of a session.

    Parameters
    ----------
    z : (d,)
        Where the person stands.
    settings : mapping
        Those of ``Elicitation``.
    own : sequence of str
        What the session needs besides them to come back: "belief", "strategy".
    engine : mapping
        The fingerprint of the engine: see ``Engine.fingerprint``.
    prior : str, optional
        The hash of the learnt prior it begins with.
    """
    said = {
        "space": space.digest,
        "z": numbers(z),
        "subject": space.values(z),
        "limits": limits.to_dict(),
        "settings": dict(settings),
        "own": list(own),
        "engine": dict(engine),
        "reap": __version__,
        **({} if prior is None else {"prior": prior}),
    }
    return Event("started", said)


def check_engine(started: Mapping[str, Any], space: ActionSpace, engine: Mapping[str, Any]) -> None:
    """Refuse to go on with a session, by the payload of its first event, under another space or engine; say what differs."""
    if started["space"] != space.digest:
        raise InputError(
            "the session was made with another action space; load it with the space it was made with"
        )
    # sessions of before say nothing
    differ = differences(started["engine"], engine) if "engine" in started else []
    if differ:
        raise InputError(
            f"the session was made with another engine: {', '.join(differ)}; load it with the engine it was made with"
        )

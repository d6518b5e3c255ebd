"""From a log to a dialogue: the same events always lead to the same state, in any process."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from reap._errors import InputError
from reap.elicitation import Elicitation, record, rounds
from reap.plan import Plan
from reap.service.log import Event, line
from reap.space import Limits

FORMAT, VERSION = "reap.log", 1


def begin(engine: Any, said: Mapping[str, Any]) -> Elicitation:
    """Return the dialogue as it was when a session started, from what its first event says."""
    if said["space"] != engine.space.digest:
        raise InputError("the session was made with another action space")
    return Elicitation(
        engine,
        engine.space.decode(record.vector(said["z"])[None]),
        questions=said["questions"],
        options=said["options"],
        limits=Limits.from_dict(said["limits"]),
        random_state=said["seed"],
    )


def apply(talk: Elicitation, event: Event) -> None:
    """Let one event happen."""
    said = event.payload
    match event.type:
        case "asked":
            rounds.restore(talk, said["round"])
        case "recommended":
            rounds.restore(talk, said["round"])
            rounds.settle(talk, Plan.from_dict(said["plan"], talk.space))
        case "answered":
            talk.answer(said["choice"], impossible=said["impossible"])
        case "revised":
            rounds.revise(talk, said["position"], said["choice"], said["impossible"])
        case "constrained":
            talk.constrain(said["feature"], **said["wish"])
        case "released":
            talk.release(said["feature"])
        case "replanned":
            talk.replan(talk.space.decode(record.vector(said["z"])[None]))


def rebuild(engine: Any, events: Sequence[Event]) -> Elicitation:
    """Return the dialogue after a sequence of events in force."""
    talk = begin(engine, events[0].payload)
    for event in events[1:]:
        apply(talk, event)
    return talk


def load(text: str, engine: Any) -> Elicitation:
    """Bring an exported session back to life: ``load(text, engine).recommend()`` is the plan the person saw.

    Parameters
    ----------
    text : str
        What ``reap export`` or "Download as JSON" wrote.
    engine
        The engine it was made with.
    """
    try:
        data = json.loads(text)
        if data["format"] != FORMAT or data["version"] != VERSION:
            raise KeyError("format")
        events = [Event(**item) for item in data["events"]]
    except (json.JSONDecodeError, KeyError, TypeError) as error:
        raise InputError(f"this is not an exported session that this release can read: {error}") from None
    broken = next((e.revision for e in events if not e.intact), None)
    if broken is not None:
        raise InputError(f"event {broken} of the export was changed after it was written")
    return rebuild(engine, line(events))

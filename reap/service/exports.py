"""Logs as files: JSON that replays to the same plan, a copy for the person, CSV with one row an answer."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any

from reap._errors import InputError
from reap._formats import parse
from reap.belief.learned_prior import LearnedPriorLike
from reap.elicitation import VERBS, Elicitation, Event, in_force
from reap.elicitation.events import MALFORMED
from reap.recourse import Engine
from reap.scores import Scale
from reap.service.log import Entry, fault
from reap.service.store import Kept

_FORMAT, _VERSION = "reap.log", 1
#: What a person's copy is called: it is for reading, and does not replay.
_COPY = "reap.copy"
#: Where the payloads of a log have scores.
_SCORES = ("scores", "score", "score_below", "score_above")
COLUMNS = (
    "session",
    "number",
    "question",
    "choice",
    "impossible",
    "asked_at",
    "answered_at",
    "seconds",
)


def as_json(kept: Kept, entries: Sequence[Entry]) -> str:
    """Return a session as one line of JSON: its log to the byte, hashes and all."""
    if not entries:
        raise _damaged(kept.id)
    # Counted from the entries: the row may have been read a moment before the last of them was stored.
    row = {name: getattr(kept, name) for name in ("id", "created", "expires", "model", "data")}
    data = {
        "format": _FORMAT,
        "version": _VERSION,
        "session": {**row, "events": len(entries), "head": entries[-1].hash},
        "reap": kept.version,
        "events": [{name: getattr(e, name) for name in Entry.__dataclass_fields__} for e in entries],
    }
    try:
        return json.dumps(data, ensure_ascii=False)
    except TypeError:
        raise _damaged(kept.id) from None


def _damaged(session: str) -> InputError:
    return InputError(
        f"the log of session {session} was changed by hand and cannot be exported; `reap verify` says what is wrong, and "
        "`reap export ID` exports another one"
    )


def as_copy(kept: Kept, entries: Sequence[Entry]) -> str:
    """Return a session for its person to keep: all that was said and shown, scores as they were shown, in whole points.

    Exact scores of the plans that were looked at would give the model away; only the operator's export has them.
    """
    row = {name: getattr(kept, name) for name in ("id", "created", "expires", "model", "data")}
    said = [
        {
            "revision": entry.revision,
            "type": entry.type,
            "created": entry.created,
            "payload": _rounded(entry.payload, None),
        }
        for entry in entries
    ]
    data = {"format": _COPY, "version": _VERSION, "session": row, "reap": kept.version, "events": said}
    return json.dumps(data, ensure_ascii=False)


def _rounded(value: Any, scale: Scale | None) -> Any:
    """Return a payload whose scores are rounded as its own scale says; what has none is rounded to hundredths."""
    if isinstance(value, list):
        return [_rounded(item, scale) for item in value]
    if not isinstance(value, dict):
        return value
    if value.get("scale"):
        scale = Scale.from_dict(value["scale"])
    rough = Scale().rough if scale is None else scale.rough

    def one(name: str, item: Any) -> Any:
        if name not in _SCORES or item is None:
            return _rounded(item, scale)
        return [rough(score) for score in item] if isinstance(item, list) else rough(item)

    return {name: one(name, item) for name, item in value.items()}


def as_csv(entries: Iterable[Entry]) -> str:
    """Return the answers in force of any number of sessions: when each was asked and given, and what it was.

    Parameters
    ----------
    entries : iterable of Entry
        Session by session, in order.
    """
    table = io.StringIO()
    writer = csv.writer(table, lineterminator="\n")
    writer.writerow(COLUMNS)
    for session, group in groupby(entries, key=lambda entry: entry.session):
        try:
            writer.writerows(_rows(in_force(group)))
        except MALFORMED:
            raise _damaged(session) from None
    return table.getvalue()


def _rows(entries: Sequence[Entry]) -> list[list[object]]:
    asked: dict[str, Entry] = {}
    given: list[list[object]] = []
    for entry in entries:
        said = entry.payload
        if entry.type == "asked":
            if shown := said["question"]:
                asked[shown["id"]] = entry
        elif entry.type == "answered":
            before = asked[said["question"]]
            # a clock that was set back between the two leaves nothing to say
            waited = max(0.0, (entry.time - before.time).total_seconds())
            row = [
                entry.session,
                len(given) + 1,
                said["question"],
                said["choice"],
                ";".join(said["impossible"]),
            ]
            given.append([*row, before.created, entry.created, f"{waited:.1f}"])
        elif entry.type == "revised":
            given[said["position"]][3:5] = [said["choice"], ";".join(said["impossible"])]
    return given


def events_of(text: str) -> list[Event]:
    """Return the events in force of an exported session, or say why it is refused: not an export, or changed since."""
    try:
        data = parse(text)
        if data["format"] == _COPY:
            raise InputError(
                "this is a person's copy, in which scores are rounded; `reap export` writes a log that replays"
            )
        if data["format"] != _FORMAT or data["version"] != _VERSION:
            raise KeyError("format")
        row, entries = data["session"], [Entry(**item) for item in data["events"]]
        wrong = fault(entries, row["events"], row["head"])
        if any(entry.session != row["id"] for entry in entries):
            wrong = "it has events of another session"
        if wrong is None:
            for entry in entries:
                parse(entry.text)
            return [entry.event for entry in in_force(entries) if entry.type in VERBS]
    except InputError:
        raise
    except MALFORMED as error:
        raise InputError(f"this is not an exported session that this release can read: {error}") from None
    raise InputError(f"the export is not what was written: {wrong}")


def load(text: str, engine: Engine, *, prior: LearnedPriorLike | None = None) -> Elicitation:
    """Bring an exported session back to life: ``load(text, engine).recommend()`` is the plan the person saw.

    Parameters
    ----------
    text : str
        What ``reap export`` wrote, or the API to whoever has the admin key.
    engine : Engine
        The one it was made with.
    prior : LearnedPrior or its file, optional
        The learnt prior that it began with, where it began with one.
    """
    return Elicitation.of(events_of(text), engine, prior=prior, trusted=False)

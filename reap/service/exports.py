"""Logs as files: JSON that replays to the same plan, CSV with one row an answer."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Sequence
from itertools import groupby

from reap.service.log import Event, line
from reap.service.replay import FORMAT, VERSION
from reap.service.store import Kept

COLUMNS = ("session", "number", "question", "choice", "impossible", "asked_at", "answered_at", "seconds")


def as_json(kept: Kept, events: Sequence[Event]) -> str:
    """Return a session as one line of JSON: its log to the byte, hashes and all."""
    data = {
        "format": FORMAT,
        "version": VERSION,
        "session": {name: getattr(kept, name) for name in ("id", "created", "expires", "model", "data")},
        "reap": kept.version,
        "events": [{name: getattr(e, name) for name in Event.__dataclass_fields__} for e in events],
    }
    return json.dumps(data, ensure_ascii=False)


def as_csv(events: Iterable[Event]) -> str:
    """Return the answers in force of any number of sessions: when each was asked and given, and what it was.

    Parameters
    ----------
    events : iterable of Event
        Session by session, in order.
    """
    table = io.StringIO()
    writer = csv.writer(table, lineterminator="\n")
    writer.writerow(COLUMNS)
    for _, group in groupby(events, key=lambda event: event.session):
        writer.writerows(_rows(line(list(group))))
    return table.getvalue()


def _rows(events: Sequence[Event]) -> list[list[object]]:
    asked: dict[str, Event] = {}
    given: list[list[object]] = []
    for event in events:
        said = event.payload
        if event.type == "asked" and said["round"]["question"]:
            asked[said["round"]["question"]["id"]] = event
        elif event.type == "answered":
            shown = asked[said["question"]]
            waited = (event.time - shown.time).total_seconds()
            row = [
                event.session,
                len(given) + 1,
                said["question"],
                said["choice"],
                ";".join(said["impossible"]),
            ]
            given.append([*row, shown.created, event.created, f"{waited:.1f}"])
        elif event.type == "revised":
            given[said["position"]][3:5] = [said["choice"], ";".join(said["impossible"])]
    return given

"""Exports from outside: every file that is not what was written is refused with a sentence."""

from __future__ import annotations

import csv
import io
import json
import random

import pytest

from reap import InputError
from reap.service import exports
from reap.service.log import sealed
from tests.service.conftest import ADMIN

#: What no replay depends on.
UNREAD = ("milliseconds", "request", "reap", "expires", "created", "model", "data")
STRANGE = [None, True, -1, 10**30, 1e308, "", "x", "\0", [], {}, [[]], {"a": 1}]


def paths(value, here=()):
    """Every place in a JSON value."""
    yield here
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, part in items:
        yield from paths(part, (*here, name))


def mutated(data, rng):
    """The data with one place that is read replaced or removed."""
    made = json.loads(json.dumps(data))
    *way, last = rng.choice([path for path in paths(made) if path and path[-1] not in UNREAD])
    spot = made
    for name in way:
        spot = spot[name]
    if rng.random() < 0.3:
        del spot[last]
    else:
        spot[last] = rng.choice([value for value in STRANGE if value != spot[last]])
    return made


@pytest.fixture
def logs(service, row):
    """Two exported sessions."""
    made = []
    for choice in ("left", "right"):
        started = service.start(row)
        service.answer(started["token"], started["state"], choice)
        path = f"/api/v1/sessions/{started['token']}/export"
        made.append(service.client.get(path, headers={"X-Admin-Key": ADMIN}).text)
    return made


def assert_refused(text, engine):
    with pytest.raises(InputError):
        exports.load(text, engine)


def test_a_cut_export_or_one_with_events_of_another_session_is_refused(logs, case):
    """Each hash was checked, the chain was not."""
    first, second = map(json.loads, logs)
    exports.load(logs[0], case.engine)
    assert_refused(json.dumps({**first, "events": first["events"][:-1]}), case.engine)
    assert_refused(json.dumps({**first, "events": first["events"][1:]}), case.engine)
    assert_refused(
        json.dumps({**first, "events": [*first["events"][:-1], second["events"][-1]]}), case.engine
    )
    assert_refused(json.dumps({**first, "events": second["events"]}), case.engine)
    own = {"events": len(second["events"]), "head": second["events"][-1]["hash"]}
    forged = {**first, "events": second["events"], "session": {**first["session"], **own}}
    assert_refused(json.dumps(forged), case.engine)


def test_hundreds_of_mutated_exports_end_in_a_sentence(logs, case):
    """A third of them ended in a raw exception."""
    rng, data = random.Random(0), json.loads(logs[0])
    for _ in range(400):
        assert_refused(json.dumps(mutated(data, rng)), case.engine)
    for _ in range(200):
        assert_refused(logs[0][: rng.randrange(len(logs[0]))], case.engine)


def test_a_clock_that_was_set_back_gives_no_negative_time():
    """The times of a question and its answer are those of the server, which may be corrected between the two."""
    asked = {"question": {"id": "0-1", "kind": "question", "predicted": None}, "plans": [], "found": None}
    first = sealed("s", 0, "asked", asked, None, "2026-01-01T12:00:05+00:00", "")
    said = {"question": "0-1", "choice": 0, "impossible": []}
    second = sealed("s", 1, "answered", said, None, "2026-01-01T11:59:00+00:00", first.hash)
    (row,) = csv.DictReader(io.StringIO(exports.as_csv([first, second])))
    assert row["seconds"] == "0.0"

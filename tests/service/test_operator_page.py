"""The operator's page: exports that replay, and what the law may keep out of a decision, named there and to the person."""

from __future__ import annotations

import csv
import io
import json
import re

from reap.service import exports
from reap.service.log import Entry, sealed
from reap.space.table import doubtful

from .conftest import ADMIN
from .people import text_of

OPERATOR = ("operator", ADMIN)


def test_every_session_is_saved_to_the_byte_and_replays_to_its_plan(
    service, german, german_rejected, talkative
):
    """What the page offers the operator is the log itself; what it offers the person is a copy to read."""
    shown = {}
    for place in talkative[:2]:
        row = german.space.values(german.space.vector(german_rejected.iloc[[place]]))
        started = service.start(row)
        assert service.answer(started["token"], started["state"]).status_code == 200
        plan = service.client.get(f"/api/v1/sessions/{started['token']}/plan").json()
        copy = service.client.get(f"/s/{started['token']}/session.json").json()
        assert copy["format"] == "reap.copy"
        shown[copy["session"]["id"]] = plan["target"]
    page = service.client.get("/operator", auth=OPERATOR).text
    for path in ("/operator/sessions.jsonl", "/operator/answers.csv", "/operator/funnel.csv"):
        assert f'href="{path}?days=30"' in page
        assert service.client.get(path).status_code == 401
    saved = service.client.get("/operator/sessions.jsonl?days=30", auth=OPERATOR)
    assert saved.headers["content-type"].startswith("application/x-ndjson")
    lines = saved.text.splitlines()
    assert len(lines) == len(shown)
    for line in lines:
        log = json.loads(line)
        events = [Entry(**item) for item in log["events"]]
        told = next(entry.payload for entry in events if entry.type == "recommended")
        again = exports.load(line, service.app.state.desk.case.engine).recommend()
        assert json.dumps(again.to_dict(standalone=False)) == json.dumps(told["plan"])
        assert german.space.values(again.path[-1]) == shown[log["session"]["id"]]
    table = service.client.get("/operator/answers.csv?days=30", auth=OPERATOR).text.splitlines()
    assert len(table) == 1 + len(shown)  # a head, and one answer each


def test_how_long_somebody_waits_is_written_as_the_operator_writes_numbers(service, row):
    token = service.start(row)["token"]
    asked = service.client.post(f"/api/v1/sessions/{token}/review", json={"words": "Please look again."})
    assert asked.status_code < 300
    for code, said in (("en", "waiting for 0.0 hours"), ("de", "wartet seit 0,0 Stunden")):
        page = service.client.get("/operator", auth=OPERATOR, headers={"Accept-Language": code}).text
        assert said in page


def test_a_trait_that_the_law_may_protect_is_named_to_the_operator_and_is_no_reason_for_the_person_to_read(
    service, german, german_rejected, brief_engine
):
    page = text_of(service.client.get("/operator", auth=OPERATOR).text)
    said = r"the law may protect it Personal status: moves the score by \d+\.\d points of 100 on average, Age: moves"
    assert re.search(said, page)
    told = {True: 0, False: 0}
    for place in range(12):
        person = german_rejected.iloc[[place]]
        named = [r.label for r in brief_engine.reasons(person) if r.feature in ("personal_status", "age")]
        token = service.start(german.space.values(german.space.vector(person)))["token"]
        said = text_of(service.client.get(f"/s/{token}").text)
        assert ("Something may count here that the law forbids to count" in said) == bool(named)
        why = said.partition("main reasons")[2].partition("What we know about you")[0]
        assert "Age:" not in why
        assert "Personal status:" not in why
        given = service.client.get(f"/api/v1/sessions/{token}/reasons").json()
        assert not {"personal_status", "age"} & {reason["feature"] for reason in given}
        told[bool(named)] += 1
    assert all(told.values())  # somebody is refused for such a trait, and somebody is not


def test_the_age_of_an_account_is_no_trait_of_a_person(load):
    assert doubtful(load("heloc").space.features) == []
    assert {feature.name for feature in doubtful(load("adult").space.features)} >= {"age", "sex", "race"}


def test_a_clock_that_was_set_back_gives_no_negative_time():
    """The times of a question and its answer are those of the server, which may be corrected between the two."""
    asked = {"question": {"id": "0-1", "kind": "question", "predicted": None}, "plans": [], "found": None}
    first = sealed("s", 0, "asked", asked, None, "2026-01-01T12:00:05+00:00", "")
    said = {"question": "0-1", "choice": 0, "impossible": []}
    second = sealed("s", 1, "answered", said, None, "2026-01-01T11:59:00+00:00", first.hash)
    (row,) = csv.DictReader(io.StringIO(exports.as_csv([first, second])))
    assert row["seconds"] == "0.0"

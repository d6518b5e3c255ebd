"""Keys of requests: each belongs to one request, and none can break a database."""

from __future__ import annotations

import re

import pytest


def test_a_key_that_belongs_to_a_wish_stores_no_answer_and_says_so(service, row):
    """It was 200 with nothing stored."""
    started = service.start(row)
    token = started["token"]
    wish = {"feature": "amount", "at_most": 9000, "key": "once"}
    wished = service.client.post(f"/api/v1/sessions/{token}/constraints", json=wish)
    assert wished.status_code == 200
    answer = service.answer(token, wished.json(), key="once")
    assert answer.status_code == 409
    assert "take a new key" in answer.json()["error"]
    assert answer.json()["state"] == wished.json()
    assert service.events("answered") == []
    again = service.client.post(f"/api/v1/sessions/{token}/constraints", json=wish)
    assert again.json() == wished.json()
    assert len(service.events("constrained")) == 1


def test_the_same_key_with_another_body_is_refused_and_with_the_same_body_repeated(service, row):
    started = service.start(row)
    token, state = started["token"], started["state"]
    first = service.answer(token, state, "left", key="one")
    assert first.status_code == 200
    other = service.answer(token, state, "right", key="one")
    assert other.status_code == 409
    same = service.answer(token, state, "left", key="one")
    assert same.json() == first.json()
    assert [entry.payload["choice"] for entry in service.events("answered")] == [0]
    undo = f"/api/v1/sessions/{token}/answers/last"
    assert service.client.delete(undo, params={"key": "one"}).status_code == 409
    assert service.state(token)["answers"] != []


def test_a_page_with_the_key_of_an_earlier_wish_is_sent_on_and_not_broken(service, row):
    """It was 500."""
    token = service.start(row)["token"]
    wish = {"feature": "amount", "at_most": 9000, "key": "once"}
    service.client.post(f"/api/v1/sessions/{token}/constraints", json=wish)
    page = service.client.get(f"/s/{token}/questions").text
    fields = dict(re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)">', page))
    sent = service.client.post(f"/s/{token}/answer", data={**fields, "choice": "0", "key": "once"})
    assert sent.status_code == 303
    assert sent.headers["location"].endswith("?note=moved")
    assert service.events("answered") == []


@pytest.mark.parametrize("key", ["k" * 65, "a\0b", "k" * 64 + "\n", "key\n", "ключ"])
def test_a_key_that_a_database_cannot_hold_is_refused_as_input(serve, database, row, key):
    """On PostgreSQL it was 503."""
    service = serve(database)
    started = service.start(row)
    token, state = started["token"], started["state"]
    here = f"/api/v1/sessions/{token}"
    wish = {"feature": "amount", "at_most": 9000, "key": key}
    assert service.answer(token, state, key=key).status_code == 422
    assert service.client.post(f"{here}/constraints", json=wish).status_code == 422
    assert service.client.delete(f"{here}/answers/last", params={"key": key}).status_code == 422
    page = service.client.get(f"/s/{token}/questions").text
    csrf = re.search(r'name="csrf" value="([^"]+)"', page)[1]
    said = {"csrf": csrf, "key": key, "revision": state["revision"], "question": state["question"]["id"]}
    for path, form in {
        "answer": {"choice": "0"},
        "undo": {},
        "revise": {"position": "0", "choice": "0"},
        "wishes": {"feature": "amount", "at_most": "9000"},
        "refuse": {},
    }.items():
        assert service.client.post(f"/s/{token}/{path}", data={**said, **form}).status_code == 422, path
    assert [entry.type for entry in service.events()] == ["started", "asked"]

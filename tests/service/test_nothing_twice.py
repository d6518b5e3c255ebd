"""Nothing twice: different answers at once, two tabs, old pages, keys; ``tests/attack/test_storm.py`` has identical ones."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest


def together(calls):
    with ThreadPoolExecutor(len(calls)) as pool:
        return [future.result() for future in [pool.submit(call) for call in calls]]


def post(url, token, state, choice, key):
    body = {"question": state["question"]["id"], "revision": state["revision"], "choice": choice, "key": key}
    return httpx.post(f"{url}/api/v1/sessions/{token}/answers", json=body, timeout=60)


def test_twenty_different_answers_at_once_count_once_and_the_others_learn_where_they_are(
    serve, database, row
):
    workers = [serve(database), serve(database)]
    started = workers[0].start(row)
    token, state = started["token"], started["state"]
    calls = [
        lambda i=i: post(workers[i % 2].url, token, state, ("left", "right")[i % 2], f"key-{i}")
        for i in range(20)
    ]
    answers = together(calls)
    codes = sorted(a.status_code for a in answers)
    assert codes == [200] + [409] * 19
    now = workers[0].state(token)
    for refused in (a for a in answers if a.status_code == 409):
        assert refused.json()["state"]["revision"] == now["revision"]
        assert "moved on" in refused.json()["error"]
    assert len(workers[0].events("answered")) == 1


def test_the_same_key_long_after_is_still_the_same_answer(service, row):
    started = service.start(row)
    token, first = started["token"], started["state"]
    stored = post(service.url, token, first, "left", "early").json()
    post(service.url, token, stored["state"], "right", "later")
    again = post(service.url, token, first, "left", "early").json()
    assert {k: v for k, v in again.items() if k != "state"} == {
        k: v for k, v in stored.items() if k != "state"
    }
    assert again["state"] == service.state(token)
    assert len(service.events("answered")) == 2


def test_a_plan_looked_at_meanwhile_does_not_make_an_answer_stale(service, row):
    started = service.start(row)
    token, seen = started["token"], started["state"]
    service.client.get(f"/api/v1/sessions/{token}/plan")
    assert post(service.url, token, seen, "left", "k").status_code == 200


def test_undo_pressed_twice_takes_back_one_answer(serve, database, row):
    service = serve(database)
    token = service.start(row)["token"]
    for choice in ("left", "right"):
        service.answer(token, service.state(token), choice)
    revision = service.state(token)["revision"]
    path = f"{service.url}/api/v1/sessions/{token}/answers/last"
    calls = [lambda: httpx.delete(path, params={"revision": revision}, timeout=60)] * 6
    codes = sorted(a.status_code for a in together(calls))
    assert codes == [200] + [409] * 5
    assert len(service.state(token)["answers"]) == 1


def test_many_people_at_once_do_not_mix(service, german, german_rejected, talkative):
    rows = [german.space.values(german.space.vector(german_rejected.iloc[[i]])) for i in talkative]

    def live(i):
        started = service.start(rows[i])
        state = started["state"]
        for _ in range(2):
            state = service.answer(started["token"], state, i % 2).json()["state"]
        return started["token"], state

    for i, (token, state) in enumerate(together([lambda i=i: live(i) for i in range(6)])):
        assert state == service.state(token)
        assert state["subject"] == rows[i]
        assert [a["choice"] for a in state["answers"]] == [i % 2] * 2
    assert len(service.events("answered")) == 12
    assert list(service.store.faults()) == []


# keys of requests: each belongs to one request, and none can break a database ------------------------------


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
    page = service.client.get(f"/s/{token}/questions").text  # a form with that key is sent on, not broken
    fields = dict(re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)">', page))
    sent = service.client.post(f"/s/{token}/answer", data={**fields, "choice": "0", "key": "once"})
    assert sent.status_code == 303
    assert sent.headers["location"].endswith("?note=moved")
    assert service.events("answered") == []
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

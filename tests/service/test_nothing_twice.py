"""Nothing lost, nothing twice: identical answers, two tabs, old pages, on both databases and across workers."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import httpx


def together(calls):
    with ThreadPoolExecutor(len(calls)) as pool:
        return [future.result() for future in [pool.submit(call) for call in calls]]


def post(url, token, state, choice, key):
    body = {"question": state["question"]["id"], "revision": state["revision"], "choice": choice, "key": key}
    return httpx.post(f"{url}/api/v1/sessions/{token}/answers", json=body, timeout=60)


def test_twenty_identical_parallel_answers_are_one_event(serve, database, row):
    workers = [serve(database), serve(database)]
    started = workers[0].start(row)
    token, state = started["token"], started["state"]
    urls = [workers[i % 2].url for i in range(20)]
    answers = together([lambda url=url: post(url, token, state, "left", "one-key") for url in urls])
    assert {a.status_code for a in answers} == {200}
    stored = [{k: v for k, v in a.json().items() if k != "state"} for a in answers]
    assert all(s == stored[0] for s in stored)
    log = workers[0].events()
    assert [e.type for e in log] == ["started", "asked", "answered", "asked"]
    assert len({a.json()["state"]["question"]["id"] for a in answers}) == 1
    assert list(workers[0].store.faults()) == []


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


def test_two_tabs_take_turns_and_the_stale_one_is_told(service, row):
    started = service.start(row)
    token, seen = started["token"], started["state"]
    assert post(service.url, token, seen, "left", "tab-1").status_code == 200
    stale = post(service.url, token, seen, "right", "tab-2")
    assert stale.status_code == 409
    current = stale.json()["state"]
    assert current == service.state(token)
    assert post(service.url, token, current, "right", "tab-3").status_code == 200
    assert [e.payload["choice"] for e in service.events("answered")] == [0, 1]


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

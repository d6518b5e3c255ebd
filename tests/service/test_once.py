"""Work that is done once: a question is not chosen twice, a plan not explained twice, a session not replayed."""

from __future__ import annotations

import re


def computed(service):
    """How often each computation was done so far."""
    text = service.client.get("/metrics").text
    found = re.findall(r'reap_solve_seconds_count\{what="(\w+)"\} (\d+)', text)
    return {what: int(count) for what, count in found}


def test_an_answer_is_learnt_from_once_and_the_next_question_chosen_once(service, row):
    started = service.start(row)
    token, state = started["token"], started["state"]
    before = computed(service)
    for _ in range(2):
        state = service.answer(token, state, "left").json()["state"]
        assert service.state(token) == state
    after = computed(service)
    assert {what: after[what] - before.get(what, 0) for what in after} == {"ask": 2, "answered": 2}


def test_a_plan_is_explained_once_in_each_state(service, row):
    started = service.start(row)
    token = started["token"]
    path = f"/api/v1/sessions/{token}/plan"
    first = service.client.get(path).json()
    assert service.client.get(path).json() == first
    assert service.client.get(f"/s/{token}/plan").status_code == 200
    assert computed(service)["explain"] == 1
    service.answer(token, started["state"], "left")
    second = service.client.get(path).json()
    assert second["revision"] > first["revision"]
    assert computed(service)["explain"] == 2
    service.client.delete(f"/api/v1/sessions/{token}/answers/last")
    third = service.client.get(path).json()
    assert third["changes"] == first["changes"]
    assert third["difficulties"] == first["difficulties"]


def test_a_question_in_memory_is_the_question_that_another_worker_reads_from_the_log(serve, database, row):
    here, there = serve(database), serve(database)
    started = here.start(row)
    token, state = started["token"], started["state"]
    for choice in ("left", "right", "same"):
        assert there.state(token) == state
        state = here.answer(token, state, choice).json()["state"]
    assert there.state(token) == state
    assert there.client.get(f"/api/v1/sessions/{token}/plan").json() == (
        here.client.get(f"/api/v1/sessions/{token}/plan").json()
    )

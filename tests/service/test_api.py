"""The API: a session from start to plan, errors that name the field, exports that replay."""

from __future__ import annotations

import csv
import io
import json
import re

import pytest

from reap import InputError
from reap.elicitation import Elicitation, in_force
from reap.service import exports

from .conftest import ADMIN


def walk(service, row, choices=("left", "right", "same", "skip")):
    started = service.start(row)
    token, state = started["token"], started["state"]
    for choice in choices:
        if state["question"] is None:
            break
        answer = service.answer(token, state, choice)
        assert answer.status_code == 200
        state = answer.json()["state"]
    return token, state


def test_a_session_from_start_to_plan(service, row, case):
    token, state = walk(service, row, ["left"] * 20)
    assert state["status"] == "finished"
    assert state["progress"]["answered"] == len(state["answers"]) <= 6  # five, and one that is predicted
    plan = service.client.get(f"/api/v1/sessions/{token}/plan").json()
    assert plan["status"] == "ok"
    assert plan["valid"]
    assert plan["score"] > plan["threshold"] >= plan["score_now"]
    assert plan["changes"][-1]["score"] == plan["score"]
    assert [c["step"] for c in plan["changes"]] == sorted(c["step"] for c in plan["changes"])
    assert plan["stages"] == []
    for change in plan["changes"]:
        assert change["before"] != change["after"]
    assert plan["fit"]  # every question is answered: said in words
    assert not re.search(r"\d", plan["fit"])
    target = case.engine.space.vector(plan["target"])
    assert case.accepts(target)
    assert service.client.get(f"/api/v1/sessions/{token}/plan").json() == plan


def test_the_link_opens_the_session_and_the_token_is_nowhere_in_the_database(service, row, tmp_path):
    started = service.start(row)
    assert started["link"] == f"{service.url}/s/{started['token']}"
    assert service.client.get(started["link"]).status_code == 200
    assert len(started["token"]) >= 22  # 128 bits
    stored = b"".join(path.read_bytes() for path in tmp_path.glob("reap.db*"))
    assert started["token"].encode() not in stored


def test_undo_restores_the_state_before_to_the_byte(service, row):
    started = service.start(row)
    token, before = started["token"], started["state"]
    after = service.answer(token, before, "left").json()["state"]
    undone = service.client.delete(f"/api/v1/sessions/{token}/answers/last").json()
    assert undone["question"] == before["question"]
    assert undone["answers"] == []
    assert undone["revision"] > after["revision"]
    again = service.answer(token, undone, "left").json()["state"]
    assert again["question"] == after["question"]
    empty = service.start(row)["token"]
    refused = service.client.delete(f"/api/v1/sessions/{empty}/answers/last")
    assert refused.status_code == 422
    assert "nothing to take back" in refused.json()["error"]


def test_an_earlier_answer_can_be_revised_and_later_ones_stay(service, row):
    token, state = walk(service, row, ["left", "right"])
    body = {"revision": state["revision"], "choice": "same", "key": "r1"}
    revised = service.client.put(f"/api/v1/sessions/{token}/answers/0", json=body).json()
    assert [a["choice"] for a in revised["answers"]] == ["same", 1]
    again = service.client.put(f"/api/v1/sessions/{token}/answers/0", json=body).json()
    assert again["revision"] == revised["revision"]
    back = service.client.delete(f"/api/v1/sessions/{token}/answers/last").json()
    assert [a["choice"] for a in back["answers"]] == [0, 1]
    assert back["question"] == state["question"]


def test_wishes_become_limits_that_no_question_and_no_plan_breaks(service, row, case):
    token = service.start(row)["token"]
    path = f"/api/v1/sessions/{token}/constraints"
    assert service.client.post(path, json={"feature": "duration", "fixed": True}).status_code == 200
    hard = service.client.post(path, json={"feature": "amount", "difficulty": 5}).json()
    assert {w["text"] for w in hard["wishes"]} == {
        "Loan duration stays as it is",
        "Changing this is very hard for you: loan amount",
    }
    state = hard
    assert state["question"] is not None
    while state["question"]:
        assert "Loan duration" not in [r["label"] for r in state["question"]["rows"]]
        state = service.answer(token, state, "left").json()["state"]
    plan = service.client.get(f"/api/v1/sessions/{token}/plan").json()
    assert plan["target"]["duration"] == row["duration"]
    freed = service.client.delete(f"{path}/duration").json()
    assert [w["feature"] for w in freed["wishes"]] == ["amount"]


def test_neither_names_what_is_impossible_and_it_is_never_shown_again(service, row):
    token, state = service.start(row)["token"], None
    state = service.state(token)
    name = state["question"]["could_be_impossible"][0]
    state = service.answer(token, state, "neither", impossible=[name["feature"]]).json()["state"]
    while state["question"]:
        assert name["label"] not in [r["label"] for r in state["question"]["rows"]]
        assert name["feature"] not in [f["feature"] for f in state["question"]["could_be_impossible"]]
        state = service.answer(token, state, "right").json()["state"]
    plan = service.client.get(f"/api/v1/sessions/{token}/plan").json()
    assert plan["target"][name["feature"]] == row[name["feature"]]


def test_no_plan_possible_names_the_limits_of_which_one_has_to_go(service, row, case):
    token = service.start(row)["token"]
    changeable = [f.name for f in case.engine.space.features if f.actionable]
    for name in changeable:
        state = service.client.post(
            f"/api/v1/sessions/{token}/constraints", json={"feature": name, "fixed": True}
        ).json()
    assert state["status"] == "no_plan"
    plan = service.client.get(f"/api/v1/sessions/{token}/plan").json()
    assert plan["status"] != "ok"
    assert not plan["valid"]
    assert plan["relax"]
    lifted = plan["relax"][0]["feature"]
    service.client.delete(f"/api/v1/sessions/{token}/constraints/{lifted}")
    again = service.client.get(f"/api/v1/sessions/{token}/plan").json()
    assert again["status"] == "ok"
    assert {c["feature"] for c in again["changes"]} == {lifted}


def test_a_person_comes_back_with_a_new_situation(service, row, case):
    token, _ = walk(service, row, ["left", "left"])
    now = {**row, "duration": max(4, row["duration"] - 6)}
    state = service.client.post(f"/api/v1/sessions/{token}/situation", json={"subject": now}).json()
    assert state["subject"]["duration"] == now["duration"]
    assert state["progress"]["answered"] == 2
    plan = service.client.get(f"/api/v1/sessions/{token}/plan").json()
    assert plan["score_now"] == case.rough(case.engine.space.vector(now))


def test_somebody_who_is_accepted_needs_no_questions(service, german, german_model):
    accepted = german.X[german_model.predict(german.X) == 1].iloc[[0]]
    started = service.start(german.space.values(german.space.vector(accepted)))
    assert started["state"]["status"] == "accepted"
    plan = service.client.get(f"/api/v1/sessions/{started['token']}/plan").json()
    assert plan["status"] == "already_accepted"


def test_the_export_replays_to_the_byte_identical_plan(service, row, brief_engine):
    token, _ = walk(service, row)
    assert [e.type for e in service.events()[:4]] == ["started", "asked", "answered", "asked"]
    service.client.delete(f"/api/v1/sessions/{token}/answers/last")
    service.client.post(f"/api/v1/sessions/{token}/constraints", json={"feature": "guarantor", "fixed": True})
    service.client.get(f"/api/v1/sessions/{token}/plan")
    text = service.client.get(f"/api/v1/sessions/{token}/export", headers={"X-Admin-Key": ADMIN}).text
    (kept,) = service.store.sessions()
    stored = [e for e in service.store.events(kept.id) if e.type == "recommended"][-1].payload["plan"]
    replayed = exports.load(text, brief_engine).recommend().to_dict(standalone=False)
    assert json.dumps(replayed) == json.dumps(stored)
    # Computed again from the answers alone it is the same plan.
    before = [e.event for e in in_force(service.store.events(kept.id)) if e.type != "recommended"]
    computed = Elicitation.of(before, brief_engine).recommend().to_dict(standalone=False)
    assert (computed["path"], computed["changes"]) == (stored["path"], stored["changes"])
    assert computed["effort"] == pytest.approx(stored["effort"], rel=1e-12)
    with pytest.raises(InputError, match="was changed"):
        exports.load(text.replace('"fixed', '"fixxd', 1).replace("age", "agf"), brief_engine)
    with pytest.raises(InputError, match="not an exported session"):
        exports.load("{}", brief_engine)


def test_a_persons_own_copy_says_everything_and_scores_only_in_whole_points(service, row, brief_engine):
    """Exact scores of the plans that were looked at gave a logistic model away."""
    token, _ = walk(service, row)
    service.client.get(f"/api/v1/sessions/{token}/plan")
    text = service.client.get(f"/api/v1/sessions/{token}/export").text
    assert service.client.get(f"/s/{token}/session.json").text == text
    copy, log = json.loads(text), service.events()
    assert [(e["type"], e["revision"], e["created"]) for e in copy["events"]] == [
        (e.type, e.revision, e.created) for e in log
    ]
    exact = next(e.payload["plan"] for e in log if e.type == "recommended")
    shown = next(e["payload"]["plan"] for e in copy["events"] if e["type"] == "recommended")
    rough = brief_engine.classifier_.scale.rough
    assert shown["scores"] == [rough(score) for score in exact["scores"]]
    assert all(round(100 * score, 9).is_integer() for score in shown["scores"])
    assert [step["score"] for step in shown["steps"]] == shown["scores"][1:]
    dull = ("scores", "steps", "cliffs")
    assert {k: v for k, v in shown.items() if k not in dull} == {
        k: v for k, v in exact.items() if k not in dull
    }
    with pytest.raises(InputError, match="a person's copy"):
        exports.load(text, brief_engine)
    guess = service.client.get(f"/api/v1/sessions/{token}/export", headers={"X-Admin-Key": "a wrong key"})
    assert guess.text == text


def test_the_csv_has_one_row_an_answer(service, row):
    token, state = walk(service, row, ["left", "same", "skip"])
    body = {"revision": state["revision"], "choice": "right", "key": "r"}
    service.client.put(f"/api/v1/sessions/{token}/answers/0", json=body)
    table = list(csv.DictReader(io.StringIO(service.client.get(f"/api/v1/sessions/{token}/export.csv").text)))
    assert [r["choice"] for r in table] == ["1", "same", "skip"]
    assert [r["number"] for r in table] == ["1", "2", "3"]
    assert all(float(r["seconds"]) >= 0 and r["answered_at"] > r["asked_at"] for r in table)


def test_a_worker_keeps_as_many_sessions_as_it_is_told_to_and_replays_the_others(serve, tmp_path, row):
    service = serve(f"sqlite:///{tmp_path}/reap.db", live_sessions=2)
    token, state = walk(service, row, ["left", "neither", "right"])
    for seed in range(3):
        service.start(row, seed=seed)  # pushes the first one out
    assert len(service.app.state.desk._live) == 2
    assert service.state(token) == state


def test_what_if_scores_any_row_and_stores_nothing(service, row, case):
    tried = {**row, "duration": row["duration"] + 6}
    token = service.start(row)["token"]
    before, path = service.events(), f"/api/v1/sessions/{token}/score"
    found = service.client.post(path, json={"subject": tried}).json()
    assert found["score"] == pytest.approx(case.score(case.engine.space.vector(tried)), abs=0.01)
    assert found["hypothetical"] is True
    assert found["allowed"] is True
    younger = {**row, "age": row["age"] - 1}
    assert service.client.post(path, json={"subject": younger}).json()["allowed"] is False
    assert service.events() == before


@pytest.mark.parametrize(
    ("change", "field", "says"),
    [
        ({"duration": "long"}, "duration", "give a whole number"),
        ({"duration": 1.5}, "duration", "give a whole number"),
        ({"duration": None}, "duration", "missing"),
        ({"duration": True}, "duration", "give a whole number"),
        ({"duration": 10**400}, "duration", "give a whole number"),
        ({"housing": "castle"}, "housing", "rented, owned, free of charge"),
        ({"housng": "owned"}, "housng", "did you mean 'housing'"),
    ],
)
def test_bad_input_names_the_field_and_what_is_allowed(service, row, change, field, says):
    token = service.start(row)["token"]
    before = service.events()
    for path in ("", f"/{token}/score", f"/{token}/situation"):
        answer = service.client.post(f"/api/v1/sessions{path}", json={"subject": {**row, **change}})
        assert answer.status_code == 422
        (wrong,) = answer.json()["fields"]
        assert wrong["field"] == field
        assert says in wrong["message"]
    assert service.events() == before


def test_bad_answers_and_wishes_store_nothing(service, row):
    started = service.start(row)
    token, state = started["token"], started["state"]
    count = len(service.events())
    assert service.answer(token, state, "maybe").status_code == 422
    assert service.answer(token, state, 3).status_code == 422
    assert service.answer(token, state, "left", impossible=["age"]).status_code == 422
    assert service.answer(token, state, "neither", impossible=["agee"]).status_code == 422
    assert service.answer(token, state, key="bad key!").status_code == 422
    for wish in (
        {"feature": "duration"},
        {"feature": "nothing", "fixed": True},
        {"feature": "duration", "at_least": 30, "at_most": 10},
        {"feature": "housing", "at_least": "owned"},
        {"feature": "housing", "exclude": ["castle"]},
        {"feature": "duration", "difficulty": 9},
        {"feature": "personal_status", "fixed": True},
    ):
        answer = service.client.post(f"/api/v1/sessions/{token}/constraints", json=wish)
        assert answer.status_code == 422, wish
        assert answer.json()["error"]
    assert service.client.delete(f"/api/v1/sessions/{token}/constraints/duration").status_code == 422
    assert len(service.events()) == count


def test_the_operator_needs_the_key(service, row):
    token, _ = walk(service, row, ["left"])
    service.client.get(f"/api/v1/sessions/{token}/plan")
    for headers in ({}, {"X-Admin-Key": "guess"}, {"X-Admin-Key": ""}, {"Authorization": "Bearer x"}):
        assert service.client.get("/api/v1/admin/summary", headers=headers).status_code == 401
    found = service.client.get("/api/v1/admin/summary", headers={"X-Admin-Key": ADMIN}).json()
    assert (found["sessions"], found["counts"]["planned"], found["reached"]) == (1, 1, {"0": 1, "1": 1})
    assert found["latency_ms"]["p95"] > 0


def test_starting_can_be_closed_to_all_but_the_operator(serve, tmp_path, row):
    service = serve(f"sqlite:///{tmp_path}/reap.db", open_start=False)
    assert service.client.post("/api/v1/sessions", json={"subject": row}).status_code == 401
    opened = service.client.post("/api/v1/sessions", json={"subject": row}, headers={"X-Admin-Key": ADMIN})
    assert opened.status_code == 201
    assert service.client.get(opened.json()["link"]).status_code == 200


def test_health_metrics_and_schema(service, case):
    assert service.client.get("/healthz").json() == {"status": "ok"}
    assert service.client.get("/readyz").json() == {"status": "ok"}
    schema = service.client.get("/api/v1/schema").json()
    assert [f["name"] for f in schema["features"]] == list(case.engine.space.names)
    assert (schema["model"], schema["data"]) == (case.model, case.data)
    text = service.client.get("/metrics").text
    assert 'reap_request_seconds_count{method="GET",route="/api/v1/schema",status="200"} 1.0' in text
    assert "reap_solve_seconds" in text

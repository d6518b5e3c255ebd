"""What a stranger may take: scores, sessions, guesses, words in the metrics."""

from __future__ import annotations

import re

import pytest

from reap import InputError
from reap.service.settings import Settings
from tests.service.conftest import ADMIN


def score(service, token, row):
    return service.client.post(f"/api/v1/sessions/{token}/score", json={"subject": row})


def test_scores_need_a_session_and_come_in_whole_points_on_the_right_side(service, row, case, german):
    assert service.client.post("/api/v1/score", json={"subject": row}).status_code == 404
    assert score(service, "AAAAAAAAAAAAAAAAAAAAAA", row).status_code == 404
    started = service.start(row)
    assert 100 * started["state"]["score"] == pytest.approx(round(100 * started["state"]["score"]))
    seen = set()
    for k in range(0, 1000, 40):
        other = german.space.values(german.space.vector(german.X.iloc[[k]]))
        found = score(service, started["token"], other).json()
        assert 100 * found["score"] == pytest.approx(round(100 * found["score"]))
        assert (found["score"] > found["threshold"]) == found["accepted"]
        assert abs(found["score"] - case.score(german.space.vector(other))) < 0.01
        seen.add(found["accepted"])
    assert seen == {True, False}


def test_the_trials_of_a_session_are_counted_over_all_workers(serve, tmp_path, row):
    """Forty exact scores were enough to copy a logistic model."""
    url = f"sqlite:///{tmp_path}/reap.db"
    here, there = serve(url, trials=4), serve(url, trials=4)
    token = here.start(row)["token"]
    codes = [score(service, token, row).status_code for service in (here, there, here, there, here, there)]
    assert codes == [200] * 4 + [429] * 2
    page = here.client.get(f"/s/{token}/what-if", params={"f.duration": "12"})
    assert page.status_code == 200
    assert "no trials left" in page.text
    assert "out of 100" not in page.text
    assert here.client.get(f"/api/v1/sessions/{token}/plan").status_code == 200


def test_an_operator_can_close_the_trials(serve, tmp_path, row):
    service = serve(f"sqlite:///{tmp_path}/reap.db", trials=0)
    token = service.start(row)["token"]
    assert score(service, token, row).status_code == 429


def test_new_situations_are_scored_and_so_a_session_has_a_number_of_them(serve, tmp_path, quick):
    """They told the score of any row, for ever, also where the trials were closed."""
    service = serve(f"sqlite:///{tmp_path}/reap.db", trials=0, situations=2)
    token = service.start(quick)["token"]
    here = f"/api/v1/sessions/{token}"

    def move(months, **more):
        body = {"subject": {**quick, "duration": quick["duration"] + months}, **more}
        return service.client.post(f"{here}/situation", json=body).status_code

    assert [move(1, key="one"), move(2), move(3)] == [200, 200, 422]
    assert move(1, key="one") == 200  # the same request again is no new one
    assert service.client.delete(f"{here}/answers/last").status_code == 200
    assert move(3) == 422  # what was undone has been told
    assert service.client.get(f"/s/{token}/plan").status_code == 200


def test_the_starts_of_a_client_are_limited_and_those_of_the_operator_are_not(serve, tmp_path, row):
    service = serve(f"sqlite:///{tmp_path}/reap.db", starts=3)
    body = {"subject": row}
    codes = [service.client.post("/api/v1/sessions", json=body).status_code for _ in range(5)]
    assert codes == [201] * 3 + [429] * 2
    csrf = re.search(r'name="csrf" value="([^"]+)"', service.client.get("/").text)[1]
    form = {**{f"f.{name}": str(value) for name, value in row.items()}, "csrf": csrf}
    assert service.client.post("/start", data=form).status_code == 429
    key = {"X-Admin-Key": ADMIN}
    assert service.client.post("/api/v1/sessions", json=body, headers=key).status_code == 201
    assert len(service.store.sessions()) == 4


def test_admin_keys_cannot_be_guessed_without_a_pause(service):
    def guess(key, path="/api/v1/admin/summary"):
        return service.client.get(path, headers={"X-Admin-Key": key}).status_code

    assert [guess(f"guess-{k}") for k in range(7)] == [401] * 5 + [429] * 2
    assert guess(ADMIN) == 429  # or the pause would tell which guess was right
    assert service.client.get("/operator", auth=("a", "guess")).status_code == 429
    assert service.client.get("/operator").status_code == 401  # no guess
    service.app.state.rates._counter.storage.reset()  # a few minutes later
    assert guess(ADMIN) == 200


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("ADMIN_KEY", "x", "admin_key has 1 characters; give at least 12"),
        ("EXPIRE_DAYS", "inf", "expire_days is 'inf'"),
        ("EXPIRE_DAYS", "nan", "expire_days is 'nan'"),
        ("EXPIRE_DAYS", "1e9", "give 36500.0 or less"),
        ("RATE", "inf", "rate is 'inf'"),
    ],
)
def test_settings_that_would_break_every_start_are_refused_at_once(monkeypatch, name, value, sentence):
    monkeypatch.setenv(f"REAP_{name}", value)
    with pytest.raises(InputError, match=re.escape(sentence)):
        Settings.read()


def test_strangers_cannot_write_into_the_metrics(service):
    """Three hundred invented methods made 488 kB of labels."""
    for k in range(30):
        service.client.request(f"INVENTED{k}", f"/healthz/{k}")
        service.client.request(f"INVENTED{k}", "/healthz")
    text = service.client.get("/metrics").text
    assert "INVENTED" not in text
    assert set(re.findall(r'reap_request_seconds_count{method="(\w+)"', text)) == {"other"}

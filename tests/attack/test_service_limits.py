"""What a stranger may take: scores, sessions, guesses, words in the metrics; with ``REAP_ATTACK=20`` twenty times as patient.

Each prints what it counted (``pytest -s``); docs/operate.md has the figures.
"""

from __future__ import annotations

import json
import os
import re
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from reap.service.settings import Settings
from tests.service.conftest import ADMIN

TIMES = int(os.environ.get("REAP_ATTACK", "1"))
SEED = int(os.environ.get("REAP_SEED", "0"))


def score(service, token, row):
    return service.client.post(f"/api/v1/sessions/{token}/score", json={"subject": row})


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


def test_one_client_starts_no_more_than_its_share(serve, tmp_path, quick):
    """2,562 sessions a minute would have been 43 GB a day."""
    service, count = serve(f"sqlite:///{tmp_path}/reap.db", starts=3), 8 * TIMES
    begin = time.monotonic()

    def start(_):
        return service.client.post("/api/v1/sessions", json={"subject": quick}).status_code

    with ThreadPoolExecutor(8) as pool:
        codes = Counter(pool.map(start, range(count)))
    seconds = time.monotonic() - begin
    print(f"{count} starts by one client in {seconds:.0f} s, three an hour: {dict(codes)}")
    assert set(codes) == {201, 429}
    assert 3 <= codes[201] <= 4 + seconds / 1200
    csrf = re.search(r'name="csrf" value="([^"]+)"', service.client.get("/").text)[1]
    form = {**{f"f.{name}": str(value) for name, value in quick.items()}, "csrf": csrf}
    assert service.client.post("/start", data=form).status_code == 429
    key = {"X-Admin-Key": ADMIN}  # the operator has no limit
    assert service.client.post("/api/v1/sessions", json={"subject": quick}, headers=key).status_code == 201
    assert len(service.store.sessions()) == codes[201] + 1


def test_admin_keys_cannot_be_guessed_without_a_pause(service):
    """400 guesses were looked at without one."""

    def guess(key):
        path = "/api/v1/admin/summary"
        return service.client.get(path, headers={"X-Admin-Key": key}).status_code

    count, begin = 7 * TIMES, time.monotonic()
    codes = Counter(guess(f"{ADMIN}-{SEED}-{k}") for k in range(count))
    seconds = time.monotonic() - begin
    print(f"{count} guessed admin keys, seed {SEED}, in {seconds:.0f} s: {dict(codes)}")
    assert set(codes) == {401, 429}
    assert 5 <= codes[401] <= 6 + seconds / 60  # five, then one a minute
    assert guess(ADMIN) == 429  # or the pause would tell which guess was right
    assert service.client.get("/operator", auth=("a", "guess")).status_code == 429
    assert service.client.get("/operator").status_code == 401  # no guess
    service.app.state.rates._counter.storage.reset()  # a few minutes later
    assert guess(ADMIN) == 200


def test_invented_methods_leave_the_metrics_as_they_were(service):
    """300 of them made the page of figures grow from 70 to 488 kB."""
    count = 30 * TIMES
    service.client.request("INVENTED", "/healthz")
    before = len(service.client.get("/metrics").text)
    for k in range(count):
        service.client.request(
            f"INVENTED{SEED}X{k}", ("/healthz", f"/nowhere/{k}", "/api/v1/sessions")[k % 3]
        )
    text = service.client.get("/metrics").text
    print(f"{count} invented methods, seed {SEED}: the metrics went from {before} to {len(text)} characters")
    assert "INVENTED" not in text
    assert len(text) < before + 10_000


# the model ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("trials", [Settings().trials, 0], ids=["what-if-open", "what-if-closed"])
def test_a_session_tells_whole_points_and_no_more_of_them_than_its_quota(
    serve, tmp_path, case, german, quick, trials
):
    """Forty exact scores gave a logistic model to the last digit; and every new situation was scored beside the trials, for ever.

    This is all that is promised; it does not keep a simple model secret, which SECURITY.md tells.
    """
    service, situations = serve(f"sqlite:///{tmp_path}/reap.db", trials=trials), Settings().situations
    here = f"/api/v1/sessions/{service.start(quick)['token']}"
    drawn = iter(np.random.default_rng(SEED).permutation(len(german.X)))
    codes = {"score": Counter(), "situation": Counter()}
    texts, seen = [], set()
    for kind, most in (("score", trials), ("situation", situations)):
        for _ in range(most + 5):
            z = german.space.vector(german.X.iloc[[next(drawn)]])
            answer = service.client.post(f"{here}/{kind}", json={"subject": german.space.values(z)})
            codes[kind][answer.status_code] += 1
            texts.append(answer.text)
            if answer.status_code == 200:
                found = answer.json()
                assert abs(found["score"] - case.score(z)) < 0.01
                assert (found["score"] > found["threshold"]) == found["accepted"]
                seen.add(found["accepted"])
    assert codes == {
        "score": {200: trials, 429: 5} if trials else {429: 5},
        "situation": {200: situations, 422: 5},
    }
    assert seen == {True, False} or not trials
    plan = service.client.get(f"{here}/plan")
    texts += [service.client.get(here).text, plan.text, service.client.get(f"{here}/export").text]
    sharp = [score for text in texts for score in scores_in(json.loads(text)) if not whole(score)]
    assert not sharp, f"scores with more than whole points: {sharp[:5]}"


def scores_in(value, name=""):
    """Every number in an answer that stands for a score: its name says so."""
    if isinstance(value, dict):
        return [found for key, item in value.items() for found in scores_in(item, key)]
    if isinstance(value, list):
        return [found for item in value for found in scores_in(item, name)]
    if isinstance(value, str) and value.startswith("{"):  # the text of an event is JSON
        return scores_in(json.loads(value))
    return [value] if isinstance(value, float) and re.search("score", name) else []


def whole(score):
    return abs(100 * score - round(100 * score)) < 1e-9

"""Strangers with patience: guesses, invented words, starts by the thousand, and somebody who wants the model.

Each has a short test in ``test_service_limits.py``, which runs always. These run with ``make test-long``, longer with
``REAP_ATTACK``, and print what they counted.
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
from scipy.special import expit, logit

from reap.service.settings import Settings
from tests.service.conftest import ADMIN

pytestmark = [pytest.mark.long, pytest.mark.timeout(0)]

TIMES = int(os.environ.get("REAP_ATTACK", "1"))
SEED = int(os.environ.get("REAP_SEED", "0"))


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


def test_an_admin_key_is_not_found_by_guessing(service):
    """400 guesses were looked at without a pause."""
    count, begin = 40 * TIMES, time.monotonic()
    codes = Counter(
        service.client.get(
            "/api/v1/admin/summary", headers={"X-Admin-Key": f"{ADMIN}-{SEED}-{k}"}
        ).status_code
        for k in range(count)
    )
    minutes = (time.monotonic() - begin) / 60
    print(f"{count} guessed admin keys, seed {SEED}, in {60 * minutes:.0f} s: {dict(codes)}")
    assert set(codes) == {401, 429}
    assert codes[401] <= 6 + minutes  # five, then one a minute


def test_one_client_starts_no_more_than_its_share(serve, tmp_path, quick):
    """2,562 sessions a minute would have been 43 GB a day."""
    service, count = serve(f"sqlite:///{tmp_path}/reap.db", starts=60), 257 * TIMES
    begin = time.monotonic()

    def start(_):
        return service.client.post("/api/v1/sessions", json={"subject": quick}).status_code

    with ThreadPoolExecutor(8) as pool:
        codes = Counter(pool.map(start, range(count)))
    seconds = time.monotonic() - begin
    print(f"{count} starts by one client in {seconds:.0f} s: {dict(codes)}")
    assert set(codes) == {201, 429}
    assert codes[201] <= 61 + seconds / 60  # sixty an hour
    assert len(service.store.sessions()) == codes[201]


# the model ----------------------------------------------------------------------------------------------


class Thief:
    """Somebody who notes every row and score that the service tells, and fits a logistic model to them."""

    def __init__(self, space):
        self.space, self.rows, self.scores = space, [], []

    def note(self, values, score):
        self.rows.append(self.space.vector(values))
        self.scores.append(score)

    def model(self):
        """The weights (d + 1,) that fit best what was told; scores at the ends of the scale tell little and count little."""
        p = np.clip(self.scores, 0.005, 0.995)
        weight = (p * (1 - p))[:, None]
        X = np.column_stack([np.array(self.rows), np.ones(len(self.rows))])
        return np.linalg.lstsq(X * weight, logit(p) * weight[:, 0], rcond=None)[0]

    def told(self, X):
        """What the copy says of rows (n, d)."""
        return expit(np.column_stack([X, np.ones(len(X))]) @ self.model())


@pytest.mark.parametrize("trials", [Settings().trials, 0], ids=["what-if-open", "what-if-closed"])
def test_a_session_tells_whole_points_and_no_more_of_them_than_its_quota(
    serve, tmp_path, case, german, quick, trials
):
    """Forty exact scores gave a logistic model to the last digit; and every new situation was scored beside the trials, for ever.

    This is all that is promised. It does not keep a simple model secret: how good a copy one session gives is printed, and told
    in SECURITY.md.
    """
    service, situations = serve(f"sqlite:///{tmp_path}/reap.db", trials=trials), Settings().situations
    rng, thief = np.random.default_rng(SEED), Thief(german.space)
    here = f"/api/v1/sessions/{service.start(quick)['token']}"
    drawn = iter(german.X.iloc[rng.permutation(len(german.X))].index)
    codes = {"score": Counter(), "situation": Counter()}
    texts = []
    for kind, most in (("score", trials), ("situation", situations)):
        for _ in range(most + 5):
            values = german.space.values(german.space.vector(german.X.loc[[next(drawn)]]))
            answer = service.client.post(f"{here}/{kind}", json={"subject": values})
            codes[kind][answer.status_code] += 1
            texts.append(answer.text)
            if answer.status_code == 200:
                thief.note(values, answer.json()["score"])
    assert codes == {
        "score": {200: trials, 429: 5} if trials else {429: 5},
        "situation": {200: situations, 422: 5},
    }
    plan = service.client.get(f"{here}/plan")
    texts += [service.client.get(here).text, plan.text, service.client.get(f"{here}/export").text]
    sharp = [score for text in texts for score in scores_in(json.loads(text)) if not whole(score)]
    assert not sharp, f"scores with more than whole points: {sharp[:5]}"
    X = german.space.encode(german.X)
    truth, copied = np.array([case.score(z) for z in X]), thief.told(X)
    off, agree = 100 * np.abs(copied - truth), np.mean((copied > 0.5) == (truth > 0.5))
    print(
        f"{len(thief.rows)} scores of one session, trials {trials}, seed {SEED}: a copy of the model is {off.mean():.2f} points "
        f"off on average, {off.max():.1f} at most, and decides alike for {agree:.1%} of all rows"
    )


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

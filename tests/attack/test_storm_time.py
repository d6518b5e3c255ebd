"""Calls that once ran for minutes, each with several limits and fresh numbers: how far does any run past its limit?

Short tests of the same are in ``tests/belief/test_time_limits.py`` and ``test_service_time.py``. Counted are seconds by the
clock, and the longest of all calls: run them on a machine with a core to spare.
"""

from __future__ import annotations

import os
import time

import httpx
import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import reap
from reap import ConfidenceSet, Posterior
from reap.checks.worlds import random_matrices

pytestmark = [pytest.mark.long, pytest.mark.timeout(0)]

TIMES = int(os.environ.get("REAP_ATTACK", "1"))
SEED = int(os.environ.get("REAP_SEED", "0"))
LIMITS = (0.2, 1.0, 3.0)
#: Seconds by which a call may run over its limit.
SLACK = 1.0


class Watch:
    """Notes how long each call goes on after its limit."""

    def __init__(self):
        self.calls, self.over = 0, []

    def call(self, limit, do):
        begin = time.monotonic()
        result = do()
        over = time.monotonic() - begin - limit
        self.calls += 1
        if over > 0:
            self.over.append(over)
        return result

    def assert_in_time(self, what):
        assert self.over, "no call was long enough to be ended"
        print(
            f"{what}, seed {SEED}: {self.calls} calls, {len(self.over)} reached their limit and ended at most "
            f"{max(self.over):.2f} s after it"
        )
        assert max(self.over) <= SLACK


def answered(rng, answers, d, scale=0.5, *, contradictory=False):
    belief = ConfidenceSet(d)
    for _ in range(answers):
        a, b = scale * rng.normal(size=(2, d))
        belief.add(a, b)
        if contradictory:
            belief.add(1.01 * b, a)
    return belief


def test_contradictory_answers():
    """Twenty at 22 columns took more than 100 seconds."""
    rng, watch = np.random.default_rng(SEED), Watch()
    for _ in range(TIMES):
        for pairs in (7, 10, 20):
            for limit in LIMITS:
                belief = answered(rng, pairs, 22, contradictory=True)
                found = watch.call(
                    limit, lambda b=belief, t=limit, k=pairs: b.relaxed_center(k, time_limit=t)
                )
                assert found.radius <= found.bound
                watch.call(limit, lambda b=belief, t=limit: b.conflicts(time_limit=t))
    watch.assert_in_time("relaxed centres and conflicts, 14 to 40 contradictory answers, 22 columns")


def test_centres_of_many_columns():
    """A hundred tiny answers over 200 columns took more than 120 seconds."""
    rng, watch = np.random.default_rng(SEED), Watch()
    for _ in range(TIMES):
        for form in ("published", "chebyshev", "analytic"):
            for scale in (1e-6, 1e-3, 0.5):
                for limit in LIMITS:
                    belief = answered(rng, 100, 200, scale)
                    found = watch.call(limit, lambda b=belief, t=limit, f=form: b.center(f, time_limit=t))
                    assert belief.contains(found.matrix)
    watch.assert_in_time("centres, 100 answers, 200 columns")


def test_posteriors_of_many_columns():
    """Twenty answers over 200 columns took 87 seconds."""
    rng, watch = np.random.default_rng(SEED), Watch()
    belief = Posterior(200, random_state=SEED)
    for _ in range(20 * TIMES):
        watch.call(0.2, lambda: belief.update(*rng.normal(size=(2, 200))))
    assert np.isfinite(belief.mean).all()
    watch.assert_in_time("posteriors, answers over 200 columns")


@pytest.mark.parametrize("model", ["linear", "trees"])
@pytest.mark.parametrize("name", ["german", "heloc"])
def test_engines(load, name, model):
    data, watch = load(name), Watch()
    made = LogisticRegression(max_iter=2000) if model == "linear" else HistGradientBoostingClassifier()
    fitted = make_pipeline(data.space.encoder(), made).fit(data.X, data.y)
    refused = data.X[fitted.predict(data.X) == 0]
    kinds = [reap.Recourse, reap.GraphRecourse] + [reap.GradientRecourse] * (model == "linear")
    for kind in kinds:
        for limit in (0.01, 0.05, 0.2):
            engine = kind(fitted, data.space, time_limit=limit, random_state=SEED).fit(data.X)
            for i in range(2 * TIMES):
                x = refused.iloc[[(SEED + i) % len(refused)]]
                matrices = random_matrices(data.space.dimension, 33, SEED + i)
                watch.call(limit, lambda e=engine, x=x, m=matrices: e.plans(x, m))
    watch.assert_in_time(f"plans for 33 efforts, {name}, {model}")


def test_requests(serve, tmp_path, german, german_rejected):
    """Whatever people do, every request ends a second after the limit of the service; a cold start is the longest."""
    limit, over = 0.1, []  # the least that may be set
    service = serve(f"sqlite:///{tmp_path}/reap.db", starts=0, time_limit=limit)
    ended = 0
    with httpx.Client(base_url=service.url, timeout=60) as client:
        for i in range(20 * TIMES):
            row = german.space.values(german.space.vector(german_rejected.iloc[[i % len(german_rejected)]]))
            begin = time.monotonic()
            answer = client.post("/api/v1/sessions", json={"subject": row})
            over.append(time.monotonic() - begin - limit)
            assert answer.status_code in (201, 503)
            ended += answer.status_code == 503
    print(
        f"{len(over)} starts with a limit of {limit} s, seed {SEED}: {ended} were ended; "
        f"past the limit at most {max(over):.2f} s by the clock"
    )
    assert ended, "no start was long enough to be ended"
    assert max(over) <= SLACK
    assert list(service.store.faults()) == []

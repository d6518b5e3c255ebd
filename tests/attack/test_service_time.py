"""Time: whatever the model does, a request ends with a sentence, nothing of it is stored, and the service goes on."""

from __future__ import annotations

import asyncio
import contextlib
import copy
import multiprocessing
import threading
import time
from dataclasses import replace

import anyio
import pytest

from reap.models.classifier import Smooth
from reap.service.case import Case
from reap.service.patience import STUCK, Patience
from reap.service.settings import Settings
from tests.service.conftest import ADMIN, running

LIMIT = 0.5
#: Nothing runs past its limit by more than a second. A busy machine may be late by itself: one of a few tries must be in time.
IN_TIME, TRIES = LIMIT + 1.0, 4
#: Seconds by which a busy machine is late where there is one try only.
BUSY = 1.5


class Slow(Smooth):
    """A model that takes its time over every call, while it is told to."""

    def __init__(self, kernel):
        self.kernel, self.seconds, self.calls = kernel, 0.0, 0

    def _wait(self):
        self.calls += 1
        time.sleep(self.seconds)

    def logit(self, Z):
        self._wait()
        return self.kernel.logit(Z)

    def gradient(self, Z):
        self._wait()
        return self.kernel.gradient(Z)


@pytest.fixture
def slow(german, brief_engine, german_rejected, tmp_path):
    """A service whose model can be slowed down."""
    engine = copy.copy(brief_engine)
    model = Slow(engine.classifier_.kernel)
    engine.__dict__.update(
        {
            name: replace(value, kernel=model)
            for name, value in vars(engine).items()
            if value is engine.classifier_
        }
    )
    engine.acceptance_ = replace(engine.acceptance_, today=engine.classifier_)
    engine._forget()  # the search asks the slow one, too
    settings = Settings(
        database_url=f"sqlite:///{tmp_path}/reap.db", admin_key=ADMIN, rate=0, questions=5, time_limit=LIMIT
    )
    case = Case.of(engine, german.X, german_rejected)
    with running(case, settings) as service:
        yield service, model


def test_a_start_that_takes_too_long_ends_with_a_sentence(slow, row):
    service, model = slow
    model.seconds = 0.1
    answer, seconds = soonest(lambda: service.client.post("/api/v1/sessions", json={"subject": row}))
    assert seconds < IN_TIME
    assert answer.status_code == 503
    assert answer.headers["retry-after"]
    assert answer.json()["error"].startswith("This took longer than 0.5 seconds")
    assert not service.store.sessions()
    calls = model.calls
    time.sleep(0.5)
    assert model.calls == calls  # given up, not left computing


def test_an_act_that_takes_too_long_is_not_stored_and_may_be_said_again(slow, row):
    service, model = slow
    with patient(service):
        begun = service.start(row)
    token, before = begun["token"], len(service.events())
    wish = {"feature": "amount", "fixed": True, "key": "once"}  # what nobody has asked the model about yet
    model.seconds = 0.1
    answer, seconds = soonest(lambda: service.client.post(f"/api/v1/sessions/{token}/constraints", json=wish))
    assert seconds < IN_TIME
    assert answer.status_code == 503
    assert len(service.events()) == before
    model.seconds = 0.0
    with patient(service):
        again = service.client.post(f"/api/v1/sessions/{token}/constraints", json=wish)
        assert again.status_code == 200
        assert [e.key for e in service.events("constrained")] == ["once"]


def test_a_model_that_does_not_come_back_keeps_nobody_waiting(slow, row):
    service, model = slow
    model.seconds = 3.0
    begin = time.monotonic()
    answer = service.client.post("/api/v1/sessions", json={"subject": row})
    assert time.monotonic() - begin < IN_TIME + BUSY  # a second try would wait for the first
    assert answer.status_code == 503
    assert service.client.get("/healthz").status_code == 200
    assert service.client.get("/readyz").status_code == 503  # somebody should look at this worker
    # Others wait for their turn, and leave when their own time is over.
    waiting = [
        threading.Thread(
            target=service.client.post, args=("/api/v1/sessions",), kwargs={"json": {"subject": row}}
        )
        for _ in range(3)
    ]
    for thread in waiting:
        thread.start()
    for thread in waiting:
        thread.join(timeout=IN_TIME + BUSY)
        assert not thread.is_alive()
    model.seconds = 0.0
    ready = wait_for(lambda: service.client.get("/readyz").status_code == 200)
    assert ready
    assert not service.store.sessions()
    with patient(service):
        assert service.start(row)["token"]


def soonest(ask):
    """Return the answer to a request that is not stored, and the fewest seconds that it took in a few tries."""
    taken = []
    for _ in range(TRIES):
        begin = time.monotonic()
        answer = ask()
        taken.append(time.monotonic() - begin)
        if taken[-1] < IN_TIME:
            break
    return answer, min(taken)


@contextlib.contextmanager
def patient(service):
    """Give the service all the time it needs on a busy machine."""
    desk, patience = service.app.state.desk, service.app.state.patience
    before = desk.settings
    desk.settings, patience.limit = before.model_copy(update={"time_limit": 60.0}), 60.0
    try:
        yield
    finally:
        desk.settings, patience.limit = before, LIMIT


def wait_for(true, seconds=20.0):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if true():
            return True
        time.sleep(0.05)
    return False


def never_ends():
    """A worker with an application that does not come back; ends by itself, or not at all."""

    async def hang(scope, receive, send):
        await anyio.to_thread.run_sync(time.sleep, 600)  # as the framework runs what we compute

    async def visit():
        sent = []

        async def send(message):
            sent.append(message)

        scope = {
            "type": "http",
            "method": "GET",
            "path": "/api/v1/schema",
            "headers": [],
            "query_string": b"",
        }
        await Patience(0.2).answer(hang, scope, None, send)
        assert sent[0]["status"] == 503
        await asyncio.sleep(600)

    asyncio.run(visit())


def test_a_worker_whose_computation_never_ends_gives_itself_up():
    """The supervisor replaces whoever ends."""
    worker = multiprocessing.get_context("spawn").Process(target=never_ends)
    worker.start()
    worker.join(120)
    assert worker.exitcode == STUCK


def test_who_waits_for_a_thread_in_vain_is_no_computation_that_does_not_end():
    """Workers in which people waited for twice the limit gave themselves up, with everybody else in them."""

    async def visit():
        threads, sent = anyio.CapacityLimiter(1), []
        await threads.acquire_on_behalf_of("somebody else")

        async def wait(scope, receive, send):
            await anyio.to_thread.run_sync(time.sleep, 0, limiter=threads)

        async def send(message):
            sent.append(message)

        scope = {"type": "http", "method": "POST", "path": "/api/v1", "headers": [], "query_string": b""}
        patience = Patience(0.2)
        await patience.answer(wait, scope, None, send)
        assert sent[0]["status"] == 503
        await asyncio.sleep(0.1)
        assert not patience.stuck

    asyncio.run(visit())

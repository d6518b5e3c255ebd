"""Promises: nobody is told that nothing was stored while something is, whatever fails after, and at whatever moment.

Every test lets something go wrong at one place after, or just before, what a person said is committed. In the last one delays
come at random; ``REAP_ATTACK=20`` makes it 20 times as long.
"""

from __future__ import annotations

import os
import random
import secrets
import sqlite3
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest
import sqlalchemy as sa

from reap._clock import LateError
from reap.elicitation import Elicitation
from reap.service import acts, receipts, views
from reap.service.database import UnavailableError
from reap.service.desk import Desk
from reap.service.live import Live
from reap.service.patience import MARGIN, MORE
from reap.service.settings import Settings
from reap.service.store import Store
from tests.service.conftest import ADMIN, running
from tests.service.people import form_of

TIMES = int(os.environ.get("REAP_ATTACK", "1"))
SEED = int(os.environ.get("REAP_SEED", "0"))
#: Enough for every computation of these tests, also on a busy machine.
LIMIT = 3.0
#: Seconds after which a request is answered, whatever is computed.
LAST = LIMIT + MARGIN + MORE


@pytest.fixture
def url(tmp_path):
    return f"sqlite:///{tmp_path}/reap.db"


@pytest.fixture
def service(case, url):
    """A service that has all the time it needs, until somebody hurries."""
    settings = Settings(database_url=url, admin_key=ADMIN, rate=0, starts=0, questions=5, time_limit=300)
    with running(case, settings) as made:
        yield made


@pytest.fixture
def begun(service, quick):
    return service.start(quick)


def hurry(service, limit=LIMIT):
    """Give every request so many seconds from now on."""
    desk = service.app.state.desk
    desk.settings = desk.settings.model_copy(update={"time_limit": limit})
    service.app.state.patience.limit = limit


def after_storing(monkeypatch, kind, happen):
    """Let something happen right after an event of a type is committed, once."""
    write, waiting = Store.append_all, [happen]

    def stored(self, kept, place, said, *rest):
        entries = write(self, kept, place, said, *rest)
        if waiting and kind in dict(said):
            waiting.pop()()
        return entries

    monkeypatch.setattr(Store, "append_all", stored)


def keys(service):
    return {event.key for event in service.events() if event.key is not None}


def told(answer, stored):
    """Whether an answer is the sentence for what became of the request: stored, not stored, or not known."""
    assert answer.status_code == 503, answer.text
    assert answer.headers["retry-after"]
    assert answer.json()["stored"] is stored
    assert ("nothing of it was stored" in answer.json()["error"]) is (stored is False)
    return True


# too late -----------------------------------------------------------------------------------------------


def test_who_waited_for_a_thread_until_it_was_too_late_has_said_nothing(service, begun, monkeypatch):
    """The clock began when a thread was found, and the person had been told long before that."""
    free, taken = threading.Event(), threading.Semaphore(0)

    def occupy(self, token):
        taken.release()
        free.wait(60)

    monkeypatch.setattr(Desk, "log", occupy)
    here = f"{service.url}/api/v1/sessions/{begun['token']}/export"
    with ThreadPoolExecutor(40) as pool:  # as many as there are threads
        for _ in range(40):
            pool.submit(httpx.get, here, timeout=60)
        for _ in range(40):
            assert taken.acquire(timeout=60)
        hurry(service, 0.5)
        answer = service.answer(begun["token"], begun["state"], key="late")
        hurry(service, 60)  # for whoever would still compute it
        free.set()
    assert told(answer, stored=False)
    time.sleep(1.0)  # it could have been stored meanwhile
    assert "late" not in keys(service)


def test_who_waited_for_the_database_until_it_was_too_late_has_said_nothing(service, begun, tmp_path):
    """It looked at the clock before it wrote, and then waited for another one that was writing."""
    hurry(service)
    other = sqlite3.connect(tmp_path / "reap.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    try:
        answer = service.answer(begun["token"], begun["state"], key="late")
    finally:
        other.execute("ROLLBACK")
        other.close()
    assert told(answer, stored=False)
    time.sleep(1.0)  # the write lock is free now
    assert "late" not in keys(service)
    hurry(service, 300)
    again = service.answer(begun["token"], begun["state"], key="late")
    assert again.status_code == 200


def test_what_is_stored_in_time_is_answered_though_the_limit_passes(service, begun, quick, monkeypatch):
    """The new situation has to be scored yet, and the model looks at the clock."""
    hurry(service)

    def pass_the_limit():
        time.sleep(max(0.0, receipts.current().came + LIMIT + 0.05 - time.monotonic()))

    after_storing(monkeypatch, "replanned", pass_the_limit)
    moved = {"subject": {**quick, "duration": quick["duration"] + 1}, "key": "moved"}
    answer = service.client.post(f"/api/v1/sessions/{begun['token']}/situation", json=moved)
    assert answer.status_code == 200, answer.text
    assert "moved" in keys(service)


def test_who_cannot_be_shown_what_follows_is_told_that_it_is_stored(service, begun, monkeypatch):
    hurry(service)
    after_storing(monkeypatch, "answered", lambda: time.sleep(LAST + 0.5))
    answer = service.answer(begun["token"], begun["state"], key="slow")
    assert told(answer, stored=True)
    assert "slow" in keys(service)
    hurry(service, 300)
    again = service.answer(begun["token"], begun["state"], key="slow")
    assert again.status_code == 200
    assert [event.key for event in service.events("answered")] == ["slow"]


def test_a_page_that_cannot_be_shown_leads_back_to_the_session(service, begun, monkeypatch):
    after_storing(monkeypatch, "answered", lambda: time.sleep(LAST + 0.5))
    here = f"/s/{begun['token']}"
    form = form_of(service.client.get(f"{here}/questions").text, "answer")
    hurry(service)
    answer = service.client.post(f"{here}/answer", data={**form, "choice": "0"})
    assert (answer.status_code, answer.headers["location"]) == (303, f"{here}?note=stored")
    assert "What you sent is stored." in service.client.get(answer.headers["location"]).text
    assert form["key"] in keys(service)


def test_a_start_that_cannot_be_shown_is_not_told_that_nothing_was_stored(service, quick, monkeypatch):
    def late(desk, live):
        raise LateError

    monkeypatch.setattr(views, "state", late)
    answer = service.client.post("/api/v1/sessions", json={"subject": quick})
    assert told(answer, stored=True)
    assert len(service.store.sessions()) == 1


def test_who_deleted_everything_is_told_so_though_it_takes_long(service, begun, monkeypatch):
    hurry(service)
    monkeypatch.setattr(Store, "_wipe", lambda self: time.sleep(LAST + 0.5))
    assert service.client.delete(f"/api/v1/sessions/{begun['token']}").status_code == 204
    assert service.store.sessions() == []


def test_an_undo_after_which_nothing_can_be_computed_in_time_is_stored(service, begun, monkeypatch):
    here = f"/api/v1/sessions/{begun['token']}"
    assert service.answer(begun["token"], begun["state"]).status_code == 200

    def late(*given, **named):
        raise LateError

    with monkeypatch.context() as patch:
        patch.setattr(Live, "imagine", late)
        patch.setattr(Live, "absorb", late)
        assert told(service.client.delete(f"{here}/answers/last", params={"key": "undo"}), stored=True)
    assert "undo" in keys(service)
    assert service.client.delete(f"{here}/answers/last", params={"key": "undo"}).status_code == 200


# other faults -------------------------------------------------------------------------------------------


def fail(error):
    raise error


@pytest.mark.parametrize("error", [UnavailableError("gone"), RuntimeError("a bug"), LateError()], ids=repr)
def test_a_fault_after_storing_is_not_told_as_if_nothing_were_stored(service, begun, monkeypatch, error):
    """The next question cannot be written down, say."""
    after_storing(monkeypatch, "answered", lambda: fail(error))
    answer = service.answer(begun["token"], begun["state"], key="k")
    assert told(answer, stored=True)
    again = service.answer(begun["token"], begun["state"], key="k")
    assert again.status_code == 200
    assert [event.key for event in service.events("answered")] == ["k"]


def test_a_commit_whose_success_nobody_hears_of_is_not_told_as_a_failure(service, begun, monkeypatch):
    """The connection broke after the database had committed: what is true is in the database alone."""
    commit, broken = sa.Connection.commit, []

    def unheard(self):
        commit(self)
        if not broken:
            broken.append(True)
            raise sa.exc.OperationalError("COMMIT", {}, OSError("connection lost"))

    monkeypatch.setattr(sa.Connection, "commit", unheard)
    answer = service.answer(begun["token"], begun["state"], key="k")
    assert broken
    assert told(answer, stored=None)
    assert "whether what you sent is stored" in answer.json()["error"]
    assert service.answer(begun["token"], begun["state"], key="k").status_code == 200
    assert [event.key for event in service.events("answered")] == ["k"]


def test_who_repeats_what_was_stored_is_never_told_that_nothing_is(service, begun, case, url, monkeypatch):
    """The connection broke after the answer was stored by another worker, and this one has no time left to read the log."""
    there = Store(url)
    there.prepare()
    desk = Desk(case, there, service.app.state.settings)
    with desk.open(begun["token"], key="k") as live:
        question = live.session.ask()
        acts.answer(desk, live, question=question.id, revision=live.revision, choice="left", key="k")
    there.engine.dispose()

    def late(*given, **named):
        raise LateError

    with monkeypatch.context() as patch:
        patch.setattr(Live, "absorb", late)
        answer = service.answer(begun["token"], begun["state"], key="k")
        assert told(answer, stored=None)
        assert "is stored" in answer.json()["error"]
    assert service.answer(begun["token"], begun["state"], key="k").status_code == 200
    assert [event.key for event in service.events("answered")] == ["k"]


def test_who_waits_for_the_same_request_in_vain_is_not_told_that_nothing_is_stored(service, begun):
    """Sent again while the first is under way; the first was stored and still holds the session."""
    desk = service.app.state.desk
    stored, over = threading.Event(), threading.Event()

    def first():
        with desk.open(begun["token"], key="k") as live:
            question = live.session.ask()
            acts.answer(desk, live, question=question.id, revision=live.revision, choice="left", key="k")
            stored.set()
            over.wait(60)

    thread = threading.Thread(target=first)
    thread.start()
    try:
        assert stored.wait(60)
        hurry(service, 1.0)
        answer = service.answer(begun["token"], begun["state"], key="k")
    finally:
        over.set()
        thread.join()
    assert told(answer, stored=None)


# two events of one request ------------------------------------------------------------------------------


def cannot(monkeypatch, kind):
    """Let the engine fail on every event of a type."""
    act = Elicitation._act

    def broken(self, event):
        if event.type == kind:
            raise ArithmeticError("singular matrix")
        act(self, event)

    monkeypatch.setattr(Elicitation, "_act", broken)


def test_a_wish_that_lifts_another_is_stored_whole_or_not_at_all(service, begun, quick, monkeypatch):
    here = f"/s/{begun['token']}"
    limit = {"feature": "amount", "at_most": quick["amount"] - 1, "key": "first"}
    assert (
        service.client.post(f"/api/v1{here.replace('/s/', '/sessions/')}/constraints", json=limit).status_code
        == 200
    )
    form = form_of(service.client.get(f"{here}/wishes").text, "wishes")
    wider = {**form, "feature": "amount", "at_most": str(quick["amount"]), "fixed": "", "at_least": ""}
    with monkeypatch.context() as patch:
        cannot(patch, "constrained")
        answer = service.client.post(f"{here}/wishes", data=wider)
        assert answer.status_code == 500
        assert "it was not stored" in answer.text
    assert service.events("released") == []
    assert service.client.post(f"{here}/wishes", data=wider).status_code == 303
    assert [e.type for e in service.events()][-3:] == ["released", "constrained", "asked"]
    assert list(service.store.faults()) == []


def test_what_is_done_is_noted_with_where_it_leads_or_not_at_all(service, begun, monkeypatch):
    here = f"/api/v1/sessions/{begun['token']}"
    plan = service.client.get(f"{here}/plan").json()
    assert service.client.post(f"{here}/choice", json={"plan": plan["id"]}).status_code == 200
    done = {"done": [plan["changes"][0]["feature"]], "key": "done"}
    with monkeypatch.context() as patch:
        cannot(patch, "replanned")
        assert service.client.post(f"{here}/done", json=done).status_code == 500
    assert service.events("reported") == []
    for _ in range(2):
        assert service.client.post(f"{here}/done", json=done).status_code == 200
    assert len(service.events("reported")) == len(service.events("replanned")) == 1


# at any moment ------------------------------------------------------------------------------------------


def test_delays_at_any_moment_break_no_promise(case, url, quick, monkeypatch):
    """Before and after the commit everything may take too long; what people are told is counted in the database."""
    limit, people, acts_each = 1.0, 6, 8 * TIMES
    rng, lock = random.Random(SEED), threading.Lock()

    def delayed(owner, name, before, after):
        """Let a function take long before or after what it does, as often as this."""
        do = getattr(owner, name)

        def slowly(*given):
            with lock:
                waits = [
                    rng.uniform(0.5, 1) * (limit + MARGIN + MORE) * (rng.random() < often)
                    for often in (before, after)
                ]
            time.sleep(waits[0])
            made = do(*given)
            time.sleep(waits[1])
            return made

        monkeypatch.setattr(owner, name, slowly)

    settings = Settings(database_url=url, admin_key=ADMIN, rate=0, starts=0, questions=30, time_limit=60)
    with running(case, settings) as service:
        begun = [service.start(quick, seed=i, questions=30) for i in range(people)]
        delayed(Store, "append_all", 0.25, 0.1)
        delayed(sa.Connection, "commit", 0.02, 0.02)
        delayed(views, "state", 0.1, 0.1)
        hurry(service, limit)

        def person(k):
            mine, seen = random.Random(f"{SEED}-{k}"), []
            here = f"/api/v1/sessions/{begun[k]['token']}"
            for _ in range(acts_each):
                key = secrets.token_hex(8)
                wish = {"feature": "amount", "difficulty": mine.randint(1, 5), "key": key}
                answer = service.client.post(f"{here}/constraints", json=wish)
                seen.append((key, answer.status_code, answer.json().get("stored", True)))
                if answer.status_code == 503:
                    time.sleep(limit)  # until the session is free again
            return seen

        with ThreadPoolExecutor(people) as pool:
            seen = [each for found in pool.map(person, range(people)) for each in found]
        monkeypatch.undo()
        end = time.monotonic() + 30
        while service.app.state.patience.stuck and time.monotonic() < end:
            time.sleep(0.05)
        stored = keys(service)
        counted = Counter((status, said, key in stored) for key, status, said in seen)
        print(
            f"{len(seen)} acts with delays at any moment, seed {SEED}: (status, told, stored) {dict(counted)}"
        )
        broken = [kind for kind in counted if kind[1] is not None and kind[1] is not kind[2]]
        assert not broken, counted
        assert {status for status, _, _ in counted} == {200, 503}
        for kind in ((200, True, True), (503, True, True), (503, False, False)):
            assert counted[kind], counted  # else nothing was tried
        assert list(service.store.faults()) == []

"""Survives a crash: SIGKILL after every single commit, and the session goes on at the same question."""

from __future__ import annotations

import contextlib
import json
import multiprocessing
import pickle
import signal
import socket

import httpx
import pytest

from reap.cli import main
from reap.elicitation import Elicitation, in_force
from reap.models.files import save_model
from reap.service.case import Case
from reap.service.desk import Desk
from reap.service.settings import Settings
from reap.service.store import Store

from . import crashing
from .conftest import ADMIN
from .serving import start, stop

#: What the person does, in order; each is one request, repeated until it is answered.
SCRIPT = ["left", "neither", "undo", "right", "wish", "plan", "same", "plan"]


@pytest.fixture(scope="module")
def processes():
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(
        ["tests.service.crashing", "sklearn.linear_model", "reap.recourse.recourse"]
    )
    return context


@contextlib.contextmanager
def server(processes, file, settings, commits):
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen(32)
    child = processes.Process(target=crashing.serve, args=(file, settings, listener, commits), daemon=True)
    child.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}", child
    finally:
        if child.is_alive():
            child.kill()
        child.join()
        listener.close()


def act(client, token, step, number, sent):
    """Make one request of the script, the same as before where it is made again; raises where the server dies on the way."""
    here = f"/api/v1/sessions/{token}"
    if step == "plan":
        return client.get(f"{here}/plan")
    if step == "undo":
        return client.delete(f"{here}/answers/last", params={"key": f"step-{number}"})
    if step == "wish":
        wish = {"feature": "amount", "at_most": 9000, "key": f"step-{number}"}
        return client.post(f"{here}/constraints", json=wish)
    if number not in sent:
        state = client.get(here).json()
        sent[number] = {"question": state["question"]["id"], "revision": state["revision"], "choice": step}
        if step == "neither":
            sent[number]["impossible"] = [state["question"]["could_be_impossible"][0]["feature"]]
    return client.post(f"{here}/answers", json={**sent[number], "key": f"step-{number}"})


def play(url, token, done=0, sent=None):
    """Go through the script from one step on; return how far it came. What was sent is kept, to send it again."""
    sent = {} if sent is None else sent
    with httpx.Client(base_url=url, timeout=60) as client:
        for number in range(done, len(SCRIPT)):
            try:
                answer = act(client, token, SCRIPT[number], number, sent)
            except httpx.TransportError:
                return number
            assert answer.status_code == 200, answer.text
    return len(SCRIPT)


def told(store):
    """The log without times and hashes: what happened. (The last bit of a score depends on what is scored with it.)"""
    (kept,) = store.sessions()

    def read(text):
        return json.loads(text, parse_float=lambda digits: round(float(digits), 12))

    return [(e.revision, e.type, read(e.text), e.key) for e in store.events(kept.id)]


def ready(case, url, row):
    store = Store(url)
    store.prepare()
    token = Desk(case, store, Settings(questions=4)).start(case.engine.space.vector(row))
    return store, token


@pytest.mark.slow
def test_kill_9_after_a_commit_and_the_log_ends_the_same(processes, case, row, tmp_path):
    """In the middle; ``make test-long`` kills after every single commit."""
    assert_outlives_kills(processes, case, row, tmp_path, lambda commits: [commits // 2])


@pytest.mark.long
def test_kill_9_after_every_commit_and_the_log_ends_the_same(processes, case, row, tmp_path):
    assert_outlives_kills(processes, case, row, tmp_path, lambda commits: range(1, commits + 1))


def assert_outlives_kills(processes, case, row, tmp_path, when):
    """Go through the script, killed after some number of the commits that it makes, and then to its end."""
    file = tmp_path / "case"
    file.write_bytes(pickle.dumps(case))

    def settings(name):
        return Settings(database_url=f"sqlite:///{tmp_path}/{name}.db", admin_key=ADMIN, rate=0, questions=4)

    whole, token = ready(case, settings("whole").database_url, row)
    with server(processes, file, settings("whole"), None) as (url, _):
        assert play(url, token) == len(SCRIPT)
    wanted = told(whole)
    assert len(wanted) > 12
    begun = 2  # the start and its first question are there before the server
    ends = [  # of the commits: a question is stored with what it follows
        place
        for place in range(begun + 1, len(wanted) + 1)
        if place == len(wanted) or wanted[place][1] != "asked"
    ]
    for commits in when(len(ends)):
        here = settings(f"crash-{commits}")
        store, token = ready(case, here.database_url, row)
        with server(processes, file, here, commits) as (url, child):
            sent = {}
            done = play(url, token, sent=sent)
            child.join(30)
            assert child.exitcode == -signal.SIGKILL
        assert told(store) == wanted[: ends[commits - 1]]
        assert list(store.faults()) == []
        (kept,) = store.sessions()
        before = Elicitation.of([entry.event for entry in in_force(store.events(kept.id))], case.engine)
        with server(processes, file, here, None) as (url, _):
            state = httpx.get(f"{url}/api/v1/sessions/{token}", timeout=60).json()
            question = before.ask()  # the one in the log, or as asked anew from it
            assert (state["question"] or {"id": None})["id"] == (None if question is None else question.id)
            assert play(url, token, done, sent) == len(SCRIPT)
        assert told(store) == wanted
        assert list(store.faults()) == []
        store.engine.dispose()
    whole.engine.dispose()


@pytest.mark.slow
def test_reap_serve_is_killed_restarted_inspected_and_stopped(german_model, row, tmp_path, capsys):
    save_model(german_model, tmp_path / "model.skops")
    process, url = start(tmp_path)
    try:
        started = httpx.post(f"{url}/api/v1/sessions", json={"subject": row}, timeout=60).json()
        token, state = started["token"], started["state"]
        body = {
            "question": state["question"]["id"],
            "revision": state["revision"],
            "choice": "left",
            "key": "k",
        }
        seen = httpx.post(f"{url}/api/v1/sessions/{token}/answers", json=body, timeout=60).json()
    finally:
        assert stop(process, signal.SIGKILL) == -signal.SIGKILL
    process, url = start(tmp_path)
    try:
        assert httpx.get(f"{url}/api/v1/sessions/{token}", timeout=60).json() == seen["state"]
        again = httpx.post(f"{url}/api/v1/sessions/{token}/answers", json=body, timeout=60).json()
        assert again == seen
        httpx.get(f"{url}/api/v1/sessions/{token}/plan", timeout=60)
    finally:
        # one worker is the process itself, which hands the signal on once it has answered everybody
        assert stop(process) == -signal.SIGTERM
    logs = "".join(path.read_text() for path in tmp_path.glob("log-*"))
    assert '"route": "/api/v1/sessions/{token}/answers"' in logs
    assert '"event": "stopped"' in logs
    assert token not in logs

    def command(*given, code=0):
        with pytest.raises(SystemExit) as ended:
            main([*given, "--database", f"sqlite:///{tmp_path}/reap.db"])
        assert ended.value.code == code
        return capsys.readouterr().out

    assert "Sessions" in command("sessions")
    assert command("verify").startswith("1 session, 5 events: every chain is whole and signed.\n")
    assert command("export", "--format", "csv").count("\n") == 2
    exported = json.loads(command("export"))["events"]
    assert [event["type"] for event in exported] == ["started", "asked", "answered", "asked", "recommended"]
    store = Store(f"sqlite:///{tmp_path}/reap.db")
    with store.engine.connect() as connection:
        connection.exec_driver_sql("UPDATE events SET text = '{}' WHERE revision = 2")
    store.engine.dispose()
    assert "event 2 was changed" in command("verify", code=1)
    (kept,) = store.sessions()
    assert kept.id in command("sessions")
    assert "Removed" in command("sessions", "--delete", kept.id)
    assert command("verify").startswith("0 sessions, 0 events: every chain is whole and signed.\n")


@pytest.mark.slow
def test_several_workers_share_one_postgresql(german_model, postgres, row, tmp_path):
    save_model(german_model, tmp_path / "model.skops")
    database = postgres.new()
    process, url = start(tmp_path, "--database", database, workers=2)
    try:
        started = httpx.post(f"{url}/api/v1/sessions", json={"subject": row}, timeout=60).json()
        token, state = started["token"], started["state"]
        turn = 0
        while (
            state["question"] is not None
        ):  # each request on a connection of its own, so that either worker may take it
            body = {"question": state["question"]["id"], "revision": state["revision"], "choice": turn % 2}
            sent = httpx.post(
                f"{url}/api/v1/sessions/{token}/answers", json={**body, "key": f"k{turn}"}, timeout=60
            )
            state = sent.json()["state"]
            assert httpx.get(f"{url}/api/v1/sessions/{token}", timeout=60).json() == state
            turn += 1
        assert turn >= 3
        plans = [httpx.get(f"{url}/api/v1/sessions/{token}/plan", timeout=60).json() for _ in range(4)]
        assert all(plan == plans[0] for plan in plans)
        counted = httpx.get(f"{url}/metrics").text
        assert 'route="/api/v1/sessions/{token}/answers",status="200"} ' + f"{turn}.0" in counted
    finally:
        assert stop(process) == 0  # the supervisor of several ends by itself
    store = Store(database)
    store.prepare()
    assert list(store.faults()) == []
    assert [e.type for kept in store.sessions() for e in store.events(kept.id)].count("answered") == turn
    store.engine.dispose()


def test_a_session_of_another_model_is_not_continued_but_can_be_taken_along(
    serve, tmp_path, row, german, case
):
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    import reap as library

    from .conftest import running

    url = f"sqlite:///{tmp_path}/reap.db"
    service = serve(url)
    token = service.start(row)["token"]
    other = make_pipeline(german.space.encoder(), LogisticRegression(C=0.01, max_iter=1000)).fit(
        german.X, german.y
    )
    engine = library.Recourse(other, german.space).fit(german.X)
    changed = Case.of(engine, german.X, german.X.iloc[:0])
    assert changed.model != case.model
    with running(changed, Settings(database_url=url)) as later:
        refused = later.client.get(f"/api/v1/sessions/{token}")
        assert refused.status_code == 409
        assert "replaced" in refused.json()["error"]
        assert later.client.get(f"/api/v1/sessions/{token}/export").status_code == 200
        assert later.client.delete(f"/api/v1/sessions/{token}").status_code == 204

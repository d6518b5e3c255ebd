"""The service and its network: answers that wait, workers that die, connections that say nothing."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
import time

import httpx
import pytest
import uvicorn

from reap import InputError
from reap.models.files import save_model
from reap.service import guards
from reap.service.app import create_app, listen, run, usual_workers
from reap.service.settings import Settings
from tests.service.serving import start, stop

#: Python runs this before anything else: the first two workers of a service die while they are still starting.
DEADLY = """
import os, signal, sys, threading, time
if any("spawn_main" in word for word in sys.orig_argv):
    def die():
        time.sleep(1.2)
        os.kill(os.getpid(), signal.SIGKILL)
    for death in {deaths!r}:
        try:
            os.remove(death)
        except FileNotFoundError:
            continue
        threading.Thread(target=die, daemon=True).start()
        break
"""


def test_a_worker_that_dies_while_it_starts_is_replaced_and_keeps_nobody_waiting(german_model, tmp_path):
    """The supervisor had sent it a message and waited two minutes for the reply of a dead process."""
    save_model(german_model, tmp_path / "model.skops")
    site, deaths = tmp_path / "site", [tmp_path / "death-1", tmp_path / "death-2"]
    site.mkdir()
    for death in deaths:
        death.touch()
    (site / "sitecustomize.py").write_text(DEADLY.format(deaths=[str(death) for death in deaths]))
    path = os.pathsep.join([str(site), os.environ.get("PYTHONPATH", "")])
    process, url = start(tmp_path, workers=2, PYTHONPATH=path)  # returns once two workers are up
    try:
        assert not any(death.exists() for death in deaths)
        assert httpx.get(f"{url}/readyz").status_code == 200
    finally:
        stop(process)


@pytest.mark.parametrize("workers", [1, 2])
def test_a_database_that_cannot_be_reached_is_said_in_a_sentence_at_the_start(case, workers):
    with pytest.raises(InputError, match="the database cannot be reached or written"):
        run(
            case,
            Settings(database_url="sqlite:////nowhere/reap.db"),
            host="127.0.0.1",
            port=0,
            workers=workers,
        )


@pytest.mark.parametrize(("cores", "workers"), [(1, 1), (2, 2), (64, 4)])
def test_there_is_a_worker_for_each_core_but_no_more_than_four(monkeypatch, cores, workers):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(cores)))
    assert usual_workers(Settings(database_url="sqlite:///reap.db")) == workers
    assert usual_workers(Settings(database_url="sqlite://")) == 1  # a database in memory is one process's own


@pytest.mark.parametrize(("workers", "said"), [(0, "give at least 1"), (2, "cannot be shared")])
def test_a_number_of_workers_that_cannot_be_is_refused(case, workers, said):
    with pytest.raises(InputError, match=said):
        run(case, Settings(database_url="sqlite://"), host="127.0.0.1", port=0, workers=workers)


# slow connections ----------------------------------------------------------------------------------------


@pytest.fixture
def impatient(case, monkeypatch):
    """A service that waits half a second for a request and holds 20 connections."""
    monkeypatch.setattr(guards, "ARRIVAL", 0.5)
    monkeypatch.setattr(guards, "most_connections", lambda: 20)
    app = create_app(case, Settings(database_url="sqlite://", rate=0))
    with listen("127.0.0.1", 0) as listener:
        server = uvicorn.Server(
            uvicorn.Config(
                app, log_level="critical", ws="none", http=guards.Connection, timeout_keep_alive=75
            )
        )
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        while not server.started and thread.is_alive():
            time.sleep(0.01)
        yield listener.getsockname()
        server.should_exit = True
        thread.join()


def last_words(connection):
    """What the service says before it hangs up; a test that waits for ever fails by the timeout."""
    connection.settimeout(30)
    said = b""
    while part := connection.recv(4096):
        said += part
    return said


def healthy(connection, request):
    """Whether a request on this connection is answered, read to the end of its body."""
    connection.sendall(request)
    said = b""
    while not said.endswith(b'{"status":"ok"}') and (part := connection.recv(4096)):
        said += part
    return said.startswith(b"HTTP/1.1 200")


HEAD = (
    b"POST /api/v1/sessions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 900\r\n"
)


@pytest.mark.parametrize(
    ("sent", "answer"),
    [(b"", b""), (b"GET /healthz HTTP/1.1\r\nHost:", b""), (HEAD + b"\r\n{", b"HTTP/1.1 408 ")],
    ids=["nothing", "half a head", "half a body"],
)
def test_a_client_that_says_half_of_a_request_is_left(impatient, sent, answer):
    with socket.create_connection(impatient) as connection:
        connection.sendall(sent)
        assert last_words(connection)[: len(answer) or None] == answer


def test_half_of_a_second_request_is_left_too_and_a_silent_client_keeps_its_connection(impatient):
    get = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"
    with socket.create_connection(impatient) as slow, socket.create_connection(impatient) as kept:
        for connection in (slow, kept):
            assert healthy(connection, get)
        slow.sendall(get[:20])
        assert b"200 OK" not in last_words(slow)
        assert healthy(kept, get)


def test_more_connections_than_a_worker_can_hold_are_closed_at_once_and_idle_ones_make_room(impatient):
    waiting = [socket.create_connection(impatient) for _ in range(60)]
    try:
        assert {last_words(connection) for connection in waiting} == {b""}
        assert httpx.get(f"http://127.0.0.1:{impatient[1]}/healthz").status_code == 200
    finally:
        for connection in waiting:
            connection.close()


#: What asyncio says when there are no files left, with a traceback; in a process of its own, as loggers are global.
SPEAK = """
import logging, logging.config
from reap.service.app import LOGGING
logging.config.dictConfig(LOGGING)
try:
    raise OSError("Too many open files")
except OSError:
    logging.getLogger("asyncio").exception("socket.accept() out of system resource")
"""


def test_a_log_of_any_library_is_one_json_object_a_line():
    """It was 107 MB of tracebacks."""
    said = subprocess.run([sys.executable, "-c", SPEAK], capture_output=True, text=True, check=True).stderr
    (line,) = said.splitlines()
    assert json.loads(line)["error"] == "OSError"


# looking after the service -------------------------------------------------------------------------------


def test_newcomers_are_served_as_they_come_and_health_is_told_while_they_wait(
    service, row, case, monkeypatch
):
    """/healthz took six seconds behind a hundred starts."""
    go, plans = threading.Event(), type(case.engine).plans

    def slow(self, *given, **named):
        assert go.wait(60)
        return plans(self, *given, **named)

    monkeypatch.setattr(type(case.engine), "plans", slow)
    threads = [threading.Thread(target=service.start, args=(row,), kwargs={"seed": i}) for i in range(50)]
    try:
        for thread in threads:  # more of them than there are threads for requests
            thread.start()
            time.sleep(0.05)
        for path in ("/healthz", "/readyz"):
            assert httpx.get(service.url + path, timeout=20).status_code == 200
        assert all(thread.is_alive() for thread in threads)
    finally:
        go.set()
        for thread in threads:
            thread.join()
    begun = sorted(service.events("started"), key=lambda event: event.created)
    served = [event.payload["settings"]["random_state"] for event in begun]
    assert served[:40] == list(range(40))  # the client itself holds no more connections than that

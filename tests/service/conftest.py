"""Real servers for the tests: our service over HTTP, PostgreSQL, Chromium. Everything started here is stopped here."""

from __future__ import annotations

import contextlib
import secrets
import shutil
import socket
import threading
import time
from dataclasses import dataclass

import httpx
import pytest
import uvicorn

import reap
from reap.service.app import create_app
from reap.service.case import Case
from reap.service.settings import Settings

from .postgresql import Cluster, NotInstalledError

ADMIN = "the-admin-key"


@pytest.fixture(scope="session")
def brief_engine(german, german_model):
    """The engine for people with plans of two changes at most: a tenth of the work of an answer, for tests of all around it."""
    return reap.Recourse(german_model, german.space, max_changes=2).fit(german.X)


@pytest.fixture(scope="session")
def case(german, brief_engine, german_rejected):
    return Case.of(brief_engine, german.X, german_rejected)


@pytest.fixture(scope="session")
def row(german, german_rejected):
    """The rejected applicant of the tests, as JSON."""
    return german.space.values(german.space.vector(german_rejected.iloc[[0]]))


#: Answers that tests give one after the other.
SAID = ((0, 1, "same", 0, 0), (0,) * 5, (1,) * 5)


def _asked(engine, person, said):
    """How many questions somebody is asked who skips the screening and answers so."""
    session = engine.elicit(person, questions=5)
    session.ask()  # as a page does before it asks what could change
    session.screen(None)
    count = 0
    for choice in said:
        if session.ask() is None:
            break
        session.answer(choice)
        count += 1
    return count


@pytest.fixture(scope="session")
def talkative(german, brief_engine, german_rejected):
    """The places of six rejected people who are asked four questions or more; near the boundary one plan is best for all."""
    places = []
    for i in range(len(german_rejected)):
        if all(_asked(brief_engine, german_rejected.iloc[[i]], said) >= 4 for said in SAID):
            places.append(i)
        if len(places) == 6:
            return places
    raise AssertionError("fewer than six of the rejected people are asked four questions")


# databases ----------------------------------------------------------------------------------------------


@contextlib.contextmanager
def cluster():
    """Run a PostgreSQL server of our own, or skip and say why."""
    try:
        made = Cluster.start_new()
    except NotInstalledError as reason:
        pytest.skip(str(reason))
    try:
        yield made
    finally:
        made.remove()


@pytest.fixture(scope="session")
def postgres():
    with cluster() as made:
        yield made


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request, tmp_path):
    """An empty database of each kind."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/reap.db"
    return request.getfixturevalue("postgres").new()


# our service --------------------------------------------------------------------------------------------


@dataclass
class Running:
    """A service that listens on loopback."""

    url: str
    app: object
    client: httpx.Client

    @property
    def store(self):
        return self.app.state.desk.store

    def start(self, row, **more):
        """Start a session."""
        answer = self.client.post("/api/v1/sessions", json={"subject": row, **more})
        assert answer.status_code == 201, answer.text
        return answer.json()

    def answer(self, token, state, choice="left", key=None, **more):
        body = {
            "question": state["question"]["id"],
            "revision": state["revision"],
            "choice": choice,
            "key": key or secrets.token_hex(8),
            **more,
        }
        return self.client.post(f"/api/v1/sessions/{token}/answers", json=body)

    def state(self, token):
        return self.client.get(f"/api/v1/sessions/{token}").json()

    def events(self, kind=None):
        found = [e for kept in self.store.sessions() for e in self.store.events(kept.id)]
        return [e for e in found if kind in (None, e.type)]


@contextlib.contextmanager
def running(case, settings):
    app = create_app(case, settings)
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, log_level="critical", access_log=False, ws="none"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    try:
        while not server.started and thread.is_alive():
            time.sleep(0.01)
        with httpx.Client(base_url=url, timeout=330, limits=httpx.Limits(max_connections=40)) as client:
            yield Running(url, app, client)
    finally:
        server.should_exit = True
        thread.join()
        listener.close()
        app.state.desk.store.engine.dispose()


@pytest.fixture
def serve(case):
    """Start services on a database; all are stopped at the end of the test."""
    with contextlib.ExitStack() as stack:

        def start(url, **options):
            # a busy machine is not what these tests are about: tests/attack/test_service_promises.py is
            options = {"admin_key": ADMIN, "rate": 0, "questions": 5, "time_limit": 300, **options}
            return stack.enter_context(running(case, Settings(database_url=url, **options)))

        yield start


@pytest.fixture
def service(serve, tmp_path):
    return serve(f"sqlite:///{tmp_path}/reap.db")


# browser ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def browser():
    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if path is None:
        pytest.skip("Chromium is not installed")
    api = pytest.importorskip("playwright.sync_api")
    flags = [
        "--no-sandbox",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
    ]
    with api.sync_playwright() as play:
        made = play.chromium.launch(executable_path=path, args=[*flags, "--no-first-run"])
        yield made
        made.close()

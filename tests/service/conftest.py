"""Real servers for the tests: our service over HTTP, PostgreSQL, Chromium. Everything started here is stopped here."""

from __future__ import annotations

import contextlib
import os
import pwd
import secrets
import shutil
import socket
import subprocess
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
import sqlalchemy as sa
import uvicorn

from reap.service.app import create_app
from reap.service.case import Case
from reap.service.settings import Settings

ADMIN = "the-admin-key"


@pytest.fixture(scope="session")
def case(german, german_graph, german_rejected):
    return Case.of(german_graph, german.X, german_rejected)


@pytest.fixture(scope="session")
def row(german, german_rejected):
    """The rejected applicant of the tests, as JSON."""
    return german.space.values(german.space.vector(german_rejected.iloc[[3]]))


# PostgreSQL ---------------------------------------------------------------------------------------------


def _tool(name):
    versions = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))
    return str(versions[-1]) if versions else shutil.which(name)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@dataclass
class Cluster:
    """A PostgreSQL server of our own, in a folder of its own, on loopback."""

    folder: Path
    port: int
    prefix: list[str]

    def run(self, *command):
        subprocess.run(
            [*self.prefix, *command],
            check=True,
            cwd="/",
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def start(self):
        options = f"-p {self.port} -k {self.folder} -c listen_addresses=127.0.0.1 -c fsync=off -c max_connections=60"
        log = str(self.folder / "log")
        self.run(_tool("pg_ctl"), "-D", str(self.folder / "data"), "-o", options, "-l", log, "-w", "start")

    def stop(self):
        self.run(_tool("pg_ctl"), "-D", str(self.folder / "data"), "-m", "fast", "-w", "stop")

    def url(self, name):
        return f"postgresql+psycopg://reap@127.0.0.1:{self.port}/{name}"

    def new(self):
        """Make an empty database and return its address."""
        name = f"t{secrets.token_hex(6)}"
        engine = sa.create_engine(self.url("postgres"), isolation_level="AUTOCOMMIT")
        with engine.connect() as connection:
            connection.execute(sa.text(f"CREATE DATABASE {name}"))
        engine.dispose()
        return self.url(name)


@contextlib.contextmanager
def cluster():
    """Run a PostgreSQL server; it refuses to run as root, so root steps down to another user."""
    if _tool("initdb") is None or _tool("pg_ctl") is None:
        pytest.skip("PostgreSQL is not installed (initdb, pg_ctl)")
    prefix = []
    folder = Path(tempfile.mkdtemp(prefix="reap-pg-"))
    if os.getuid() == 0:
        names = {entry.pw_name for entry in pwd.getpwall()}
        user = "postgres" if "postgres" in names else "nobody"
        if shutil.which("runuser") is None:
            pytest.skip("PostgreSQL cannot run as root, and there is no runuser to step down with")
        shutil.chown(folder, user)
        prefix = ["runuser", "-u", user, "--"]
    made = Cluster(folder, free_port(), prefix)
    try:
        made.run(
            _tool("initdb"),
            "-D",
            str(folder / "data"),
            "-U",
            "reap",
            "-A",
            "trust",
            "-E",
            "UTF8",
            "--no-sync",
        )
        made.start()
        yield made
    finally:
        with contextlib.suppress(subprocess.CalledProcessError):  # a test may have stopped it
            made.stop()
        shutil.rmtree(folder, ignore_errors=True)


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
        with httpx.Client(base_url=url, timeout=60, limits=httpx.Limits(max_connections=40)) as client:
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
            options = {"admin_key": ADMIN, "rate": 0, "questions": 5, **options}
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

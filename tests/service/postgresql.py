"""A PostgreSQL server of our own, in a folder of its own, on loopback; for tests and for the load test."""

from __future__ import annotations

import contextlib
import os
import pwd
import secrets
import shutil
import socket
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

import sqlalchemy as sa


class NotInstalledError(Exception):
    """PostgreSQL cannot be run here; says why."""


def _tool(name: str) -> str | None:
    versions = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))
    return str(versions[-1]) if versions else shutil.which(name)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@dataclass
class Cluster:
    """A running server; ``remove`` stops it and deletes its folder."""

    folder: Path
    port: int
    prefix: list[str]

    @classmethod
    def start_new(cls) -> Cluster:
        """Make and start a server; it refuses to run as root, so root steps down to another user."""
        if _tool("initdb") is None or _tool("pg_ctl") is None:
            raise NotInstalledError("PostgreSQL is not installed (initdb, pg_ctl)")
        folder, prefix = Path(tempfile.mkdtemp(prefix="reap-pg-")), []
        if os.getuid() == 0:
            if shutil.which("runuser") is None:
                raise NotInstalledError(
                    "PostgreSQL cannot run as root, and there is no runuser to step down with"
                )
            names = {entry.pw_name for entry in pwd.getpwall()}
            user = "postgres" if "postgres" in names else "nobody"
            shutil.chown(folder, user)
            prefix = ["runuser", "-u", user, "--"]
        made = cls(folder, _free_port(), prefix)
        made._run(
            "initdb", "-D", str(folder / "data"), "-U", "reap", "-A", "trust", "-E", "UTF8", "--no-sync"
        )
        made.start()
        return made

    def _run(self, tool: str, *options: str) -> None:
        command = [*self.prefix, str(_tool(tool)), *options]
        subprocess.run(command, check=True, cwd="/", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def start(self) -> None:
        """Start the server and wait for it."""
        options = f"-p {self.port} -k {self.folder} -c listen_addresses=127.0.0.1 -c max_connections=60"
        log = str(self.folder / "log")
        self._run("pg_ctl", "-D", str(self.folder / "data"), "-o", options, "-l", log, "-w", "start")

    def stop(self) -> None:
        """Stop the server and wait for it."""
        self._run("pg_ctl", "-D", str(self.folder / "data"), "-m", "fast", "-w", "stop")

    def remove(self) -> None:
        """Stop the server, where a test has not done so already, and delete its folder."""
        with contextlib.suppress(subprocess.CalledProcessError):
            self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    @property
    def pid(self) -> int:
        """The id of the server's first process."""
        return int((self.folder / "data" / "postmaster.pid").read_text().split()[0])

    def url(self, name: str) -> str:
        """Return the address of a database."""
        return f"postgresql+psycopg://reap@127.0.0.1:{self.port}/{name}"

    def new(self) -> str:
        """Make an empty database and return its address."""
        name = f"t{secrets.token_hex(6)}"
        engine = sa.create_engine(self.url("postgres"), isolation_level="AUTOCOMMIT")
        with engine.connect() as connection:
            connection.execute(sa.text(f"CREATE DATABASE {name}"))
        engine.dispose()
        return self.url(name)

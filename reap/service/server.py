"""Running the service: one socket, one or several worker processes, an orderly end."""

from __future__ import annotations

import os
import pickle
import secrets
import socket
from typing import Any

import uvicorn

from reap import _folders
from reap._errors import InputError
from reap.service.app import Factory
from reap.service.case import Case
from reap.service.connections import Connection
from reap.service.database import UnavailableError
from reap.service.settings import Settings
from reap.service.store import Store
from reap.service.supervisor import Supervisor

#: Seconds that open requests get to finish when the service is told to stop.
GRACE = 10
#: Seconds that a worker may be silent, also while it starts: one that still imports is not a hung one.
SILENT = 120
#: Workers without being told; each holds the model and its own sessions in memory.
MOST_WORKERS = 4
#: One JSON object a line on standard error, whoever speaks.
LOGGING: dict[str, Any] = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"lines": {"()": "reap.service.guards.Lines"}},
    "handlers": {
        "stderr": {"class": "logging.StreamHandler", "formatter": "lines", "stream": "ext://sys.stderr"}
    },
    "loggers": {
        "reap.service": {"handlers": ["stderr"], "level": "INFO", "propagate": False},
        "uvicorn": {"handlers": ["stderr"], "level": "WARNING", "propagate": False},
    },
    "root": {"handlers": ["stderr"], "level": "WARNING"},  # other libraries too: one JSON object a line
}


def run(case: Case, settings: Settings, *, host: str, port: int, workers: int | None = None) -> None:
    """Serve until told to stop; open requests are answered first.

    Parameters
    ----------
    case : Case
    settings : Settings
    host, port : str, int
        Where to listen; port 0 takes a free one. The address is printed.
    workers : int, optional
        Processes that share the socket and the database; by default one for each core, at most `MOST_WORKERS`.
    """
    if workers is None:
        workers = usual_workers(settings)
    if workers < 1:
        raise InputError(f"workers is {workers}; give at least 1")
    if workers > 1 and settings.in_memory:
        raise InputError(
            "a database in memory cannot be shared by several workers; name a file or PostgreSQL"
        )
    if not settings.in_memory:
        prepare(settings)
    made = not settings.admin_key
    settings = settings.model_copy(update={"admin_key": settings.admin_key or secrets.token_urlsafe(12)})
    listener = listen(host, port)
    name, number = listener.getsockname()[:2]
    address = f"http://[{name}]:{number}" if ":" in name else f"http://{name}:{number}"
    print(f"Listening on {address}", flush=True)
    if made:
        print(f"Operator's page: {address}/operator (any name, password {settings.admin_key})", flush=True)
    with _folders.folder() as folder:
        file = folder / "case"
        file.write_bytes(pickle.dumps(case))
        config = uvicorn.Config(
            Factory(file, settings, apart=workers > 1),
            factory=True,
            log_config=LOGGING,
            http=Connection,
            access_log=False,
            server_header=False,
            workers=workers,
            timeout_graceful_shutdown=GRACE,
            timeout_keep_alive=75,  # people think; their next answer finds the same worker
            timeout_worker_healthcheck=SILENT,
        )
        if workers == 1:
            uvicorn.Server(config).run(sockets=[listener])
        else:
            os.environ["PROMETHEUS_MULTIPROC_DIR"] = str(folder)  # where the workers add up their figures
            for library in ("OMP", "OPENBLAS", "MKL"):  # a worker is one core's work; read when it starts
                os.environ[f"{library}_NUM_THREADS"] = "1"
            supervisor = Supervisor(config, sockets=[listener])
            supervisor.run()
            if supervisor.failure:
                raise ChildProcessError(supervisor.failure)


def prepare(settings: Settings) -> None:
    """Make the tables, or say in a sentence why the database cannot be used; else every worker would find out by itself."""
    store = Store(settings.database_url, settings.secret)
    try:
        store.prepare()
    except UnavailableError as error:
        raise InputError(
            f"the database cannot be reached or written ({error}); check that it runs, and --database"
        ) from None
    finally:
        store.engine.dispose()


def usual_workers(settings: Settings) -> int:
    """Return one worker for each core that may be used, at most `MOST_WORKERS`; a database in memory allows one only."""
    if settings.in_memory:
        return 1
    free = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(free, MOST_WORKERS)


def listen(host: str, port: int) -> socket.socket:
    """Return the socket of the service, bound; every worker accepts on it."""
    if not 0 <= port <= 65535:
        raise InputError(f"port is {port}; give 0 to 65535")
    # asyncio turns Nagle's algorithm off only where the protocol is named; with it every answer waits 40 ms.
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError as error:
        listener.close()
        reason = (error.strerror or str(error)).lower()
        raise InputError(f"cannot listen on {host}:{port}: {reason}; choose another --port") from None
    listener.set_inheritable(True)
    return listener

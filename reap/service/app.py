"""The application, pages and API over one store; and how it is run: one socket, one or several workers, an orderly end."""

from __future__ import annotations

import asyncio
import gc
import logging
import multiprocessing
import os
import pickle
import secrets
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import uvicorn
from fastapi import FastAPI
from starlette.staticfiles import StaticFiles
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]
from uvicorn.supervisors import Multiprocess

from reap import __version__, _folders
from reap._errors import InputError
from reap.service import advice, faults, operators, questions, situation, what_if
from reap.service.case import Case
from reap.service.desk import Desk
from reap.service.guards import Connection, Guard, Rates
from reap.service.metrics import Metrics
from reap.service.promises import Promises
from reap.service.render import Speaker
from reap.service.settings import Settings
from reap.service.store import Store, UnavailableError

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
_logger = logging.getLogger("reap.service")


def create_app(case: Case, settings: Settings | None = None) -> FastAPI:
    """Return the service of one case.

    Parameters
    ----------
    case : Case
        A fitted engine and its data.
    settings : Settings, optional
        By default those of the environment.
    """
    settings = settings or Settings.read()
    store = Store.opened(settings.database_url, settings.secret)
    settings = settings.model_copy(update={"secret": store.key})
    counted = Metrics()

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        counted.info.labels(case.model[:12], case.data[:12], __version__).set(1)
        facts: dict[str, Any] = {"model": case.model[:12], "data": case.data[:12]}
        if case.traits:  # the law may keep them out of a decision; the operator allows them on purpose
            facts["traits"] = {name: round(moved, 4) for name, moved in case.traits.items()}
        _logger.info("started", extra={"facts": facts})
        with suppress(UnavailableError):
            store.purge(settings.hold_days)
        yield
        store.engine.dispose()
        _logger.info("stopped")

    app = FastAPI(
        title="ReAP",
        version=__version__,
        description="Recourse that asks the person: sessions, answers, plans.",
        docs_url=None,
        redoc_url=None,
        openapi_url="/api/v1/openapi.json",
        lifespan=lifespan,
    )
    state = app.state
    state.desk = Desk(
        case, store, settings, lambda what, seconds: counted.solves.labels(what).observe(seconds)
    )
    state.settings, state.metrics, state.rates = settings, counted, Rates(settings)
    state.stuck = set[asyncio.Task[None]]()
    state.lookouts = anyio.CapacityLimiter(2)  # threads that look at the database for /readyz
    state.newcomers = asyncio.Semaphore(1)
    faults.install(app)
    for part in (situation, questions, advice):
        app.include_router(part.api)
        app.include_router(part.pages)
    app.include_router(what_if.router)
    for router in (operators.health, operators.api, operators.pages):
        app.include_router(router)
    app.mount("/static", StaticFiles(directory=Path(__file__).parent / "static"), name="static")
    app.openapi()  # builds every route now, not within somebody's request
    app.add_middleware(Guard, settings=settings, metrics=counted, rates=state.rates, stuck=state.stuck)
    app.add_middleware(Speaker, settings=settings)
    return app


class Supervisor(Multiprocess):
    """Replaces workers that die, as uvicorn does; one that dies while it starts keeps nobody waiting.

    uvicorn asks a worker and waits for its reply. It holds both ends of the pipe, so a worker that dies meanwhile never hangs up.
    """

    def keep_subprocess_alive(self) -> None:
        """Replace the workers that are dead or silent."""
        if sys.platform != "win32":  # where the worker fetches its end from here
            for process in self.processes:
                process.child_conn.close()
        super().keep_subprocess_alive()


@dataclass(frozen=True)
class Factory:
    """Makes the application in a worker process.

    The case comes as a file: what is sent to a process that dies while it starts must fit into a pipe, or the
    sender waits for ever.
    """

    case: Path
    settings: Settings

    def __call__(self) -> FastAPI:
        """Return the application; each process computes in one thread, since there are several processes."""
        threadpool_limits(1)
        # A thread that computes lets the others pass after a millisecond: they only store or send something.
        sys.setswitchinterval(0.001)
        try:
            with self.case.open("rb") as file:  # written by the parent process a moment ago
                app = create_app(pickle.load(file), self.settings)
        except Exception:
            if multiprocessing.parent_process() is None:
                raise
            # a line of the log as every other; the supervisor tries again
            _logger.exception("the application cannot be made")
            raise SystemExit(1) from None
        gc.collect()
        gc.freeze()  # the model and the modules stay: no collection needs to walk through them again
        return app


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
        prepare(case, settings)  # else every worker would find out
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
            Factory(file, settings),
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
            Supervisor(config, sockets=[listener]).run()


def prepare(case: Case, settings: Settings) -> None:
    """Make the tables and keep the model that is promised from today on, or say in a sentence what is wrong."""
    store = Store.opened(settings.database_url, settings.secret)
    try:
        Promises(case, store, settings).keep()
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

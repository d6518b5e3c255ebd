"""The application: pages for the person, an API for the engineer, one store under both."""

from __future__ import annotations

import asyncio
import gc
import logging
import pickle
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import anyio
from fastapi import FastAPI
from starlette.staticfiles import StaticFiles
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from reap import __version__
from reap._errors import InputError
from reap.service import advice, faults, operator_api, operator_pages, questions, situation, what_if
from reap.service.case import Case
from reap.service.database import UnavailableError
from reap.service.desk import Desk
from reap.service.guards import Buckets, Guard
from reap.service.metrics import Metrics
from reap.service.patience import Patience
from reap.service.render import Speaker
from reap.service.settings import Settings
from reap.service.store import Store

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
    store = Store(settings.database_url, settings.secret)
    store.prepare()
    settings = settings.model_copy(update={"secret": store.key})
    counted = Metrics()

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        counted.serve(case.model, case.data, __version__)
        _logger.info("started", extra={"facts": {"model": case.model[:12], "data": case.data[:12]}})
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
    app.state.desk = Desk(case, store, settings, counted.solved)
    app.state.settings, app.state.metrics = settings, counted
    app.state.lookouts = anyio.CapacityLimiter(2)
    app.state.newcomers = asyncio.Semaphore(2)  # one computes, one is next
    app.state.guesses = Buckets(rate=1 / 60, burst=5)  # wrong admin keys of one client
    app.state.starts = Buckets(rate=settings.starts / 3600, burst=settings.starts)
    faults.install(app)
    for part in (situation, questions, advice):
        app.include_router(part.api)
        app.include_router(part.pages)
    app.include_router(what_if.router)
    app.include_router(operator_api.router)
    app.include_router(operator_api.operate)
    app.include_router(operator_pages.router)
    app.mount("/static", StaticFiles(directory=Path(__file__).parent / "static"), name="static")
    app.state.patience = Patience(settings.time_limit)
    app.add_middleware(Guard, settings=settings, metrics=counted, patience=app.state.patience)
    app.add_middleware(Speaker, settings=settings)
    return app


@dataclass(frozen=True)
class Factory:
    """Makes the application in a worker process.

    The case comes as a file: what is sent to a process that dies while it starts must fit into a pipe, or the
    sender waits for ever.
    """

    case: Path
    settings: Settings
    apart: bool = False  # in a process of its own, which nobody else sees fail

    def __call__(self) -> FastAPI:
        """Return the application; each process computes in one thread, since there are several processes."""
        threadpool_limits(1)
        # A thread that computes lets the others pass after a millisecond: they only store or send something.
        sys.setswitchinterval(0.001)
        try:
            with self.case.open("rb") as file:  # written by the parent process a moment ago
                app = create_app(pickle.load(file), self.settings)
        except Exception as error:
            if not self.apart:
                raise
            # a line of the log as every other; the supervisor tries again
            said = {"said": str(error)} if isinstance(error, InputError) else {}
            _logger.exception("the application cannot be made", extra={"facts": said})
            raise SystemExit(1) from None
        gc.collect()
        gc.freeze()  # the model and the modules stay: no collection needs to walk through them again
        return app

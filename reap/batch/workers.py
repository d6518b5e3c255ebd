"""Who does the work: this process, processes of this machine, or a cluster, behind one interface."""

from __future__ import annotations

import os
import threading
import time
import uuid
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Future, wait
from typing import Any, Protocol

from reap import __version__
from reap._errors import InputError
from reap._typing import Frame
from reap.batch.planning import Planner, install, pack, work
from reap.batch.tables import Chunk

#: How often a chunk is tried again after the worker that had it died.
_ATTEMPTS = 3


class Workers(Protocol):
    """Anything that runs chunks: ``size`` of them at a time."""

    lost: tuple[type[BaseException], ...]  # errors that mean "the worker died", not "the work is wrong"

    @property
    def size(self) -> int:
        """How many chunks run at the same time."""

    def submit(self, chunk: Chunk) -> Future[Frame]:
        """Start a chunk."""

    def renew(self) -> None:
        """Put new workers in the place of dead ones."""

    def close(self) -> None:
        """Stop, and forget the engine."""


def hire(planner: Planner, n_jobs: int, scheduler: str | None) -> Workers:
    """Return workers for a planner: a Dask cluster by address, else processes of this machine, else this one."""
    if scheduler is not None:
        try:
            from reap.batch.cluster import Cluster
        except ImportError:
            raise InputError("a cluster needs Dask; install it with: pip install 'reap[cluster]'") from None
        return Cluster(planner, scheduler)
    return Here(planner) if n_jobs == 1 else Processes(planner, n_jobs)


class Here:
    """This process."""

    lost: tuple[type[BaseException], ...] = ()
    size = 1

    def __init__(self, planner: Planner) -> None:
        self.planner = planner

    def submit(self, chunk: Chunk) -> Future[Frame]:
        """Run a chunk now."""
        future: Future[Frame] = Future()
        try:
            future.set_result(self.planner(chunk.rows, chunk.answers))
        except Exception as error:
            future.set_exception(error)
        return future

    def renew(self) -> None:
        """Nothing to renew."""

    def close(self) -> None:
        """Nothing to stop."""


class Processes:
    """Processes of this machine (joblib's); each receives the engine once, when it starts."""

    lost: tuple[type[BaseException], ...] = (BrokenExecutor,)

    def __init__(self, planner: Planner, n_jobs: int) -> None:
        self.size = n_jobs
        self.token = uuid.uuid4().hex
        self._payload = pack(planner)
        self._start()

    def _start(self) -> None:
        from joblib.externals.loky import ProcessPoolExecutor

        self._pool: Any = ProcessPoolExecutor(
            self.size,
            initializer=_begin,
            initargs=(os.getpid(), self.token, __version__, self._payload),
            env={"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"},
        )

    def submit(self, chunk: Chunk) -> Future[Frame]:
        """Send a chunk."""
        future: Future[Frame] = self._pool.submit(work, self.token, chunk.rows, chunk.answers)
        return future

    def renew(self) -> None:
        """Start over: a pool that lost a process is of no more use."""
        self._pool.shutdown(kill_workers=True)
        self._start()

    def close(self) -> None:
        """End the processes."""
        self._pool.shutdown(kill_workers=True)


def _begin(parent: int, token: str, version: str, payload: bytes) -> None:
    """Make a process ready for work; it ends with the process that started it, even if that one is killed."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1.0)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
    install(token, version, payload)


def finished(workers: Workers, chunks: Iterable[Chunk]) -> Iterator[tuple[Chunk, Frame]]:
    """Yield every chunk with its table as it is done, in any order.

    At most two chunks a worker are read ahead, so memory does not grow with the input. Chunks whose worker died
    are sent again.
    """
    source, again = iter(chunks), deque[Chunk]()
    running: dict[Future[Frame], Chunk] = {}
    deaths: dict[int, int] = {}
    while True:
        while len(running) < 2 * workers.size:
            chunk = again.popleft() if again else next(source, None)
            if chunk is None:
                break
            running[workers.submit(chunk)] = chunk
        if not running:
            return
        done, _ = wait(running, return_when=FIRST_COMPLETED)
        dead = []
        for future in done:
            chunk = running.pop(future)
            try:
                table = future.result()
            except workers.lost as error:
                dead.append(chunk)
                deaths[chunk.number] = deaths.get(chunk.number, 0) + 1
                if deaths[chunk.number] > _ATTEMPTS:
                    raise RuntimeError(
                        f"workers died {deaths[chunk.number]} times on rows {chunk.start} to {chunk.stop - 1}; "
                        "if they ran out of memory use fewer jobs; what is done is kept: run again with resume"
                    ) from error
            else:
                yield chunk, table
        if dead:
            again.extend(dead)
            workers.renew()

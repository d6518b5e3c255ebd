"""Who does the work: this process, processes of this machine, or a cluster, behind one interface."""

from __future__ import annotations

import os
import threading
import time
import uuid
from collections import Counter, deque
from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Future, wait
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Protocol

from reap import __version__, _folders
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
            future.set_result(self.planner(chunk.rows, chunk.answers, chunk.unread))
        except Exception as error:
            future.set_exception(error)
        return future

    def renew(self) -> None:
        """Nothing to renew."""

    def close(self) -> None:
        """Nothing to stop."""


class Processes:
    """Processes of this machine (joblib's); each reads the engine once, when it starts.

    The engine lies in a file. What is sent to a process that dies while it starts must fit into a pipe, or the sender
    waits for ever.
    """

    lost: tuple[type[BaseException], ...] = (BrokenExecutor,)

    def __init__(self, planner: Planner, n_jobs: int) -> None:
        self.size = n_jobs
        self.token = uuid.uuid4().hex
        with ExitStack() as held:
            self._file = held.enter_context(_folders.folder("batch")) / "planner"
            self._file.write_bytes(pack(planner))
            self._start()
            self._held = held.pop_all()  # it worked: the folder stays until `close`

    def _start(self) -> None:
        from joblib.externals.loky import ProcessPoolExecutor

        self._pool: Any = ProcessPoolExecutor(
            self.size,
            initializer=_begin,
            initargs=(os.getpid(), self.token, __version__, str(self._file)),
            env={"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"},
        )

    def submit(self, chunk: Chunk) -> Future[Frame]:
        """Send a chunk."""
        future: Future[Frame] = self._pool.submit(work, self.token, chunk.rows, chunk.answers, chunk.unread)
        return future

    def renew(self) -> None:
        """Start over: a pool that lost a process is of no more use."""
        self._pool.shutdown(kill_workers=True)
        self._start()

    def close(self) -> None:
        """End the processes."""
        self._pool.shutdown(kill_workers=True)
        self._held.close()


def _begin(parent: int, token: str, version: str, file: str) -> None:
    """Make a process ready for work; it ends with the process that started it, even if that one is killed."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1.0)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
    install(token, version, Path(file).read_bytes())


def finished(workers: Workers, chunks: Iterable[Chunk]) -> Iterator[tuple[Chunk, Frame]]:
    """Yield every chunk with its table as it is done, in any order.

    At most two chunks for each worker are read ahead, so memory does not grow with the input. Chunks whose worker died
    are sent again, a few times.
    """
    source, again = iter(chunks), deque[Chunk]()
    running: dict[Future[Frame], tuple[Chunk, int]] = {}
    deaths: Counter[int] = Counter()
    crew = 0  # how often workers were renewed: what an earlier crew left undone says nothing about this one

    def lost(chunk: Chunk, error: BaseException) -> None:
        deaths[chunk.number] += 1
        if deaths[chunk.number] > _ATTEMPTS:
            raise ChildProcessError(
                f"workers died {deaths[chunk.number]} times on rows {chunk.start} to {chunk.stop - 1}; "
                "if they ran out of memory use fewer jobs; what is done is kept: run again with resume"
            ) from error
        again.append(chunk)

    while True:
        broken = False
        while len(running) < 2 * workers.size and not broken:
            chunk = again.popleft() if again else next(source, None)
            if chunk is None:
                break
            try:
                running[workers.submit(chunk)] = chunk, crew
            except workers.lost as error:
                lost(chunk, error)
                broken = True
        if not running and not again:
            return
        done, _ = wait(running, return_when=FIRST_COMPLETED)
        for future in done:
            chunk, sent_to = running.pop(future)
            try:
                table = future.result()
            except workers.lost as error:
                lost(chunk, error)
                broken = broken or sent_to == crew
            else:
                yield chunk, table
        if broken:
            workers.renew()
            crew += 1

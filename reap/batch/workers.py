"""Who does the work: this process, processes of this machine, or a Dask cluster; all yield chunks as they are done.

At most two chunks for each worker are under way, so memory does not grow with the input. Chunks whose process died are given
to new processes, a few times. On a cluster the scheduler does that by itself.
"""

from __future__ import annotations

import contextlib
import ctypes
import itertools
import os
import pickle
import tempfile
import threading
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Future, wait
from functools import cache
from pathlib import Path
from typing import Any

import joblib
import threadpoolctl  # type: ignore[import-untyped]
from joblib.externals.loky import ProcessPoolExecutor
from joblib.externals.loky.backend import resource_tracker

from reap import __version__
from reap._errors import InputError
from reap._typing import Frame
from reap.batch.planner import Planner
from reap.batch.tables import Chunk

#: After how many deaths of its workers a chunk is given up; a Dask scheduler has the same number by default.
_DEATHS = 4

Done = Iterator[tuple[Chunk, Frame]]


def finished(planner: Planner, chunks: Iterable[Chunk], n_jobs: int, scheduler: str | None) -> Done:
    """Yield every chunk with its table as it is done, in any order.

    Parameters
    ----------
    planner : Planner
    chunks : iterable of Chunk, read as workers become free
    n_jobs : int
        Processes on this machine; 1 for none but this.
    scheduler : str, optional
        Address of a Dask scheduler instead.
    """
    if scheduler is not None:
        return _on_cluster(planner, chunks, scheduler)
    if n_jobs > 1:
        return _in_processes(planner, chunks, n_jobs)
    return ((chunk, planner(chunk.rows, chunk.answers, chunk.unread)) for chunk in chunks)


def pack(thing: Any) -> bytes:
    """Return anything as bytes; also what was defined in a script or on the spot, which plain pickle refuses."""
    return pickle.dumps(joblib.wrap_non_picklable_objects(thing, keep_wrapper=False))


def work(planner: Planner, *chunk: Any) -> Frame:
    """Plan for one chunk in a worker; linear algebra runs in one thread, because every core has a worker.

    Freed memory goes back to the system, where it lets us: one hard row must not set the size of a worker for good.
    """
    with threadpoolctl.threadpool_limits(1):
        table = planner(*chunk)
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
    return table


def _ahead(
    submit: Callable[[Chunk], Future[Frame]],
    chunks: Iterable[Chunk],
    size: Callable[[], int],
    killed: tuple[type[BaseException], ...] = (),
) -> Done:
    """Yield chunks as ``size`` workers do them, two for each under way; ``killed``: what a chunk that is given up ends in."""
    source, running = iter(chunks), dict[Future[Frame], Chunk]()
    while True:
        free = max(0, 2 * size() - len(running))
        running |= {submit(chunk): chunk for chunk in itertools.islice(source, free)}
        if not running:
            return
        for future in wait(running, return_when=FIRST_COMPLETED).done:
            chunk = running.pop(future)
            try:
                table = future.result()
            except killed as error:
                raise _given_up(chunk) from error
            yield chunk, table


def _given_up(chunk: Chunk) -> ChildProcessError:
    return ChildProcessError(
        f"workers died {_DEATHS} times on rows {chunk.start} to {chunk.stop - 1}; "
        "if they ran out of memory use fewer jobs; what is done is kept: run again with resume"
    )


# processes of this machine ---------------------------------------------------------------------------


def _in_processes(planner: Planner, chunks: Iterable[Chunk], n_jobs: int) -> Done:
    """Yield chunks done by processes; where one of them dies, all are replaced, and have what was under way again."""
    deaths = Counter[int]()
    with _shared(planner) as file:
        while True:
            sent: dict[int, Chunk] = {}
            try:
                yield from _crew(file, n_jobs, chunks, sent)
                return
            except BrokenExecutor as error:
                deaths.update(sent.keys())
                for number, chunk in sent.items():
                    if deaths[number] == _DEATHS:
                        raise _given_up(chunk) from error
                chunks = itertools.chain(sent.values(), chunks)


def _crew(file: str, n_jobs: int, chunks: Iterable[Chunk], sent: dict[int, Chunk]) -> Done:
    """Yield what one set of processes does; ``sent`` has what was given to it and is not done."""
    one_thread = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    pool = ProcessPoolExecutor(n_jobs, initializer=_follow, initargs=(os.getpid(),), env=one_thread)

    def submit(chunk: Chunk) -> Future[Frame]:
        sent[chunk.number] = chunk
        future: Future[Frame] = pool.submit(_work, file, chunk.rows, chunk.answers, chunk.unread)
        return future

    try:
        for chunk, table in _ahead(submit, chunks, lambda: n_jobs):
            del sent[chunk.number]
            yield chunk, table
    finally:
        pool.shutdown(kill_workers=True)


@contextlib.contextmanager
def _shared(planner: Planner) -> Iterator[str]:
    """Write a planner to a temporary file; joblib removes it where this process is killed."""
    handle, file = tempfile.mkstemp(prefix="reap-batch-")
    resource_tracker.register(file, "file")
    try:
        with open(handle, "wb") as opened:
            opened.write(pack(planner))
        yield file
    finally:
        Path(file).unlink()
        resource_tracker.unregister(file, "file")


@cache
def _read(file: str) -> Planner:
    """Return the planner of a file; a process reads it once."""
    planner: Planner = pickle.loads(Path(file).read_bytes())
    return planner


def _work(file: str, *chunk: Any) -> Frame:
    return work(_read(file), *chunk)


def _follow(parent: int) -> None:
    """End this process with the one that started it, also where that one is killed."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1.0)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


# a cluster -------------------------------------------------------------------------------------------


def _on_cluster(planner: Planner, chunks: Iterable[Chunk], address: str) -> Done:
    """Yield chunks done by the workers of a Dask scheduler, which gives those of a worker that dies to another.

    The engine, as bytes, is the result of a task. So Dask hands it to the workers that need it, makes it again where all that
    had it are gone, and forgets it when this client goes. Every chunk unpacks its own: engines keep caches that threads of a
    worker must not share.
    """
    try:
        import distributed
        from distributed.scheduler import KilledWorker
    except ImportError:
        raise InputError(
            "a cluster needs Dask; install it with: pip install 'reap-recourse[cluster]'"
        ) from None
    try:
        client = distributed.Client(address, timeout="10s", set_as_default=False)
    except (OSError, ValueError) as error:
        raise InputError(
            f"no Dask scheduler answers at {address!r} ({error}); start one with: dask scheduler"
        ) from None

    def submit(chunk: Chunk) -> Future[Frame]:
        given = chunk.rows, chunk.answers, chunk.unread
        future: Future[Frame] = pool.submit(_work_packed, __version__, engine, *given)
        return future

    with client:
        try:
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", "Sending large graph")  # once, and there is no smaller way
                engine = client.submit(bytes, pack(planner), pure=False)
            pool = client.get_executor(pure=False)
            yield from _ahead(submit, chunks, lambda: max(1, len(client.nthreads())), (KilledWorker,))
        except (OSError, RuntimeError, CancelledError) as error:
            if client.status == "running":
                raise
            raise ConnectionError(
                f"the Dask scheduler at {address!r} is gone; what is done is kept: start it again, then run again "
                "with resume"
            ) from error


def _work_packed(version: str, packed: bytes, *chunk: Any) -> Frame:
    if version != __version__:
        raise InputError(
            f"the worker has reap {__version__}, this run needs {version}; install the same release"
        )
    return work(pickle.loads(packed), *chunk)

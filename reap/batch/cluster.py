"""Workers of a Dask cluster, found by the address of its scheduler."""

from __future__ import annotations

import contextlib
import uuid
from collections.abc import Iterator
from concurrent.futures import CancelledError, Future
from typing import Any

import distributed
from distributed.scheduler import KilledWorker

from reap import __version__
from reap._errors import InputError
from reap._typing import Frame
from reap.batch.planning import Planner, install, pack, uninstall, work
from reap.batch.tables import Chunk


class _Installed(distributed.WorkerPlugin):  # type: ignore[misc]
    """Carries the engine to every worker, once, also to those that join or come back later."""

    def __init__(self, token: str, payload: bytes) -> None:
        self.name = f"reap-{token}"
        self.token, self.version, self.payload = token, __version__, payload

    def setup(self, worker: Any) -> None:
        install(self.token, self.version, self.payload)

    def teardown(self, worker: Any) -> None:
        uninstall(self.token)


class Cluster:
    """A running Dask cluster; the scheduler moves the chunks of a worker that dies to another.

    Parameters
    ----------
    planner : Planner
    address : str
        Where the scheduler listens, such as ``"tcp://10.0.0.5:8786"``.
    """

    lost: tuple[type[BaseException], ...] = (KilledWorker, CancelledError)

    def __init__(self, planner: Planner, address: str) -> None:
        try:
            self._client = distributed.Client(address, timeout="10s", set_as_default=False)
        except (OSError, ValueError) as error:
            raise InputError(
                f"no Dask scheduler answers at {address!r} ({error}); start one with: dask scheduler"
            ) from None
        self.address, self.token = address, uuid.uuid4().hex
        self._plugin = _Installed(self.token, pack(planner))
        self._client.register_plugin(self._plugin)
        # Rows are sent only when a worker has room: what waits is read again from the input, not kept in memory.
        self._pool = self._client.get_executor(pure=False)

    @property
    def size(self) -> int:
        """Workers at present; they may come and go."""
        with self._connected():
            return max(1, len(self._client.nthreads()))

    def submit(self, chunk: Chunk) -> Future[Frame]:
        """Send a chunk."""
        with self._connected():
            future: Future[Frame] = self._pool.submit(
                work, self.token, chunk.rows, chunk.answers, chunk.unread
            )
        return future

    def renew(self) -> None:
        """See that the scheduler is there; it replaces workers. One that was started again gets the engine again."""
        with self._connected():
            self._client.register_plugin(self._plugin)

    @contextlib.contextmanager
    def _connected(self) -> Iterator[None]:
        try:
            yield
        except (
            OSError,
            RuntimeError,
            CancelledError,
        ) as error:  # a client that has given up refuses with RuntimeError
            raise ConnectionError(
                f"the Dask scheduler at {self.address!r} is gone; what is done is kept: start it again, then run again "
                "with resume"
            ) from error

    def close(self) -> None:
        """Take the engine back from the workers and say goodbye."""
        self._pool.shutdown(wait=False)
        # a scheduler that is gone has forgotten it
        with contextlib.suppress(OSError, RuntimeError, CancelledError):
            if self._client.status == "running":
                self._client.unregister_worker_plugin(self._plugin.name)
        self._client.close()

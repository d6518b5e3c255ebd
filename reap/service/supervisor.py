"""Workers that die are replaced; one that is slow to start or does not answer keeps nobody waiting."""

from __future__ import annotations

import logging
import time
from socket import socket
from weakref import WeakKeyDictionary

from uvicorn.config import STARTUP_FAILURE, Config
from uvicorn.supervisors.multiprocess import Multiprocess, Process

_logger = logging.getLogger("reap.service")


class Supervisor(Multiprocess):
    """Looks after the workers of a service without ever waiting for one of them.

    The supervisor of uvicorn sends a message and waits for the reply. It holds both ends of the pipe, so a worker that dies
    while it starts never hangs up, and the supervisor sat out its whole patience: nobody else was replaced meanwhile.
    """

    def __init__(self, config: Config, sockets: list[socket]) -> None:
        super().__init__(config, sockets)
        self._asked: WeakKeyDictionary[Process, float] = WeakKeyDictionary()

    def keep_subprocess_alive(self) -> None:
        """Replace every worker that is dead, or silent for longer than ``timeout_worker_healthcheck`` seconds."""
        for place, worker in enumerate(self.processes):
            if self.should_exit.is_set():
                return
            if not self._lost(worker):
                continue
            worker.kill()
            worker.join()
            if worker.exitcode == STARTUP_FAILURE:  # the application itself is broken: so would be the next
                _logger.error("a worker failed to start")
                self.should_exit.set()
                return
            _logger.warning("a worker is replaced", extra={"facts": {"exit": worker.exitcode}})
            self.processes[place] = Process(self.config, self.sockets)
            self.processes[place].start()

    def _lost(self, worker: Process) -> bool:
        if not worker.process.is_alive():
            return True
        now = time.monotonic()
        if worker not in self._asked:
            worker.parent_conn.send(b"ping")
            self._asked[worker] = now
        elif worker.parent_conn.poll():
            worker.parent_conn.recv()
            del self._asked[worker]
        return now - self._asked.get(worker, now) > self.config.timeout_worker_healthcheck

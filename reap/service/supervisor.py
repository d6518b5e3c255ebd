"""Workers that die are replaced; one that is slow to start or does not answer keeps nobody waiting."""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass
from socket import socket
from weakref import WeakKeyDictionary

from uvicorn.config import STARTUP_FAILURE, Config
from uvicorn.supervisors.multiprocess import Multiprocess, Process

#: Tries to fill one place while no worker was ever up; then the service ends.
TRIES = 5
#: How many times its usual patience a starting worker gets at most.
LONGEST = 4
#: Seconds between two tries at most, where workers die while they start.
LONGEST_PAUSE = 30.0

_logger = logging.getLogger("reap.service")


@dataclass
class _Known:
    """What the supervisor knows of a worker."""

    limit: float  # seconds that it may be silent while it starts
    tries: int = 1  # workers in its place since the last one that came up, with this one
    up: bool = False
    asked: float | None = None  # since when it owes a reply
    lost: float | None = None  # since when it is known to be lost


class Supervisor(Multiprocess):
    """Looks after the workers of a service without ever waiting for one of them.

    The supervisor of uvicorn sends a message and waits for the reply. It holds both ends of the pipe, so a worker that dies
    while it starts never hangs up, and the supervisor sat out its whole patience: nobody else was replaced meanwhile.

    A worker that needs longer to start than ``timeout_worker_healthcheck``, on a cold disk or a busy machine, was killed and
    replaced for ever. Now the next in its place gets twice the time. Those that die while they start are replaced at once,
    then after longer and longer pauses. Where no worker ever came up, the service ends, and ``failure`` says why.
    """

    def __init__(self, config: Config, sockets: list[socket]) -> None:
        super().__init__(config, sockets)
        self.failure = ""
        self._usual = float(config.timeout_worker_healthcheck)
        self._workers: WeakKeyDictionary[Process, _Known] = WeakKeyDictionary()
        self._ever_up = False

    def keep_subprocess_alive(self) -> None:
        """Replace every worker that is dead, or silent for longer than it may be."""
        for place, worker in enumerate(self.processes):
            if self.should_exit.is_set():
                return
            known = self._workers.setdefault(worker, _Known(self._usual))
            now = time.monotonic()
            if self._is_lost(worker, known, now):
                known.lost = known.lost or now
                pause = 0.0 if known.up else min(2.0 ** (known.tries - TRIES), LONGEST_PAUSE)
                if now - known.lost >= pause:
                    self._replace(place, worker, known)

    def _is_lost(self, worker: Process, known: _Known, now: float) -> bool:
        if not worker.process.is_alive():
            return True
        if known.asked is None:
            worker.parent_conn.send(b"ping")
            known.asked = now
        elif worker.parent_conn.poll():
            known.asked = None
            if worker.parent_conn.recv() is not False:  # it replies whether it is up
                known.up = self._ever_up = True
        limit = self._usual if known.up else known.limit
        return known.asked is not None and now - known.asked > limit

    def _replace(self, place: int, worker: Process, known: _Known) -> None:
        silent = worker.process.is_alive()
        worker.kill()
        worker.join()
        said, following = "a worker is replaced", _Known(self._usual)
        facts: dict[str, object] = {"exit": worker.exitcode}
        if not known.up:
            broken = worker.exitcode == STARTUP_FAILURE  # the application itself: so would be the next
            if not self._ever_up and (broken or known.tries >= TRIES):
                self._give_up(known, silent)
                return
            said, facts["tries"] = "a worker is replaced while it starts", known.tries
            limit = min(2 * known.limit, LONGEST * self._usual) if silent else known.limit
            following = _Known(limit, known.tries + 1)
            if silent:
                facts |= {"silent_seconds": known.limit, "next_may_take": limit}
        _logger.warning(said, extra={"facts": facts})
        self.processes[place] = new = Process(self.config, self.sockets)
        self._workers[new] = following
        new.start()

    def _give_up(self, known: _Known, silent: bool) -> None:
        """End the service: no worker ever came up."""
        how = f"was silent for {known.limit:.0f} seconds" if silent else "died"
        self.failure = (
            f"no worker starts: number {known.tries} {how} while it started; the lines above say more. "
            "Try --workers 1, which shows what fails"
        )
        _logger.error("no worker starts", extra={"facts": {"tries": known.tries, "silent": silent}})
        self.should_exit.set()

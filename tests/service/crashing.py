"""A service that kills itself with SIGKILL right after a chosen commit; runs in a process of its own."""

from __future__ import annotations

import os
import pickle
import signal
from pathlib import Path

import uvicorn

from reap.service.app import create_app
from reap.service.store import Store


def serve(case: Path, settings, listener, commits: int | None) -> None:
    """Serve; die without a word after this number of commits of this process, each an act with what it shows; None: never."""
    stored = 0
    append = Store.append

    def counted(self, *given, **named):
        nonlocal stored
        made = append(self, *given, **named)
        stored += 1
        if stored == commits:
            os.kill(os.getpid(), signal.SIGKILL)
        return made

    Store.append = counted
    app = create_app(pickle.loads(case.read_bytes()), settings)
    uvicorn.Server(uvicorn.Config(app, log_level="critical", ws="none")).run(sockets=[listener])

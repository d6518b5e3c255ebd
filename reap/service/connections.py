"""Connections that say nothing: a deadline for the head of every request, and no more of them than a process can hold."""

from __future__ import annotations

import asyncio
import sys
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

#: Seconds in which the head of a request must be here; its body gets as long again.
PATIENCE = 15.0
#: Files that a worker keeps for its database, its modules and its log.
_RESERVED = 128


def most_connections() -> int:
    """Return how many connections a worker may hold: what is left of the files that a process may open."""
    if sys.platform == "win32":
        return 512
    import resource

    return max(resource.getrlimit(resource.RLIMIT_NOFILE)[0] - _RESERVED, 16)


class Connection(H11Protocol):
    """HTTP of uvicorn, with a deadline for every head of a request.

    A request that is being answered has no deadline here, and an answered client that keeps its connection has uvicorn's own.
    """

    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Greet a client, or hang up where there are too many."""
        super().connection_made(transport)
        if len(self.connections) > most_connections():
            transport.close()
        else:
            self._deadline = self.loop.call_later(PATIENCE, transport.close)

    def data_received(self, data: bytes) -> None:
        """Read on; the deadline runs while a head has begun and is not whole."""
        super().data_received(data)
        if self.cycle is not None and not self.cycle.response_complete:
            self._relax()
        elif self._deadline is None:
            self._deadline = self.loop.call_later(PATIENCE, self.transport.close)

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the client."""
        self._relax()
        super().connection_lost(exc)

    def _relax(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

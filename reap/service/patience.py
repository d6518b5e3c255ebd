"""A request is answered in time, whatever is computed for it.

What we compute looks at the clock and ends by itself (``reap._clock``). A model of somebody else's need not: then the person gets
a sentence, and what goes on computing is left alone for as long again. A worker in which it still does not end is replaced.
The clock of a request runs from when it came in, also while it waits for a thread; one that has none by then never gets one.
"""

from __future__ import annotations

import asyncio
import logging
import multiprocessing
import os
from typing import Any

import anyio
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from reap import _clock
from reap.service import receipts
from reap.service.faults import late
from reap.service.receipts import Receipt

#: Seconds that a computation which looks at the clock gets to end, beyond its limit, before the person is answered without it.
#: They are answered within a second of the limit, so half of it is left for everything else.
MARGIN = 0.5
#: Seconds more for a request of which something is stored: what follows from it is on its way.
MORE = 0.3
#: What a worker ends with that gives up; the supervisor replaces it.
STUCK = 70
_logger = logging.getLogger("reap.service")


class Patience:
    """Bounds the time of every request of a worker.

    Parameters
    ----------
    limit : float
        Seconds for what a request computes.
    """

    def __init__(self, limit: float) -> None:
        self.limit = limit
        self._left: set[asyncio.Task[None]] = set()

    @property
    def stuck(self) -> bool:
        """Whether something goes on computing for which nobody waits any more."""
        return bool(self._left)

    async def answer(self, app: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
        """Let the application answer, or say that it could not in time."""
        begun = over = False
        receipt, waiting = receipts.issue(scope), anyio.CancelScope()

        async def gate(message: Message) -> None:
            nonlocal begun
            if not over:
                begun = True
                await send(message)

        task = asyncio.ensure_future(self._run(app, scope, receive, gate, receipt, waiting))
        try:
            await asyncio.wait({task}, timeout=self.limit + MARGIN)
            if not task.done() and receipt.close() != "nothing":
                await asyncio.wait({task}, timeout=MORE)
        except asyncio.CancelledError:
            task.cancel()
            raise
        if task.done() or begun:
            await task
            return
        over = True
        waiting.cancel()  # whoever waits for a thread leaves; whoever has one is waited for
        self._leave(task)
        await late(Request(scope), self.limit)(scope, receive, send)

    async def _run(
        self,
        app: ASGIApp,
        scope: Scope,
        receive: Receive,
        send: Send,
        receipt: Receipt,
        waiting: anyio.CancelScope,
    ) -> None:
        with waiting, receipts.carried(receipt), _clock.until(receipt.came + self.limit):
            await app(scope, receive, send)

    def _leave(self, task: asyncio.Task[None]) -> None:
        """Wait for it no more, and look once whether it has ended."""
        self._left.add(task)
        task.add_done_callback(self._ended)
        asyncio.get_running_loop().call_later(self.limit, self._look, task)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._left.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            _logger.error("a request ended too late", exc_info=(type(error), error, error.__traceback__))

    def _look(self, task: asyncio.Task[Any]) -> None:
        if task.done():
            return
        _logger.error("a computation does not end")
        # a worker of `reap serve`: the supervisor starts another
        if multiprocessing.parent_process() is not None:
            os._exit(STUCK)

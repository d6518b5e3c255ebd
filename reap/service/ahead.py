"""Work for a question that will come, while the person thinks about the one in front of them.

A warm-up teaches nothing, so what the engine is asked for after it is known beforehand: a tenth of a second or two that
everybody needs, and that nobody should wait for. It is done when nobody else computes, and what is found is remembered by the
engine; the session itself is not touched. Where its person comes back first, they need it now: work that has begun no longer
gives way, and work that has not is left to their own request.
"""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from contextvars import Context, copy_context

from reap import _clock
from reap._clock import LateError
from reap.service.live import Live
from reap.service.turns import Turns

logger = logging.getLogger(__name__)


class Ahead:
    """One thread that works ahead, in the order in which people came, and before those who came later.

    Parameters
    ----------
    turns : Turns
        Of those who are in a session; work gives way to them.
    newcomers : Turns
        Of those who start one; work takes its turn among them.
    longest : float
        Seconds that a piece of work may take, waiting included.

    Examples
    --------
    >>> ahead = Ahead(Turns(1), Turns(1), longest=10.0)
    >>> done = threading.Event()
    >>> ahead.add(Live(None), done.set)
    >>> done.wait(5.0)
    True
    """

    def __init__(self, turns: Turns, newcomers: Turns, longest: float) -> None:
        self._turns, self._newcomers, self._longest = turns, newcomers, longest
        self._waiting: queue.SimpleQueue[tuple[Context, float, Live, Callable[[], object]]] = (
            queue.SimpleQueue()
        )
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()

    def add(self, live: Live, work: Callable[[], object], came: float | None = None) -> None:
        """Do something for a session that was just started, unless its person comes back before it is begun.

        It goes before newcomers who came after the person (``came``): else, while many come, everybody would need it at once and
        those who are in a session would wait for it.
        """
        came = time.monotonic() if came is None else came
        self._waiting.put((copy_context(), came, live, work))  # in the person's language
        with self._lock:
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="reap-ahead", daemon=True)
                self._thread.start()

    def _run(self) -> None:
        while True:
            context, came, live, work = self._waiting.get()
            try:
                context.run(self._do, came, live, work)
            except LateError:
                pass
            except Exception as error:  # the person's own request meets it again, and says so
                logger.warning("work ahead failed: %s", type(error).__name__)
            del context, live, work  # a session that is over leaves the memory at once

    def _do(self, came: float, live: Live, work: Callable[[], object]) -> None:
        def back() -> bool:
            return live.came > came  # the request that started it looks at its session, too

        deadline = time.monotonic() + self._longest
        with ExitStack() as stack:
            stack.enter_context(_clock.until(deadline))
            stack.enter_context(self._newcomers.turn(came, deadline))
            pause = self._turns.way(self._longest, unless=back)
            pause(back)
            if not back():
                stack.enter_context(_clock.giving_way(pause))
                work()

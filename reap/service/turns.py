"""Who computes next: a worker computes for a few requests at a time, and the one that came first goes first."""

from __future__ import annotations

import heapq
import itertools
import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from reap._clock import LateError

#: Seconds after which somebody who gives way looks again whether they still have to.
_LOOK = 0.05


class Turns:
    """Places to compute at, given to the waiting request that came first.

    An answer computes twice, to learn from it and to ask the next question. With a plain semaphore its second
    computation would wait behind requests that came later, and under load everybody would wait longer.

    A start takes as long as several answers, and many people may come at once. So newcomers have turns of their own, and give
    way: whoever is in a session waits for none of them.

    Parameters
    ----------
    places : int
        Requests that may compute at the same time.

    Examples
    --------
    >>> turns = Turns(1)
    >>> with turns.turn(came=0.0):
    ...     "computing"
    'computing'
    """

    def __init__(self, places: int) -> None:
        self._free = places
        self._places = places
        self._waiting: list[tuple[float, int, threading.Event]] = []
        self._idle = threading.Event()  # nobody computes
        self._idle.set()
        self._number = itertools.count()
        self._lock = threading.Lock()

    @contextmanager
    def turn(self, came: float, deadline: float = math.inf) -> Iterator[None]:
        """Wait for a place and hold it; ``came`` is when the request came in.

        Whoever has none by the deadline, a time of ``time.monotonic``, leaves with ``LateError``.
        """
        mine = threading.Event()
        waiting = came, next(self._number), mine
        with self._lock:
            self._idle.clear()
            if self._free:
                self._free -= 1
                mine.set()
            else:
                heapq.heappush(self._waiting, waiting)
        if not mine.wait(None if deadline == math.inf else max(0.0, deadline - time.monotonic())):
            with self._lock:
                if not mine.is_set():  # else the place was handed over just now: take it
                    self._waiting.remove(waiting)
                    heapq.heapify(self._waiting)
                    raise LateError
        try:
            yield
        finally:
            with self._lock:  # hand the place over, so that nobody can slip in between
                if self._waiting:
                    heapq.heappop(self._waiting)[2].set()
                else:
                    self._free += 1
                    if self._free == self._places:
                        self._idle.set()

    def way(
        self, longest: float, unless: Callable[[], bool] = lambda: False
    ) -> Callable[[Callable[[], bool]], None]:
        """Return what waits until nobody computes here, in all for so many seconds at most: for whoever computes elsewhere.

        It does not wait, or no longer, where ``unless`` says so, or what it is called with: whoever computes here may wait for
        something that is held there.

        Examples
        --------
        >>> turns = Turns(1)
        >>> give_way = turns.way(0.01)
        >>> with turns.turn(came=0.0):
        ...     give_way(lambda: False)  # a hundredth of a second
        """
        left = longest

        def wait(wanted: Callable[[], bool]) -> None:
            nonlocal left
            while left > 0 and not self._idle.is_set() and not (unless() or wanted()):
                begin = time.monotonic()
                self._idle.wait(min(left, _LOOK))
                left -= time.monotonic() - begin

        return wait

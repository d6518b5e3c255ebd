"""A time by which everything has to end: set by whoever answers for a request, looked at wherever something takes long.

A service must answer in time, whatever the model, the belief and the strategy are. Passing a deadline through all of them
would put it into every signature. It stands in a context variable instead: each thread and each task has its own.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from reap._errors import InputError

_DEADLINE: ContextVar[float] = ContextVar("reap_deadline", default=math.inf)


def deadline(time_limit: float | None) -> float:
    """Return the time of ``time.monotonic`` at which what begins now has to end; None: never."""
    if time_limit is None:
        return math.inf
    if not time_limit > 0:
        raise InputError(f"time_limit is {time_limit!r}; give seconds above 0, or None")
    return time.monotonic() + float(time_limit)


class LateError(Exception):
    """The time that was given is over; what was being computed is thrown away."""


@contextmanager
def until(deadline: float) -> Iterator[None]:
    """Let everything inside end at a time of ``time.monotonic``, or at an earlier one that was set already.

    Examples
    --------
    >>> with until(time.monotonic() - 1):
    ...     check()
    Traceback (most recent call last):
    ...
    reap._clock.LateError
    >>> check()
    """
    before = _DEADLINE.set(min(deadline, _DEADLINE.get()))
    try:
        yield
    finally:
        _DEADLINE.reset(before)


def left() -> float:
    """Return the seconds until the time set by ``until``, as many as a lock can wait for where none was set."""
    return min(max(0.0, _DEADLINE.get() - time.monotonic()), threading.TIMEOUT_MAX)


def late() -> bool:
    """Return whether the time is over; never where none was set."""
    deadline = _DEADLINE.get()
    return deadline < math.inf and time.monotonic() > deadline


def check() -> None:
    """Raise ``LateError`` where the time is over."""
    if late():
        raise LateError

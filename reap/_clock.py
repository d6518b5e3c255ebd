"""A time by which everything has to end: set by whoever answers for a request, looked at wherever something takes long.

A service must answer in time, whatever the model, the belief and the strategy are. Passing a deadline through all of them
would put it into every signature. It stands in a context variable instead: each thread and each task has its own.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from reap._errors import InputError

_DEADLINE: ContextVar[float] = ContextVar("reap_deadline", default=math.inf)
_PAUSE: ContextVar[Callable[[Callable[[], bool]], None] | None] = ContextVar("reap_pause", default=None)
_HELD: ContextVar[tuple[Callable[[], bool], ...]] = ContextVar("reap_held", default=())


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


@contextmanager
def giving_way(pause: Callable[[Callable[[], bool]], None]) -> Iterator[None]:
    """Let everything inside call ``pause`` whenever it looks at the clock: there it may wait while others are served.

    What it is called with says whether somebody waits for what is held here (``holding``): then it must not go on waiting.

    Examples
    --------
    >>> with giving_way(lambda wanted: print("after you", wanted())):
    ...     check()
    ...     with holding(lambda: True):
    ...         check()
    after you False
    after you True
    """
    before = _PAUSE.set(pause)
    try:
        yield
    finally:
        _PAUSE.reset(before)


@contextmanager
def holding(wanted: Callable[[], bool]) -> Iterator[None]:
    """Hold something inside that others may wait for; ``wanted`` says whether anybody does."""
    before = _HELD.set((*_HELD.get(), wanted))
    try:
        yield
    finally:
        _HELD.reset(before)


def grant(seconds: float) -> None:
    """Let what is computed here go on for so long from now, also where the time set by ``until`` is over before."""
    _DEADLINE.set(max(_DEADLINE.get(), time.monotonic() + seconds))


def late() -> bool:
    """Return whether the time is over; never where none was set."""
    if (pause := _PAUSE.get()) is not None:
        held = _HELD.get()
        pause(lambda: any(wanted() for wanted in held))
    deadline = _DEADLINE.get()
    return deadline < math.inf and time.monotonic() > deadline


def check() -> None:
    """Raise ``LateError`` where the time is over."""
    if late():
        raise LateError

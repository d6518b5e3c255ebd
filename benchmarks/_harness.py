"""What a benchmark returns, and how it takes the time.

To add one, write ``benchmarks/bench_<name>.py`` with a single function::

    from benchmarks._harness import Row, median_seconds

    def run(quick: bool) -> list[Row]:
        ours = median_seconds(lambda: fast(problem))
        theirs = median_seconds(lambda: peer(problem), repeats=3)
        return [
            Row.speedup("what was timed", "the peer", ours, theirs, at_least=4),
            Row.limit("next question, median", ours * 1e3, "ms", at_most=150),
        ]

``python -m benchmarks name`` finds it. ``quick`` asks for smaller sizes and fewer repeats, the same rows.
Names of rows identify them in ``results.json``: keep them stable. Save pictures with `save_plot`.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any, Literal

FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Row:
    """One line of the table: a figure, beside the target it has to meet.

    Parameters
    ----------
    name : what was measured; identifies the row in ``results.json``.
    value, unit : the figure, for example ``12.5, "×"`` or ``80.0, "ms"``.
    target, sense : the figure must be ``"at least"`` or ``"at most"`` the target; None sets no target.
    peer : what it was compared with, in the same run.
    ours, theirs : seconds behind a ratio, where it is one.
    note : anything the reader must know, such as the accuracy reached or why a target was missed.
    """

    name: str
    value: float
    unit: str
    target: float | None = None
    sense: Literal["at least", "at most"] = "at most"
    peer: str = "–"
    ours: float | None = None
    theirs: float | None = None
    note: str = ""

    @classmethod
    def speedup(
        cls,
        name: str,
        peer: str,
        ours: float,
        theirs: float,
        *,
        at_least: float | None = None,
        note: str = "",
    ) -> Row:
        """How many times faster than the peer: ``theirs / ours`` seconds."""
        return cls(name, theirs / ours, "×", at_least, "at least", peer, ours, theirs, note)

    @classmethod
    def limit(
        cls,
        name: str,
        value: float,
        unit: str,
        *,
        at_most: float | None = None,
        peer: str = "–",
        note: str = "",
    ) -> Row:
        """A figure that must stay under a limit, such as milliseconds or megabytes."""
        return cls(name, value, unit, at_most, "at most", peer, note=note)

    @property
    def met(self) -> bool | None:
        """Whether the target is met; None without a target."""
        if self.target is None:
            return None
        if math.isnan(self.value):
            return False
        return self.value >= self.target if self.sense == "at least" else self.value <= self.target


def seconds(
    call: Callable[[], Any],
    *,
    repeats: int = 7,
    warmup: int = 1,
    min_time: float = 0.01,
    clock: Callable[[], float] = time.perf_counter,
) -> list[float]:
    """Seconds one call takes, measured `repeats` times; short calls are looped up to `min_time`.

    `clock=time.process_time` counts processor time, fair to both sides of a ratio when the machine has other work.
    """
    for _ in range(warmup):
        call()
    loops, times = 1, list[float]()
    while len(times) < repeats:
        start = clock()
        for _ in range(loops):
            call()
        spent = clock() - start
        if not times and spent < min_time and loops < 10_000:
            loops *= max(2, min(10, math.ceil(min_time / max(spent, 1e-9))))
            continue
        times.append(spent / loops)
    return times


def median_seconds(
    call: Callable[[], Any],
    *,
    repeats: int = 7,
    warmup: int = 1,
    min_time: float = 0.01,
    clock: Callable[[], float] = time.perf_counter,
) -> float:
    """Median of `seconds`."""
    return median(seconds(call, repeats=repeats, warmup=warmup, min_time=min_time, clock=clock))


def save_plot(figure: Any, name: str) -> Path:
    """Save a matplotlib figure as ``benchmarks/<name>.png`` and return where it is."""
    path = FOLDER / f"{name}.png"
    figure.savefig(path, dpi=120, bbox_inches="tight")
    return path

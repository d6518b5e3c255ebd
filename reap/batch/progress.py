"""Rows, rate and time left, on the terminal."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, Task, TimeRemainingColumn
from rich.text import Text


class _Rate(ProgressColumn):
    """Rows a second."""

    def render(self, task: Task) -> Text:
        speed = task.finished_speed or task.speed
        return Text("" if speed is None else f"{speed:,.0f} rows/s")


@contextlib.contextmanager
def progress(total: int | None, done: int, shown: bool) -> Iterator[Callable[[int], None]]:
    """Show a bar (on stderr, so that output can be piped) and yield what moves it on.

    Parameters
    ----------
    total : int, optional
        Rows in all, where known.
    done : int
        Rows that a run which is resumed has done already.
    shown : bool
    """
    if not shown:
        yield lambda rows: None
        return
    columns = ("Plans", BarColumn(), MofNCompleteColumn(), "rows", _Rate(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), speed_estimate_period=300) as bar:
        task = bar.add_task("", total=total, completed=done)
        yield lambda rows: bar.update(task, advance=rows)

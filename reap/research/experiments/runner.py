"""Runs the cells of a table: stored one by one, never run twice, in as many processes as wished.

A cell is a table's name and the parameters of its ``run``; its result is a frame, kept as Parquet under a name made
from the parameters. Everything random in a cell derives from its parameters, so order and processes change nothing.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import joblib
import pandas as pd
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from reap import __version__
from reap._errors import InputError
from reap._typing import Frame


@dataclass(frozen=True)
class Cell:
    """One piece of a table: its name and the parameters of its ``run``."""

    table: str
    params: dict[str, Any]

    def place(self, out: Path) -> Path:
        """Return the file of the result."""
        said = json.dumps({**self.params, "version": __version__}, sort_keys=True, default=list)
        digest = hashlib.sha256(said.encode()).hexdigest()[:12]
        return out / "runs" / self.table / f"{self.params.get('dataset', 'all')}-{digest}.parquet"

    def run(self, out: Path) -> Frame:
        """Return the result, from the file where there is one."""
        place = self.place(out)
        if place.exists():
            return pd.read_parquet(place)
        module = importlib.import_module(f"reap.research.experiments.{self.table}")
        frame: Frame = module.run(out, **self.params)
        place.parent.mkdir(parents=True, exist_ok=True)
        half = place.with_suffix(".part")
        frame.to_parquet(half, index=False)
        half.replace(place)
        return frame


def run(cells: list[Cell], out: Path, jobs: int = 1, title: str = "", quiet: bool = False) -> Frame:
    """Return the results of all cells, one below the other, in their order.

    Parameters
    ----------
    cells : list of Cell
    out : Path
        Where results are kept.
    jobs : int
        Processes.
    title : str
        Beside the progress bar.
    quiet : bool
        No progress bar.
    """
    check_parquet()
    todo = [cell for cell in cells if not cell.place(out).exists()]
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    with Progress(*columns, disable=quiet or not todo) as bar:
        task = bar.add_task(title, total=len(cells), completed=len(cells) - len(todo))
        for _ in _finished(todo, out, jobs):
            bar.advance(task)
    frames = [cell.run(out) for cell in cells]
    frames = [frame for frame in frames if len(frame)]
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()


def _finished(cells: list[Cell], out: Path, jobs: int) -> Any:
    """Yield once for each cell when it is done."""
    if jobs == 1 or len(cells) < 2:
        for cell in cells:
            cell.run(out)
            yield
        return
    with joblib.parallel_config("loky", inner_max_num_threads=1), warnings.catch_warnings():
        # joblib renews workers that grew; no work is lost
        warnings.filterwarnings("ignore", "A worker stopped")
        work = joblib.Parallel(n_jobs=jobs, return_as="generator_unordered")
        yield from work(joblib.delayed(_quietly)(cell, out) for cell in cells)


def _quietly(cell: Cell, out: Path) -> None:
    cell.run(out)  # the frame is read from its file later, not sent between processes


def check_parquet() -> None:
    """Say what to install where Parquet files cannot be written."""
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        raise InputError(
            "runs are kept as Parquet files, which need pyarrow; install it with: pip install 'reap-recourse[cluster]'"
        ) from None

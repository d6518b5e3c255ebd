"""Runs the cells of tables: stored one by one, never run twice, all in one piece, in as many processes as wished.

A table is a module of this package with a ``TITLE``, what it ``NEEDS`` and a ``summary`` of the runs. Where it has runs of its
own, it also has ``cells(scope)``, the parameters of every piece, and ``run(out, **parameters)``, which returns a frame. The frame
is kept as Parquet under a name made from the parameters. Everything random in a cell derives from its parameters, so order and
processes change nothing.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import traceback
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import joblib
import pandas as pd
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from reap import __version__
from reap._errors import InputError, unknown
from reap._typing import Frame
from reap.datasets import available
from reap.research.experiments.bench import make_bench
from reap.research.experiments.report import ReportTable

#: Tables in the order of the report: the names on the command line, and of the modules.
NAMES = (
    "classifiers",
    "gradient",
    "graph",
    "pear",
    "wilcoxon",
    "rank",
    "jaccard",
    "run_time",
    "gap",
    "quality",
    "horizons",
    "durability",
    "population",
    "effects",
    "humans",
    "peers",
)
#: Subjects handled in one cell: the unit that is stored, resumed and handed to a process.
CHUNK = 5


@dataclass(frozen=True)
class Scope:
    """How much to run, and where the results go.

    Parameters
    ----------
    out : Path
        Folder of the results; finished cells are found there again.
    datasets : tuple of str
        Data sets to run; empty: those of each table.
    subjects, matrices : int, optional
        Rejected people a data set, and effort matrices for each; None: what the table asks for.
    seed : int
    quick : bool
        Everything tiny: to see that it runs.
    jobs : int
        Processes, as in joblib.
    """

    out: Path
    datasets: tuple[str, ...] = ()
    subjects: int | None = None
    matrices: int | None = None
    seed: int = 0
    quick: bool = False
    jobs: int = 1

    def over(self, wanted: tuple[str, ...]) -> tuple[str, ...]:
        """Return the data sets to run of those a table has: the ones named, else those at hand."""
        if self.datasets:
            return tuple(name for name in self.datasets if name in wanted)
        present = {entry.name for entry in available() if entry.present}
        ordered = tuple(name for name in wanted if name in present)
        return ordered[:1] if self.quick else ordered

    def questions(self, full: int) -> int:
        """Return how many questions to ask."""
        return min(full, 3) if self.quick else full

    def bench(self, dataset: str, own: bool = False) -> dict[str, Any]:
        """Return what a cell needs to make the bench again in its process."""
        size = {"rows": 400, "epochs": 60} if self.quick else {"rows": None, "epochs": 300}
        return {"dataset": dataset, "own": own, "seed": self.seed, **size}

    def cells(
        self,
        datasets: tuple[str, ...],
        subjects: int = 50,
        matrices: int = 4,
        *,
        own: bool = False,
        runs: int = 0,
        **bench: Any,
    ) -> list[dict[str, Any]]:
        """Return the bench, the subjects (first, one past the last) and the matrices of every cell of a table.

        Where subjects × matrices would be fewer than ``runs``, there are more matrices. The defaults, half of the subjects that
        the paper takes and fewer matrices for each, let the whole fit into two hours of two cores.
        """
        made = []
        for one in ({**self.bench(name, own), **bench} for name in self.over(datasets)):
            wanted = self.subjects or (2 if self.quick else subjects)
            count = min(wanted, len(make_bench(self.out, **one).subjects))
            each = self.matrices or (2 if self.quick else max(matrices, -(-runs // max(count, 1))))
            chunks = [(begin, min(begin + CHUNK, count)) for begin in range(0, count, CHUNK)]
            made += [{**one, "subjects": chunk, "matrices": each} for chunk in chunks]
        return made


@dataclass(frozen=True)
class TableCell:
    """One piece of a table: its name and the parameters of its ``run``."""

    table: str
    params: dict[str, Any]

    def place(self, out: Path) -> Path:
        """Return the file of the result."""
        said = json.dumps({**self.params, "version": __version__}, sort_keys=True, default=list)
        digest = hashlib.sha256(said.encode()).hexdigest()[:12]
        return out / "runs" / self.table / f"{self.params.get('dataset', 'all')}-{digest}.parquet"

    def run(self, out: Path) -> None:
        """Make the file of the result, unless it is there."""
        place = self.place(out)
        if place.exists():
            return
        frame: Frame = module(self.table).run(out, **self.params)
        place.parent.mkdir(parents=True, exist_ok=True)
        half = place.with_suffix(".part")
        frame.to_parquet(half, index=False)
        half.replace(place)

    def attempt(self, out: Path) -> tuple[str, Exception | None]:
        """Run; return the name of the table, and what went wrong: the others need not wait for it to be mended."""
        try:
            self.run(out)
        except Exception as error:
            error.add_note(f"in {self.table}, {self.params}\n{traceback.format_exc()}")
            return self.table, error
        return self.table, None


def run(cells: Sequence[TableCell], out: Path, jobs: int = 1, quiet: bool = False) -> dict[str, Frame]:
    """Return the results of all cells by table, one below the other, in their order.

    Results are kept in ``out``. A cell that breaks is raised at the end, when all others are kept.
    """
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        raise InputError(
            "runs are kept as Parquet files, which need pyarrow; install it with: pip install 'reap-recourse[cluster]'"
        ) from None
    todo = [cell for cell in cells if not cell.place(out).exists()]
    columns = (
        TextColumn("{task.description:<11}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, disable=quiet or not todo, speed_estimate_period=600) as bar:
        task = bar.add_task("", total=len(cells), completed=len(cells) - len(todo))
        errors = list[Exception]()
        for name, error in _finished(todo, out, jobs):
            bar.update(task, advance=1, description=name)
            errors += [error] if error else []
    if errors:
        errors[0].add_note(
            f"{len(errors)} of {len(todo)} parts failed; the others are kept, and the same command goes on with these"
        )
        raise errors[0]
    found: dict[str, list[Frame]] = {cell.table: [] for cell in cells}
    for cell in cells:
        if len(frame := pd.read_parquet(cell.place(out))):
            found[cell.table].append(frame)
    return {
        name: pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()
        for name, frames in found.items()
    }


def _finished(cells: Sequence[TableCell], out: Path, jobs: int) -> Iterator[tuple[str, Exception | None]]:
    """Yield the name of its table for each cell when it is done, and what went wrong."""
    if jobs == 1 or len(cells) < 2:
        yield from (cell.attempt(out) for cell in cells)
        return
    with joblib.parallel_config("loky", inner_max_num_threads=1), warnings.catch_warnings():
        # joblib renews workers that grew; no work is lost
        warnings.filterwarnings("ignore", "A worker stopped")
        work = joblib.Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=1)
        yield from work(joblib.delayed(TableCell.attempt)(cell, out) for cell in cells)


def module(name: str) -> Any:
    """Return the module of a table."""
    if name not in NAMES:
        raise unknown("table", name, NAMES)
    return importlib.import_module(f"reap.research.experiments.{name}")


def reproduce(names: Sequence[str], scope: Scope, quiet: bool = False) -> dict[str, list[ReportTable]]:
    """Run tables (all where none is named) and return the results of those that have runs; what was run before is read again."""
    wanted = {name: module(name) for name in (names or NAMES)}
    needed = [name for name in NAMES if any(name in made.NEEDS for made in wanted.values())]
    cells = [TableCell(name, params) for name in needed for params in module(name).cells(scope)]
    runs = dict.fromkeys(needed, pd.DataFrame()) | run(cells, scope.out, scope.jobs, quiet)
    results = {
        name: made.summary(runs)
        for name, made in wanted.items()
        if any(len(runs[needs]) for needs in made.NEEDS)
    }
    return {name: made for name, made in results.items() if made}

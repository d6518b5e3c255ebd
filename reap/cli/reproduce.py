"""``reap reproduce``: every table and figure of the paper, and those beyond it."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table


def reproduce(
    tables: list[str] = typer.Argument(
        None, help="Tables to make, by name; all without one. --list lists them."
    ),
    datasets: list[str] = typer.Option(
        [], "--datasets", "-d", help="Data sets, one or more names; those of each table without."
    ),
    subjects: int = typer.Option(None, "--subjects", min=1, help="Rejected people a data set."),
    matrices: int = typer.Option(
        None, "--matrices", min=1, help="Effort matrices, that is people, a subject."
    ),
    quick: bool = typer.Option(False, "--quick", help="Everything tiny: to see that it runs."),
    jobs: int = typer.Option(1, "--jobs", "-j", help="Processes."),
    out: Path = typer.Option(
        Path("reproduction"), "--out", "-o", help="Folder of the results; finished parts are not run again."
    ),
    seed: int = typer.Option(0, "--seed", help="Fixes everything random."),
    listed: bool = typer.Option(False, "--list", help="List the tables and stop."),
) -> None:
    """Make the paper's tables and figures again, with the paper's figures beside ours, and those beyond it."""
    from reap import datasets as data
    from reap._errors import unknown
    from reap.research.experiments import NAMES, Scope
    from reap.research.experiments import reproduce as run
    from reap.research.experiments.runner import module

    console = Console(highlight=False, width=None if sys.stdout.isatty() else 150)
    if listed:
        for name in NAMES:
            console.print(f"[bold]{name:<12}[/] {module(name).TITLE}")
        return
    # `--datasets german student` hands the second name over as a table: no table is called like a data set.
    given = [name for text in datasets for name in text.replace(",", " ").split()]
    given += [name for name in tables or [] if name in data.names()]
    for name in given:
        if name not in data.names():
            raise unknown("data set", name, data.names())
    scope = Scope(out, tuple(given), subjects, matrices, seed, quick, jobs)
    results = run([name for name in tables or [] if name not in data.names()], scope)
    for made in results.values():
        for result in made:
            show(console, result)
    if find_spec("matplotlib") is None:
        console.print(
            "No report was written: it needs matplotlib, pip install 'reap-recourse[plots]'.", markup=False
        )
        return
    from reap.research.experiments.report import write

    page = write(results, scope, _command(tables or [], scope))
    console.print(f"The report: {page} , raw runs in {out / 'runs'}", soft_wrap=True)


def _command(tables: list[str], scope: Any) -> str:
    """Return the command that makes the same report."""
    named = [name for name in tables if name not in scope.datasets]
    parts = ["reap reproduce", *named]
    parts += ["--datasets", *scope.datasets] if scope.datasets else []
    parts += [
        f"--{name} {value}"
        for name in ("subjects", "matrices")
        if (value := getattr(scope, name)) is not None
    ]
    parts += ["--quick"] if scope.quick else []
    return " ".join([*parts, f"--seed {scope.seed}"])


def show(console: Console, result: Any) -> None:
    """Print a table with its remarks."""
    table = Table(title=result.title, title_justify="left")
    for i, column in enumerate(result.frame.columns):
        table.add_column(str(column), justify="left" if i == 0 or column == "method" else "right")
    for row in result.frame.itertuples(index=False):
        table.add_row(*(escape(str(value)) for value in row))
    console.print(table)
    for remark in result.remarks:
        console.print(f"– {remark}", soft_wrap=True, markup=False)
    console.print()

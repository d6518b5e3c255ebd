"""Run the benchmarks: ``python -m benchmarks [names…] [--quick]``.

Finds ``bench_<name>.py`` beside this file, runs each in one thread, prints one table, and merges the rows
by name into ``results.json``: a run of one part keeps the figures of the others. See `_harness` to add one.
"""

from __future__ import annotations

import argparse
import importlib
import json
import platform
from dataclasses import asdict

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks._harness import FOLDER, Row

RESULTS = FOLDER / "results.json"


def available() -> list[str]:
    """Names of the benchmarks in this folder."""
    return sorted(path.stem.removeprefix("bench_") for path in FOLDER.glob("bench_*.py"))


def main() -> None:
    """Read the command line, run, print, save."""
    names = available()
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Speed against the peers.")
    parser.add_argument("names", nargs="*", metavar="name", help=f"which to run: {', '.join(names)}")
    parser.add_argument("--quick", action="store_true", help="smaller sizes, fewer repeats, not saved")
    chosen = parser.parse_args()
    if wrong := set(chosen.names) - set(names):
        parser.error(f"no benchmark {', '.join(sorted(wrong))}; there are: {', '.join(names)}")

    console, rows, skipped = Console(), list[Row](), list[str]()
    for name in chosen.names or names:
        console.print(f"[dim]{name} …[/dim]")
        try:
            bench = importlib.import_module(f"benchmarks.bench_{name}")
        except ModuleNotFoundError as missing:
            skipped.append(f"{name} was not run: it needs {missing.name}")
            continue
        rows += bench.run(chosen.quick)
    console.print(as_table(rows, "quick run" if chosen.quick else "median, one thread"))
    for line in skipped:
        console.print(f"[yellow]{line}[/yellow]")
    if not chosen.quick:
        save(rows)


def as_table(rows: list[Row], title: str) -> Table:
    """Every row beside its target."""
    table = Table("what", "peer", "ours", "figure", "target", "met", "note", title=title)
    marks = {True: "[green]yes[/green]", False: "[red]NO[/red]", None: ""}
    for row in rows:
        sign = {"at least": "≥", "at most": "≤"}[row.sense]
        table.add_row(
            row.name,
            row.peer,
            "" if row.ours is None else f"{row.ours * 1e3:.3g} ms",
            f"[red]{row.value:.3g} {row.unit}[/red]" if row.met is False else f"{row.value:.3g} {row.unit}",
            "" if row.target is None else f"{sign} {row.target:g} {row.unit}",
            marks[row.met],
            row.note,
        )
    return table


def save(rows: list[Row]) -> None:
    """Merge the rows by name into ``results.json``."""
    known = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    machine = f"Python {platform.python_version()}, NumPy {np.__version__}, {platform.machine()}"
    for row in rows:
        known[row.name] = {**asdict(row), "met": row.met, "run_on": machine}
    RESULTS.write_text(json.dumps(known, indent=2, sort_keys=True, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()

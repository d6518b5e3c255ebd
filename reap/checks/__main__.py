"""``python -m reap.checks [module:Engine]`` runs every case on an engine, by default ``reap.Recourse``, and prints a table."""

from __future__ import annotations

import importlib
import inspect
import sys
import time

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from reap.checks.calls import Make
from reap.checks.cases import CASES, WITH_TIME_LIMIT
from reap.checks.people import FOR_PEOPLE
from reap.checks.suite import summary


def main(arguments: list[str]) -> int:
    """Run the suite; return how many cases failed."""
    name = arguments[0] if arguments else "reap.recourse:Recourse"
    module, _, attribute = name.partition(":")
    make: Make = getattr(importlib.import_module(module), attribute)
    timed = "time_limit" in inspect.signature(make).parameters
    table = Table("check", "promise", "seconds", "", title=f"reap.checks on {name}")
    failed = 0
    for case in (*CASES, *WITH_TIME_LIMIT, *FOR_PEOPLE):
        start, said = time.perf_counter(), "[green]holds[/green]"
        try:
            if case in WITH_TIME_LIMIT and not timed:
                said = "not asked: no time_limit"
            else:
                case(make)
        except Exception as error:
            failed, said = failed + 1, f"[red]broken[/red]: {escape(str(error))}"
        table.add_row(
            case.__name__.replace("_", " "), summary(case), f"{time.perf_counter() - start:.1f}", said
        )
    Console().print(table)
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

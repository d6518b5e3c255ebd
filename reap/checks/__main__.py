"""``python -m reap.checks [module:Engine]`` runs every case on an engine, by default ``reap.Recourse``, and prints a table.

``python -m reap.checks --tables 3000 [--seed N]`` runs that many random tables instead, and prints every failure; ``--effects``
that many random spaces in which features move each other.
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import sys
import time
import warnings

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from reap._errors import InputWarning
from reap.checks.cases import CASES, FOR_PEOPLE, WITH_TIME_LIMIT, effects
from reap.checks.net import tables
from reap.checks.promises import Make, summary


def main(arguments: list[str]) -> int:
    """Run the suite; return how many cases failed."""
    parser = argparse.ArgumentParser(prog="python -m reap.checks", description="The promises, on an engine.")
    parser.add_argument("engine", nargs="?", default="reap.recourse:Recourse", help="module:Engine")
    parser.add_argument("--tables", type=int, help="run this many random tables instead of all cases")
    parser.add_argument("--effects", type=int, help="run this many random spaces with effects instead")
    parser.add_argument("--seed", type=int, default=0, help="the first of them; that of a failure repeats it")
    given = parser.parse_args(arguments)
    module, _, attribute = given.engine.partition(":")
    make: Make = getattr(importlib.import_module(module), attribute)
    if given.tables is not None or given.effects is not None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", InputWarning)
            report = (
                effects(make, given.effects, given.seed, raises=False)
                if given.effects is not None
                else tables(make, given.tables, given.seed, raises=False)
            )
        print(report, *report.broken, sep="\n")
        return len(report.broken)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InputWarning)  # models drawn at random are none that anybody trains
        return _cases(make, given.engine)


def _cases(make: Make, name: str) -> int:
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
    sys.exit(min(main(sys.argv[1:]), 255))

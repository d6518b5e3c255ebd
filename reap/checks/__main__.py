"""``python -m reap.checks [module:Engine]`` runs every case on an engine, by default ``reap.Recourse``, and prints what holds.

``python -m reap.checks --tables 3000 [--seed N]`` runs that many random tables instead, and prints every failure; ``--effects``
that many random spaces in which features move each other.
"""

from __future__ import annotations

import argparse
import importlib
import sys
import warnings

from reap._errors import InputWarning
from reap.checks.cases import every
from reap.checks.net import tables
from reap.checks.promises import Make


def main(arguments: list[str]) -> int:
    """Run the suite; return how many failures there were."""
    parser = argparse.ArgumentParser(prog="python -m reap.checks", description="The promises, on an engine.")
    parser.add_argument("engine", nargs="?", default="reap.recourse:Recourse", help="module:Engine")
    parser.add_argument("--tables", type=int, help="run this many random tables instead of all cases")
    parser.add_argument("--effects", type=int, help="run this many random spaces with effects instead")
    parser.add_argument("--seed", type=int, default=0, help="the first of them; that of a failure repeats it")
    given = parser.parse_args(arguments)
    module, _, attribute = given.engine.partition(":")
    make: Make = getattr(importlib.import_module(module), attribute)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InputWarning)  # models drawn at random are none that anybody trains
        count = given.tables if given.effects is None else given.effects
        if count is None:
            report = every(make)
        else:
            report = tables(make, count, given.seed, effects=given.effects is not None, raises=False)
    print(report, *(report.broken if count is not None else ()), sep="\n")
    return len(report.broken)


if __name__ == "__main__":
    sys.exit(min(main(sys.argv[1:]), 255))

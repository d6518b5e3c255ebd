"""All tables and figures, in the order of the report."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

from reap._errors import unknown
from reap._typing import Frame
from reap.research.experiments import runner
from reap.research.experiments.results import Result
from reap.research.experiments.scope import Scope

#: Names of the modules, which are the names on the command line.
NAMES = (
    "classifiers",
    "gradient",
    "dice",
    "graph",
    "pear",
    "wilcoxon",
    "rank",
    "options",
    "lengths",
    "jaccard",
    "epsilon",
    "run_time",
    "gap",
    "random",
    "excess",
    "quality",
    "factors",
    "kinds",
    "within",
    "calibration",
    "reading",
    "dialogues",
    "honesty",
    "coverage",
    "horizons",
    "durability",
    "population",
    "humans",
)


def module(name: str) -> Any:
    """Return the module of a table."""
    if name not in NAMES:
        raise unknown("table", name, NAMES)
    return importlib.import_module(f"reap.research.experiments.{name}")


def reproduce(names: Sequence[str], scope: Scope, quiet: bool = False) -> dict[str, list[Result]]:
    """Run tables (all where none is named) and return the results of those that have runs; what was run before is read again."""
    wanted = [module(name) for name in (names or NAMES)]
    needed = [name for name in NAMES if any(name in made.NEEDS for made in wanted)]
    runs: dict[str, Frame] = {}
    for name in needed:
        cells = [runner.Cell(name, params) for params in module(name).cells(scope)]
        runs[name] = runner.run(cells, scope.out, scope.jobs, name, quiet)
    return {
        made.__name__.rpartition(".")[2]: made.summary(runs)
        for made in wanted
        if any(len(runs[name]) for name in made.NEEDS)
    }

"""Every bench can be imported and runs: what no longer does has measured nothing for a while."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from typing import Any

import pytest

import benchmarks
from benchmarks.__main__ import as_table, available

#: What makes a quick run tiny, by bench: other values of its constants.
TINY: dict[str, Callable[[Any], dict[str, Any]]] = {
    "batch": lambda bench: {"QUICK": {**dict.fromkeys(bench.QUICK, 1), "batch": 24, "scale": 16, "graph": 4}},
    "first_contact": lambda bench: {"QUICK": 1, "tables": lambda rng: [bench.clinic(rng, 400)]},
    "models": lambda bench: {
        "MODELS": dict([*bench.MODELS.items()][:1]),
        "QUICK": ("German",),
        "PEOPLE": (1, 1),
    },
    "raw_batch": lambda bench: {"QUICK": 24, "FEW": 8},
    "recourse": lambda bench: {"QUICK": (2, 1)},
}
#: Those that start services or run for longer.
LONG = ("session", "service", "service_raw", "service_postgresql", "batch")


def imported(name: str) -> Any:
    """Return a module of the benches; skip where a peer is not installed."""
    try:
        return importlib.import_module(f"benchmarks.{name}")
    except ModuleNotFoundError as missing:  # never one of our own modules
        if (missing.name or "").split(".")[0] in ("reap", "benchmarks"):
            raise
        pytest.skip(str(missing))


@pytest.mark.parametrize("name", [module.name for module in pkgutil.iter_modules(benchmarks.__path__)])
def test_every_bench_is_imported(name):
    if name != "__main__":
        assert imported(name)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.long] if name in LONG else []) for name in available()]
)
def test_every_bench_runs(name, monkeypatch):
    module = imported(f"bench_{name}")
    for constant, value in TINY.get(name, lambda bench: {})(module).items():
        monkeypatch.setattr(module, constant, value)
    rows = module.run(True)
    assert len({row.name for row in rows}) == len(rows)
    assert as_table(rows, name).row_count == len(rows)

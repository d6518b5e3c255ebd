"""Every bench can be imported: what no longer does has measured nothing for a while."""

from __future__ import annotations

import importlib
import pkgutil

import pytest

import benchmarks


@pytest.mark.parametrize("name", [module.name for module in pkgutil.iter_modules(benchmarks.__path__)])
def test_every_bench_is_imported(name):
    if name == "__main__":
        return
    try:
        assert importlib.import_module(f"benchmarks.{name}")
    except ModuleNotFoundError as missing:  # a peer that is not installed; never one of our own modules
        if (missing.name or "").split(".")[0] in ("reap", "benchmarks"):
            raise
        pytest.skip(str(missing))

"""The service under load on SQLite, with a HistGradientBoosting pipeline on the raw frame; about four minutes, see ``_load``."""

from __future__ import annotations

import tempfile
from pathlib import Path

from benchmarks._harness import Row
from benchmarks._load import booster, measure, prepare


def run(quick: bool) -> list[Row]:
    """People who think, then saturation."""
    with tempfile.TemporaryDirectory(prefix="reap-bench-") as name:
        folder = Path(name)
        rows = prepare(booster(), folder)
        database = f"sqlite:///{folder}/reap.db"
        return measure("raw HistGradientBoosting pipeline", database, folder, rows, quick)

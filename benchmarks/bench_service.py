"""The service under load on SQLite, with the model of ``reap serve``; about four minutes, see ``_load``."""

from __future__ import annotations

import tempfile
from pathlib import Path

from benchmarks._harness import Row
from benchmarks._load import measure, network, prepare


def run(quick: bool) -> list[Row]:
    """People who think, then saturation."""
    with tempfile.TemporaryDirectory(prefix="reap-bench-") as name:
        folder = Path(name)
        rows = prepare(network(), folder)
        return measure("SQLite", f"sqlite:///{folder}/reap.db", folder, rows, quick)

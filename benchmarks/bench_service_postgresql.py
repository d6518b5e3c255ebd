"""The service under load on PostgreSQL, with the model of ``reap serve``; about four minutes, see ``_load``."""

from __future__ import annotations

import tempfile
from pathlib import Path

from benchmarks._harness import Row
from benchmarks._load import measure, network, prepare
from tests.service.postgresql import Cluster, NotInstalledError


def run(quick: bool) -> list[Row]:
    """People who think, then saturation; nothing where there is no PostgreSQL."""
    try:
        cluster = Cluster.start_new()
    except NotInstalledError:
        return []
    try:
        with tempfile.TemporaryDirectory(prefix="reap-bench-") as name:
            folder = Path(name)
            rows = prepare(network(), folder)
            return measure("PostgreSQL", cluster.new(), folder, rows, quick, cluster)
    finally:
        cluster.remove()

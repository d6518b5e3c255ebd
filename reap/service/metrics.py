"""Counters for Prometheus: requests, computations, faults. Nothing about persons."""

from __future__ import annotations

import os

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest, multiprocess

_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5, 1.0, 2.5, 5.0, 10.0)


class Metrics:
    """The figures of one worker; with several workers their files are added up when somebody asks.

    Examples
    --------
    >>> metrics = Metrics()
    >>> metrics.solves.labels("ask").observe(0.02)
    >>> b'reap_solve_seconds_count{what="ask"} 1.0' in metrics.text()
    True
    """

    def __init__(self) -> None:
        self.registry = own = CollectorRegistry()
        self.requests = Histogram(
            "reap_request_seconds",
            "Time to answer.",
            ("route", "method", "status"),
            registry=own,
            buckets=_BUCKETS,
        )
        self.solves = Histogram(
            "reap_solve_seconds",
            "Time to compute: replay, answered, ask, …",
            ("what",),
            registry=own,
            buckets=_BUCKETS,
        )
        self.faults = Counter(
            "reap_database_faults_total", "Requests refused because of the database.", registry=own
        )
        facts = ("model", "data", "version")
        self.info = Gauge("reap_info", "What is in use.", facts, registry=own, multiprocess_mode="livemax")

    def text(self) -> bytes:
        """Return everything in the format of Prometheus."""
        if "PROMETHEUS_MULTIPROC_DIR" not in os.environ:
            return generate_latest(self.registry)
        gathered = CollectorRegistry()
        multiprocess.MultiProcessCollector(gathered)  # type: ignore[no-untyped-call]
        return generate_latest(gathered)

"""Counters for Prometheus: requests, computations, events. Nothing about persons."""

from __future__ import annotations

import os

from prometheus_client import (
    CONTENT_TYPE_LATEST,
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    generate_latest,
    multiprocess,
)

_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5, 1.0, 2.5, 5.0, 10.0)


class Metrics:
    """The figures of one worker; with several workers their files are added up when somebody asks.

    Examples
    --------
    >>> metrics = Metrics()
    >>> metrics.solved("ask", 0.02)
    >>> b'reap_solve_seconds_count{what="ask"} 1.0' in metrics.text()
    True
    """

    content_type = CONTENT_TYPE_LATEST

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._requests = Histogram(
            "reap_request_seconds",
            "Time to answer a request.",
            ("route", "method", "status"),
            buckets=_BUCKETS,
            registry=self.registry,
        )
        self._solves = Histogram(
            "reap_solve_seconds",
            "Time to compute: replay, answered, ask, recommend, explain.",
            ("what",),
            buckets=_BUCKETS,
            registry=self.registry,
        )
        self._faults = Counter(
            "reap_database_faults_total", "Requests refused because of the database.", registry=self.registry
        )
        self._info = Gauge(
            "reap_info",
            "Model, data and release in use.",
            ("model", "data", "version"),
            multiprocess_mode="livemax",
            registry=self.registry,
        )

    def requested(self, route: str, method: str, status: int, seconds: float) -> None:
        """Count one request."""
        self._requests.labels(route, method, str(status)).observe(seconds)

    def solved(self, what: str, seconds: float) -> None:
        """Count one computation."""
        self._solves.labels(what).observe(seconds)

    def unavailable(self) -> None:
        """Count a request that the database refused."""
        self._faults.inc()

    def serve(self, model: str, data: str, version: str) -> None:
        """Say what is in use."""
        self._info.labels(model[:12], data[:12], version).set(1)

    def text(self) -> bytes:
        """Return everything in the format of Prometheus."""
        if "PROMETHEUS_MULTIPROC_DIR" not in os.environ:
            return generate_latest(self.registry)
        gathered = CollectorRegistry()
        multiprocess.MultiProcessCollector(gathered)  # type: ignore[no-untyped-call]
        return generate_latest(gathered)

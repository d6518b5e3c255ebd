"""The service under load: people who think, and then as many answers a second as it can give.

The service runs in processes of its own with a worker for each core, over loopback; the people are simulated in this process.
Each of them is another refused applicant, so that nothing is known of anybody beforehand. Every answer is counted in the
database afterwards, and processor time is read for each part while the people are there, so that the work of an answer is
known however busy the machine is.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import pickle
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import psutil
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder

import reap
from benchmarks._harness import FOLDER, Row
from benchmarks._people import Tally, crowd
from reap.cli import _setup
from reap.cli._options import DecisionOptions
from reap.service.case import Case
from reap.service.store import Store
from tests.service.postgresql import Cluster
from tests.service.serving import launch, stop

PEOPLE, ANSWERS, THINK = 200, 10, 10.0
WORKERS = 2
#: Seconds after which people who still think go home, and seconds at saturation.
LONGEST, FULL = 240.0, 20.0


def network() -> Any:
    """The network on the encoder that ``reap serve`` trains where it is given no model."""
    return _setup.train(reap.datasets.load("german"), 0)[0]


def booster() -> Any:
    """A HistGradientBoosting pipeline on the raw frame, as a lender may have it."""
    german = reap.datasets.load("german")
    words = [c for c in german.X if not pd.api.types.is_numeric_dtype(german.X[c])]
    codes = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
    columns = make_column_transformer((codes, words), remainder="passthrough")
    return make_pipeline(columns, HistGradientBoostingClassifier(random_state=0)).fit(german.X, german.y)


def prepare(model: Any, folder: Path) -> list[dict[str, Any]]:
    """Fit an engine as ``reap serve`` does, retrainings included; save its case, and return refused applicants as JSON rows."""
    german, usual = reap.datasets.load("german"), DecisionOptions(durability=None, margin=None)
    space = german.space
    engine = _setup.fitted(reap.Recourse, model, space, 1, usual, german.X, german.y, 0)
    refused = german.X[~engine.classifier_.accepts(space.encode(german.X))]
    (folder / "case").write_bytes(pickle.dumps(Case.of(engine, german.X, refused)))
    return [space.values(space.vector(refused.iloc[[i]])) for i in range(len(refused))]


@contextlib.contextmanager
def served(folder: Path, database: str) -> Iterator[tuple[str, psutil.Process]]:
    """Serve the case of a folder with a worker for each core; yield its address and its first process."""
    quiet = {"REAP_RATE": "0", "REAP_STARTS": "0", "REAP_QUESTIONS": str(ANSWERS)}
    command = [sys.executable, str(FOLDER / "_served.py"), str(folder / "case"), database, str(WORKERS)]
    process, url = launch(command, folder, WORKERS, quiet)
    try:
        yield url, psutil.Process(process.pid)
    finally:
        stop(process)


@dataclass(frozen=True)
class Spent:
    """Processor seconds of the server, of the database and of the simulated people."""

    server: float
    database: float
    people: float

    @classmethod
    def now(cls, server: psutil.Process, database: psutil.Process | None) -> Spent:
        """Read the clocks."""
        return cls(_seconds(server), 0.0 if database is None else _seconds(database), time.process_time())

    def since(self, before: Spent, answers: int) -> Spent:
        """Return milliseconds an answer."""
        each = 1e3 / max(answers, 1)
        return Spent(*(each * (getattr(self, n) - getattr(before, n)) for n in Spent.__dataclass_fields__))


def _seconds(process: psutil.Process) -> float:
    """Processor seconds of a process and all it has started, those that have ended included."""
    used = 0.0
    for one in (process, *process.children(recursive=True)):
        with contextlib.suppress(psutil.NoSuchProcess):
            used += sum(one.cpu_times()[:4])
    return used


def taken() -> tuple[float, float]:
    """Seconds that a virtual machine's host kept from its processors so far, and all that there were; nothing where none says."""
    times = psutil.cpu_times()
    return float(getattr(times, "steal", 0.0)), float(sum(times[:8]))


def counted(database: str) -> list[str | None]:
    """The keys of all answers in the database, every chain checked."""
    store = Store.opened(database)  # with the key by which everything is signed
    faults = list(store.faults())
    if faults:
        raise RuntimeError(f"{len(faults)} broken chains, the first: {faults[0]}")
    found = [e.key for kept in store.sessions() for e in store.events(kept.id) if e.type == "answered"]
    store.engine.dispose()
    return found


def promises(name: str, told: dict[str, bool | None], stored: list[str | None]) -> list[Row]:
    """Whether what people were told of their answers is so; somebody who gave up was told nothing."""
    known = set(stored)
    lied = sum(said is False and key in known for key, said in told.items())
    lost = sum(said is True and key not in known for key, said in told.items())
    strange = len(stored) - len(known & set(told))  # stored twice, or by nobody
    untold = sum(said is None and key in known for key, said in told.items())
    note = f"{len(stored)} in the database, of them {untold} of people who gave up or were told that it is not known"
    return [
        Row.limit(
            f"{name}: answers stored though their people were told that nothing was",
            lied,
            "",
            at_most=0,
            note=note,
        ),
        Row.limit(f"{name}: answers acknowledged and lost, or stored twice", lost + strange, "", at_most=0),
    ]


def measure(
    kind: str,
    database: str,
    folder: Path,
    rows: list[dict[str, Any]],
    quick: bool,
    cluster: Cluster | None = None,
) -> list[Row]:
    """Run the people against one database."""
    people, think = (20, 1.0) if quick else (PEOPLE, THINK)
    below = None if cluster is None else psutil.Process(cluster.pid)
    with served(folder, database) as (url, server):
        before, host = Spent.now(server, below), taken()
        calm, lasted = asyncio.run(crowd(url, rows, people, think, LONGEST))
        spent = Spent.now(server, below).since(before, len(calm.nexts))
        kept, every = (now - then for now, then in zip(taken(), host, strict=True))
        memory = sum(one.memory_info().rss for one in server.children(recursive=True)) / 1e6
        before = Spent.now(server, below)
        full, busy = asyncio.run(crowd(url, rows, 8 * WORKERS, 0.0, 4.0 if quick else FULL, again=True))
        strained = Spent.now(server, below).since(before, len(full.nexts))
        stored = counted(database)
    return [
        *latencies(
            f"service, {kind}",
            calm,
            f"{len(calm.nexts)} answers of {people} people in {lasted:.0f} s; the machine's host kept {kept / every:.0%} of "
            "its processors' time",
        ),
        Row.limit(
            f"service, {kind}: errors",
            len(calm.errors) + len(full.errors),
            "",
            at_most=0,
            note="; ".join(sorted({*calm.errors, *full.errors})[:2]),
        ),
        *promises(f"service, {kind}", {**calm.told, **full.told}, stored),
        Row(
            f"service, {kind}: processor time an answer",
            spent.server,
            "ms",
            note=f"of the server, sessions' starts included; {strained.server:.0f} ms at saturation",
        ),
        Row(
            f"service, {kind}: processor time an answer, database and load",
            spent.database + spent.people,
            "ms",
            note=f"database {spent.database:.1f} ms, simulated people {spent.people:.1f} ms",
        ),
        Row(
            f"service, {kind}: answers a second at saturation",
            len(full.nexts) / busy,
            "/s",
            note=f"{len(full.firsts) / busy:.1f} starts a second beside them; {WORKERS} workers and the load on "
            f"{os.cpu_count()} cores; load average {os.getloadavg()[0]:.1f}",
        ),
        Row(f"service, {kind}: memory of the workers", memory, "MB", note=f"{people} sessions live"),
    ]


def latencies(name: str, calm: Tally, note: str) -> list[Row]:
    """The distribution of what people waited."""
    p50, p95, p99 = (1e3 * float(np.percentile(calm.nexts or [np.nan], q)) for q in (50, 95, 99))
    first = 1e3 * float(np.percentile(calm.firsts or [np.nan], 95))
    return [
        Row.limit(f"{name}: next question, median", p50, "ms", at_most=300),
        Row.limit(f"{name}: next question, p95", p95, "ms", at_most=500, note=note),
        Row(f"{name}: next question, p99", p99, "ms"),
        Row(f"{name}: first question, p95", first, "ms", note="while everybody comes at once"),
    ]

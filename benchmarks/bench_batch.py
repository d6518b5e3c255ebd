"""Batch: 100,000 rejected people of Adult on two processes, beside DiCE and a one-by-one FACE loop on a sample.

Wall-clock rows a second (CPU seconds would not show what a second process gains), memory of the workers while it
runs, and equality with the one-by-one API. Without the data set, or without DiCE, what cannot be run is left out.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra
from sklearn.neighbors import NearestNeighbors
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline

import reap
from benchmarks._dice import loops
from benchmarks._harness import Row

#: Rows: the whole run (REAP_BENCH_ROWS shortens it), samples of the engines on one and two processes, of the peers.
FULL = {
    "batch": int(os.environ.get("REAP_BENCH_ROWS", "100000")),
    "scale": 2_000,
    "graph": 500,
    "face": 100,
    "random": 20,
    "genetic": 5,
    "gradient": 4,
}
QUICK = {
    "batch": 200,
    "scale": 60,
    "graph": 20,
    "face": 10,
    "random": 2,
    "genetic": 1,
    "gradient": 1,
}


def run(quick: bool) -> list[Row]:
    """Rows a second of everybody, memory, and whether the plans are those of ``recommend``."""
    size = QUICK if quick else FULL
    try:
        data = reap.datasets.load("adult")
    except (reap.InputError, OSError) as missing:
        warnings.warn(f"the batch benchmark needs Adult: {missing}", stacklevel=2)
        return []
    model = make_pipeline(
        data.space.encoder(),
        MLPClassifier((20, 50, 20), early_stopping=True, max_iter=60, random_state=0),
    ).fit(data.X, data.y)
    engine = reap.Recourse(model, data.space).fit(data.X)
    rejected = data.X[~engine.classifier_.accepts(data.space.encode(data.X))]
    people = rejected.sample(size["batch"], replace=True, random_state=0).reset_index(drop=True)

    rate, rows = _whole(engine, people, data.X)
    one = _rate(lambda X: reap.batch.run(engine, X, n_jobs=1), people.iloc[: size["scale"]])
    two = _rate(
        lambda X: reap.batch.run(engine, X, n_jobs=2, chunk_size=len(X) // 8), people.iloc[: size["scale"]]
    )
    rows += [
        Row("batch, Recourse on Adult, 1 process", one, "rows/s"),
        Row(
            "batch, Recourse on Adult, 2 processes against 1",
            two / one,
            "×",
            note="start of workers included",
        ),
    ]
    graph = reap.GraphRecourse(model, data.space).fit(data.X)
    path = _rate(lambda X: reap.batch.run(graph, X, n_jobs=1), people.iloc[: size["graph"]])
    rows.append(Row("batch, the paper's graph engine on Adult, 1 process", path, "rows/s"))
    face = _rate(_face(engine, data), people.iloc[: size["face"]])
    rows.append(
        Row("batch against FACE one by one, Adult", rate / face, "×", peer="FACE, whole-graph Dijkstra")
    )
    return rows + _against_dice(data, model, people, rate, size)


def _against_dice(data: Any, model: Any, people: Any, rate: float, size: dict[str, int]) -> list[Row]:
    """The target stands beside the method of the paper's tables; the others are there to be honest about."""
    methods, rows = loops(data, model), []
    for method in ("gradient", "genetic", "random"):
        if method not in methods:
            note = "dice-ml is not installed" if not methods else "torch is not installed"
            rows.append(Row(f"batch against DiCE ({method}), Adult", np.nan, "×", peer="DiCE", note=note))
            continue
        theirs = _rate(methods[method], people.iloc[: size[method]])
        note = f"{rate:.1f} against {theirs:.2f} rows/s"
        target = 100 if method == "gradient" else None
        rows.append(
            Row(
                f"batch against DiCE ({method}), Adult",
                rate / theirs,
                "×",
                target,
                "at least",
                "DiCE",
                note=note,
            )
        )
    return rows


def _whole(engine: Any, people: Any, reference: Any) -> tuple[float, list[Row]]:
    """Run everybody from a file to a folder on two processes; returns rows a second and the lines of the table."""
    with tempfile.TemporaryDirectory() as folder:
        people.to_parquet(Path(folder) / "people.parquet", index=False)
        chunk = max(50, min(1000, len(people) // 20))
        begin = time.perf_counter()
        with _memory() as seen:
            reap.batch.run(
                engine,
                Path(folder) / "people.parquet",
                output=Path(folder) / "plans",
                reference=reference,
                n_jobs=2,
                chunk_size=chunk,
            )
        rate = len(people) / (time.perf_counter() - begin)
        plans = pd.read_parquet(Path(folder) / "plans")
    sample = np.random.default_rng(0).choice(len(people), min(100, len(people)), replace=False)
    wanted = engine.recommend(people.iloc[sample])
    same = plans.iloc[sample][list(wanted.columns)].equals(wanted)
    worker, driver = (np.array(values) / 1e6 for values in (seen["workers"], seen["driver"]))
    early, late = (worker[len(worker) * a // 8 : len(worker) * b // 8].max() for a, b in ((2, 4), (6, 8)))
    size = f"{len(people):,} rows"
    return rate, [
        Row("batch, Recourse on Adult, 2 processes", rate, "rows/s", note=size),
        Row(
            "batch, rows unlike the one-by-one API",
            float(not same),
            "of a sample",
            0,
            note="100 rows compared",
        ),
        Row("batch, memory of a worker", float(worker.max()), "MB", note=size),
        Row("batch, memory of the driver", float(driver.max()), "MB", note=size),
        Row(
            "batch, memory late over memory early",
            float(late / early),  # a plain number: results are saved as JSON
            "×",
            1.1 if len(people) >= 2_000 else None,
            note="a worker's, last quarter, second quarter",
        ),
    ]


@contextlib.contextmanager
def _memory() -> Iterator[dict[str, list[float]]]:
    """Watch resident memory of this process and of its largest child, four times a second."""
    import psutil

    seen: dict[str, list[float]] = {"workers": [], "driver": []}
    me, done = psutil.Process(), threading.Event()

    def watch() -> None:
        while not done.wait(0.25):
            sizes = [0.0]
            for child in me.children(recursive=True):
                with contextlib.suppress(psutil.Error):
                    sizes.append(float(child.memory_info().rss))
            seen["workers"].append(max(sizes))
            seen["driver"].append(float(me.memory_info().rss))

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield seen
    finally:
        done.set()
        thread.join()


def _rate(call: Callable[[Any], Any], X: Any) -> float:
    begin = time.perf_counter()
    call(X)
    return len(X) / (time.perf_counter() - begin)


def _face(engine: Any, data: Any) -> Callable[[Any], None]:
    """FACE one by one: a graph of squared distances made once, for each person the whole of Dijkstra's search."""
    Z = np.unique(data.space.encode(data.X), axis=0)
    accepted = np.flatnonzero(engine.classifier_.accepts(Z))
    near = NearestNeighbors(n_neighbors=10).fit(Z)
    distances, places = near.kneighbors(Z, n_neighbors=11)

    def loop(X: Any) -> None:
        for z in data.space.encode(X):
            own, first = near.kneighbors(z[None])
            n = len(Z)
            i = np.r_[np.repeat(np.arange(n), 10), np.full(10, n)]
            j = np.r_[places[:, 1:].ravel(), first[0]]
            w = np.r_[distances[:, 1:].ravel() ** 2, own[0] ** 2] + 1e-12
            costs, _ = dijkstra(
                csr_array((w, (i, j)), shape=(n + 1, n + 1)), indices=n, return_predecessors=True
            )
            accepted[np.argmin(costs[accepted])]

    return loop

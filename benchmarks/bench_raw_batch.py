"""Batch on a model as lenders have it: histogram boosting in a pipeline on raw rows of Adult, one process and two.

Rows a second by the clock, so nothing else should run. What two processes gain is also said beyond start-up: a short run of both
is taken off both, because a worker imports the libraries once, whether it then plans ten people or a million.
"""

from __future__ import annotations

import time
import warnings

import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder

import reap
from benchmarks._harness import Row

#: People, and those of the short run that shows what starting takes.
FULL, QUICK, FEW = 1_600, 120, 16


def run(quick: bool) -> list[Row]:
    """Rows a second of two processes, and what the second one gains."""
    try:
        data = reap.datasets.load("adult")
    except (reap.InputError, OSError) as missing:
        warnings.warn(f"the batch benchmark needs Adult: {missing}", stacklevel=2)
        return []
    words = [c for c in data.X if not pd.api.types.is_numeric_dtype(data.X[c])]
    codes = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
    model = make_pipeline(
        make_column_transformer((codes, words), remainder="passthrough"),
        HistGradientBoostingClassifier(random_state=0),
    ).fit(data.X, data.y)
    engine = reap.Recourse(model, data.space).fit(data.X)
    rejected = data.X[~engine.classifier_.accepts(data.space.encode(data.X))]
    count = QUICK if quick else FULL
    people = rejected.sample(count + FEW, replace=True, random_state=1).reset_index(drop=True)
    few, many = people.iloc[:FEW], people.iloc[FEW:]
    start = {jobs: _seconds(engine, few, jobs) for jobs in (1, 2)}
    whole = {jobs: _seconds(engine, many, jobs) for jobs in (1, 2)}
    beyond = {jobs: (whole[jobs] - start[jobs]) / (count - FEW) for jobs in (1, 2)}
    name = "batch, raw HistGradientBoosting pipeline on Adult"
    size = f"{count:,} rows"
    return [
        Row(f"{name}, 1 process", count / whole[1], "rows/s", note=size),
        Row(
            f"{name}, 2 processes", count / whole[2], "rows/s", 50, "at least", note=f"{size}, start included"
        ),
        Row(
            f"{name}, 2 processes against 1",
            beyond[1] / beyond[2],
            "×",
            1.7,
            "at least",
            note=f"beyond start-up, {start[2]:.1f} s of two; with it {whole[1] / whole[2]:.2f} ×",
        ),
    ]


def _seconds(engine: reap.Recourse, people: pd.DataFrame, jobs: int) -> float:
    """Return the seconds by the clock of a batch in equal chunks."""
    begin = time.perf_counter()
    reap.batch.run(engine, people, n_jobs=jobs, chunk_size=max(1, len(people) // 16))
    return time.perf_counter() - begin

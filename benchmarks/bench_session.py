"""A round of a session with ``Recourse``: take an answer in, let the engine answer, choose the next question."""

from __future__ import annotations

import time
import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline

import reap
from benchmarks._harness import Row


def rounds(name: str, people: int, questions: int) -> tuple[list[float], list[int]]:
    """Seconds of each round, from the answer to the next question, and rows of each question, over some simulated people."""
    data = reap.datasets.load(name)
    X, rest, y, _ = train_test_split(data.X, data.y, test_size=0.2, stratify=data.y, random_state=42)
    network = MLPClassifier((20, 50, 20), max_iter=300 if len(X) < 5000 else 15, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = make_pipeline(data.space.encoder(), network).fit(X, y)
    engine = reap.Recourse(model, data.space).fit(X)
    rejected = rest[model.predict(rest) == 0]
    times, shown = [], []
    for i in range(min(people, len(rejected))):
        person = reap.subjects.Mahalanobis.random(data.space.dimension, np.random.default_rng(i))
        session = engine.elicit(rejected.iloc[[i]], questions=questions)
        question = session.ask()
        while question is not None:
            shown.append(len(question.differences))
            choice = person.answer(question)
            start = time.perf_counter()
            session.answer(choice)
            question = session.ask()
            times.append(time.perf_counter() - start)
    return times, shown


def run(quick: bool) -> list[Row]:
    """Rows of the design: German credit and Adult."""
    rows = []
    for name in ("german", "adult"):
        seconds, shown = rounds(name, 5 if quick else 30, 4 if quick else 8)
        times, note = np.array(seconds) * 1e3, f"{len(seconds)} rounds"
        few = f"{np.mean(np.array(shown) <= 3):.0%} of {len(shown)} questions have 3 or fewer"
        rows.append(
            Row.limit(
                f"rows of a question on {name}, most", max(shown, default=0), "rows", at_most=4, note=few
            )
        )
        rows.append(
            Row.limit(
                f"next question on {name}, median", float(np.median(times)), "ms", at_most=100, note=note
            )
        )
        rows.append(
            Row.limit(
                f"next question on {name}, 95th percentile",
                float(np.quantile(times, 0.95)),
                "ms",
                at_most=250,
                note=note,
            )
        )
    return rows

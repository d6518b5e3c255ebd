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
from reap.research.experiments.sessions import rows_of


def fitted(name: str) -> tuple[reap.Recourse, reap._typing.Frame]:
    """The engine of a data set, with the paper's network, and the rejected people that it never saw."""
    data = reap.datasets.load(name)
    X, rest, y, _ = train_test_split(data.X, data.y, test_size=0.2, stratify=data.y, random_state=42)
    network = MLPClassifier((20, 50, 20), max_iter=300 if len(X) < 5000 else 15, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = make_pipeline(data.space.encoder(), network).fit(X, y)
    return reap.Recourse(model, data.space).fit(X), rest[model.predict(rest) == 0]


def rounds(
    engine: reap.Recourse, rejected: reap._typing.Frame, people: int, questions: int, minds: bool
) -> tuple[list[float], list[int]]:
    """Processor seconds of each round, from the answer to the next question, and rows of each question, over simulated people."""
    times, shown = [], []
    for i in range(min(people, len(rejected))):
        person = reap.subjects.Mahalanobis.random(engine.space.dimension, np.random.default_rng(i))
        session = engine.elicit(rejected.iloc[[i]], questions=questions, preset=reap.Bayes(minds=minds))
        question = session.ask()
        while question is not None:
            shown.append(rows_of(question))
            choice = person.answer(question)
            start = time.process_time()
            session.answer(choice)
            question = session.ask()
            times.append(time.process_time() - start)
    return times, shown


def durable_rounds(people: int, questions: int) -> tuple[float, float, int]:
    """Seconds of processor of a next question on German with 20 retrainings and without, medians, and how many rounds."""
    data = reap.datasets.load("german")
    X, rest, y, _ = train_test_split(data.X, data.y, test_size=0.2, stratify=data.y, random_state=42)
    network = MLPClassifier((20, 50, 20), max_iter=100, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = make_pipeline(data.space.encoder(), network).fit(X, y)
    rejected = rest[model.predict(rest) == 0].iloc[:people]
    medians, count = [], 0
    for durability in (0.9, 0.0):
        engine = reap.Recourse(model, data.space, durability=reap.Durability(durability, refits=20)).fit(X, y)
        times = []
        for i in range(len(rejected)):
            person = reap.subjects.Mahalanobis.random(data.space.dimension, np.random.default_rng(i))
            session = engine.elicit(rejected.iloc[[i]], questions=questions)
            question = session.ask()
            while question is not None:
                choice = person.answer(question)
                start = time.process_time()
                session.answer(choice)
                question = session.ask()
                times.append(time.process_time() - start)
        medians.append(float(np.median(times)) if times else float("nan"))
        count += len(times)
    return medians[0], medians[1], count


def run(quick: bool) -> list[Row]:
    """Rows of the design: German credit and Adult; and what retrainings cost."""
    rows = []
    holding, alone, count = durable_rounds(4 if quick else 15, 4 if quick else 8)
    rows.append(
        Row.limit(
            "next question with 20 retrainings, German, × without",
            holding / alone,
            "×",
            at_most=4,
            note=f"processor time {holding * 1e3:.0f} and {alone * 1e3:.0f} ms, {count} rounds",
        )
    )
    for name in ("german", "adult"):
        engine, rejected = fitted(name)
        for minds in (False, True):
            what = f"{name}, minds" if minds else name
            seconds, shown = rounds(engine, rejected, 5 if quick else 30, 4 if quick else 8, minds)
            times, note = np.array(seconds) * 1e3, f"{len(seconds)} rounds, processor time"
            few = f"{np.mean(np.array(shown) <= 3):.0%} of {len(shown)} questions have 3 or fewer"
            most, median, late = (
                max(shown, default=0),
                float(np.median(times)),
                float(np.quantile(times, 0.95)),
            )
            rows += [
                Row.limit(f"rows of a question on {what}, most", most, "rows", at_most=3, note=few),
                Row.limit(f"next question on {what}, median", median, "ms", at_most=100, note=note),
                Row.limit(f"next question on {what}, 95th percentile", late, "ms", at_most=250, note=note),
            ]
    return rows

"""A question where one feature moves another, against the same space without: processor seconds of all questions of sessions."""

from __future__ import annotations

import itertools
import time
from dataclasses import replace

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.pipeline import make_pipeline

import reap
from benchmarks._harness import Row
from benchmarks.bench_session import fitted
from reap.space import ActionSpace


def effected(space: ActionSpace) -> ActionSpace:
    """The same space, in which each number that people change moves the next by a fifth, span for span."""
    numbers = [f for f in space.features if f.is_number and f.is_action]
    said = {b.name: f"{0.2 * b.scale / a.scale:.4g} * `{a.name}`" for a, b in itertools.pairwise(numbers)}
    features = [replace(f, effect=said.get(f.name)) for f in space.features]
    return ActionSpace(features, rules=space.rules, max_changes=space.max_changes, horizon=space.horizon)


def seconds(
    engine: reap.Recourse, people: reap._typing.Frame, questions: int
) -> tuple[list[float], list[float]]:
    """Processor seconds of each first question and of each next one."""
    first, later = [], []
    for i in range(len(people)):
        person = reap.subjects.Mahalanobis.random(engine.space.dimension, np.random.default_rng(i))
        start = time.process_time()
        session = engine.elicit(people.iloc[[i]], questions=questions)
        question = session.ask()
        first.append(time.process_time() - start)
        while question is not None:
            choice = person.answer(question)
            start = time.process_time()
            session.answer(choice)
            question = session.ask()
            later.append(time.process_time() - start)
    return first, later


def run(quick: bool) -> list[Row]:
    """Return the ratio of the mean time of a question, first and next together, on German: a network, and boosted trees.

    Effects lead to other plans, so sessions search more or less often; the note has first and next questions apart.
    """
    people, rows = 4 if quick else 30, list[Row]()
    engine, rejected = fitted("german")
    data = reap.datasets.load("german")
    forest = make_pipeline(data.space.encoder(), HistGradientBoostingClassifier(random_state=0)).fit(
        data.X, data.y
    )
    for name, model in (("network", engine.model), ("boosted trees", forest)):
        some = rejected[model.predict(rejected) == 0].iloc[:people]
        found = {}
        for kind, space in (("without", data.space), ("with", effected(data.space))):
            made = reap.Recourse(model, space).fit(data.X)
            seconds(made, some.iloc[:1], 2)  # what is made once
            made._forget()
            found[kind] = seconds(made, some, 5)
        ours, theirs = (float(np.mean([*found[kind][0], *found[kind][1]])) for kind in ("with", "without"))
        apart = (float(np.mean(found["with"][k]) / np.mean(found["without"][k])) for k in (0, 1))
        rows.append(
            Row(
                f"effects: a question, German, {name}",
                ours / theirs,
                "×",
                1.3,
                peer="the same space without effects",
                ours=ours,
                theirs=theirs,
                note="processor seconds; first {:.2f}, next {:.2f} times, mean of {}".format(
                    *apart, len(found["with"][0]) + len(found["with"][1])
                ),
            )
        )
    return rows

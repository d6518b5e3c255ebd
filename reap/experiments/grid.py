"""One cell of the comparisons beyond the paper: some subjects × matrices, all methods, all numbers of answers."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from reap._typing import Array, Frame
from reap.baselines._paths import cheapest
from reap.experiments.dialogues import Heard, hold
from reap.experiments.measures import judged
from reap.experiments.people import person
from reap.experiments.scope import make_bench
from reap.subjects import L1, Subject

#: The methods compared, as settings of a session; None asks nothing.
METHODS: dict[str, dict[str, Any] | None] = {
    "nothing asked": None,
    "published, worst case": {"preset": "reap", "center": "published", "objective": "worst-case"},
    "published, centre": {"preset": "reap", "center": "published", "objective": "expected"},
    "true centre": {"preset": "reap", "center": "chebyshev", "objective": "expected"},
    "ours": {"preset": "bayes"},
}


def run(
    out: Path,
    *,
    people: str,
    lapse: float,
    options: int,
    engine: str,
    methods: list[str],
    answers: list[int],
    subjects: tuple[int, int],
    matrices: int,
    **bench: Any,
) -> Frame:
    """Return one row a subject, matrix, method and number of answers, with the effort and the oracle's."""
    made = make_bench(out, **bench)
    planner, seed = made.engine(engine), bench["seed"]
    rows: list[dict[str, Any]] = []
    for i in range(*subjects):
        x = made.subjects.iloc[[i]]
        for k in range(matrices):
            someone = person(people, made.dimension, k, seed, subject=i)
            runs = []
            for method in methods:
                answering = person(people, made.dimension, k, seed, lapse=lapse, subject=i)
                heard = _heard(planner, x, answering, method, answers, options, seed)
                runs += [_row(method, each, someone, made) for each in heard]
            oracle = min([run["effort"] for run in runs if run["found"]] + [_oracle(planner, x, someone)])
            rows += [{**run, "subject": i, "matrix": k, "oracle": oracle} for run in runs]
    frame = pd.DataFrame(rows)
    for name, value in {
        **bench,
        "people": people,
        "lapse": lapse,
        "options": options,
        "engine": engine,
    }.items():
        if name in ("dataset", "own", "people", "lapse", "options", "engine"):
            frame[name] = value
    return frame


def _heard(
    planner: Any, x: Any, someone: Subject, method: str, answers: list[int], options: int, seed: int
) -> list[Heard]:
    settings = METHODS[method]
    if settings is None:
        begin = time.process_time()
        plan = planner.plans(x, np.eye(planner.space.dimension)[None])[0]
        seconds = time.process_time() - begin
        return [Heard(t, plan, seconds) for t in answers]
    # Robust plans take longest, so they are asked for where the tables show them.
    at = {0, min(5, answers[-1]), answers[-1]} if settings.get("objective") == "worst-case" else answers
    return hold(planner, x, someone, at=at, seed=seed, options=options, **settings)


def _row(method: str, heard: Heard, someone: Subject, made: Any) -> dict[str, Any]:
    plan, sure = heard.plan, heard.plan.confidence
    truth = judged(plan, made.space, made.classifier)
    return {
        "method": method,
        "answers": heard.answers,
        "effort": someone.effort(plan.moves) if truth["found"] else np.nan,
        "within": sure.within if sure is not None else np.nan,
        "expected": sure.excess if sure is not None else np.nan,
        "seconds": heard.seconds,
        "neighbors": plan.neighbors or 0,
        **truth,
    }


def _oracle(planner: Any, x: Any, someone: Subject) -> float:
    """Return the effort of the engine's plan for the true cost; for L1 people the shortest path with L1 edges."""
    if isinstance(someone, L1):
        if not hasattr(planner, "_legal_search"):
            return np.inf
        weights = someone.weights

        def cost(before: Array, after: Array) -> Array:
            return np.asarray(np.abs(np.nan_to_num(after - before)) @ weights)

        plan = cheapest(planner, x, cost)
    else:
        plan = planner.plans(x, someone.matrix[None])[0]  # type: ignore[attr-defined]
    return someone.effort(plan.moves) if plan.status == "ok" else np.inf

"""Beyond the paper: validity, violations of the action space and seconds, for every method in the same runs."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from reap import effort
from reap._typing import Array, Frame
from reap.plan import Plan
from reap.recourse import Engine
from reap.research.baselines import FACE, Wachter
from reap.research.experiments import people
from reap.research.experiments.measures import whole
from reap.research.experiments.results import Result
from reap.research.experiments.scope import Scope, make_bench
from reap.research.experiments.sessions import hold

TITLE = "Validity, violations and seconds for every method (the data set's own action space)"
DATASETS = ("german", "student", "bank", "compas", "heloc")
NEEDS = ("honesty",)


def cells(scope: Scope) -> list[dict[str, Any]]:
    """Return the parameters of every cell."""
    questions = scope.questions(5)
    return [{**cell, "questions": questions} for cell in scope.cells(DATASETS, 25, 1, own=True, runs=100)]


def run(out: Path, *, questions: int, subjects: tuple[int, int], matrices: int, **bench: Any) -> Frame:
    """Return one row a subject, matrix and method."""
    made, seed = make_bench(out, **bench), bench["seed"]
    deaf: dict[str, Engine] = {  # one plan for every matrix
        "Wachter": Wachter(made.model, made.space).fit(made.train),
        "Wachter, no constraints": Wachter(made.model, made.space, constraints=False).fit(made.train),
        "FACE": FACE(made.model, made.space).fit(made.train),
        "FACE, no constraints": made.engine("face"),
    }
    truth = people.matrices("gaussian", made.dimension, matrices, seed)
    rows: list[dict[str, Any]] = []

    def add(method: str, i: int, k: int, plan: Plan, seconds: float) -> None:
        asks = effort.of_moves(truth[k], whole(plan)) if plan.status == "ok" else np.nan
        person = {"dataset": made.name, "subject": i, "matrix": k}
        rows.append({**person, "method": method, "effort": asks, "seconds": seconds, **made.judge(plan)})

    for i in range(*subjects):
        x = made.subjects.iloc[[i]]
        for method, engine in deaf.items():
            plan, seconds = timed(engine, x, truth[0])
            for k in range(matrices):
                add(method, i, k, plan, seconds)
        for k in range(matrices):
            add("Algorithm 1, no constraints", i, k, *timed(made.engine("algorithm1"), x, truth[k]))
            for method, kind in (("published method, graph", "graph"), ("ours", "recourse")):
                person = people.person("gaussian", made.dimension, k, seed, subject=i)
                preset = "reap" if kind == "graph" else "bayes"
                held = hold(made.engine(kind), x, person, at=[questions], seed=seed, preset=preset)[-1]
                add(method, i, k, held.plan, held.seconds)
    return pd.DataFrame(rows)


def timed(engine: Engine, x: Any, matrix: Array) -> tuple[Plan, float]:
    """Return the plan for one matrix (d, d), and the CPU seconds it took."""
    begin = time.process_time()
    plan = engine.plans(x, matrix)[0]
    return plan, time.process_time() - begin


def summary(runs: Mapping[str, Frame]) -> list[Result]:
    """Return the table."""
    frame = runs["honesty"]
    rows = []
    for (dataset, method), part in frame.groupby(["dataset", "method"], sort=False):
        found = part[part["found"]]
        figures = {
            "valid as shown": found["valid"].mean(),
            "with violations": (found["violations"] > 0).mean(),
            "effort": found["effort"].mean(),
            "changes": found["changes"].mean(),
        }
        rows.append(
            {
                "data": dataset,
                "method": method,
                "plan found": f"{part['found'].mean():.2f}",
                **{name: f"{value:.3g}" if len(found) else "–" for name, value in figures.items()},
                "seconds, median": f"{part['seconds'].median():.3f}",
                "runs": len(part),
            }
        )
    ours = frame[(frame["method"] == "ours") & frame["found"]]
    bad = int((~ours["valid"]).sum() + (ours["violations"] > 0).sum())
    said = [
        f"Of {len(ours):,} plans of ours, {bad} are invalid or break the action space.",
        "Effort is that of the whole change, of paths too. Means are over the plans found, not of the same people for every "
        "method.",
        "Seconds of CPU for the whole session of 5 answers, or for one plan where nobody is asked; the first call for a "
        "subject pays for what later calls share. They do not repeat with the seed.",
    ]
    return [Result(TITLE, pd.DataFrame(rows), "beyond the paper", said)]

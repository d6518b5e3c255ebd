"""Beyond the paper: validity, violations of the action space and seconds, for every method in the same runs."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from reap._typing import Frame
from reap.plan import Plan
from reap.research.baselines import FACE, Wachter
from reap.research.experiments import people
from reap.research.experiments.dialogues import hold
from reap.research.experiments.results import Result
from reap.research.experiments.scope import Scope, make_bench

TITLE = "Validity, violations and seconds for every method (the data set's own action space)"
DATASETS = ("german", "student", "bank", "compas", "heloc")
NEEDS = ("honesty",)


def cells(scope: Scope) -> list[dict[str, Any]]:
    """Return the parameters of every cell."""
    subjects, matrices = scope.sizes(25, 2)
    return [
        {**bench, "questions": scope.questions(5), "subjects": chunk, "matrices": matrices}
        for bench in (scope.bench(name, own=True) for name in scope.over(DATASETS))
        for chunk in scope.chunks(bench, subjects)
    ]


def run(out: Path, *, questions: int, subjects: tuple[int, int], matrices: int, **bench: Any) -> Frame:
    """Return one row a subject, matrix and method."""
    made, seed = make_bench(out, **bench), bench["seed"]
    deaf: dict[str, Any] = {  # one plan for every cost
        "Wachter": Wachter(made.model, made.space).fit(made.train),
        "Wachter, no constraints": Wachter(made.model, made.space, constraints=False).fit(made.train),
        "FACE": FACE(made.model, made.space).fit(made.train),
        "FACE, no constraints": FACE(made.model, made.space, constraints=False).fit(made.train),
    }
    knows: dict[str, Any] = {"Algorithm 1, no constraints": made.engine("algorithm1")}
    sessions: dict[str, tuple[str, dict[str, Any]]] = {
        "published method, graph": ("graph", {"preset": "reap"}),
        "ours, graph": ("graph", {"preset": "bayes"}),
        "ours, gradient": ("gradient", {"preset": "bayes"}),
    }
    truth = people.matrices("gaussian", made.dimension, matrices, seed)
    rows: list[dict[str, Any]] = []

    def add(method: str, i: int, k: int, plan: Plan, seconds: float) -> None:
        V = plan.moves
        cost = float(np.einsum("si,ij,sj->", V, truth[k], V)) if plan.status == "ok" else np.nan
        person = {"dataset": made.name, "subject": i, "matrix": k}
        rows.append({**person, "method": method, "cost": cost, "seconds": seconds, **made.judge(plan)})

    for i in range(*subjects):
        x = made.subjects.iloc[[i]]
        for method, engine in deaf.items():
            plan, seconds = timed(engine, x, truth[:1])
            for k in range(matrices):
                add(method, i, k, plan, seconds)
        for k in range(matrices):
            for method, engine in knows.items():
                add(method, i, k, *timed(engine, x, truth[k : k + 1]))
            for method, (kind, settings) in sessions.items():
                person = people.person("gaussian", made.dimension, k, seed, subject=i)
                heard = hold(made.engine(kind), x, person, at=[questions], seed=seed, **settings)[-1]
                add(method, i, k, heard.plan, heard.seconds)
    return pd.DataFrame(rows)


def timed(engine: Any, x: Any, matrices: Any) -> tuple[Plan, float]:
    """Return the plan for one matrix (1, d, d), and the CPU seconds it took."""
    begin = time.process_time()
    plan: Plan = engine.plans(x, matrices)[0]
    return plan, time.process_time() - begin


def summary(runs: Mapping[str, Frame], scope: Scope) -> list[Result]:
    """Return the table."""
    frame = runs["honesty"]
    if len(frame) == 0:
        return []
    rows = []
    for (dataset, method), part in frame.groupby(["dataset", "method"], sort=False):
        found = part[part["found"]]
        rows.append(
            {
                "data": dataset,
                "method": method,
                "plan found": f"{part['found'].mean():.2f}",
                "valid as shown": f"{found['valid'].mean():.2f}" if len(found) else "–",
                "with violations": f"{(found['violations'] > 0).mean():.2f}" if len(found) else "–",
                "effort": f"{found['cost'].mean():.3f}" if len(found) else "–",
                "steps": f"{found['steps'].mean():.1f}" if len(found) else "–",
                "seconds, median": f"{part['seconds'].median():.3f}",
                "runs": len(part),
            }
        )
    ours = frame[frame["method"].str.startswith("ours") & frame["found"]]
    bad = int((~ours["valid"]).sum() + (ours["violations"] > 0).sum())
    said = [
        f"Of {len(ours):,} plans of ours, {bad} are invalid or break the action space.",
        "Seconds of CPU for the whole dialogue of 5 answers, or for one plan where nobody is asked; the first call for a "
        "subject pays for what later calls share. They do not repeat with the seed.",
    ]
    return [Result(TITLE, pd.DataFrame(rows), "beyond the paper", said)]

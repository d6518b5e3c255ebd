"""Beyond the paper: who gets a legal, valid plan from each engine, at which neighbourhood, and how much it asks for a step."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from reap._typing import Frame
from reap.research.experiments.results import Result
from reap.research.experiments.scope import Scope, make_bench

TITLE = "Who gets a plan (the data set's own action space, effort alike for everybody)"
DATASETS = ("synthetic", "german", "student", "bank", "compas", "adult", "gmc", "heloc")
NEEDS = ("coverage",)


def cells(scope: Scope) -> list[dict[str, Any]]:
    """Return the parameters of every cell."""
    subjects, _ = scope.sizes(100, 1)
    return [
        {**bench, "engine": engine, "subjects": chunk}
        for bench in (scope.bench(name, own=True) for name in scope.over(DATASETS))
        for engine in ("graph", "gradient")
        for chunk in scope.chunks(bench, subjects)
    ]


def run(out: Path, *, engine: str, subjects: tuple[int, int], **bench: Any) -> Frame:
    """Return one row a subject."""
    made = make_bench(out, **bench)
    fitted, A = made.engine(engine), np.eye(made.dimension)[None]
    rows = []
    for i in range(*subjects):
        begin = time.process_time()
        plan = fitted.plans(made.subjects.iloc[[i]], A)[0]
        seconds = time.process_time() - begin
        changed = made.space.changed(plan.path[1:], plan.path[:-1]).sum(axis=1) if plan.status == "ok" else []
        rows.append(
            {
                "dataset": made.name,
                "engine": engine,
                "subject": i,
                "status": plan.status,
                "neighbors": plan.neighbors or 0,
                "changed": float(np.mean(changed)) if len(changed) else np.nan,
                "seconds": seconds,
                **made.judge(plan),
            }
        )
    return pd.DataFrame(rows)


def summary(runs: Mapping[str, Frame], scope: Scope) -> list[Result]:
    """Return the table."""
    frame = runs["coverage"]
    if len(frame) == 0:
        return []
    rows = []
    for (dataset, engine), part in frame.groupby(["dataset", "engine"], sort=False):
        found = part[part["found"]]
        wide = found.loc[found["neighbors"] > 0, "neighbors"].value_counts(normalize=True).sort_index()
        rows.append(
            {
                "data": dataset,
                "engine": engine,
                "subjects": len(part),
                "with a plan": f"{part['found'].mean():.2f}",
                "valid as shown": f"{found['valid'].mean():.2f}" if len(found) else "–",
                "violations": int((found["violations"] > 0).sum()),
                "at K": ", ".join(f"{int(k)}: {share:.0%}" for k, share in wide.items()) or "–",
                "steps": f"{found['steps'].mean():.1f}" if len(found) else "–",
                "features a step": f"{found['changed'].mean():.1f}" if len(found) else "–",
                "seconds, median": f"{part['seconds'].median():.3f}",
            }
        )
    bad = int((frame.loc[frame["found"], "violations"] > 0).sum())
    said = [
        f"{bad} of {int(frame['found'].sum()):,} plans break the action space.",
        "At K: the neighbourhood that graph plans needed. Seconds of CPU for a person met for the first time.",
    ]
    return [Result(TITLE, pd.DataFrame(rows), "beyond the paper", said)]

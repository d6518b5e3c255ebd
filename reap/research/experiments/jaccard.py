"""Jaccard distance of the relaxed worst-case path to the exact min-max path."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from reap._typing import Frame
from reap.belief import solve_centers
from reap.research.experiments import paper
from reap.research.experiments.measures import jaccard
from reap.research.experiments.results import Result, spread, verdict
from reap.research.experiments.scope import Scope, make_bench
from reap.research.experiments.sessions import hold_together, row_sessions

TITLE = "Jaccard distance: relaxed worst case against exact min-max"
DATASETS = tuple(paper.JACCARD)
NEEDS = ("jaccard",)
#: Subjects and matrices where an exact path may take a quarter of a minute.
_FEWER = {"bank": (20, 2)}


def cells(scope: Scope) -> list[dict[str, Any]]:
    """Return the parameters of every cell."""
    return [
        {**cell, "questions": scope.questions(5)}
        for name in scope.over(DATASETS)
        for cell in scope.cells((name,), *_FEWER.get(name, (50, 4)))
    ]


def run(out: Path, *, questions: int, subjects: tuple[int, int], matrices: int, **bench: Any) -> Frame:
    """Return one row a subject and matrix: the distance of the paths, their worst cases, the proven bound."""
    made, seed = make_bench(out, **bench), bench["seed"]
    engine = made.engine("graph")
    held = hold_together(row_sessions(made, range(*subjects), matrices, seed), questions, seed=seed)
    beliefs = {key: sets[-1] for key, sets in held.items()}
    solve_centers(list(beliefs.values()), "analytic")  # worst cases begin there
    rows = []
    for (i, k), belief in beliefs.items():
        x = made.subjects.iloc[[i]]
        relaxed, exact = engine.robust(x, belief, "worst-case"), engine.robust(x, belief, "minimax")
        if relaxed.status != "ok" or exact.status != "ok":
            continue
        worst = [belief.worst_case_plan(plan.moves).cost for plan in (relaxed, exact)]
        rows.append(
            {
                "dataset": made.name,
                "subject": i,
                "matrix": k,
                "jaccard": jaccard(relaxed, exact),
                "relaxed": worst[0],
                "exact": worst[1],
                "bound": np.nan if exact.bound is None else exact.bound,
            }
        )
    return pd.DataFrame(rows)


def summary(runs: Mapping[str, Frame]) -> list[Result]:
    """Return the table with the paper's figures."""
    frame = runs["jaccard"]
    rows, near = [], []
    for dataset, part in frame.groupby("dataset", sort=False):
        rows.append(
            {
                "data": dataset,
                "Jaccard": spread(part["jaccard"]),
                "paper": paper.JACCARD[dataset],
                "same path": f"{(part['jaccard'] == 0).mean():.2f}",
                "the relaxed costs more by": f"{100 * (part['relaxed'].sum() / part['exact'].sum() - 1):.2f} %",
                "proven": f"{(part['bound'] >= part['exact'] * (1 - 1e-4)).mean():.2f}",
                "runs": len(part),
            }
        )
        near.append(part["jaccard"].mean() <= 0.1)
    said = [
        "Edges are compared. The paper enumerated paths of small graphs; ours is exact on the whole graph: “proven” is the "
        "share of runs whose lower bound meets the effort.",
        "“The relaxed costs more by”: worst-case effort of the relaxed path over that of the exact one, ratio of sums.",
    ]
    return [Result(TITLE, pd.DataFrame(rows), verdict(near), said)]

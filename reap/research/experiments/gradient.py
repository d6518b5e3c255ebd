"""Effort and validity of one-step plans: DiCE, Wachter, the paper's Algorithm 1, ours; no constraints."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from reap import effort
from reap._typing import Array, Frame
from reap.plan import Plan
from reap.research.baselines import Wachter
from reap.research.experiments import paper, people
from reap.research.experiments.measures import fewer
from reap.research.experiments.results import Result, spread, verdict
from reap.research.experiments.scope import OURS, Bench, Scope, make_bench
from reap.research.experiments.sessions import hold, hold_together, row_sessions

TITLE = "Gradient: effort and validity of one-step plans after 5 questions (no constraints)"
DATASETS = tuple(paper.GRADIENT)
NEEDS = ("gradient", "dice")
#: Methods in the order of the table; which of them the paper has.
SHOWN = {
    "DiCE": "DiCE",
    "Wachter": "Wachter",
    "Algorithm 1, nothing asked": None,
    "ReAP (Algorithm 1, centre)": "ReAP",
    "Algorithm 1, true matrix known": None,
    "ours": None,
}


def cells(scope: Scope) -> list[dict[str, Any]]:
    """Return the parameters of every cell."""
    questions = scope.questions(5)
    return [
        {**cell, "questions": questions, "ours": cell["subjects"][0] < OURS.get(cell["dataset"], 0)}
        for cell in scope.cells(DATASETS)
    ]


def run(
    out: Path, *, questions: int, ours: bool, subjects: tuple[int, int], matrices: int, **bench: Any
) -> Frame:
    """Return one row a subject, matrix and method: the effort under the true matrix, and whether the model accepts."""
    made, seed = make_bench(out, **bench), bench["seed"]
    wachter = Wachter(made.model, made.space, constraints=False).fit(made.train)
    descent, identity = made.engine("algorithm1"), effort.identity(made.dimension)
    truth = people.matrices("gaussian", made.dimension, matrices, seed)
    held = hold_together(row_sessions(made, range(*subjects), matrices, seed), questions, seed=seed)
    rows: list[dict[str, Any]] = []
    for i in range(*subjects):
        x = made.subjects.iloc[[i]]
        persons = [people.person("gaussian", made.dimension, k, seed, subject=i) for k in range(matrices)]
        centers = np.stack([held[i, k][-1].center("published").matrix for k in range(matrices)])
        together = descent.plans(x, np.concatenate([identity[None] / 2, centers, truth]))  # one batch
        plans = {
            "Wachter": wachter.plans(x, truth),
            "Algorithm 1, nothing asked": together[:1] * matrices,
            "ReAP (Algorithm 1, centre)": together[1 : matrices + 1],
            "Algorithm 1, true matrix known": together[matrices + 1 :],
        }
        if ours:
            engine = made.engine("recourse")
            plans["ours"] = [hold(engine, x, p, at=[questions], seed=seed)[-1].plan for p in persons]
        rows += [
            row(made, i, k, method, plan, truth[k])
            for method, made_plans in plans.items()
            for k, plan in enumerate(made_plans)
        ]
    return pd.DataFrame(rows)


def row(made: Bench, subject: int, k: int, method: str, plan: Plan, truth: Array) -> dict[str, Any]:
    """Return what is true of a one-step plan."""
    return {
        "dataset": made.name,
        "subject": subject,
        "matrix": k,
        "method": method,
        "effort": effort.of_moves(truth, plan.moves) if plan.status == "ok" else np.nan,
        "valid": plan.valid,
        "shown": made.judge(plan)["valid"],
    }


def summary(runs: Mapping[str, Frame]) -> list[Result]:
    """Return the table with the paper's figures."""
    frame = pd.concat([runs["gradient"], runs["dice"]], ignore_index=True)
    rows, below = [], []
    for dataset, part in frame.groupby("dataset", sort=False):
        for method, known in SHOWN.items():
            group = part[part["method"] == method]
            if len(group) == 0:
                continue
            printed = paper.GRADIENT[dataset].get(known) if known else None
            rows.append(
                {
                    "data": dataset,
                    "method": method,
                    "effort": spread(group["effort"]),
                    "paper's effort": f"{printed[0]:.2f}" if printed else "",
                    "valid": f"{group['valid'].mean():.2f}",
                    "paper's validity": f"{printed[1]:.2f}" if printed else "",
                    "valid as shown": f"{group['shown'].mean():.2f}",
                    "runs": len(group),
                }
            )
        mean = part.groupby("method")["effort"].mean()
        below.append(bool(mean.get("ReAP (Algorithm 1, centre)", np.nan) < mean.get("Wachter", np.nan)))
    said = [
        f"The claim, ReAP below Wachter, holds on {sum(below)} of {len(below)} data sets.",
        *_same_step(frame),
        *_stalled(frame),
        "Algorithm 1 stops at the first accepted point, as the authors' scripts do; Wachter is Adam, as in CARLA. “Valid” judges "
        "the point in the unit box that the method ends at; “valid as shown” the row it stands for, with whole categories.",
        "Ours gives only rows to be shown, with whole categories and at most 3 changes; points between categories may take less "
        "effort but mean nothing.",
    ]
    said += fewer(frame, "ours")
    if len(runs["dice"]) == 0:
        said.append("DiCE was not run: it needs dice-ml (pip install 'reap-recourse[baselines]').")
    else:
        said.append("DiCE takes seconds a subject: 20 subjects a data set.")
    return [Result(TITLE, pd.DataFrame(rows), verdict(below), said)]


def _same_step(frame: Frame) -> list[str]:
    """Say whether the questions change what Algorithm 1 does."""
    wide = frame.pivot_table(index=["dataset", "subject", "matrix"], columns="method", values="effort")
    names = ("ReAP (Algorithm 1, centre)", "Algorithm 1, nothing asked", "Algorithm 1, true matrix known")
    if not set(names) <= set(wide.columns):
        return []
    sums = wide[list(names)].dropna().sum()
    asked, known = (100 * (sums[name] / sums[names[1]] - 1) for name in (names[0], names[2]))
    seen = (
        ""
        if max(abs(asked), abs(known)) > 10
        else ": stopped at the first accepted point it hardly sees the effort"
    )
    return [
        f"Over all runs, 5 answers change the effort of Algorithm 1 by {asked:+.1f} % against nothing asked, and knowing the "
        f"true matrix by {known:+.1f} %{seen}."
    ]


def _stalled(frame: Frame) -> list[str]:
    """Say for how many subjects Algorithm 1 finds nothing: its slope is that of the score, which vanishes near 0."""
    part = frame[frame["method"] == "ReAP (Algorithm 1, centre)"]
    if len(part) == 0:
        return []
    found = part.groupby(["dataset", "subject"], sort=False)["valid"].any()
    share = 1 - found.groupby("dataset", sort=False).mean()
    where = [f"{dataset} {100 * value:.0f} %" for dataset, value in share.items() if value > 0]
    if not where:
        return ["Algorithm 1 finds an accepted point for every subject."]
    return [
        f"Algorithm 1 finds nothing under any matrix for {100 * (1 - found.mean()):.0f} % of the subjects "
        f"({', '.join(where)}): the loss of the text falls with the score itself, whose slope vanishes where the model is "
        "sure of its no, so the descent stalls there. Efforts are means over the runs that found something."
    ]

"""PEAR against the paper's method for a person whose effort is the L1 distance: both are misspecified."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from reap._typing import Array, Frame
from reap.plan import Plan
from reap.research.baselines import DAGS, PEAR
from reap.research.baselines._paths import cheapest
from reap.research.experiments import paper
from reap.research.experiments.dialogues import Talk, hold, hold_together
from reap.research.experiments.measures import smaller
from reap.research.experiments.results import Result, Verdict, spread
from reap.research.experiments.scope import Bench, Scope, make_bench
from reap.research.subjects import L1

TITLE = "PEAR: path cost of an L1 person after 10 questions (raw paths, no constraints)"
DATASETS = tuple(paper.PEAR)
NEEDS = ("pear",)


def cells(scope: Scope) -> list[dict[str, Any]]:
    """Return the parameters of every cell."""
    subjects, _ = scope.sizes(100, 1)
    return [
        {**bench, "questions": scope.questions(10), "subjects": chunk}
        for bench in map(scope.bench, scope.over(DATASETS))
        for chunk in scope.chunks(bench, subjects)
    ]


def run(out: Path, *, questions: int, subjects: tuple[int, int], **bench: Any) -> Frame:
    """Return one row a subject and method: the L1 length of the path."""
    made, seed = make_bench(out, **bench), bench["seed"]
    engine, pear, person = made.engine("raw"), _pear(made, seed), L1()
    eye = np.eye(made.dimension)[None]
    held = hold_together({i: Talk(made.moves(i), person) for i in range(*subjects)}, questions, seed=seed)
    rows = []
    for i, sets in held.items():
        x, belief = made.subjects.iloc[[i]], sets[-1]
        talks = {name: pear.converse(x, estimate=name) for name in ("best", "mean")}
        for talk in talks.values():
            for _ in range(questions):
                question = talk.ask()
                if question is None:
                    break
                talk.answer(person.answer(question))
        plans = {
            "FACE (nothing asked)": engine.plans(x, eye)[0],
            "PEAR, nothing asked": pear.plans(x, eye)[0],
            "PEAR": talks["best"].recommend(),
            "PEAR, posterior mean": talks["mean"].recommend(),
            "ReAP, centre": engine.plans(x, belief.center("published").matrix)[0],
            "ReAP, worst case": engine.robust(x, belief),
            "ours": hold(engine, x, person, at=[questions], seed=seed)[-1].plan,
            "oracle": cheapest(engine, x, _l1),
        }
        effective = float(np.mean(talks["best"].effective)) if talks["best"].effective else np.nan
        rows += [_row(made.name, i, name, plan, person, effective) for name, plan in plans.items()]
    return pd.DataFrame(rows)


def _l1(before: Array, after: Array) -> Array:
    return np.asarray(np.abs(np.nan_to_num(after - before)).sum(axis=1))


def _pear(made: Bench, seed: int) -> PEAR:
    if "pear" not in made._engines:
        engine = PEAR(made.model, made.space, dag=DAGS[made.name], constraints=False, random_state=seed)
        made._engines["pear"] = engine.fit(made.train)
    found: PEAR = made._engines["pear"]
    return found


def _row(dataset: str, subject: int, method: str, plan: Plan, person: L1, effective: float) -> dict[str, Any]:
    found = plan.status == "ok"
    free = plan.note.rpartition("% of the steps")[0].rpartition(" ")[2]
    return {
        "dataset": dataset,
        "subject": subject,
        "matrix": 0,
        "method": method,
        "cost": person.effort(plan.moves) if found else np.nan,
        "steps": len(plan.moves) if found else 0,
        "free": float(free) / 100 if free else np.nan,
        "effective": effective if method == "PEAR" else np.nan,
    }


def summary(runs: Mapping[str, Frame], scope: Scope) -> list[Result]:
    """Return the table with the paper's figures."""
    frame = runs["pear"]
    if len(frame) == 0:
        return []
    rows, holds = [], []
    for dataset, part in frame.groupby("dataset", sort=False):
        costs = part.pivot_table(index="subject", columns="method", values="cost")
        for method, group in part.groupby("method", sort=False):
            known = {"PEAR": "PEAR", "ReAP, centre": "ReAP"}.get(str(method))
            rows.append(
                {
                    "data": dataset,
                    "method": method,
                    "L1 path cost": spread(group["cost"]),
                    "paper": f"{paper.PEAR[dataset][known]:.2f}" if known else "",
                    "below PEAR, p": f"{smaller(costs[method], costs['PEAR']):.2g}"
                    if method in costs
                    else "–",
                    "steps": f"{group['steps'].mean():.2f}",
                    "free steps": f"{group['free'].mean():.2f}" if group["free"].notna().any() else "",
                    "effective particles": f"{group['effective'].mean():.0f}" if method == "PEAR" else "",
                    "runs": len(group),
                }
            )
        mean = part.groupby("method")["cost"].mean()
        holds.append(mean["ReAP, centre"] < mean["PEAR"])
    verdict: Verdict = "reproduced" if all(holds) else "in part" if any(holds) else "not reproducible"
    said = [
        f"The claim, ReAP below PEAR, holds on {sum(holds)} of {len(holds)} data sets.",
        "FACE asks nothing and the oracle knows everything: the room between them is what questions can win from such a person.",
        "PEAR as its paper describes it, on our graph, with a logistic answer model; “free steps” is the share of steps that "
        "cost nothing at its estimate, “effective particles” the effective number of 100 after weighing by an answer.",
    ]
    return [Result(TITLE, pd.DataFrame(rows), verdict, said)]

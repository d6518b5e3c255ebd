"""Beyond the paper: who gets a plan from our default, how many changes it asks for, and whether it keeps its promises."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from reap import effort
from reap._typing import Frame
from reap.checks.judge import Judge
from reap.checks.promises import Call, irreducible, legal, truthful, undominated
from reap.research.experiments import people
from reap.research.experiments.results import Result
from reap.research.experiments.scope import Scope, make_bench

TITLE = "Who gets a plan (our default, the data set's own action space)"
DATASETS = ("synthetic", "german", "student", "bank", "compas", "adult", "gmc", "heloc")
NEEDS = ("coverage",)
#: Changes of a plan at most, where there is such a plan; and the share of plans that must keep to it.
FEW, SHARE = 3, 0.95


def cells(scope: Scope) -> list[dict[str, Any]]:
    """Return the parameters of every cell."""
    return scope.cells(DATASETS, 100, 9, own=True)


def run(out: Path, *, subjects: tuple[int, int], matrices: int, **bench: Any) -> Frame:
    """Return one row a subject: the plan for everybody alike, and what is true of the pool, that is of all plans together."""
    made = make_bench(out, **bench)
    engine, judge = made.engine("recourse"), Judge.of_engine(made.engine("recourse"), made.test)
    alike = effort.identity(made.dimension)
    truth = people.matrices("gaussian", made.dimension, matrices, bench["seed"])
    rows = []
    for i in range(*subjects):
        x = made.subjects.iloc[[i]]
        begin = time.process_time()
        first = engine.plans(x, alike)[0]
        seconds = time.process_time() - begin
        pool = {plan.path[-1].tobytes(): plan for plan in (first, *engine.plans(x, truth))}
        found = [plan for plan in pool.values() if plan.status == "ok"]
        alone = [Call(judge, x, alike[None], [plan]) for plan in found]
        rows.append(
            {
                "dataset": made.name,
                "subject": i,
                "status": first.status,
                "why": first.note,
                "seconds": seconds,
                "plans": len(found),
                "changes": sum(len(plan.changes) for plan in found),
                "few": sum(len(plan.changes) <= FEW for plan in found),
                "invalid": sum(any(truthful(call)) for call in alone),
                "illegal": sum(any(legal(call)) for call in alone),
                "reducible": sum(any(irreducible(call)) for call in alone),
                "dominated": len(list(undominated(Call(judge, x, np.stack([alike] * len(found)), found))))
                if found
                else 0,
            }
        )
    return pd.DataFrame(rows)


def summary(runs: Mapping[str, Frame]) -> list[Result]:
    """Return the table, and who has no plan."""
    frame = runs["coverage"]
    rows = []
    for dataset, part in frame.groupby("dataset", sort=False):
        plans = max(int(part["plans"].sum()), 1)
        rows.append(
            {
                "data": dataset,
                "subjects": len(part),
                "with a plan": f"{part['status'].eq('ok').mean():.2f}",
                "plans": plans,
                "changes a plan": f"{part['changes'].sum() / plans:.2f}",
                f"at most {FEW}": f"{part['few'].sum() / plans:.2f}",
                **{name: int(part[name].sum()) for name in ("invalid", "illegal", "reducible", "dominated")},
                "seconds, median": f"{part['seconds'].median():.3f}",
            }
        )
    total = frame[["plans", "few", "invalid", "illegal", "reducible", "dominated"]].sum()
    share = total["few"] / max(total["plans"], 1)
    said = [
        f"Of {total['plans']:,} plans {total['invalid']} are invalid, {total['illegal']} break the action space, "
        f"{total['reducible']} are reducible; {total['dominated']} pairs of plans of one person are dominated. All should be 0.",
        f"{share:.1%} of the plans ask for at most {FEW} changes; at least {SHARE:.0%} should.".replace(
            "%", " %"
        ),
        "A person's plans are those for everybody alike and for Gaussian people in their place, each row once. Reducible: a "
        "change could be left out, or a number taken back a step. Dominated: one plan asks for all that another "
        "asks for, and more. The checks of `reap.checks` say so, from rows in units and the model's own scores.",
        "Seconds of CPU for the first plan of a person met for the first time.",
    ]
    results = [Result(TITLE, pd.DataFrame(rows), "beyond the paper", said)]
    none = frame[frame["status"] != "ok"]
    if len(none):
        listed = none[["dataset", "subject", "status", "why"]].rename(columns={"dataset": "data"})
        results.append(Result("Who has no plan, and why", listed, "beyond the paper"))
    return results

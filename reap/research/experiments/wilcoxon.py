"""One-sided paired Wilcoxon tests that the paper's method costs less than each baseline."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from reap._typing import Frame
from reap.research.experiments import paper
from reap.research.experiments.measures import smaller
from reap.research.experiments.results import Result, Verdict
from reap.research.experiments.scope import Scope

TITLE = "Wilcoxon tests: is the paper's method below the baseline?"
DATASETS = ("german", "bank", "student", "adult", "gmc")
NEEDS = ("gradient", "dice", "graph", "pear")
#: Baseline -> (table, the paper's method there, ours there).
_PAIRS = {
    "DiCE": ("dice", "ReAP (Algorithm 1, centre)", "ours"),
    "Wachter": ("gradient", "ReAP (Algorithm 1, centre)", "ours"),
    "FACE": ("graph", "ReAP, centre", "ours"),
    "PEAR": ("pear", "ReAP, centre", "ours"),
}


def summary(runs: Mapping[str, Frame], scope: Scope) -> list[Result]:
    """Return the p-values with the paper's; pairs are subjects, costs averaged over matrices."""
    rows, agree = [], []
    for baseline, (name, published, ours) in _PAIRS.items():
        frame = runs[name]
        if name == "dice":
            frame = pd.concat([frame, runs["gradient"]], ignore_index=True)
        for dataset, said in paper.WILCOXON[baseline].items():
            part = frame[frame["dataset"] == dataset] if len(frame) else frame
            if len(part) == 0 or baseline not in set(part["method"]):
                continue
            costs = part.pivot_table(index="subject", columns="method", values="cost")
            p = smaller(costs[published], costs[baseline])
            mine = smaller(costs[ours], costs[baseline]) if ours in costs else np.nan
            both = costs[[published, baseline]].dropna()
            rows.append(
                {
                    "data": dataset,
                    "against": baseline,
                    "p, the paper's method": f"{p:.2g}",
                    "paper": f"{said:.2g}",
                    "p, ours": "–" if np.isnan(mine) else f"{mine:.2g}",
                    "pairs": len(both),
                }
            )
            agree.append((p < 0.05) == (said < 0.05))
    if not rows:
        return []
    verdict: Verdict = "reproduced" if all(agree) else "in part" if any(agree) else "not reproducible"
    remark = (
        f"At the level of 5 % the test comes out as in the paper in {sum(agree)} of {len(agree)} cases. Pairs are subjects, "
        "with costs averaged over the matrices; the paper does not say."
    )
    return [Result(TITLE, pd.DataFrame(rows), verdict, [remark])]

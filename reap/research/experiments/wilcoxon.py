"""One-sided paired Wilcoxon tests that the paper's method asks for less effort than each baseline."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from reap._typing import Frame
from reap.research.experiments import paper
from reap.research.experiments.measures import smaller
from reap.research.experiments.results import Result, verdict

TITLE = "Wilcoxon tests: is the paper's method below the baseline?"
NEEDS = ("gradient", "dice", "graph", "pear")
#: Baseline -> (table, the paper's method there, the column in which ours is compared: the effort of the whole change).
_PAIRS = {
    "DiCE": ("dice", "ReAP (Algorithm 1, centre)", "effort"),
    "Wachter": ("gradient", "ReAP (Algorithm 1, centre)", "effort"),
    "FACE": ("graph", "ReAP, centre", "whole"),
    "PEAR": ("pear", "ReAP, centre", "whole"),
}


def summary(runs: Mapping[str, Frame]) -> list[Result]:
    """Return the p-values with the paper's; pairs are subjects, efforts averaged over matrices."""
    rows, agree = [], []
    for baseline, (name, published, unit) in _PAIRS.items():
        frame = runs[name]
        if name == "dice":
            frame = pd.concat([frame, runs["gradient"]], ignore_index=True)
        for dataset, said in paper.WILCOXON[baseline].items():
            part = frame[frame["dataset"] == dataset] if len(frame) else frame
            if len(part) == 0 or baseline not in set(part["method"]):
                continue
            efforts, units = (
                part.pivot_table(index="subject", columns="method", values=name) for name in ("effort", unit)
            )
            p = smaller(efforts[published], efforts[baseline])
            mine = smaller(units["ours"], units[baseline]) if "ours" in units else np.nan
            both = efforts[[published, baseline]].dropna()
            rows.append(
                {
                    "data": dataset,
                    "against": baseline,
                    "p, the paper's method": f"{p:.2g}",
                    "paper": f"{said:.2g}",
                    "p, ours (whole change)": "–" if np.isnan(mine) else f"{mine:.2g}",
                    "pairs": len(both),
                }
            )
            agree.append((p < 0.05) == (said < 0.05))
    if not rows:
        return []
    remark = (
        f"At the level of 5 % the test comes out as in the paper in {sum(agree)} of {len(agree)} cases. Pairs are subjects, "
        "with efforts averaged over the matrices; the paper does not say. Ours is compared by whole changes, the baseline's too."
    )
    return [Result(TITLE, pd.DataFrame(rows), verdict(agree), [remark])]

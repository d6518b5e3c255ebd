"""One-sided paired Wilcoxon tests that the paper's method asks for less effort than each baseline."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from reap._typing import Frame
from reap.research.experiments import paper
from reap.research.experiments.measures import smaller
from reap.research.experiments.report import ReportTable, number, verdict

TITLE = "Wilcoxon tests: is the paper's method below the baseline?"
NEEDS = ("gradient", "graph", "pear")
#: Baseline -> (table, the paper's method there, the column in which ours is compared: the effort of the whole change).
_PAIRS = {
    "DiCE": ("gradient", "ReAP (Algorithm 1, centre)", "effort"),
    "Wachter": ("gradient", "ReAP (Algorithm 1, centre)", "effort"),
    "FACE": ("graph", "ReAP, centre", "whole"),
    "PEAR": ("pear", "ReAP, centre", "whole"),
}


def summary(runs: Mapping[str, Frame]) -> list[ReportTable]:
    """Return the p-values with the paper's; pairs are subjects, efforts averaged over matrices."""
    rows, agree = [], []
    for baseline, (name, published, unit) in _PAIRS.items():
        for dataset, said in paper.WILCOXON[baseline].items():
            frame = runs[name]
            frame = frame[frame["dataset"] == dataset] if len(frame) else frame
            if len(frame) == 0 or baseline not in set(frame["method"]):
                continue
            efforts, units = (frame.pivot_table(c, "subject", "method") for c in ("effort", unit))
            p = smaller(efforts[published], efforts[baseline])
            mine = smaller(units["ours"], units[baseline]) if "ours" in units else np.nan
            row = {"data": dataset, "against": baseline, "p, the paper's method": f"{p:.2g}"}
            row |= {"paper": f"{said:.2g}", "p, ours (whole change)": number(mine, ".2g")}
            rows.append({**row, "pairs": len(efforts[[published, baseline]].dropna())})
            agree.append((p < 0.05) == (said < 0.05))
    remark = (
        f"At the level of 5 % the test comes out as in the paper in {sum(agree)} of {len(agree)} cases. Pairs are subjects, "
        "with efforts averaged over the matrices; the paper does not say. Ours is compared by whole changes, the baseline's too."
    )
    return [ReportTable(TITLE, pd.DataFrame(rows), verdict(agree), [remark])] if rows else []

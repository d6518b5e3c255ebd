"""Path length with the centre and with the worst case."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from reap._typing import Frame
from reap.research.experiments import paper
from reap.research.experiments.results import Result, spread, verdict

TITLE = "Path length: centre against worst case"
DATASETS = tuple(paper.LENGTHS)
NEEDS = ("graph",)


def summary(runs: Mapping[str, Frame]) -> list[Result]:
    """Return the table with the paper's figures, from the runs of the graph table."""
    frame = runs["graph"]
    frame = frame[frame["dataset"].isin(DATASETS) & (frame["steps"] > 0)] if len(frame) else frame
    rows, holds = [], []
    for dataset, part in frame.groupby("dataset", sort=False) if len(frame) else ():
        center, worst = (part.loc[part["method"] == m, "steps"] for m in ("ReAP, centre", "ReAP, worst case"))
        said = paper.LENGTHS[dataset]
        rows.append(
            {
                "data": dataset,
                "centre": spread(center),
                "paper's centre": f"{said[0]:.2f}",
                "worst case": spread(worst),
                "paper's worst case": f"{said[1]:.2f}",
                "runs": len(center),
            }
        )
        holds.append(worst.mean() <= 1.1 * center.mean())
    if not rows:
        return []
    remark = (
        f"The claim, that worst-case paths are only marginally longer, holds on {sum(holds)} of {len(holds)} data sets "
        "(at most 10 % longer). Length counts steps."
    )
    return [Result(TITLE, pd.DataFrame(rows), verdict(holds), [remark])]

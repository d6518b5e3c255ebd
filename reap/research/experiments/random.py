"""Random questions against the similar-cost heuristic."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from reap._typing import Frame
from reap.research.experiments import paper
from reap.research.experiments.results import Result, verdict

TITLE = "Random questions against similar cost: mean rank"
DATASETS = tuple(paper.RANDOM)
NEEDS = ("rank",)
_WAYS = {"random": "published centre, random", "similar cost": "published centre, 2 options"}


def summary(runs: Mapping[str, Frame]) -> list[Result]:
    """Return the table with the paper's figures, from the runs of the mean rank."""
    frame = runs["rank"]
    frame = frame[frame["dataset"].isin(DATASETS)] if len(frame) else frame
    if len(frame) == 0:
        return []
    last = int(frame["questions"].max())
    rows, holds = [], []
    for (dataset, kind), part in frame.groupby(["dataset", "people"], sort=False):
        ends = {}
        for name, way in _WAYS.items():
            mean = part[part["way"] == way].groupby("questions")["rank"].mean()
            ends[name] = mean[last]
            times = sorted({0, min(5, last), last})
            rows.append(
                {
                    "data": dataset,
                    "people": kind,
                    "method": name,
                    **{f"T = {t}": f"{mean[t]:.3f}" for t in times},
                    "paper, T = 0 / 5 / 10": " / ".join(f"{v:.2f}" for v in paper.RANDOM[dataset][name]),
                }
            )
        holds.append(ends["similar cost"] < ends["random"])
    said = [
        f"The claim, that the heuristic ends below random questions, holds in {sum(holds)} of {len(holds)} cases.",
        "At T = 0 nothing has been asked, so both rows must agree; in the paper's table they do not. Here they do.",
    ]
    return [Result(TITLE, pd.DataFrame(rows), verdict(holds), said)]

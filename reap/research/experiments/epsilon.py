"""Effect of ε on the path effort, German."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from reap._typing import Frame
from reap.research.experiments import paper
from reap.research.experiments.results import Result, Verdict, spread

TITLE = "Effect of ε on the path effort (German)"
NEEDS = ("graph",)


def summary(runs: Mapping[str, Frame]) -> list[Result]:
    """Return the table with the paper's figures, from the runs of the graph table."""
    frame = runs["graph"]
    frame = frame[frame["dataset"] == "german"] if len(frame) else frame
    if len(frame) == 0:
        return []
    rows, means = [], []
    for epsilon, said in paper.EPSILON.items():
        method = "ReAP, centre" if epsilon == 0.01 else f"ReAP, ε = {epsilon:g}"
        efforts = frame.loc[frame["method"] == method, "effort"]
        rows.append({"ε": epsilon, "path effort": spread(efforts), "paper": said, "runs": len(efforts)})
        means.append(efforts.mean())
    change = max(means) / min(means) - 1
    verdict: Verdict = "reproduced" if change < 0.1 else "not reproducible"
    holds = "holds" if change < 0.1 else "does not hold"
    remark = f"The claim, only minor variations, {holds}: the effort rises by {100 * change:.0f} % from the best ε to the worst."
    return [Result(TITLE, pd.DataFrame(rows), verdict, [remark])]

"""Beyond the paper: how many answers it takes to come within 5 % of the oracle."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from reap._typing import Frame
from reap.research.experiments.measures import same_oracle
from reap.research.experiments.results import Result

TITLE = "Answers needed to come within 5 % of the oracle, and stay there"
NEEDS = ("excess",)
_METHODS = ("published, centre", "true centre", "ours")


def needed(part: Frame) -> Frame:
    """Return the number of answers (runs,) from which on each run stays within 5 %; infinite where it never does."""
    ordered = part.sort_values("answers")
    out = (ordered["effort"] > 1.05 * ordered["oracle"] + 1e-12) | ordered["effort"].isna()
    last_out = ordered["answers"].where(out, -1).groupby([ordered["subject"], ordered["matrix"]]).max()
    end = ordered["answers"].max()
    return (last_out + 1).where(last_out < end, float("inf"))


def summary(runs: Mapping[str, Frame]) -> list[Result]:
    """Return quantiles of the number of answers, by data set, options and method."""
    frame = same_oracle(runs["excess"])
    rows = []
    for (dataset, options, method), part in frame.groupby(["dataset", "options", "method"], sort=False):
        if method in _METHODS:
            counts = needed(part)
            end = int(part["answers"].max())
            quantiles = {
                f"{q:.0%}".replace("%", " %"): counts.quantile(q, interpolation="higher")
                for q in (0.5, 0.75, 0.9)
            }
            shown = {k: str(int(v)) if v != float("inf") else f"over {end}" for k, v in quantiles.items()}
            never = (counts == float("inf")).mean()
            rows.append(
                {
                    "data": dataset,
                    "options": options,
                    "method": method,
                    **shown,
                    "never": f"{never:.2f}",
                    "runs": len(counts),
                }
            )
    said = [
        "Columns: the number of answers that is enough for half, three quarters and nine tenths of the runs."
    ]
    return [Result(TITLE, pd.DataFrame(rows), "beyond the paper", said)]

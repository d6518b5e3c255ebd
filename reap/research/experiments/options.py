"""Two options against k."""

from __future__ import annotations

from collections.abc import Mapping

from reap._typing import Frame
from reap.research.experiments import rank
from reap.research.experiments.results import Result, verdict

TITLE = "Two options against four: mean rank"
DATASETS = rank.DATASETS
NEEDS = ("rank",)


def summary(runs: Mapping[str, Frame]) -> list[Result]:
    """Return the table and curves, from the runs of the mean rank."""
    frame = runs["rank"]
    ways = [way for way in rank.WAYS if "options" in way]
    last = int(frame["questions"].max())
    holds = {}
    for (dataset, kind), part in frame[frame["questions"] == last].groupby(["dataset", "people"], sort=False):
        mean = part.groupby("way")["rank"].mean()
        holds[f"{dataset}, {kind} people"] = (
            mean["published centre, 4 options"] < mean["published centre, 2 options"]
        )
    true = [name for name, good in holds.items() if good]
    said = [
        f"The claim, that four options (the paper does not say how many; k = 4 here) beat two after {last} questions with "
        f"the published centre, holds in {len(true)} of {len(holds)} cases"
        + (f": {'; '.join(true)}." if true else "."),
    ]
    return [
        Result(TITLE, rank.table(frame, ways), verdict(list(holds.values())), said, rank.plot(frame, ways))
    ]

"""Beyond the paper: does the stated confidence come true?"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from reap._typing import Frame
from reap.research.experiments.measures import same_oracle
from reap.research.experiments.results import Plot, Result

TITLE = "Calibration: stated probability of being within 5 % of the best, and how often it was"
NEEDS = ("quality", "factors")
#: What tells one plan from another: the two tables share sessions.
_ONE = ["dataset", "own", "people", "lapse", "options", "subject", "matrix", "answers"]
#: How far stated and observed may be apart.
WITHIN = 0.05
_BINS = (0.0, 0.2, 0.4, 0.6, 0.8, 0.9, 1.0)


def summary(runs: Mapping[str, Frame]) -> list[Result]:
    """Return stated against observed, over all sessions of our default without lapses beyond its model."""
    frame = pd.concat([same_oracle(runs[name]) for name in NEEDS if len(runs[name])], ignore_index=True)
    frame = frame[
        (frame["method"] == "ours") & frame["found"] & frame["within"].notna() & (frame["people"] != "l1")
    ].drop_duplicates(_ONE)
    if len(frame) == 0:
        return []
    frame = frame.assign(came=frame["effort"] <= 1.05 * frame["oracle"] + 1e-12)
    bins = pd.cut(frame["within"], _BINS, include_lowest=True)
    rows = []
    for where, part in frame.groupby(bins, observed=True):
        rows.append(
            {
                "stated": f"{max(where.left, 0.0):.1f} to {where.right:.1f}",
                "mean stated": f"{part['within'].mean():.2f}",
                "observed": f"{part['came'].mean():.2f}",
                "plans": len(part),
            }
        )
    last = frame[frame["answers"].isin([5, frame["answers"].max()])]
    by = last.groupby("answers")[["within", "came"]].mean()
    off = (frame["within"].mean() - frame["came"].mean()) * 100
    sessions = frame[_ONE[:-1]].drop_duplicates()
    said = [
        f"Over all {len(frame):,} plans of {len(sessions):,} sessions the stated probability is {abs(off):.1f} points "
        f"{'above' if off > 0 else 'below'} what happened; the design asks for at most 5 points over at least 1,000 sessions"
        + (" (met)." if abs(off) <= 5 and len(sessions) >= 1000 else " (not shown by this run)."),
        *(
            f"After {t} answers: stated {row['within']:.2f}, observed {row['came']:.2f}."
            for t, row in by.iterrows()
        ),
        "“Best” is the oracle: the cheapest plan any method found for the person. All numbers of answers count.",
    ]
    said += _by_people(frame)
    points = frame.groupby(bins, observed=True)[["within", "came"]].mean()
    line = (list(points["within"]), list(points["came"]), None, None)
    diagonal = (list(np.linspace(0, 1, 2)), list(np.linspace(0, 1, 2)), None, None)
    plot = Plot(
        {"all sessions": {"observed": line, "perfect": diagonal}}, "stated probability", "observed share"
    )
    return [Result(TITLE, pd.DataFrame(rows), "beyond the paper", said, plot)]


def _by_people(frame: Frame) -> list[str]:
    """Return what was stated and what came true for each kind of people."""
    said = []
    for (who, lapse), part in frame.groupby(["people", "lapse"], sort=False):
        stated, came = part["within"].mean(), part["came"].mean()
        met = "met" if abs(stated - came) <= WITHIN else "missed"
        slips = f", {lapse:.0%} lapses".replace("%", " %") if lapse else ""
        said.append(
            f"{str(who).capitalize()} people{slips}: stated {stated:.2f}, observed {came:.2f}, {len(part):,} plans: {met}."
        )
    return said

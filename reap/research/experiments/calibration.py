"""Beyond the paper: does the stated confidence come true?"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from reap._typing import Frame
from reap.research.experiments.measures import same_oracle
from reap.research.experiments.results import Plot, Result

TITLE = "Calibration: stated probability of being within 5 % of the best, and how often it was"
NEEDS = ("quality", "kinds")
#: What tells one plan from another.
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
    sessions = _sessions(frame)
    said = [
        f"Over all {len(frame):,} plans of {sessions:,} sessions the stated probability is {abs(off):.1f} points "
        f"{'above' if off > 0 else 'below'} what happened; the design asks for at most 5 points over at least 1,000 sessions"
        + (" (met)." if abs(off) <= 5 and sessions >= 1000 else " (not shown by this run)."),
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
    """Return what was stated and what came true for each kind of people, with an interval over subjects."""
    said = []
    for (who, lapse), part in frame.groupby(["people", "lapse"], sort=False):
        stated, came = part["within"].mean(), part["came"].mean()
        apart = stated - came
        met = "met" if abs(apart) <= WITHIN else "missed"
        slips = f", {lapse:.0%} lapses".replace("%", " %") if lapse else ""
        low, high = (f"{100 * end:+.1f}".replace("-", "−") for end in _interval(part))
        off = f"{100 * apart:+.1f}".replace("-", "−").replace("+0.0", "0.0").replace("−0.0", "0.0")
        said.append(
            f"{str(who).capitalize()} people{slips}: stated {stated:.2f}, observed {came:.2f}, "
            f"{off} points apart ({low} to {high}), {len(part):,} plans of {_sessions(part):,} sessions: {met}."
        )
    return said


def _sessions(frame: Frame) -> int:
    return len(frame[_ONE[:-1]].drop_duplicates())


def _interval(part: Frame) -> tuple[float, float]:
    """Return a 95 % interval of stated minus observed: a bootstrap over subjects, whose plans are alike."""
    apart = (part["within"] - part["came"]).groupby([part["dataset"], part["subject"]])
    sums, counts = apart.sum().to_numpy(), apart.size().to_numpy()
    drawn = np.random.default_rng(0).integers(len(sums), size=(2000, len(sums)))
    means = sums[drawn].sum(axis=1) / counts[drawn].sum(axis=1)
    low, high = np.quantile(means, [0.025, 0.975])
    return float(low), float(high)

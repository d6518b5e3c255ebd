"""One way to divide people, what differs between the groups, and how its figures are said."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from reap._typing import Array, Frame
from reap.auditing.figures import Comparison


@dataclass(frozen=True)
class Grouping:
    """One way to divide people, and what differs.

    Parameters
    ----------
    name : str
        The column, or several joined by " · ".
    table : DataFrame
        One line a group: ``people, without_plan, share`` (with its interval), ``median`` effort (with its interval),
        ``way`` (median, as a share of the typical span), ``mean, p90, changes`` (actions of a plan, on average).
    compared : list of str
        Groups large enough to be told about; of the others only the number of people is, the rest is NaN.
    share_comparison, effort_comparison : Comparison
    features : DataFrame (groups, features)
        Share of the group's effort that each feature carries; rows sum to 1.
    relative : DataFrame (matrices, groups)
        The group's median effort over everybody's, under effort matrices of people nobody has asked.
    efforts : dict
        The efforts of each group that is compared.
    whole : float
        The median effort of everybody.
    """

    name: str
    table: Frame
    compared: list[str]
    share_comparison: Comparison
    effort_comparison: Comparison
    features: Frame
    relative: Frame
    efforts: dict[str, Array]
    whole: float

    def sensitivity(self) -> Frame:
        """Return one line a group: the range of its relative effort over matrices, and how often it is above 1."""
        ratios = self.relative
        return pd.DataFrame(
            {
                "assumed": [float(np.median(self.efforts[g])) / self.whole for g in ratios.columns],
                "low": ratios.quantile(0.05),
                "median": ratios.median(),
                "high": ratios.quantile(0.95),
                "above": (ratios > 1).mean(),
            }
        )

    def hardest(self) -> tuple[str, float] | None:
        """Return the group with the hardest plans as assumed, and the share of matrices under which it stays so."""
        if len(self.relative.columns) < 2 or len(self.relative) == 0:
            return None
        name = str(self.sensitivity()["assumed"].idxmax())
        return name, float((self.relative.idxmax(axis=1) == name).mean())


def effort(value: float) -> str:
    """Return an effort as a percentage of its unit, to three digits."""
    return "–" if np.isnan(value) else f"{100 * value:#.3g}".rstrip(".") + "\N{NO-BREAK SPACE}%"


def said(test: Comparison) -> str:
    """Return a test in a few words."""
    if np.isnan(test.p):
        return test.name
    value = "p < 0.001" if test.p < 0.001 else f"p = {test.p:.3f}"
    return f"{test.name}: {value}"
